// Explains the bytes of a collective, in symbols and in this plan's numbers.
#include "core/base/text.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"

namespace pentamesh {

namespace {

struct SendRule {
    std::string_view factor, steps;
};
SendRule rule_of(Collective c) {
    switch (c) {
    case Collective::all_reduce: return {"2(n-1)/n", "all-reduce = reduce-scatter + all-gather"};
    case Collective::all_gather:
    case Collective::reduce_scatter: return {"(n-1)/n", "ring: n-1 of n pieces leave a rank"};
    case Collective::all_to_all: return {"(n-1)/n", "all but the rank's own piece leaves it"};
    case Collective::send_recv: return {"1", "the message itself"};
    }
    return {"1", ""};
}

}  // namespace

Explanation explain_operation(const Plan& plan, const Evaluation&, const Operation& op) {
    const SendRule rule = rule_of(op.collective);
    Explanation e;
    e.title = std::string(name_of(op.group)) + " sends";
    e.part = words_of(op.what);
    e.formula = "calls · " + std::string(rule.factor) + " · buffer";
    const auto n = static_cast<double>(op.group_size);
    const double factor = op.message_bytes > 0
                              ? sent_bytes(op.collective, op.group_size, op.message_bytes) / op.message_bytes
                              : 0;
    e.substituted = whole_text(op.count_per_step) + " · " + three_digits(factor) + " (n = " + whole_text(n)
                    + ") · " + three_digits(op.message_bytes / 1e6) + " MB";
    e.result = "= " + three_digits(op.sent_bytes_per_rank / 1e9) + " GB per GPU and step";
    e.source =
        std::string(rule.steps) + "; " + std::string(name_of(op.collective)) + " over "
        + (static_cast<std::size_t>(op.tier) < plan.cluster.tiers.size() ? plan.cluster.tiers[op.tier].name
                                                                         : std::string("one GPU"));
    return e;
}

}  // namespace pentamesh
