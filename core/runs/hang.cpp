#include "core/runs/hang.h"

#include "core/base/text.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

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

// Finds those who are waited for and wait for nobody, and the call that each would have had to join next.

namespace {

class Absent {
  public:
    Absent(const RunState& state, const std::vector<WaitedCall>& calls, Suspects& suspects)
        : state_(state), calls_(calls), suspects_(suspects) {}

    void find(std::int64_t node) {
        std::map<std::int64_t, std::vector<const WaitedCall*>> waited_for;
        for (const WaitedCall& c : calls_) {
            for (const std::int64_t r : c.waiting) calls_of_[r].push_back(&c);
            if (c.missing.empty()) continue;
            waiting_.insert(c.waiting.begin(), c.waiting.end());
            for (const std::int64_t q : c.missing) waited_for[q].push_back(&c);
        }
        std::vector<std::int64_t> doubtful;
        for (const auto& [q, calls] : waited_for) {
            if (suspects_.culprits.contains(q) || waiting_.contains(q)) continue;
            if (state_.dump_of(q) >= 0 && calls_of_.contains(q))
                doubtful.push_back(q);
            else
                blame(q, calls, true);
        }
        // One with open calls in which everybody is may be held up by them: only if they lead to no culprit
        // it is to blame, and that is not sure.
        const std::set<std::int64_t> behind = behind_culprits();
        for (const std::int64_t q : doubtful)
            if (!behind.contains(q)) blame(q, waited_for[q], false);
        judge_dead(node);
    }

  private:
    void blame(std::int64_t q, const std::vector<const WaitedCall*>& calls, bool sure) {
        const bool dead = state_.dump_of(q) < 0;
        const WaitedCall& c = *next_call(q, calls);
        std::string why = dead ? "it left no dump, and " : "it has no call open, and ";
        if (dead && is_unread(q)) why = "its dump cannot be read, and ";
        if (!dead && !sure) why = "nobody is missing in its own calls, and ";
        why += (c.waiting.size() == 1 ? "rank " : "ranks ") + ranks_text(c.waiting, 8)
               + (c.waiting.size() == 1 ? " waits" : " wait") + " for it";
        suspects_.culprits.emplace(
            q, Culprit{q, dead ? FaultKind::dead : FaultKind::stopped, sure, c.call, why});
    }

    // A rank without a dump cannot be distinguished from one whose file was not copied. That is not likely if
    // only ranks of one node are missing, and the others explain nothing.
    void judge_dead(std::int64_t node) {
        std::set<std::int64_t> nodes;
        const std::int64_t all = world();
        std::int64_t missing = 0;
        for (std::int64_t r = 0; r < all; ++r)
            if (state_.dump_of(r) < 0) ++missing, nodes.insert(r / std::max<std::int64_t>(node, 1));
        const bool others = std::any_of(suspects_.culprits.begin(), suspects_.culprits.end(),
                                        [](const auto& c) { return c.second.kind != FaultKind::dead; });
        for (auto& [rank, c] : suspects_.culprits) {
            if (c.kind == FaultKind::dead)
                c.sure = nodes.size() == 1 && !others && missing * 2 <= all && !is_unread(rank);
        }
    }
    [[nodiscard]] bool is_unread(std::int64_t rank) const {
        const auto& files = state_.run().unreadable;
        return std::any_of(files.begin(), files.end(),
                           [&](const PassedOverFile& f) { return f.rank == rank; });
    }
    [[nodiscard]] std::int64_t world() const {
        std::int64_t world = 0;
        for (std::size_t g = 0; g < state_.run().names->groups().size(); ++g)
            for (const std::int64_t r : state_.run().names->ranks(static_cast<int>(g)))
                world = std::max(world, r + 1);
        return world;
    }

    // Returns the ranks that wait for a culprit, over any number of others: in calls in which it is missing,
    // or which it has begun and does not get to.
    [[nodiscard]] std::set<std::int64_t> behind_culprits() const {
        std::map<std::int64_t, std::vector<const WaitedCall*>> calls_on;
        for (const WaitedCall& c : calls_)
            for (const std::int64_t m : c.missing.empty() ? c.waiting : c.missing) calls_on[m].push_back(&c);
        std::set<std::int64_t> behind;
        std::set<const WaitedCall*> seen;
        std::deque<std::int64_t> next;
        for (const auto& [rank, culprit] : suspects_.culprits) next.push_back(rank);
        while (!next.empty()) {
            const std::int64_t r = next.front();
            next.pop_front();
            const auto calls = calls_on.find(r);
            if (calls == calls_on.end()) continue;
            for (const WaitedCall* c : calls->second) {
                if (!seen.insert(c).second) continue;
                for (const std::int64_t w : c->waiting)
                    if (behind.insert(w).second) next.push_back(w);
            }
        }
        return behind;
    }

    // Returns the call that `q` would have joined first: by the order in which ranks that run the same
    // program made these calls. Where that says nothing: the one that holds up its own ranks first, as early
    // in their records as possible; else the one with the most waiting.
    [[nodiscard]] const WaitedCall* next_call(std::int64_t q,
                                              const std::vector<const WaitedCall*>& calls) const {
        constexpr std::size_t kMostCompared = 64;
        const std::size_t compared = std::min(calls.size(), kMostCompared);
        std::vector<int> later(calls.size());  // how many of the others come before it
        for (std::size_t a = 0; a < compared; ++a)
            for (std::size_t b = a + 1; b < compared; ++b) {
                const int votes = before(q, *calls[a], *calls[b]);
                if (votes > 0) ++later[b];
                if (votes < 0) ++later[a];
            }
        std::size_t best = 0;
        const auto rank = [&](std::size_t i) {
            return std::tuple(later[i], first_record(*calls[i]), -std::ssize(calls[i]->waiting));
        };
        for (std::size_t i = 1; i < calls.size(); ++i)
            if (rank(i) < rank(best)) best = i;
        return calls[best];
    }

    // Returns the earliest record of the call among ranks of which it is the first open one.
    [[nodiscard]] std::int64_t first_record(const WaitedCall& c) const {
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t r : c.waiting) {
            const Dump& d = dump_of(r);
            const auto e = std::find_if(d.entries.begin(), d.entries.end(),
                                        [](const DumpEntry& x) { return x.open && !x.coalesced; });
            if (e != d.entries.end() && e->group == c.call.group && e->p2p == c.call.p2p)
                first = std::min(first, e->record);
        }
        return first;
    }

    // Returns a positive number if ranks that wait in either call made `a` before `b`.
    [[nodiscard]] int before(std::int64_t q, const WaitedCall& a, const WaitedCall& b) const {
        if (a.call.p2p && b.call.p2p) return 0;
        if (a.call.p2p) return sent_before(q, a, b);
        if (b.call.p2p) return -sent_before(q, b, a);
        constexpr std::size_t kMostVoters = 32;
        int votes = 0;
        for (const WaitedCall* c : {&a, &b})
            for (std::size_t i = 0; i < std::min(c->waiting.size(), kMostVoters); ++i) {
                const Dump& d = dump_of(c->waiting[i]);
                const std::int64_t at = record_of(d, a.call), bt = record_of(d, b.call);
                if (at >= 0 && bt >= 0) votes += at < bt ? 1 : at > bt ? -1 : 0;
            }
        return votes;
    }

    // Does the same for a send to or from `q` and a collective. Ranks that wait in the collective and stand
    // in their pipelines where `q` stands have sent before it if their own neighbours no longer wait for
    // them.
    [[nodiscard]] int sent_before(std::int64_t q, const WaitedCall& send,
                                  const WaitedCall& collective) const {
        const std::int64_t neighbour = send.waiting.front();
        const std::size_t own = index_in(send.call.group, q), other = index_in(send.call.group, neighbour);
        int votes = 0;
        for (const std::int64_t t : collective.waiting) {
            const int group = sister_group(dump_of(t), send.call.group);
            if (group < 0 || index_in(group, t) != own) continue;
            const std::int64_t partner = state_.run().names->ranks(group)[other];
            if (state_.dump_of(partner) < 0) continue;
            const auto& entries = dump_of(partner).entries;
            votes += std::any_of(entries.begin(), entries.end(),
                                 [&](const DumpEntry& e) {
                                     return e.p2p && e.open && e.group == group && e.peer == t
                                            && e.p2p_sequence <= send.call.sequence;
                                 })
                         ? -1
                         : 1;
        }
        return votes;
    }
    // Returns the group of this rank that is described as the other one is; -1: it has none of that size.
    [[nodiscard]] int sister_group(const Dump& d, int group) const {
        const auto& groups = state_.run().names->groups();
        const auto described = [&](int g) { return groups[static_cast<std::size_t>(g)].description; };
        for (const int g : d.groups)
            if (described(g) == described(group)
                && state_.run().names->ranks(g).size() == state_.run().names->ranks(group).size())
                return g;
        return -1;
    }

    [[nodiscard]] const Dump& dump_of(std::int64_t rank) const {
        return state_.run().dumps[static_cast<std::size_t>(state_.dump_of(rank))];
    }
    // Returns the record of the same collective in a dump: its own, or that of a sister group, where numbers
    // are equal. -1: it has none.
    [[nodiscard]] std::int64_t record_of(const Dump& d, const RunCall& call) const {
        const auto& groups = state_.run().names->groups();
        const int described = groups[static_cast<std::size_t>(call.group)].description;
        for (const DumpEntry& e : d.entries)
            if (!e.p2p && e.sequence == call.sequence
                && groups[static_cast<std::size_t>(e.group)].description == described)
                return e.record;
        return -1;
    }
    [[nodiscard]] std::size_t index_in(int group, std::int64_t rank) const {
        const std::vector<std::int64_t>& ranks = state_.run().names->ranks(group);
        return static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    }

    const RunState& state_;
    const std::vector<WaitedCall>& calls_;
    Suspects& suspects_;
    std::set<std::int64_t> waiting_;
    std::map<std::int64_t, std::vector<const WaitedCall*>> calls_of_;
};

}  // namespace

void find_absent(const RunState& state, const std::vector<WaitedCall>& calls, std::int64_t node,
                 Suspects& suspects) {
    Absent(state, calls, suspects).find(node);
}

namespace {

struct Caller {
    std::int64_t rank;
    const DumpEntry* entry;
};
// This must be the same for all: the collective, and where `sizes` is set its elements and types.
using Kind = std::array<std::int64_t, 5>;

Kind kind_of(const DumpEntry& e, bool sizes) {
    if (!sizes) return {e.collective, 0, 0, 0, 0};
    return {e.collective, e.numbers_in, e.numbers_out, e.type_in, e.type_out};
}

// Returns true if a call's elements fit a group of `ranks`, as far as they have to.
bool is_plausible(std::string_view name, const Kind& kind, std::int64_t ranks) {
    const std::int64_t in = kind[1], out = kind[2];
    if (name.starts_with("_all_gather_base") || name == "all_gather_into_tensor") return out == in * ranks;
    if (name.starts_with("_reduce_scatter_base") || name == "reduce_scatter_tensor") return in == out * ranks;
    return name != "all_reduce" || in == out;
}

// Returns the kinds that are called most: several where they are equally many.
std::set<Kind> most_called(const std::map<Kind, std::int64_t>& counts) {
    std::int64_t most = 0;
    std::set<Kind> out;
    for (const auto& [kind, n] : counts) most = std::max(most, n);
    for (const auto& [kind, n] : counts)
        if (n == most) out.insert(kind);
    return out;
}

class Mismatches {
  public:
    Mismatches(const RunState& state, Suspects& suspects) : state_(state), suspects_(suspects) {}

    void find() {
        std::map<std::pair<int, std::int64_t>, std::vector<Caller>> calls;
        for (std::size_t g = 0; g < state_.run().names->groups().size(); ++g)
            for (const Progress& p : state_.in_group(static_cast<int>(g)))
                for (const DumpEntry* e : p.open) calls[{e->group, e->sequence}];
        for (const Dump& d : state_.run().dumps)
            for (const DumpEntry& e : d.entries) {
                if (e.p2p || e.coalesced) continue;
                const auto at = calls.find({e.group, e.sequence});
                if (at != calls.end()) at->second.push_back({d.rank, &e});
            }
        for (const auto& [key, callers] : calls) {  // by number within a group: the first counts
            if (suspects_.mismatch.contains(key.first)) continue;
            if (!differ(callers, false)) differ(callers, true);
        }
    }

  private:
    bool differ(const std::vector<Caller>& callers, bool sizes) {
        std::map<Kind, std::int64_t> counts;
        for (const Caller& c : callers) ++counts[kind_of(*c.entry, sizes)];
        for (std::size_t i = 1; i < callers.size(); ++i)
            if (callers[i].rank == callers[i - 1].rank) return false;  // a batch of several under one number
        if (counts.size() < 2) return false;
        const DumpEntry& first = *callers.front().entry;
        if (sizes && !comparable(first, counts.size(), callers.size())) return false;
        std::set<Kind> right = most_called(counts);
        if (right.size() > 1) right = settle(right, counts, first, sizes);
        if (right.size() > 1) right = plausible(right, callers, sizes);
        const bool sure = right.size() == 1;
        suspects_.mismatch[first.group] = first.sequence;
        for (const Caller& c : callers)
            if (!sure || !right.contains(kind_of(*c.entry, sizes))) blame(c, callers, right, sizes, sure);
        return true;
    }

    // Sizes that all differ are those of a call that may be uneven.
    [[nodiscard]] bool comparable(const DumpEntry& first, std::size_t kinds, std::size_t callers) const {
        return has_equal_sizes(state_.name(first.collective)) && state_.finished(first.group) < first.sequence
               && (kinds < callers || callers == 2);
    }

    // Keeps those whose elements fit the number of ranks; all of them where that leaves no single one.
    [[nodiscard]] std::set<Kind> plausible(const std::set<Kind>& tied, const std::vector<Caller>& callers,
                                           bool sizes) const {
        std::set<Kind> out;
        for (const Caller& c : callers) {
            const auto ranks = std::ssize(state_.run().names->ranks(c.entry->group));
            if (is_plausible(state_.name(c.entry->collective), kind_of(*c.entry, true), ranks)
                && tied.contains(kind_of(*c.entry, sizes)))
                out.insert(kind_of(*c.entry, sizes));
        }
        return out.size() == 1 ? out : tied;
    }

    // At a tie: what the sister groups call at that number, else what this group calls most.
    std::set<Kind> settle(const std::set<Kind>& tied, const std::map<Kind, std::int64_t>& here,
                          const DumpEntry& first, bool sizes) const {
        std::map<Kind, std::int64_t> sisters, own;
        const auto& groups = state_.run().names->groups();
        const int described = groups[static_cast<std::size_t>(first.group)].description;
        for (const Dump& d : state_.run().dumps)
            for (const DumpEntry& e : d.entries) {
                if (e.p2p || groups[static_cast<std::size_t>(e.group)].description != described) continue;
                const Kind kind = kind_of(e, sizes);
                if (!here.contains(kind)) continue;
                if (e.group == first.group)
                    ++own[kind];
                else if (e.sequence == first.sequence)
                    ++sisters[kind];
            }
        for (const auto* counts : {&sisters, &own}) {
            std::set<Kind> most = most_called(*counts);
            if (most.size() == 1 && tied.contains(*most.begin())) return most;
        }
        return tied;
    }

    void blame(const Caller& c, const std::vector<Caller>& callers, const std::set<Kind>& right, bool sizes,
               bool sure) {
        const DumpEntry& e = *c.entry;
        std::vector<std::int64_t> others;
        const DumpEntry* other = nullptr;
        for (const Caller& o : callers)
            if (right.contains(kind_of(*o.entry, sizes)) && kind_of(*o.entry, sizes) != kind_of(e, sizes)) {
                others.push_back(o.rank);
                other = o.entry;
            }
        if (!other) return;
        std::string why = "it calls " + std::string(state_.name(e.collective));
        if (sizes)
            why += " of " + with_commas(e.numbers_in) + " elements where " + ranks_text(others, 8) + " call"
                   + (others.size() == 1 ? "s" : "") + " it with " + with_commas(other->numbers_in);
        else
            why += " where " + ranks_text(others, 8) + " call" + (others.size() == 1 ? "s " : " ")
                   + std::string(state_.name(other->collective));
        if (!sure) why += "; which of them is wrong cannot be told";
        const RunCall call{e.group, e.collective, e.sequence, false};
        suspects_.culprits.try_emplace(
            c.rank, Culprit{c.rank, sizes ? FaultKind::size : FaultKind::mismatch, sure, call, why});
    }

    const RunState& state_;
    Suspects& suspects_;
};

}  // namespace

void find_mismatches(const RunState& state, Suspects& suspects) {
    Mismatches(state, suspects).find();
}

namespace {

// Counts the open sends of a pair of ranks in a group, at both ends.
struct Sends {
    std::vector<const DumpEntry*> sent, received;
};

class WaitedCalls {
  public:
    WaitedCalls(const RunState& state, const Suspects& suspects) : state_(state), suspects_(suspects) {}

    std::vector<WaitedCall> find() {
        find_collectives();
        find_sends();
        for (WaitedCall& c : out_) {
            std::sort(c.waiting.begin(), c.waiting.end());
            std::sort(c.missing.begin(), c.missing.end());
        }
        // Groups have numbers by the order in which threads read them: ranks and calls say the order.
        std::sort(out_.begin(), out_.end(), [](const WaitedCall& a, const WaitedCall& b) {
            return std::tie(a.call.p2p, a.waiting, a.missing, a.call.sequence)
                   < std::tie(b.call.p2p, b.waiting, b.missing, b.call.sequence);
        });
        return std::move(out_);
    }

  private:
    [[nodiscard]] bool stale(std::int64_t rank) const { return suspects_.stale.contains(rank); }

    void find_collectives() {
        for (std::size_t i = 0; i < state_.run().names->groups().size(); ++i) {
            const int g = static_cast<int>(i);
            std::map<std::int64_t, WaitedCall> by_number;  // of each rank the first that is open
            for (const Progress& p : state_.in_group(g)) {
                const std::int64_t rank = state_.rank_of(p.dump);
                if (p.open.empty() || stale(rank)) continue;
                const DumpEntry& e = *p.open.front();
                WaitedCall& c = by_number[e.sequence];
                c.call = {g, e.collective, e.sequence, false};
                c.waiting.push_back(rank);
            }
            for (auto& [number, c] : by_number) {
                add_missing(c);
                out_.push_back(std::move(c));
            }
        }
    }

    void add_missing(WaitedCall& c) {
        const auto differs = suspects_.mismatch.find(c.call.group);
        if (differs != suspects_.mismatch.end() && c.call.sequence >= differs->second) {
            // They wait for those who did another thing, who wait for nobody, and for those who did not come.
            for (const auto& [rank, culprit] : suspects_.culprits)
                if (culprit.call.group == c.call.group && std::erase(c.waiting, rank) > 0)
                    c.missing.push_back(rank);
        }
        const std::set<std::int64_t> other(c.missing.begin(), c.missing.end());
        std::vector<std::int64_t> without_dump;
        for (const std::int64_t rank : state_.run().names->ranks(c.call.group)) {
            if (other.contains(rank)) continue;
            const Progress* p = state_.progress(c.call.group, rank);
            if (state_.dump_of(rank) < 0) {
                without_dump.push_back(rank);
            } else if (stale(rank) || !p || !has_come(*p, c.call)) {
                c.missing.push_back(rank);
                c.guessed = c.guessed || !p || p->issued < 0;
            }
        }
        if (c.missing.empty()) c.missing = std::move(without_dump);
    }

    [[nodiscard]] bool has_come(const Progress& p, const RunCall& call) const {
        if (p.issued >= call.sequence) return true;
        // A rank whose number is not known has come if the call ended for anybody.
        return p.issued < 0 && state_.finished(call.group) >= call.sequence;
    }

    void find_sends() {
        std::map<std::tuple<int, std::int64_t, std::int64_t>, Sends> pairs;  // group, from, to
        for (const Dump& d : state_.run().dumps) {
            if (stale(d.rank)) continue;
            for (const DumpEntry& e : d.entries) {
                if (!e.p2p || !e.open || e.coalesced || e.peer < 0) continue;
                if (e.sends)
                    pairs[{e.group, d.rank, e.peer}].sent.push_back(&e);
                else
                    pairs[{e.group, e.peer, d.rank}].received.push_back(&e);
            }
        }
        for (const auto& [key, s] : pairs) {
            const auto& [group, from, to] = key;
            const bool sender_waits = s.sent.size() > s.received.size();
            const DumpEntry& e = *(s.received.size() > s.sent.size() ? s.received : s.sent)[0];
            WaitedCall c{{group, e.collective, e.p2p_sequence, true}, {}, {}, true};
            if (s.sent.size() == s.received.size()) {  // both are there, and are held up
                c.waiting = {from, to};
            } else {
                c.waiting = {sender_waits ? from : to};
                c.missing = {sender_waits ? to : from};
            }
            out_.push_back(std::move(c));
        }
    }

    const RunState& state_;
    const Suspects& suspects_;
    std::vector<WaitedCall> out_;
};

}  // namespace

std::vector<WaitedCall> find_waited_calls(const RunState& state, const Suspects& suspects) {
    return WaitedCalls(state, suspects).find();
}

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
