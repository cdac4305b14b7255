#include "core/pipeline/trace.h"
#include "schedule_shapes.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace pentamesh;
using nlohmann::json;
using pentamesh::test::near;

namespace {

struct Traced {
    Timeline t;
    TimelineCosts costs;
    json events;
};

Traced trace(const ScheduleShape& shape, double send, const TraceNames& names = {}) {
    Traced r;
    r.costs = uniform_costs(shape, 1, 1.2, 0.8, send);
    run_timeline(shape, r.costs, r.t);
    const json parsed = json::parse(chrome_trace(r.t, r.costs, names));
    CHECK(parsed["displayTimeUnit"] == "ms");
    r.events = parsed["traceEvents"];
    return r;
}

std::vector<json> of_phase(const json& events, const char* phase) {
    std::vector<json> found;
    for (const json& e : events)
        if (e["ph"] == phase) found.push_back(e);
    return found;
}

}  // namespace

TEST_CASE("a trace has one slice an op, with its times in microseconds, its stage, chunk and micro-batch") {
    for (const Schedule s : {Schedule::one_f_one_b, Schedule::zb_h1, Schedule::dualpipe}) {
        const Traced r = trace(shape_of(s, 4, 8), 0);
        std::vector<json> slices;
        for (const json& e : of_phase(r.events, "X"))
            if (e["cat"] == "compute") slices.push_back(e);
        REQUIRE(slices.size() == r.t.order.ops.size());
        for (std::size_t i = 0; i < slices.size(); ++i) {  // device after device, in order
            const Op& op = r.t.order.ops[i];
            const int device = device_of_op(r.t, i);
            CHECK(slices[i]["pid"] == device);
            CHECK(slices[i]["tid"] == 0);
            CHECK(slices[i]["ts"].get<double>() == near(r.t.start[i] * 1e6));
            CHECK(slices[i]["dur"].get<double>() == near((r.t.end[i] - r.t.start[i]) * 1e6));
            CHECK(slices[i]["args"]["microbatch"] == op.microbatch);
            CHECK(slices[i]["args"]["chunk"] == op.chunk);
            CHECK(slices[i]["args"]["stage"] == stage_of(r.t.shape, device, op.chunk));
            const bool pair = op.kind == OpKind::FB;
            CHECK(slices[i]["args"].contains("backward_microbatch") == pair);
            if (pair) CHECK(slices[i]["args"]["backward_microbatch"] == op.backward_microbatch);
        }
        CHECK(slices[0]["name"] == "F 0");
    }
}

TEST_CASE("slices of one track never overlap, sends included, however long they take") {
    for (const double send : {0.05, 0.5, 3.7})
        for (const Schedule s : {Schedule::gpipe, Schedule::zb_h2, Schedule::dualpipe}) {
            const Traced r = trace(shape_of(s, 4, 8), send);
            std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
            std::size_t sends = 0;
            for (const json& e : of_phase(r.events, "X")) {
                const double from = e["ts"].get<double>();
                tracks[{e["pid"], e["tid"]}].emplace_back(from, from + e["dur"].get<double>());
                sends += e["cat"] == "send";
            }
            for (auto& [track, slices] : tracks) {
                std::sort(slices.begin(), slices.end());
                for (std::size_t k = 1; k < slices.size(); ++k)
                    CHECK(slices[k].first >= slices[k - 1].second - 1e-6);
            }
            CHECK(sends == 8 * 2 * 3);
        }
}

TEST_CASE(
    "an arrow leaves inside the slice that makes an input and lands where the one that needs it starts") {
    const Traced r = trace(shape_of(Schedule::interleaved, 4, 8, 2), 0.1);
    const auto inside = [&](const json& e) {
        for (const json& slice : of_phase(r.events, "X"))
            if (slice["pid"] == e["pid"] && slice["tid"] == e["tid"] && slice["ts"] <= e["ts"]
                && e["ts"].get<double>() < slice["ts"].get<double>() + slice["dur"].get<double>())
                return slice["name"].get<std::string>();
        return std::string();
    };
    const std::vector<json> starts = of_phase(r.events, "s"), ends = of_phase(r.events, "f");
    REQUIRE(starts.size() == ends.size());
    CHECK(starts.size() == 8 * 2 * (2 * 4 - 1));  // every border of the p * v stages, there and back
    std::set<int> ids;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        CHECK(starts[k]["id"] == ends[k]["id"]);
        CHECK(starts[k]["cat"] == ends[k]["cat"]);
        CHECK(starts[k]["name"] == ends[k]["name"]);
        CHECK(ends[k]["bp"] == "e");
        CHECK(starts[k]["pid"] != ends[k]["pid"]);
        ids.insert(starts[k]["id"].get<int>());
        const std::string from = inside(starts[k]), to = inside(ends[k]);
        CHECK((from.starts_with("F ") || from.starts_with("B ")));
        // "F 3" feeds "F 3" or, at the turn, nothing: kinds and micro-batches agree across devices.
        CHECK(from == to);
    }
    CHECK(ids.size() == starts.size());
}

TEST_CASE("devices are named and ordered, and the memory counter follows the timeline") {
    TraceNames names;
    names.title = "a \"quoted\" title";
    names.device = {"layers 0-7", "", "layers 16-23, \xff bad byte"};
    const Traced r = trace(shape_of(Schedule::one_f_one_b, 12, 16), 0, names);
    std::map<int, std::string> process;
    std::map<int, int> order;
    for (const json& e : of_phase(r.events, "M")) {
        if (e["name"] == "process_name") process[e["pid"]] = e["args"]["name"];
        if (e["name"] == "process_sort_index") order[e["pid"]] = e["args"]["sort_index"];
    }
    CHECK(process.size() == 12);
    CHECK(process[0] == "device 00: layers 0-7");
    CHECK(process[1] == "device 01");
    CHECK(process[2].rfind("device 02: layers 16-23", 0) == 0);
    CHECK(order[11] == 11);
    std::map<int, double> peak, last;
    for (const json& e : of_phase(r.events, "C")) {
        CHECK(e["name"] == "in flight");
        const double held = e["args"]["micro-batches"].get<double>();
        peak[e["pid"]] = std::max(peak[e["pid"]], held);
        last[e["pid"]] = held;
    }
    for (int d = 0; d < 12; ++d) {
        CHECK(peak[d] == near(r.t.device[static_cast<std::size_t>(d)].peak_in_flight));
        CHECK(last[d] == 0);
    }
}

TEST_CASE("an empty timeline is a valid trace without events") {
    CHECK(json::parse(chrome_trace({}, {}))["traceEvents"].empty());
}
