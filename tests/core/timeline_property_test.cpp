// Tests properties of every timeline, over random shapes and costs.
#include "core/pipeline/timeline.h"
#include "schedule_shapes.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

struct Drawn {
    ScheduleShape shape;
    TimelineCosts costs;
};

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(seed) {}
    int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
    double real(double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random_);
    }

    ScheduleShape shape(int most_p, int most_m) {
        for (;;) {
            const ScheduleShape s =
                shape_of(static_cast<Schedule>(whole(0, kScheduleCount - 1)), whole(1, most_p),
                         whole(1, most_m), whole(1, 5), whole(0, 1) * whole(1, most_m));
            if (accepts(s)) return s;
        }
    }
    // Gives every chunk its own costs, and a slow device in half of the draws.
    Drawn uneven(int most_p, int most_m) {
        Drawn d{shape(most_p, most_m), {}};
        d.costs = uniform_costs(d.shape, 1, 1, 1, real(0, 1), real(2, 3));
        for (ChunkCost& c : d.costs.chunk) c = {real(0.1, 2), real(0.1, 2), real(0.1, 2)};
        if (whole(0, 1) == 1) {
            d.costs.slow.assign(static_cast<std::size_t>(d.shape.devices), 1);
            d.costs.slow[static_cast<std::size_t>(whole(0, d.shape.devices - 1))] = real(1, 3);
        }
        return d;
    }

  private:
    std::mt19937 random_;
};

// Says when each half of each op ran: (kind, stage of its copy, copy, micro-batch).
using ScheduledPass = std::tuple<OpKind, int, int, int>;
struct Ran {
    double start = 0, end = 0;
    int device = 0;
};

std::map<ScheduledPass, Ran> parts_of(const Timeline& t) {
    std::map<ScheduledPass, Ran> parts;
    for (std::size_t i = 0; i < t.order.ops.size(); ++i) {
        const Op& op = t.order.ops[i];
        const int d = device_of_op(t, i);
        const auto add = [&](OpKind kind, int chunk, int microbatch) {
            const int copy = t.shape.schedule == Schedule::dualpipe ? chunk : 0;
            const bool once = parts
                                  .emplace(ScheduledPass{kind, stage_of(t.shape, d, chunk), copy, microbatch},
                                           Ran{t.start[i], t.end[i], d})
                                  .second;
            CHECK(once);
        };
        if (op.kind == OpKind::FB) {
            add(OpKind::F, op.chunk, op.microbatch);
            add(OpKind::B, op.backward_chunk, op.backward_microbatch);
        } else {
            add(op.kind, op.chunk, op.microbatch);
        }
    }
    return parts;
}

bool has_in_time(const std::map<ScheduledPass, Ran>& parts, const ScheduledPass& before, const Ran& after,
                 double send) {
    const auto found = parts.find(before);
    if (found == parts.end()) return false;
    const double delay = found->second.device == after.device ? 0 : send;
    return after.start >= found->second.end + delay - 1e-9;
}

}  // namespace

TEST_CASE("every micro-batch runs forward and backward once on every stage, after what it needs") {
    Draw draw(11);
    for (int k = 0; k < 250; ++k) {
        const Drawn d = draw.uneven(7, 20);
        CAPTURE(label(d.shape));
        Timeline t;
        run_timeline(d.shape, d.costs, t);
        REQUIRE(t.complete);
        const std::map<ScheduledPass, Ran> parts = parts_of(t);
        const bool two_copies = d.shape.schedule == Schedule::dualpipe;
        const int stages = d.shape.devices * (two_copies ? 1 : chunks_of(d.shape));
        int forwards = 0, backwards = 0;
        bool ok = true;
        for (const auto& [part, ran] : parts) {
            const auto [kind, stage, copy, m] = part;
            const ScheduledPass whole{OpKind::B, stage + 1, copy, m}, split{OpKind::I, stage + 1, copy, m};
            if (kind == OpKind::F) {
                ++forwards;
                ok =
                    ok
                    && (stage == 0 || has_in_time(parts, {OpKind::F, stage - 1, copy, m}, ran, d.costs.send));
            }
            if (kind == OpKind::B || kind == OpKind::I) {
                ++backwards;
                ok = ok && has_in_time(parts, {OpKind::F, stage, copy, m}, ran, d.costs.send);
                ok = ok
                     && (stage == stages - 1 || has_in_time(parts, whole, ran, d.costs.send)
                         || has_in_time(parts, split, ran, d.costs.send));
            }
            if (kind == OpKind::I) ok = ok && parts.count({OpKind::W, stage, copy, m}) == 1;
            if (kind == OpKind::W)
                ok = ok && has_in_time(parts, {OpKind::I, stage, copy, m}, ran, d.costs.send);
        }
        CHECK(ok);
        CHECK(forwards == stages * d.shape.microbatches);
        CHECK(backwards == stages * d.shape.microbatches);
    }
}

TEST_CASE("no device runs two ops at once, and busy is the sum of its ops") {
    Draw draw(12);
    for (int k = 0; k < 300; ++k) {
        const Drawn d = draw.uneven(8, 24);
        CAPTURE(label(d.shape));
        Timeline t;
        run_timeline(d.shape, d.costs, t);
        bool serial = true;
        for (std::size_t dev = 0; dev < t.device.size(); ++dev) {
            double busy = 0;
            for (std::size_t i = t.order.begin[dev]; i < t.order.begin[dev + 1]; ++i) {
                serial = serial && t.end[i] >= t.start[i];
                serial = serial && (i == t.order.begin[dev] || t.start[i] >= t.end[i - 1]);
                busy += t.end[i] - t.start[i];
            }
            CHECK(t.device[dev].busy == near(busy));
        }
        CHECK(serial);
    }
}

TEST_CASE("the makespan lies between the longest chain of needs and everything in a row") {
    Draw draw(13);
    for (int k = 0; k < 300; ++k) {
        const Drawn d = draw.uneven(8, 24);
        CAPTURE(label(d.shape));
        Timeline t;
        run_timeline(d.shape, d.costs, t);
        double serial = 0, sends = 0, busiest = 0;
        for (const DeviceTime& time : t.device) {
            serial += time.busy;
            busiest = std::max(busiest, time.busy);
        }
        for (const ChunkLink& l : t.sequence.link) sends += (l.before >= 0) + (l.after >= 0);
        CHECK(t.makespan >= busiest - 1e-9);
        CHECK(t.makespan <= serial + sends * d.shape.microbatches * d.costs.send + 1e-9);
        // Only one micro-batch runs: there and back again, in the order of its needs.
        double chain = 0;
        const int copy = 0;
        std::ptrdiff_t at = t.sequence.backward_op[static_cast<std::size_t>(copy)];
        for (bool more = true; more;) {
            const auto i = static_cast<std::size_t>(at);
            chain += t.end[i] - t.start[i];
            const auto inputs = inputs_of(t, i);
            at = std::max(inputs[0], inputs[1]);
            more = at >= 0;
        }
        CHECK(t.makespan >= chain - 1e-9);
    }
}

TEST_CASE("the critical path runs without a gap from the start to the makespan") {
    Draw draw(14);
    for (int k = 0; k < 200; ++k) {
        const Drawn d = draw.uneven(8, 24);
        CAPTURE(label(d.shape));
        Timeline t;
        run_timeline(d.shape, d.costs, t);
        const std::vector<std::size_t> path = critical_path(t, d.costs);
        REQUIRE(!path.empty());
        CHECK(t.start[path.front()] == 0);
        CHECK(t.end[path.back()] == t.makespan);
        for (std::size_t n = 1; n < path.size(); ++n) {
            const bool crosses = device_of_op(t, path[n - 1]) != device_of_op(t, path[n]);
            const double arrives = t.end[path[n - 1]] + (crosses ? d.costs.send : 0);
            CHECK(t.start[path[n]] == near(arrives));
            CHECK(waited_for(t, d.costs, path[n]) == static_cast<std::ptrdiff_t>(path[n - 1]));
        }
    }
}

TEST_CASE("memory over time starts and ends empty, never goes below, and peaks where the timeline says") {
    Draw draw(15);
    for (int k = 0; k < 200; ++k) {
        const Drawn d = draw.uneven(8, 24);
        CAPTURE(label(d.shape));
        Timeline t;
        run_timeline(d.shape, d.costs, t);
        for (int dev = 0; dev < d.shape.devices; ++dev) {
            const std::vector<InFlightStep> steps = in_flight(t, dev);
            double most = 0;
            for (std::size_t n = 0; n < steps.size(); ++n) {
                most = std::max(most, steps[n].held);
                CHECK(steps[n].held > -1e-9);
                if (n > 0) CHECK(steps[n].time > steps[n - 1].time);
            }
            CHECK(std::abs(steps.back().held) < 1e-9);
            CHECK(most == near(t.device[static_cast<std::size_t>(dev)].peak_in_flight));
        }
    }
}

TEST_CASE("closed forms of the peak equal the replay for every accepted shape of a grid") {
    for_each_shape(9, 24, [](const ScheduleShape& shape) {
        Timeline t;
        run_timeline(shape, uniform_costs(shape, 1, 1, 1, 0), t);
        REQUIRE(t.complete);
        for (int d = 0; d < shape.devices; ++d) {
            CAPTURE(label(shape));
            CAPTURE(d);
            CHECK(peak_in_flight(shape, d) == near(t.device[static_cast<std::size_t>(d)].peak_in_flight));
        }
    });
}

TEST_CASE("a closed form that says it is exact is exact") {
    Draw draw(16);
    std::array<int, kScheduleCount> exact{};
    for (int k = 0; k < 6000; ++k) {
        const ScheduleShape shape = draw.shape(9, 30);
        const double f = draw.real(0.2, 2), i = draw.real(0.2, 2), w = draw.real(0.2, 2);
        const double comm = draw.whole(0, 1) * draw.real(0, 1);
        const ClosedForm form = closed_form(shape, f, i, w, comm);
        if (!form.exact) continue;
        CAPTURE(label(shape));
        CAPTURE(f);
        CAPTURE(i);
        CAPTURE(w);
        CAPTURE(comm);
        Timeline t;
        run_timeline(shape, uniform_costs(shape, f, i, w, comm), t);
        double measure = t.makespan;
        if (form.span_measure) {
            measure = 0;
            for (const DeviceTime& d : t.device) measure = std::max(measure, d.last_end - d.first_start);
        }
        CHECK(measure == near(shape.microbatches * (f + i + w) + form.bubble, 1e-12));
        ++exact[static_cast<std::size_t>(shape.schedule)];
    }
    for (const int n : exact) CHECK(n > 10);
}

namespace {

// Returns the share of the makespan by which bubble_estimate may be off, as docs/schedules.md says. `send` is
// in forwards of a whole stage.
double tolerance(const ScheduleShape& s, double f, double comm) {
    constexpr double kExact = 1e-9;
    const bool dear = comm > 0.1 * f;
    switch (s.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
    case Schedule::looped_bfs:
    case Schedule::zb_h2: return kExact;
    case Schedule::interleaved: return comm <= f / s.chunks ? kExact : 0.20;
    case Schedule::zb_h1: return comm == 0 ? kExact : dear ? 0.03 : 0.015;
    case Schedule::zb_v: return dear ? 0.06 : 0.025;
    case Schedule::dualpipe: return dear ? 0.03 : 0.015;
    case Schedule::dualpipev: return dear ? 0.05 : 0.025;
    }
    return 0;
}

}  // namespace

TEST_CASE("the bubble without a replay is as near to the replay as promised") {
    Draw draw(17);
    for (int k = 0; k < 6000; ++k) {
        const ScheduleShape shape = draw.shape(10, 40);
        const double f = 1, i = draw.real(0.7, 1.5), w = draw.real(0.5, 1.3);
        const double comm = draw.whole(0, 2) * draw.real(0, 0.25);
        CAPTURE(label(shape));
        CAPTURE(i);
        CAPTURE(w);
        CAPTURE(comm);
        Timeline t;
        const TimelineCosts costs = uniform_costs(shape, f, i, w, comm);
        run_timeline(shape, costs, t);
        const double estimate = shape.microbatches * (f + i + w) + bubble_estimate(shape, f, i, w, comm);
        CHECK(std::abs(estimate - t.makespan) <= tolerance(shape, f, comm) * t.makespan);
        // For equal stages the chunks' costs give the same, unless idle pipelines could hide sends.
        CHECK(makespan_estimate(shape, costs) == near(estimate));
    }
}

// An overlapped pair takes less than its parts: the gain of the estimate is near the gain of the replay,
// within a pair.
TEST_CASE("the gain of overlapped pairs without a replay is the replay's") {
    for (const int p : {2, 4, 8})
        for (const int m : {2 * p, 4 * p, 8 * p}) {
            const ScheduleShape shape{Schedule::dualpipe, p, m, 1, 0};
            CAPTURE(p);
            CAPTURE(m);
            TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0);
            Timeline t;
            run_timeline(shape, costs, t);
            const double all = t.makespan, all_estimate = makespan_estimate(shape, costs);
            costs.pair_factor = 0.8;
            run_timeline(shape, costs, t);

            CHECK(all_estimate - makespan_estimate(shape, costs) == near(all - t.makespan, 1e-9));
        }
}

TEST_CASE("uneven stages: the makespan without a replay stays within 14 % of it, 4 % for half of the draws") {
    Draw draw(18);
    std::vector<double> errors;
    for (int k = 0; k < 2000; ++k) {
        ScheduleShape shape = draw.shape(8, 40);
        if (shape.microbatches < 2 * shape.devices) continue;
        TimelineCosts costs = uniform_costs(shape, 1, 1.1, 0.9, 0.05, 3 * draw.real(0.6, 1));
        for (ChunkCost& c : costs.chunk) {
            const double factor = draw.real(0.9, 1.1);
            c = {c.forward * factor, c.input_grad * factor, c.weight_grad * factor};
        }
        costs.slow.assign(static_cast<std::size_t>(shape.devices), 1);
        costs.slow[static_cast<std::size_t>(draw.whole(0, shape.devices - 1))] =
            draw.whole(0, 1) == 0 ? 1 : 1.4;
        CAPTURE(label(shape));
        Timeline t;
        run_timeline(shape, costs, t);
        errors.push_back(std::abs(makespan_estimate(shape, costs) / t.makespan - 1));
        CHECK(errors.back() < 0.14);
    }
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() / 2] < 0.04);
}
