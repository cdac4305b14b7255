#include "core/runs/culprits.h"

#include "core/base/text.h"

namespace pentamesh::runs {
namespace {

// Returns a rank that has finished the call; `others` says if it is not the only one.
std::int64_t who_finished(const RunState& state, const DumpEntry& e, bool& others) {
    std::int64_t who = -1;
    for (const Progress& p : state.in_group(e.group)) {
        if (state.finished_by(p) < e.sequence) continue;
        if (who >= 0) others = true;
        if (who < 0) who = state.rank_of(p.dump);
    }
    return who;
}

}  // namespace

void find_silent_gpus(RunState& state, Suspects& suspects) {
    const auto& dumps = state.run().dumps;
    std::vector<std::pair<const DumpEntry*, int>> late;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        std::vector<const DumpEntry*> behind;
        for (const DumpEntry& e : dumps[i].entries) {
            if (!e.open || e.p2p || e.coalesced || has_root(state.name(e.collective))) continue;
            const auto differs = suspects.mismatch.find(e.group);
            if (differs != suspects.mismatch.end() && e.sequence >= differs->second) continue;
            if (state.finished(e.group) >= e.sequence) behind.push_back(&e);
        }
        if (behind.empty()) continue;
        if (behind.size() == 1) {
            late.emplace_back(behind.front(), static_cast<int>(i));
            continue;
        }
        const DumpEntry& first = *behind.front();  // entries are in the order of their records
        bool others = false;
        std::set<std::int64_t> finishers;
        for (const DumpEntry* e : behind) finishers.insert(who_finished(state, *e, others));
        others = others || finishers.size() > 1;
        const std::string who = std::to_string(who_finished(state, first, others));
        const std::int64_t rank = dumps[i].rank;
        suspects.stale.insert(rank);
        suspects.culprits.insert_or_assign(
            rank, Culprit{rank,
                          FaultKind::gpu,
                          true,
                          {first.group, first.collective, first.sequence, false},
                          sentence("rank ", who, others ? " and others" : "", " finished ",
                                   static_cast<std::int64_t>(behind.size()), " collectives that rank ",
                                   std::to_string(rank), " still shows as running")});
    }
    for (const auto& [entry, dump] : late) state.close(*entry, dump);
}

}  // namespace pentamesh::runs
