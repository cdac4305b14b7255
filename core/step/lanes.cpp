#include "core/step/lanes.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pentamesh {
namespace {

// Weights are gathered at most so many units ahead.
constexpr std::int64_t kMostAhead = 8;

struct Busy {
    double from = 0, to = 0;
};
// A queue that is so far behind that it has more of them counts as busy between the last ones.
constexpr int kMostBusy = 512;
constexpr int kFewBusy = 16;       // more of them are no steady state
constexpr int kMostPending = 512;  // units of a pass

// Says which call has a lane, and until when.
struct Holds {
    Busy time;
    LaneCall call = LaneCall::gather;
};

// Drops the first ones of a list in the order of time that are over.
template <typename List, typename IsOver>
void drop_first(List& list, IsOver&& is_over) {
    const auto kept = std::find_if_not(list.begin(), list.end(), is_over);
    if (kept == list.begin()) return;
    list.resize(static_cast<int>(std::copy(kept, list.end(), list.begin()) - list.begin()));
}

// This is one lane: when it is free, and when from now on it is busy with calls that slow the compute next to
// them.
struct Queue {
    double free = 0, last_end = 0;
    ShortList<Busy, kMostBusy> busy;
    ShortList<Holds, kMostBusy> holds;  // one after the other, like calls that follow each other as one

    // Puts a call at the end of the queue; returns its start.
    double put(LaneCall call, double issued, double seconds) {
        const double start = std::max(free, issued);
        free = last_end = start + seconds;
        const bool follows = busy.size() > 0 && busy.back().to == start;
        if (follows || busy.size() == kMostBusy)
            busy[busy.size() - 1].to = free;
        else
            busy.push_back({start, free});
        const bool like = follows && holds.size() > 0 && holds.back().call == call;
        if (like || holds.size() == kMostBusy)
            holds[holds.size() - 1].time.to = free;
        else
            holds.push_back({{start, free}, call});
        return start;
    }
    void forget_before(double time) {
        drop_first(busy, [&](const Busy& b) { return b.to <= time; });
        drop_first(holds, [&](const Holds& h) { return h.time.to <= time; });
    }
    void shift(double by) {
        free += by, last_end += by;
        for (Busy& b : busy) b.from += by, b.to += by;
        for (Holds& h : holds) h.time.from += by, h.time.to += by;
    }
};

// Walks through the units of a pass. All times are absolute, but for a pass that begins at 0.
class Walk {
  public:
    Walk(std::span<const LaneUnit> units, const LaneRules& rules, std::vector<LaneBlock>* blocks)
        : units_(units), rules_(rules), ahead_(std::clamp<std::int64_t>(rules.ahead, 1, kMostAhead)),
          blocks_(blocks) {
        for (const LaneUnit& u : units)
            for (const TrafficLane lane : all_of<TrafficLane>())
                shared_[lane] = shared_[lane] || u.taken[lane] > 0 || u.gather()[lane] > 0;
    }

    LaneTimes run() {
        gather_to(0);
        for (std::size_t i = 0; i < units_.size(); ++i) {
            run_ = i;
            const LaneUnit& unit = units_[i];
            known_ = false;
            for (std::int64_t done = 0; done < unit.times;) {
                step(unit);
                ++done;
                if (blocks_ == nullptr) done += jump(unit.times - done);
            }
        }
        finish();
        return out_;
    }

  private:
    // Holds what the next steps depend on, from the end of this one on.
    struct State {
        ShortList<double, 2 * (1 + 2 * kFewBusy + kMostAhead + 2) + kFewBusy + 1> value;
        void put(double x) { value.push_back(x); }
    };
    struct Ready {
        LaneSeconds end{};
    };
    struct Pending {
        double issued = 0;
        std::int64_t unit = 0;
        LaneSeconds seconds{};
    };

    double issue(LaneCall call, const LaneSeconds& seconds, double issued, std::int64_t unit) {
        double end = issued;
        for (const TrafficLane lane : all_of<TrafficLane>()) {
            if (!(seconds[lane] > 0)) continue;
            const double start = queue_[lane].put(call, issued, seconds[lane]);
            end = std::max(end, start + seconds[lane]);
            if (blocks_ != nullptr)
                blocks_->push_back({false, false, lane, call, unit, issued, start, start + seconds[lane], 0});
        }
        return end;
    }

    // Issues the gathers up to this unit.
    void gather_to(std::int64_t last) {
        while (gathered_ <= last && gather_run_ < units_.size()) {
            const LaneUnit& unit = units_[gather_run_];
            if (gather_done_ >= unit.times) {
                ++gather_run_, gather_done_ = 0;
                continue;
            }
            Ready ready;
            issue(LaneCall::gather, unit.gather(), now_, gathered_);
            for (const TrafficLane lane : all_of<TrafficLane>())
                ready.end[lane] = unit.gather()[lane] > 0 ? queue_[lane].free : 0;
            ready_.push_back(ready);
            ++gather_done_, ++gathered_;
        }
    }

    void step(const LaneUnit& unit) {
        before_ = out_;
        const double began = now_;
        wait_for_weights(unit);
        reduce_until(now_);
        for (const TrafficLane lane : all_of<TrafficLane>())
            if (unit.taken[lane] > 0) {
                const double from = std::max(queue_[lane].free, now_);
                queue_[lane].free = from + unit.taken[lane];
                if (blocks_ != nullptr)
                    blocks_->push_back(
                        {false, true, lane, LaneCall::gather, unit_, now_, from, queue_[lane].free, 0});
            }
        gather_to(unit_ + ahead_);
        const double start = now_;
        double end = end_of(unit);
        // Reductions that go out meanwhile slow it from there on.
        while (reduce_until(end, 1)) end = end_of(unit);
        now_ = end;
        out_.slowed += now_ - start - unit.compute;
        if (blocks_ != nullptr)
            blocks_->push_back(
                {true, false, TrafficLane::fast, LaneCall::gather, unit_, start, start, now_, 0});
        window_ = now_ - start;
        took_ = now_ - began;
        last_ = &unit;
        const double scattered = issue(LaneCall::scatter, unit.call[LaneCall::scatter], now_, unit_);
        const LaneSeconds& reduce = unit.call[LaneCall::reduce];
        if (reduce[TrafficLane::fast] > 0 || reduce[TrafficLane::card] > 0)
            pending_.push_back({scattered, unit_, reduce});
        ++unit_;
        for (Queue& q : queue_) q.forget_before(now_);
    }

    // Issues reductions whose scatter has ended by then, the earliest first, so many at most.
    bool reduce_until(double time, int most = kMostPending) {
        bool any = false;
        for (; most > 0; --most) {
            int first = -1;
            for (int i = 0; i < pending_.size(); ++i)
                if (pending_[i].issued <= time && (first < 0 || pending_[i].issued < pending_[first].issued))
                    first = i;
            if (first < 0) return any;
            const Pending p = pending_[first];
            for (int i = first + 1; i < pending_.size(); ++i) pending_[i - 1] = pending_[i];
            pending_.resize(pending_.size() - 1);
            issue(LaneCall::reduce, p.seconds, p.issued, p.unit);
            any = true;
        }
        return any;
    }

    void wait_for_weights(const LaneUnit& unit) {
        const Ready ready = ready_[0];
        for (int i = 1; i < ready_.size(); ++i) ready_[i - 1] = ready_[i];
        ready_.resize(ready_.size() - 1);
        const TrafficLane lane = ready.end[TrafficLane::card] >= ready.end[TrafficLane::fast]
                                     ? TrafficLane::card
                                     : TrafficLane::fast;
        const double waits = ready.end[lane] - now_;
        if (!(waits > 0)) return;
        // Behind the embedding, which is only read, nothing can hide either.
        constexpr double kNothing = 0.1;
        const double own = unit.gather()[lane];
        wait(lane, {now_, ready.end[lane]}, LaneCall::gather,
             unit_ == 0 || window_ < kNothing * own ? WaitsBecause::nothing_to_hide_behind
             : own <= window_                       ? WaitsBecause::card_busy
                                                    : WaitsBecause::longer_than_window);
        now_ = ready.end[lane];
    }

    // Returns the end of a unit that begins now: next to traffic it is slower.
    double end_of(const LaneUnit& unit) const {
        const double share = unit.compute > 0 ? std::clamp(unit.works / unit.compute, 0.0, 1.0) : 0;
        const double one = 1 - (1 - std::clamp(rules_.rate, 0.0, 1.0)) * share;
        const std::array<double, kEnumCount<TrafficLane> + 1> rates{1, one, one / (2 - one)};
        double at = now_, left = unit.compute;
        EnumArray<TrafficLane, int> ahead{};  // the first busy time of each lane that does not end by then
        while (left > 0) {
            std::size_t active = 0;
            double next = std::numeric_limits<double>::infinity();
            for (const TrafficLane lane : all_of<TrafficLane>()) {
                const auto& busy = queue_[lane].busy;
                int& i = ahead[lane];
                while (i < busy.size() && busy[i].to <= at) ++i;
                if (i == busy.size()) continue;
                if (busy[i].from <= at) ++active;
                next = std::min(next, busy[i].from <= at ? busy[i].to : busy[i].from);
            }
            const double rate = rates[std::min(active, rates.size() - 1)];
            if (rate > 0 && at + left / rate <= next) return at + left / rate;
            left -= (next - at) * rate;
            at = next;
        }
        return at;
    }

    void finish() {
        reduce_until(std::numeric_limits<double>::infinity());
        const TrafficLane lane = queue_[TrafficLane::card].last_end >= queue_[TrafficLane::fast].last_end
                                     ? TrafficLane::card
                                     : TrafficLane::fast;
        const double tail = queue_[lane].last_end - now_;
        out_.end = now_;
        if (!(tail > 0)) return;
        out_.end += tail;
        const LaneCall last = queue_[lane].holds.back().call;
        const double own =
            std::min(last_->call[LaneCall::scatter][lane] + last_->call[LaneCall::reduce][lane], tail);
        wait(lane, {now_, out_.end - own}, last,
             shared_[lane] ? WaitsBecause::card_busy : WaitsBecause::longer_than_window);
        wait(lane, {out_.end - own, out_.end}, last, WaitsBecause::nothing_to_hide_behind);
    }

    // Counts the compute's wait for this lane by the call that has the lane meanwhile. Where none has it,
    // what it waits for waits for the other lane itself.
    void wait(TrafficLane lane, const Busy& time, LaneCall waits_for, WaitsBecause why) {
        double at = time.from;
        for (const Holds& h : queue_[lane].holds) {
            if (h.time.to <= at || h.time.from >= time.to) continue;
            wait_for_other(lane, {at, h.time.from}, waits_for, why);
            at = std::min(h.time.to, time.to);
            count(h.call, lane, at - std::max(h.time.from, time.from), why);
        }
        wait_for_other(lane, {at, time.to}, waits_for, why);
    }
    void wait_for_other(TrafficLane lane, const Busy& time, LaneCall waits_for, WaitsBecause why) {
        double rest = time.to - time.from;
        if (!(rest > 0)) return;
        const TrafficLane other = lane == TrafficLane::card ? TrafficLane::fast : TrafficLane::card;
        for (const Holds& h : queue_[other].holds) {
            const double had = std::min(h.time.to, time.to) - std::max(h.time.from, time.from);
            if (!(had > 0)) continue;
            count(h.call, other, had, why);
            rest -= had;
        }
        if (rest > 0) count(waits_for, lane, rest, why);
    }
    void count(LaneCall call, TrafficLane lane, double seconds, WaitsBecause why) {
        out_.waited[call][lane] += seconds;
        out_.because[call][why] += seconds;
    }

    [[nodiscard]] State state() const {
        State s;
        for (const Queue& q : queue_) {
            s.put(std::max(q.free - now_, 0.0));
            for (const Busy& b : q.busy) {
                s.put(std::max(b.from - now_, 0.0));
                s.put(b.to - now_);
            }
        }
        for (const Ready& ready : ready_)
            for (const double end : ready.end) s.put(std::max(end - now_, 0.0));
        for (const Pending& p : pending_) s.put(std::max(p.issued - now_, 0.0));
        s.put(took_);
        return s;
    }

    // If the last step left all as the one before it did, so do those after it: nothing but differences of
    // times counts. Returns the number of steps that are done at once.
    std::int64_t jump(std::int64_t left) {
        if (left <= 1) return 0;
        if (pending_.size() > kFewBusy) return known_ = false, 0;
        for (const Queue& q : queue_)
            if (q.busy.size() > kFewBusy) return known_ = false, 0;
        const State now = state();
        const bool same = known_ && alike(now, known_state_);
        known_state_ = now;
        known_ = true;
        if (!same || gather_run_ != run_) return 0;
        const std::int64_t n = std::min(left, units_[run_].times - gather_done_);
        if (n <= 0) return 0;
        const auto times = static_cast<double>(n);
        const double by = took_ * times;
        now_ += by;
        for (Queue& q : queue_) q.shift(by);
        for (Ready& ready : ready_)
            for (double& end : ready.end) end += by;
        for (Pending& p : pending_) p.issued += by, p.unit += n;
        out_.slowed += (out_.slowed - before_.slowed) * times;
        for (const LaneCall c : all_of<LaneCall>()) {
            for (const TrafficLane l : all_of<TrafficLane>())
                out_.waited[c][l] += (out_.waited[c][l] - before_.waited[c][l]) * times;
            for (const WaitsBecause w : all_of<WaitsBecause>())
                out_.because[c][w] += (out_.because[c][w] - before_.because[c][w]) * times;
        }
        unit_ += n, gathered_ += n, gather_done_ += n;
        return n;
    }
    [[nodiscard]] bool alike(const State& a, const State& b) const {
        constexpr double kSame = 1e-13;
        if (a.value.size() != b.value.size()) return false;
        for (int i = 0; i < a.value.size(); ++i)
            if (std::abs(a.value[i] - b.value[i]) > kSame * now_) return false;
        return true;
    }

    std::span<const LaneUnit> units_;
    LaneRules rules_;
    std::int64_t ahead_;
    std::vector<LaneBlock>* blocks_;
    EnumArray<TrafficLane, bool> shared_{};  // another call than scatters and reductions uses it
    EnumArray<TrafficLane, Queue> queue_{};
    ShortList<Ready, kMostAhead + 2> ready_;  // of the next units, from the next one on
    std::size_t run_ = 0, gather_run_ = 0;
    std::int64_t gather_done_ = 0, gathered_ = 0;  // of that run; of all
    std::int64_t unit_ = 0;                        // the next one
    double now_ = 0, took_ = 0;
    double window_ = 0;  // seconds of the last unit, without its wait
    const LaneUnit* last_ = nullptr;
    ShortList<Pending, kMostPending> pending_;  // reductions whose scatter goes on
    LaneTimes out_, before_;
    State known_state_;
    bool known_ = false;
};

// Says which part of each call the compute does not wait for.
void find_hidden(std::vector<LaneBlock>& blocks) {
    std::vector<Busy> computes;
    for (const LaneBlock& b : blocks)
        if (b.computes) computes.push_back({b.start, b.end});
    for (LaneBlock& b : blocks) {
        if (b.computes) continue;
        auto c = std::lower_bound(computes.begin(), computes.end(), b.start,
                                  [](const Busy& x, double time) { return x.to <= time; });
        for (; c != computes.end() && c->from < b.end; ++c)
            b.hidden += std::min(c->to, b.end) - std::max(c->from, b.start);
    }
}

}  // namespace

LaneTimes replay_one_by_one(std::span<const LaneUnit> units, std::vector<LaneBlock>& out) {
    out.clear();
    double at = 0;
    std::int64_t unit = 0;
    const auto put = [&](LaneCall call, const LaneSeconds& seconds) {
        for (const TrafficLane lane : all_of<TrafficLane>())
            if (seconds[lane] > 0) {
                out.push_back({false, false, lane, call, unit, at, at, at + seconds[lane], 0});
                at += seconds[lane];
            }
    };
    for (const LaneUnit& u : units)
        for (std::int64_t i = 0; i < u.times; ++i, ++unit) {
            put(LaneCall::gather, u.gather());
            out.push_back(
                {true, false, TrafficLane::fast, LaneCall::gather, unit, at, at, at + u.compute, 0});
            for (const TrafficLane lane : all_of<TrafficLane>())
                if (u.taken[lane] > 0)
                    out.push_back({false, true, lane, LaneCall::gather, unit, at, at, at + u.taken[lane], 0});
            at += u.compute;
            put(LaneCall::scatter, u.call[LaneCall::scatter]);
            put(LaneCall::reduce, u.call[LaneCall::reduce]);
        }
    return one_by_one(units);
}

LaneTimes one_by_one(std::span<const LaneUnit> units) {
    LaneTimes out;
    for (const LaneUnit& u : units) {
        const auto times = static_cast<double>(u.times);
        out.end += u.compute * times;
        for (const LaneCall c : all_of<LaneCall>())
            for (const TrafficLane lane : all_of<TrafficLane>()) {
                const double s = u.call[c][lane] * times;
                out.end += s;
                out.waited[c][lane] += s;
                out.because[c][WaitsBecause::software_does_not_overlap] += s;
            }
    }
    return out;
}

LaneTimes run_lanes(std::span<const LaneUnit> units, const LaneRules& rules) {
    const LaneTimes serial = one_by_one(units), out = Walk(units, rules, nullptr).run();
    return out.end < serial.end ? out : serial;
}

LaneTimes replay_lanes(std::span<const LaneUnit> units, const LaneRules& rules, std::vector<LaneBlock>& out) {
    out.clear();
    LaneTimes times = Walk(units, rules, &out).run();
    find_hidden(out);
    return times;
}

std::string_view name_of(TrafficLane lane) {
    return lane == TrafficLane::fast ? "fast domain" : "network card";
}

}  // namespace pentamesh
