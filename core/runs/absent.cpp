// Finds those who are waited for and wait for nobody, and the call that each would have had to join next.
#include "core/runs/culprits.h"

#include "core/base/text.h"
#include "core/mesh/rank_list.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <tuple>

namespace pentamesh::runs {
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

}  // namespace pentamesh::runs
