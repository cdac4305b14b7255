#include "core/runs/hang_words.h"

#include "core/base/text.h"
#include "core/mesh/rank_list.h"

#include <algorithm>
#include <set>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostRanks = 12;  // named in a sentence

std::string_view advice_of(FaultKind kind) {
    switch (kind) {
    case FaultKind::stopped:
        return "Look at the Python stack of a rank that stopped (py-spy dump), and at its data loader, "
               "checkpoint and log.";
    case FaultKind::dead:
        return "Look at the log and the end of the process of a rank without a dump, and at the kernel log "
               "of its node; make sure that its file was copied.";
    case FaultKind::gpu:
        return "Look for Xid errors of the GPU in the kernel log of its node (dmesg), and take the node out.";
    case FaultKind::mismatch:
        return "Compare the code path of the rank with that of its group: a branch depends on its data or "
               "its "
               "rank.";
    case FaultKind::size: return "Compare the shapes that the rank gives with those of its group.";
    case FaultKind::slow:
        return "Compare clocks, temperature and input of the slow rank with those of its neighbours.";
    }
    return "";
}

}  // namespace

std::string layout_words(const RunLayout& l) {
    const auto list = [&](const std::vector<RunAxis>& axes) {
        std::string out;
        for (const RunAxis a : axes)
            out += sentence(out.empty() ? "" : " × ", l.name_of(a), " ", l.factors[a].size);
        return out;
    };
    std::string out = l.order.empty() ? "one rank" : list(l.order);
    if (!l.expert_order.empty()) out += "; experts " + list(l.expert_order);
    return out;
}

std::string verdict_words(const Hang& h) {
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    const auto ranks = [&](const auto& list) { return count_text(count(list), "rank"); };
    const std::string name(name_of(h.verdict));
    switch (h.verdict) {
    case RunVerdict::clean:
        return name + ": no call is open, and no rank stands out by its time in communication";
    case RunVerdict::slow: return name + ": no call is open; the others wait for " + ranks(h.culprits);
    case RunVerdict::hang:
    case RunVerdict::unclear: break;
    }
    std::string out = name + ": ";
    if (!h.culprits.empty()) {
        const bool sure =
            std::all_of(h.culprits.begin(), h.culprits.end(), [](const Culprit& c) { return c.sure; });
        out += ranks(h.culprits) + (count(h.culprits) == 1 ? " is" : " are")
               + (sure ? " to blame" : " suspected; who is to blame is not sure");
    } else if (!h.order_cycle.empty()) {
        out += "ranks " + ranks_text(h.order_cycle, kMostRanks)
               + " wait for each other in a ring: groups are entered in different orders";
    } else if (!h.groups_stuck.empty()) {
        out += "everybody has come to " + count_text(count(h.groups_stuck), "group")
               + ", and nothing moves: look at links, NICs and switches";
    } else {
        out += "calls are open, and nobody can be blamed for it";
        if (h.waiting.empty() && h.held_up.empty()) out = name + ": no call is open";
    }
    if (!h.waiting.empty()) out += "; " + ranks(h.waiting) + (h.waiting.size() == 1 ? " waits" : " wait");
    if (!h.held_up.empty())
        out += "; " + ranks(h.held_up) + (h.held_up.size() == 1 ? " is" : " are") + " held up behind them";
    if (!h.missing.empty()) out += "; " + ranks(h.missing) + " left no dump";
    return out;
}

std::string call_words(const Hang& h, const RunNames& names, const RunCall& call) {
    if (call.group < 0) return "";
    const std::string axes = join(h.layout.axes_of(names, call.group), ", ");
    std::vector<std::int64_t> ranks = names.ranks(call.group);
    std::sort(ranks.begin(), ranks.end());
    const std::string& described = names.description(call.group);
    return names.text(call.collective) + " " + std::to_string(call.sequence) + " of "
           + (described.empty() ? "a group" : described) + (axes.empty() ? "" : " (" + axes + ")")
           + ", ranks " + ranks_text(ranks, kMostRanks);
}

std::string next_words(const Hang& h) {
    std::set<FaultKind> kinds;
    for (const Culprit& c : h.culprits) kinds.insert(c.kind);
    std::string out = join(kinds, " ", [](const FaultKind k) { return advice_of(k); });
    if (!h.groups_stuck.empty())
        out +=
            "Run nccl-tests over the ranks that are stuck, and look at the error counters of their NICs and "
            "of the switch ports.";
    return out;
}

}  // namespace pentamesh::runs
