#include "core/runs/hang.h"

#include "core/base/text.h"
#include "core/mesh/rank_list.h"
#include "core/runs/culprits.h"

#include <algorithm>
#include <map>
#include <set>

namespace pentamesh::runs {
namespace {

// Says where in its rank's own order a call stands.
struct OwnCall {
    std::int64_t record = 0;
    const WaitedCall* call = nullptr;
};
using OwnCalls = std::map<std::int64_t, std::vector<OwnCall>>;  // by rank, in the order of records

std::int64_t record_of(const RunState& state, std::int64_t rank, const WaitedCall& c) {
    const Dump& d = state.run().dumps[static_cast<std::size_t>(state.dump_of(rank))];
    const auto is_other = [&](std::int64_t peer) {
        return peer != rank
               && (std::find(c.waiting.begin(), c.waiting.end(), peer) != c.waiting.end()
                   || std::find(c.missing.begin(), c.missing.end(), peer) != c.missing.end());
    };
    for (const DumpEntry& e : d.entries)
        if (e.open && e.group == c.call.group && e.p2p == c.call.p2p
            && (e.p2p ? is_other(e.peer) : e.sequence == c.call.sequence))
            return e.record;
    return 0;
}

OwnCalls own_calls(const RunState& state, const std::vector<WaitedCall>& calls) {
    OwnCalls out;
    for (const WaitedCall& c : calls)
        for (const std::int64_t r : c.waiting) out[r].push_back({record_of(state, r, c), &c});
    for (auto& [rank, own] : out)
        std::sort(own.begin(), own.end(),
                  [](const OwnCall& a, const OwnCall& b) { return a.record < b.record; });
    return out;
}

void list_waiting(const OwnCalls& own, Hang& hang) {
    std::set<std::int64_t> named;
    for (const Culprit& c : hang.culprits) named.insert(c.rank);
    for (const auto& [rank, calls] : own) {
        const auto first = std::find_if(calls.begin(), calls.end(),
                                        [](const OwnCall& c) { return !c.call->missing.empty(); });
        if (first != calls.end())
            hang.waiting.push_back({rank, first->call->missing, first->call->call});
        else if (!named.contains(rank))
            hang.held_up.push_back(rank);
    }
}

// Returns ranks each of which waits for the next one, and the last for the first.
std::vector<std::int64_t> ring_of(const OwnCalls& own) {
    std::map<std::int64_t, std::int64_t> next;
    for (const auto& [rank, calls] : own)
        for (const OwnCall& c : calls)
            if (!c.call->missing.empty() && !next.contains(rank))
                for (const std::int64_t q : c.call->missing)
                    if (own.contains(q)) {
                        next[rank] = q;
                        break;
                    }
    if (next.empty()) return {};
    std::vector<std::int64_t> way;
    std::set<std::int64_t> seen;
    std::int64_t at = next.begin()->first;
    while (next.contains(at) && seen.insert(at).second) way.push_back(at), at = next[at];
    const auto begin = std::find(way.begin(), way.end(), at);
    if (begin == way.end()) return {};
    std::vector<std::int64_t> ring(begin, way.end());
    std::sort(ring.begin(), ring.end());
    return ring;
}

// In a ring some of whose ranks may have left the calls in which they seem to be missing, the one that is
// furthest behind may only not report any more. It is suspected, not more.
void suspect_behind(const OwnCalls& own, const std::vector<std::int64_t>& ring, Hang& hang) {
    std::map<std::int64_t, std::int64_t> by_record;  // the first record of each -> its rank
    for (const std::int64_t r : ring) by_record.emplace(own.at(r).front().record, r);
    if (by_record.size() != ring.size()) return;
    const std::int64_t rank = by_record.begin()->second;
    hang.culprits.push_back(
        {rank, FaultKind::gpu, false, own.at(rank).front().call->call,
         "it shows calls as open that lie before all those in which the others wait; how far "
         "these have come is not known"});
}

bool is_guessed(const OwnCalls& own, const std::vector<std::int64_t>& ring) {
    return std::any_of(ring.begin(), ring.end(), [&](std::int64_t r) {
        return std::any_of(own.at(r).begin(), own.at(r).end(),
                           [](const OwnCall& c) { return c.call->guessed; });
    });
}

// Two calls that all have begun, but some in another order than others, wait for each other.
std::vector<std::int64_t> crossed(const OwnCalls& own) {
    std::map<std::pair<RunCall, RunCall>, std::int64_t> order;
    for (const auto& [rank, calls] : own)
        for (std::size_t i = 0; i < calls.size(); ++i)
            for (std::size_t k = i + 1; k < calls.size() && k < i + 8; ++k) {
                const RunCall &a = calls[i].call->call, &b = calls[k].call->call;
                if (a.p2p || b.p2p) continue;
                order.emplace(std::pair(a, b), rank);
                const auto other = order.find({b, a});
                if (other != order.end()) {
                    std::vector<std::int64_t> two{other->second, rank};
                    std::sort(two.begin(), two.end());
                    return two;
                }
            }
    return {};
}

// A call stands still by itself if it is the first open one of all its ranks, and all are there.
std::vector<RunCall> stuck_calls(const std::vector<WaitedCall>& calls, const OwnCalls& own) {
    std::vector<RunCall> out;
    for (const WaitedCall& c : calls)
        if (c.missing.empty() && std::all_of(c.waiting.begin(), c.waiting.end(), [&](std::int64_t r) {
                return own.at(r).front().call == &c;
            }))
            out.push_back(c.call);
    return out;
}

// Calls stand still by themselves, and no rank does, if all ranks of their groups are in them and have no
// other call open before: others that wait for these ranks suspect them only because they wait for nobody.
void find_stuck(const DumpFolder& run, const std::vector<WaitedCall>& calls, const OwnCalls& own,
                Hang& hang) {
    std::vector<RunCall> stuck = stuck_calls(calls, own);
    std::set<std::int64_t> inside;
    std::erase_if(stuck, [&](const RunCall& c) { return c.p2p; });
    for (const WaitedCall& c : calls)
        if (c.missing.empty() && std::find(stuck.begin(), stuck.end(), c.call) != stuck.end()) {
            if (c.waiting.size() == run.names->ranks(c.call.group).size())
                inside.insert(c.waiting.begin(), c.waiting.end());
            else
                std::erase(stuck, c.call);  // some have left it
        }
    if (stuck.empty() || !std::all_of(hang.culprits.begin(), hang.culprits.end(), [&](const Culprit& c) {
            return c.kind == FaultKind::stopped && !c.sure && inside.contains(c.rank);
        }))
        return;
    hang.culprits.clear();
    hang.groups_stuck = std::move(stuck);
}

void list_missing(const DumpFolder& run, Hang& hang) {
    std::set<std::int64_t> there;
    for (const Dump& d : run.dumps) there.insert(d.rank);
    for (std::int64_t r = 0; r < hang.layout.world; ++r)
        if (!there.contains(r)) hang.missing.push_back(r);
}

void add_warnings(const DumpFolder& run, Hang& hang) {
    std::vector<std::int64_t> lost, odd;
    for (const Dump& d : run.dumps) {
        if (d.oldest_open) lost.push_back(d.rank);
        if (d.passed_over > 0) odd.push_back(d.rank);
    }
    if (!lost.empty())
        hang.warnings.push_back("the oldest entry is still open in the dumps of ranks " + ranks_text(lost, 8)
                                + ": the first open call may be lost; TORCH_FR_BUFFER_SIZE keeps more");
    if (!odd.empty())
        hang.warnings.push_back("entries or groups that make no sense were passed over in the dumps of ranks "
                                + ranks_text(odd, 8));
    if (!hang.layout.unexplained.empty())
        hang.warnings.push_back(count_text(static_cast<std::int64_t>(hang.layout.unexplained.size()), "group")
                                + " of the job fit no layout of its axes");
}

bool any_open(const DumpFolder& run) {
    return std::any_of(run.dumps.begin(), run.dumps.end(), [](const Dump& d) {
        return std::any_of(d.entries.begin(), d.entries.end(), [](const DumpEntry& e) { return e.open; });
    });
}

void find_stall(const DumpFolder& run, std::int64_t node, Hang& hang) {
    RunState state(run);
    Suspects suspects;
    find_mismatches(state, suspects);
    find_silent_gpus(state, suspects);
    const std::vector<WaitedCall> calls = find_waited_calls(state, suspects);
    find_absent(state, calls, node, suspects);
    for (auto& [rank, c] : suspects.culprits) hang.culprits.push_back(c);
    const OwnCalls own = own_calls(state, calls);
    if (!hang.culprits.empty()) find_stuck(run, calls, own, hang);
    list_waiting(own, hang);
    if (hang.culprits.empty() && hang.groups_stuck.empty()) {
        const std::vector<std::int64_t> ring = ring_of(own);
        if (!ring.empty() && is_guessed(own, ring))
            suspect_behind(own, ring, hang);
        else
            hang.order_cycle = ring;
        if (ring.empty() && hang.waiting.empty()) hang.order_cycle = crossed(own);
        if (ring.empty() && hang.order_cycle.empty()) hang.groups_stuck = stuck_calls(calls, own);
    }
    for (const RunCall& c : hang.groups_stuck)
        for (const std::int64_t r : run.names->ranks(c.group)) std::erase(hang.held_up, r);
    const bool few = run.dumps.size() * 2 < static_cast<std::size_t>(hang.layout.world);
    const bool sure =
        std::any_of(hang.culprits.begin(), hang.culprits.end(), [](const Culprit& c) { return c.sure; });
    const bool found = !hang.culprits.empty() || !hang.order_cycle.empty() || !hang.groups_stuck.empty();
    hang.verdict = found && (sure || !few) ? RunVerdict::hang : RunVerdict::unclear;
}

}  // namespace

Hang find_hang(const DumpFolder& run, std::int64_t node) {
    Hang hang;
    hang.layout = find_layout(run);
    list_missing(run, hang);
    if (any_open(run)) {
        find_stall(run, node, hang);
    } else {
        // A rank without a dump may be the one that hangs: nothing is known of it.
        hang.verdict = hang.missing.empty() ? RunVerdict::clean : RunVerdict::unclear;
        find_slow(run, hang);
    }
    add_warnings(run, hang);
    return hang;
}

}  // namespace pentamesh::runs
