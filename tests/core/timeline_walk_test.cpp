#include "core/pipeline/timeline.h"
#include "schedule_shapes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace pentamesh;

namespace {

Timeline replayed(const ScheduleShape& shape, double send = 0.1) {
    Timeline t;
    run_timeline(shape, uniform_costs(shape, 1, 1.2, 0.8, send), t);
    return t;
}

}  // namespace

TEST_CASE("at any moment the op that runs is the one between whose start and end it lies") {
    for (const Schedule s : {Schedule::one_f_one_b, Schedule::zb_v, Schedule::dualpipe}) {
        const Timeline t = replayed(shape_of(s, 4, 8, s == Schedule::zb_v ? 2 : 1));
        for (int d = 0; d < 4; ++d)
            for (double time = -0.5; time < t.makespan + 1; time += 0.037) {
                std::ptrdiff_t expected = -1;
                const auto row = static_cast<std::size_t>(d);
                for (std::size_t i = t.order.begin[row]; i < t.order.begin[row + 1]; ++i)
                    if (t.start[i] <= time && time < t.end[i]) expected = static_cast<std::ptrdiff_t>(i);
                CHECK(op_at(t, d, time) == expected);
            }
    }
    const Timeline t = replayed(shape_of(Schedule::gpipe, 2, 2));
    CHECK(op_at(t, -1, 0) == -1);
    CHECK(op_at(t, 2, 0) == -1);
}

TEST_CASE("stepping from boundary to boundary meets every start and end, forwards and back") {
    const Timeline t = replayed(shape_of(Schedule::interleaved, 4, 8, 2));
    for (const int device : {-1, 2}) {
        std::set<double> all;
        for (std::size_t i = 0; i < t.order.ops.size(); ++i)
            if (device < 0 || device_of_op(t, i) == device) all.insert({t.start[i], t.end[i]});
        std::vector<double> there, back;
        for (auto at = next_boundary(t, -1, device); at; at = next_boundary(t, *at, device))
            there.push_back(*at);
        for (auto at = previous_boundary(t, t.makespan + 1, device); at;
             at = previous_boundary(t, *at, device))
            back.push_back(*at);
        std::reverse(back.begin(), back.end());
        CHECK(there == std::vector<double>(all.begin(), all.end()));
        CHECK(back == there);
    }
}

TEST_CASE("an op's outputs are the ops that have it as input, and those on other devices get a message") {
    for_each_shape(4, 8, [](const ScheduleShape& shape) {
        CAPTURE(label(shape));
        const Timeline t = replayed(shape);
        std::vector<std::set<std::size_t>> users(t.order.ops.size());
        for (std::size_t i = 0; i < t.order.ops.size(); ++i) {
            if (t.order.ops[i].kind == OpKind::W) continue;
            for (const std::ptrdiff_t from : inputs_of(t, i))
                if (from >= 0) users[static_cast<std::size_t>(from)].insert(i);
        }
        bool ok = true;
        for (std::size_t i = 0; i < t.order.ops.size(); ++i) {
            std::set<std::size_t> found;
            std::set<int> elsewhere;
            const int own = device_of_op(t, i);
            for (const std::ptrdiff_t to : outputs_of(t, i)) {
                if (to < 0) continue;
                found.insert(static_cast<std::size_t>(to));
                const int d = device_of_op(t, static_cast<std::size_t>(to));
                if (d != own) elsewhere.insert(d);
            }
            ok = ok && found == users[i];
            const SentTo sent = sent_to(t, own, t.order.ops[i]);
            std::set<int> messages;
            if (sent.forward >= 0) messages.insert(sent.forward);
            if (sent.backward >= 0) messages.insert(sent.backward);
            ok = ok && messages == elsewhere;
        }
        CHECK(ok);
    });
}
