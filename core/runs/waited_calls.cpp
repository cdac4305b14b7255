#include "core/runs/culprits.h"

#include <algorithm>

namespace pentamesh::runs {
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

}  // namespace pentamesh::runs
