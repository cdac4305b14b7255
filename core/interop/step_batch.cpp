#include "core/interop/step_batch.h"

#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/plan/plan.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

constexpr std::int64_t kMostSequences = std::int64_t{1} << 16;  // of a micro-batch that is filled by tokens

// Returns a whole number of the draft; another value is refused where the plan is read.
std::int64_t whole_in(const nlohmann::json& part, const char* key, std::int64_t otherwise) {
    const auto it = part.find(key);
    return it != part.end() && it->is_number_integer()
               ? std::clamp<std::int64_t>(it->get<std::int64_t>(), 1, std::int64_t{1} << 31)
               : otherwise;
}

}  // namespace

void take_token_batch(SettingsSheet& sheet, PlanDraft& draft) {
    const Setting* said = sheet.last("micro_tokens");
    if (!said || said->key.empty() || sheet.failed()) return;  // a text may have a setting of this name
    const auto tokens = said->unknown.empty() ? parse_integer(said->value) : std::nullopt;
    sheet.map("micro_tokens", "/training/micro_batch");
    nlohmann::json& t = draft.training;
    if (!tokens || *tokens < 1) {
        sheet.problem(Severity::warning, "micro-batches-by-tokens",
                      "Micro-batches are filled by tokens, and ", said->name,
                      " is not known: one sequence stands in for them; set /training/micro_batch.");
        t["micro_batch"] = 1;
        return;
    }
    const std::int64_t cp = std::max<std::int64_t>(degree(draft, "cp"), 1),
                       ranks = std::max<std::int64_t>(degree(draft, "dp_shard"), 1)
                               * std::max<std::int64_t>(degree(draft, "dp_replicate"), 1),
                       length = whole_in(t, "sequence_length", Training{}.sequence_length),
                       each = std::max<std::int64_t>(whole_in(t, "global_batch", 1) / ranks, 1),
                       most = std::min<std::int64_t>(*tokens, std::int64_t{1} << 31) * cp;
    const std::int64_t fit = std::clamp<std::int64_t>(most / length, 1, std::min(each, kMostSequences));
    std::int64_t taken = fit;
    while (each % taken != 0) --taken;
    t["micro_batch"] = taken;
    sheet.problem(
        Severity::warning, "micro-batches-by-tokens", "Sequences of several lengths fill a micro-batch of ",
        most, " tokens (", said->name, cp > 1 ? plain(" x cp ", cp) : std::string(), "): the plan has ",
        taken, taken == 1 ? " sequence" : " sequences", " of the longest length, ", length, " tokens",
        taken < fit ? plain("; ", fit, " fit, and do not divide the ", each, " of a rank") : std::string(),
        ".");
}

void take_pairs(const Dialect& dialect, const KnownSettings& known, SettingsSheet& sheet, PlanDraft& draft) {
    const Pairs* pairs = dialect.pairs();
    if (!pairs || sheet.failed()) return;
    if (!pairs->sure) {
        sheet.problem(
            Severity::warning, "pairs-open", pairs->by,
            " may be preference training (DPO, a reward model), where each sample is a pair of "
            "sequences and micro-batch and batch are twice what the text says: the plan has them as "
            "the text says; set /training/micro_batch and /training/global_batch.");
        return;
    }
    nlohmann::json& t = draft.training;
    const std::int64_t micro = 2 * whole_in(t, "micro_batch", Training{}.micro_batch),
                       global = 2 * whole_in(t, "global_batch", Training{}.global_batch);
    t["micro_batch"] = micro;
    t["global_batch"] = global;
    if (!pairs->key.empty() && !known.cannot_hold(pairs->key)) sheet.map(pairs->key, "/training/micro_batch");
    sheet.problem(Severity::info, "pairs", pairs->by, ": a sample is a pair of sequences, ", pairs->are,
                  ". The plan counts both: micro-batch ", micro, ", global batch ", global, ".");
}

}  // namespace pentamesh::interop
