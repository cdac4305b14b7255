// Tests the lanes of traffic: against a simulation that moves from event to event, by closed forms, and by
// what must be true of any plan.
#include "core/evaluate.h"
#include "core/step/lanes.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <deque>
#include <random>

using namespace pentamesh;
using test::near;

namespace {

using Units = std::vector<LaneUnit>;

// Simulates the same rules in another way: every lane serves a queue, and time goes on to the next end of a
// call or of a unit.
class Simulation {
  public:
    Simulation(const Units& runs, double rate, std::size_t ahead) : rate_(rate), ahead_(ahead) {
        for (const LaneUnit& u : runs)
            for (std::int64_t i = 0; i < u.times; ++i) units_.push_back(u);
        left_.resize(units_.size());
        scatter_left_.resize(units_.size());
    }

    double run() {
        gather_up_to(0);
        while (unit_ < units_.size() || busy()) {
            if (!computing_ && unit_ < units_.size() && left_[unit_] == 0) begin();
            advance();
        }
        return end_;
    }

  private:
    struct Job {
        double left = 0;
        bool slows = true;
        int* waits = nullptr;         // of what it is one of so many calls
        std::size_t reduces = kNone;  // the unit whose shard is reduced once it and its like have ended
    };
    static constexpr std::size_t kNone = ~std::size_t{0};

    void put(std::size_t lane, double seconds, bool slows, int* waits = nullptr,
             std::size_t reduces = kNone) {
        if (!(seconds > 0)) return;
        if (waits != nullptr) ++*waits;
        if (reduces != kNone) ++scatter_left_[reduces];
        queue_[lane].push_back({seconds, slows, waits, reduces});
    }
    void gather_up_to(std::size_t last) {
        for (; gathered_ <= last && gathered_ < units_.size(); ++gathered_)
            for (std::size_t l = 0; l < 2; ++l)
                put(l, units_[gathered_].gather()[l], true, &left_[gathered_]);
    }
    void reduce(std::size_t unit) {
        for (std::size_t l = 0; l < 2; ++l) put(l, units_[unit].call[LaneCall::reduce][l], true);
    }
    void begin() {
        computing_ = true;
        compute_left_ = units_[unit_].compute;
        for (std::size_t l = 0; l < 2; ++l) put(l, units_[unit_].taken[l], false);
        gather_up_to(unit_ + ahead_);
    }
    void end() {
        computing_ = false;
        end_ = now_;
        const std::size_t was = unit_++;
        const LaneSeconds& s = units_[was].call[LaneCall::scatter];
        for (std::size_t l = 0; l < 2; ++l) put(l, s[l], true, nullptr, was);
        if (scatter_left_[was] == 0) reduce(was);
    }
    [[nodiscard]] bool busy() const { return !queue_[0].empty() || !queue_[1].empty(); }

    void advance() {
        double slows = 0;
        for (const auto& q : queue_)
            if (!q.empty() && q.front().slows) ++slows;
        // One lane next to it: `rate_`; each more costs as much again of a second of compute.
        const double speed = slows == 0 ? 1 : 1 / (1 + slows * (1 / rate_ - 1));
        double step = computing_ ? compute_left_ / speed : 1e300;
        for (const auto& q : queue_)
            if (!q.empty()) step = std::min(step, q.front().left);
        now_ += step;
        if (computing_) compute_left_ -= step * speed;
        std::vector<std::size_t> reduces;
        for (auto& q : queue_) {
            if (q.empty()) continue;
            Job& job = q.front();
            job.left -= step;
            if (job.left > 1e-12 * now_) continue;
            if (job.slows) end_ = now_;  // a layer's own call makes nothing wait behind the compute
            if (job.waits != nullptr) --*job.waits;
            if (job.reduces != kNone && --scatter_left_[job.reduces] == 0) reduces.push_back(job.reduces);
            q.pop_front();
        }
        for (const std::size_t unit : reduces) reduce(unit);
        if (computing_ && compute_left_ <= 1e-12 * now_) end();
        if (!computing_ && unit_ < units_.size() && left_[unit_] == 0) begin();
    }

    double rate_;
    std::size_t ahead_;
    Units units_;
    std::deque<Job> queue_[2];
    std::deque<int> left_, scatter_left_;  // calls that a unit waits for, and that its reduction waits for
    std::size_t unit_ = 0, gathered_ = 0;
    bool computing_ = false;
    double now_ = 0, end_ = 0, compute_left_ = 0;
};

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double seconds(double most) { return std::uniform_real_distribution<double>(0, most)(random_); }
    bool one_of(unsigned n) { return random_() % n == 0; }
    std::int64_t count(unsigned most) { return 1 + static_cast<std::int64_t>(random_() % most); }

    // Draws a pass: gathers, scatters and reductions on lanes of their own, longer and shorter than compute.
    Units pass() {
        Units out(static_cast<std::size_t>(count(4)));
        LaneSeconds most[3];
        for (LaneSeconds& kind : most)
            for (double& s : kind) s = one_of(2) ? 0 : seconds(2);
        const bool shares = one_of(3);
        for (LaneUnit& u : out) {
            u.compute = 0.01 + seconds(1);
            u.works = u.compute;
            u.times = count(60);
            for (const LaneCall c : all_of<LaneCall>())
                for (const TrafficLane l : all_of<TrafficLane>())
                    u.call[c][l] = seconds(most[static_cast<std::size_t>(c)][l]);
            if (shares)
                for (double& t : u.taken) t = seconds(u.compute);
        }
        return out;
    }

  private:
    std::mt19937 random_;
};

double compute_of(const Units& units) {
    double sum = 0;
    for (const LaneUnit& u : units) sum += u.compute * static_cast<double>(u.times);
    return sum;
}

LaneUnit layer(double compute, double gather, double scatter, std::int64_t times) {
    LaneUnit u;
    u.compute = u.works = compute, u.times = times;
    u.call[LaneCall::gather][TrafficLane::card] = gather;
    u.call[LaneCall::scatter][TrafficLane::card] = scatter;
    return u;
}

}  // namespace

TEST_CASE("a pass takes as long as a simulation of its lanes, whether its layers are walked or skipped") {
    Draw draw(3);
    int hid = 0, waited = 0;
    for (int i = 0; i < 2000; ++i) {
        const Units units = draw.pass();
        const double rate = draw.one_of(4) ? 1 : 1 - draw.seconds(0.6);
        const LaneRules rules{rate, draw.one_of(4) ? draw.count(5) : 1};
        CAPTURE(i);
        std::vector<LaneBlock> blocks;
        const LaneTimes all = replay_lanes(units, rules, blocks), closed = run_lanes(units, rules);
        const LaneTimes serial = one_by_one(units);
        const double simulated = Simulation(units, rate, static_cast<std::size_t>(rules.ahead)).run();
        CHECK(all.end == near(simulated, 1e-9));
        CHECK(closed.end == near(std::min(all.end, serial.end), 1e-9));
        CHECK(closed.end == near(compute_of(units) + closed.slowed + closed.waits(), 1e-9));
        double reasons = 0;
        for (const auto& kind : closed.because)
            for (const double s : kind) reasons += s;
        CHECK(reasons == near(closed.waits(), 1e-9));
        // No call is waited for longer than it has its lane.
        const bool shares = std::any_of(units.begin(), units.end(), [](const LaneUnit& u) {
            return u.taken[TrafficLane::fast] > 0 || u.taken[TrafficLane::card] > 0;
        });
        for (const LaneCall c : all_of<LaneCall>())
            for (const TrafficLane l : all_of<TrafficLane>())
                if (!shares)
                    CHECK(closed.waited[c][l] <= serial.waited[c][l] * (1 + 1e-9) + 1e-9 * closed.end);
        hid += closed.end < serial.end * (1 - 1e-9) ? 1 : 0;
        waited += closed.waits() > 0 ? 1 : 0;
    }
    CHECK(hid > 1500);
    CHECK(waited > 1500);
}

TEST_CASE(
    "a forward of like layers waits for the first gather, then for what each gather is longer than a layer") {
    for (const double gather : {0.3, 1.0, 2.5}) {
        const Units units{layer(1, gather, 0, 80)};
        const LaneTimes t = run_lanes(units, {1, 1});
        CHECK(t.end == near(gather + 79 * std::max(1.0, gather) + 1));
        CHECK(t.waits() == near(gather + 79 * std::max(0.0, gather - 1)));
        CHECK(t.because[LaneCall::gather][WaitsBecause::nothing_to_hide_behind] == near(gather));
        // Compute next to a gather runs at 0.8: it takes a quarter of the gather's time longer than 0.8 of
        // it.
        const double slower = gather < 1 ? 1 + 0.2 * gather : std::max(1.25, gather);
        if (gather != 1.0) CHECK(run_lanes(units, {0.8, 1}).end == near(gather + 79 * slower + 1));
    }
}

TEST_CASE("a backward ends with the last scatter, and one queue makes the next gather wait for a scatter") {
    // On the card 0.3 + 0.4 a layer: it hides but for the first gather and the last scatter.
    CHECK(run_lanes(Units{layer(1, 0.3, 0.4, 50)}, {1, 1}).end == near(0.3 + 50 + 0.4));
    // 0.6 + 0.7: the card is the wall.
    const LaneTimes wall = run_lanes(Units{layer(1, 0.6, 0.7, 50)}, {1, 1});
    CHECK(wall.waits() > 49 * 0.29);
    CHECK(wall.because[LaneCall::gather][WaitsBecause::card_busy] > 48 * 0.29);
    // Gradients once a step: the last bucket waits, and those that are longer than the compute between them.
    CHECK(run_lanes(Units{layer(1, 0, 0.5, 10)}, {1, 1}).end == near(10.5));
    CHECK(run_lanes(Units{layer(1, 0, 2, 10)}, {1, 1}).end == near(1 + 20));
}

TEST_CASE("the blocks of a replay are what its times say") {
    Draw draw(5);
    for (int i = 0; i < 300; ++i) {
        const Units units = draw.pass();
        std::vector<LaneBlock> blocks;
        const LaneTimes t = replay_lanes(units, {0.9, 1}, blocks);
        double compute = 0, end = 0;
        std::array<double, 2> until{};
        for (const LaneBlock& b : blocks) {
            CHECK(b.end >= b.start);
            if (b.own) continue;
            end = std::max(end, b.end);
            if (b.computes) {
                compute += b.end - b.start;
                continue;
            }
            CHECK(b.start >= b.issued * (1 - 1e-12));
            CHECK(b.hidden <= (b.end - b.start) * (1 + 1e-9));
            double& free = until[static_cast<std::size_t>(b.lane)];
            CHECK(b.start >= free * (1 - 1e-12));  // a lane carries one call at a time
            free = b.end;
        }
        CHECK(compute == near(compute_of(units) + t.slowed, 1e-9));
        CHECK(end == near(t.end, 1e-9));
    }
}

namespace {

// Draws plans of ZeRO-3 (or less) on nodes of 8 GPUs, dense and with experts.
Plan sharded_plan(std::mt19937& random, int zero) {
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
        return from.begin()[random() % from.size()];
    };
    Plan p = test::presets().plan("hsdp-64");
    p.layout = {};
    p.layout.zero = zero;
    const std::int64_t shard = pick({2, 4, 8, 16, 64, 256});
    p.layout.dp_shard = shard;
    const std::int64_t copies = pick({1, 1, 2});
    p.layout.dp_replicate = copies;
    p.layout.tp = pick({1, 1, 2});
    p.layout.sequence_parallel = p.layout.tp > 1;
    p.training.sequence_length = pick({512, 2048, 8192});
    p.training.micro_batch = 1;
    p.training.recompute = random() % 2 == 0 ? Recompute::full : Recompute::none;
    p.training.software = random() % 2 == 0 ? Software::fsdp : Software::megatron;
    const std::int64_t replicas = shard * copies;
    p.training.global_batch = replicas * pick({1, 2, 4});
    p.cluster.gpus = replicas * p.layout.tp;
    return p;
}

Evaluation figures(const Plan& p) {
    Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    REQUIRE(e.step.has_value());
    return e;
}

double waits_of_state(const Evaluation& e) {
    double sum = 0;
    for (const Operation& o : e.comm.operations)
        if (is_state_row(o)) sum += o.exposed_s;
    return sum;
}

}  // namespace

TEST_CASE(
    "half the network costs every plan that crosses it, and more GPUs in a shard group never save a wait") {
    std::mt19937 random(17);
    int crossing = 0;
    for (int i = 0; i < 300; ++i) {
        Plan p = sharded_plan(random, i % 4);
        CAPTURE(i);
        const Evaluation e = figures(p);
        Plan slow = p;
        for (std::size_t t = 1; t < slow.cluster.tiers.size(); ++t) slow.cluster.tiers[t].bytes_per_s /= 2;
        const double before = e.step->time_s, after = figures(slow).step->time_s;
        bool crosses = false;
        for (const Operation& o : e.comm.operations) crosses = crosses || o.tier > 0;
        crossing += crosses ? 1 : 0;
        if (crosses)
            CHECK(after > before * (1 + 1e-9));
        else
            CHECK(after == near(before));
        Plan wide = p;  // the same micro-batch on twice the GPUs
        wide.layout.dp_shard *= 2, wide.cluster.gpus *= 2, wide.training.global_batch *= 2;
        const Evaluation w = figures(wide);
        // The optimizer's share of a GPU shrinks; all else does not.
        if (p.layout.zero == 3)
            CHECK(w.step->time_s - w.step->optimizer_s >= (before - e.step->optimizer_s) * (1 - 1e-9));
    }
    CHECK(crossing > 150);
}

TEST_CASE(
    "each pass waits for its first gather and its last reduction, and a wire hides no more than a step") {
    std::mt19937 random(19);
    for (int i = 0; i < 300; ++i) {
        const Plan p = sharded_plan(random, i % 2 == 0 ? 3 : 1);
        CAPTURE(i);
        const Evaluation e = figures(p);
        const double all = e.comm.reduced.dense.all() + e.comm.reduced.experts.all();
        const double embedding = e.comm.held.embedding.all() / all;
        double least = 0;
        EnumArray<TrafficLane, double> hidden{};
        for (const Operation& o : e.comm.operations) {
            if (!is_state_row(o)) continue;
            hidden[o.tier > 0 ? TrafficLane::card : TrafficLane::fast] += o.time_s - o.exposed_s;
            CHECK((o.waits_because == WaitsBecause::nothing) == (o.exposed_s == 0));
            // The embedding is the first that is gathered and the last that is reduced; once a step a bucket
            // of it.
            if (p.layout.zero == 3 && (before_forward(o) || o.collective == Collective::reduce_scatter))
                least += o.time_s * embedding;
        }
        CHECK(waits_of_state(e) >= least * (1 - 1e-9));
        for (const double s : hidden) CHECK(s <= e.step->time_s);
        CHECK(e.step->slowed_by_traffic_s
              <= (1 - p.cluster.gpu.efficiency.overlap) * e.step->time_s * (1 + 1e-9));
    }
}

TEST_CASE(
    "70B on 1,024 H100 waits what a replay drawn by hand says, and HSDP wins where the wire is the wall") {
    const auto step = [](std::int64_t tokens, std::int64_t shard) {
        Plan p = test::presets().plan("hsdp-64");
        p.model = test::presets().model("llama-3.1-70b");
        p.layout = {};
        p.layout.zero = 3, p.layout.dp_shard = shard, p.layout.dp_replicate = 1024 / shard;
        p.training.sequence_length = tokens, p.training.micro_batch = 1, p.training.global_batch = 1024;
        p.training.recompute = Recompute::full, p.training.software = Software::torchtitan;
        p.cluster.gpus = 1024;
        return figures(p);
    };
    // look3/9_lanes: 0.79 of 3.72 s at 2K tokens a GPU, 72.5 ms of 11.2 s at 8K, 73.9 ms as HSDP over 8
    // nodes. Its times of layers were those of the day it was drawn, and it keeps the head from the forward
    // to the backward: its second gather, behind which nothing is, is not in those figures.
    const auto without_head = [](const Evaluation& e) {
        double head = 0;
        for (const Operation& o : e.comm.operations)
            if (o.what == What::parameters_again_for_the_backward)
                head += o.time_s * e.comm.held.head.all() / e.comm.reduced.dense.all();
        return waits_of_state(e) - head;
    };
    const Evaluation short_samples = step(2048, 1024), long_samples = step(8192, 1024),
                     copies = step(8192, 64);
    // The wire is the wall there, and the step takes what it takes: faster products wait longer.
    CHECK(short_samples.step->time_s == near(3.72, 0.05));
    CHECK(without_head(short_samples) > 0.7);
    CHECK(without_head(long_samples) == near(0.0725, 0.05));
    CHECK(without_head(copies) == near(0.0739, 0.05));
    CHECK(step(2048, 64).step->time_s < short_samples.step->time_s);
}
