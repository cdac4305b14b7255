// Reads what a run left behind: traces, logs and lists of collectives. The real and made files and
// their known answers: golden/measured/README.md.
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/runs/measured.h"
#include "core/runs/run_file.h"
#include "core/runs/run_layout.h"
#include "core/step/step.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace pentamesh;
using namespace pentamesh::runs;
using nlohmann::json;
using pentamesh::test::near;
using pentamesh::test::presets;
using pentamesh::test::within;

namespace {

const std::string kMeasured = std::string(GOLDEN_DIR) + "/measured/";

RunFile read_text(const std::string& text, const Mesh* mesh = nullptr) {
    std::istringstream in(text);
    return read_run_stream(in, "file", parts_by(mesh));
}
std::string refusal(const std::string& text) {
    try {
        static_cast<void>(read_text(text));
    } catch (const Error& e) {
        return e.message();
    }
    return "";
}
bool has(const std::string& text, std::string_view word) {
    return text.find(word) != std::string::npos;
}

Measured measure_folder(const std::string& name, bool with_plan) {
    const std::filesystem::path folder = kMeasured + name;
    const Plan plan = parse_plan(read_file(folder / "plan.json"), "plan.json", presets());
    const Mesh mesh = build_mesh(plan);
    std::vector<RunFile> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename() != "plan.json")
            files.push_back(read_run_file(entry.path(), parts_by(with_plan ? &mesh : nullptr)));
    return measure(std::move(files), with_plan ? &plan : nullptr, presets());
}
double measured_of(const Measured& m, RunPart part) {
    for (const PartRow& r : m.parts)
        if (r.part == part) return r.time.measured_s;
    return 0;
}
double total_of(const Measured& m, RunPart part) {
    for (const PartRow& r : m.parts)
        if (r.part == part) return r.time.total_s;
    return 0;
}
RunPart part_called(const std::string& name) {
    for (const RunPart p : all_of<RunPart>())
        if (name_of(p) == name) return p;
    return RunPart::dp;  // dp_shard
}
json answers() {
    return json::parse(read_file(std::filesystem::path(kMeasured + "answers.json")));
}

// Parts add up to the step, those that are predicted to the predicted one.
void check_sums(const Measured& m) {
    double measured = 0, predicted = 0;
    for (const PartRow& r : m.parts) measured += r.time.measured_s, predicted += r.predicted_s.value_or(0);
    CHECK(measured == near(*m.measured_s, 1e-6));
    if (m.predicted_s) CHECK(predicted == near(*m.predicted_s, 1e-9));
}

// Returns a trace of these events.
std::string trace_of(const std::string& events) {
    return R"({"distributedInfo": {"rank": 3, "world_size": 8}, "traceEvents": [)" + events + "]}";
}
std::string kernel(const std::string& name, double begin, double length, const std::string& args = "") {
    return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","ts":)" + std::to_string(begin) + R"(,"dur":)"
           + std::to_string(length) + R"(,"args":{)" + args + "}}";
}

}  // namespace

TEST_CASE("a trace's time goes to parts that add up to its step, over the axes of its groups") {
    const json all = answers();
    for (const std::string name : {"run2602-00", "run2602-02", "run2602-04", "run2602-09"}) {
        CAPTURE(name);
        const Measured m = measure_folder(name, true);
        const json& known = all[name];
        REQUIRE(m.files.size() == 1);
        CHECK(m.files[0].kind == RunFileKind::kineto);
        CHECK(m.files[0].rank == known["rank"].get<std::int64_t>());
        CHECK(m.files[0].steps == 3);
        CHECK(*m.measured_s == near(known["step_s"].get<double>(), 1e-6));
        for (const auto& item : known["parts"].items()) {
            const std::string& part = item.key();
            const double seconds = item.value().get<double>();
            CAPTURE(part);
            const RunPart p =
                name == "run2602-09" && part == "dp_shard" ? RunPart::unnamed : part_called(part);
            CHECK(measured_of(m, p) == near(seconds, 1e-4));
            if (known["total"].contains(part))
                CHECK(total_of(m, p) == near(known["total"][part].get<double>(), 1e-4));
        }
        check_sums(m);
    }
}

TEST_CASE("without a plan groups are known by their descriptions only") {
    const Measured named = measure_folder("run2602-00", false);
    const json all = answers();
    CHECK(measured_of(named, RunPart::tp) == near(all["run2602-00"]["parts"]["tp"].get<double>(), 1e-4));
    CHECK_FALSE(named.predicted_s.has_value());
    CHECK_FALSE(named.parts[0].predicted_s.has_value());
    const Measured unnamed = measure_folder("run2602-02", false);  // descriptions are "undefined"
    CHECK(measured_of(unnamed, RunPart::tp) == 0);
    const json& parts = all["run2602-02"]["parts"];
    CHECK(measured_of(unnamed, RunPart::unnamed)
          == near(parts["tp"].get<double>() + parts["dp_shard"].get<double>(), 1e-4));
    check_sums(unnamed);
}

TEST_CASE("a real trace without groups: sends are not taken for an axis") {
    const RunFile f = read_run_file(kMeasured + "sampled_rank-0.json.gz", parts_by(nullptr));
    const json known = answers()["sampled_rank-0"]["parts"];
    CHECK(f.rank == 0);
    CHECK(f.world == 128);
    CHECK(f.steps == 2);
    CHECK(f.parts[RunPart::unnamed]->measured_s == near(known["communication"].get<double>(), 1e-9));
    CHECK(f.parts[RunPart::memory]->measured_s == near(known["memory"].get<double>(), 1e-9));
    CHECK(f.parts[RunPart::idle]->measured_s == near(known["idle"].get<double>(), 1e-9));
    // The known answer counts kernels made of lambdas as the optimizer's (LAMB); the two together are the
    // same.
    CHECK(f.parts[RunPart::compute]->measured_s + f.parts[RunPart::optimizer]->measured_s
          == near(known["compute"].get<double>() + known["optimizer"].get<double>(), 1e-9));
    REQUIRE_FALSE(f.warnings.empty());
    CHECK(has(f.warnings[0], "pipeline or all-to-all"));
    const RunFile amd = read_run_file(kMeasured + "mi250.json.gz", parts_by(nullptr));
    CHECK(amd.rank == -1);
    CHECK(amd.steps == 2);
    // Its file has one kernel of SGD, of 8.481 us at 4.2e12 us, in two steps.
    CHECK(amd.parts[RunPart::optimizer]->measured_s == near(8.481e-6 / 2, 1e-4));
}

TEST_CASE("each instant of a GPU belongs to one part") {
    const std::string tp = R"("Process Group Description":"mesh_tp","Process Group Name":"1","Group size":2)";
    const std::string dp =
        R"("Process Group Description":"mesh_fsdp","Process Group Name":"2","Group size":4)";
    const RunFile f = read_text(trace_of(
        kernel("ncclAllGather", 10, 40, tp) + "," + kernel("ncclReduceScatter", 20, 50, dp) + ","
        + kernel("gemm", 30, 10) + "," + kernel("adam", 35, 10) + "," + kernel("lambda", 90, 5)
        + R"(,{"ph":"X","cat":"gpu_memcpy","name":"copy","ts":65,"dur":15})"
        + R"(,{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":0,"dur":100})"
        + R"(,{"ph":"X","cat":"cpu_op","name":"nccl","ts":0,"dur":1e6},{"ph":"X","cat":"kernel","name":"x","ts":5,"dur":-3})"));
    const auto us = [&](RunPart p) { return f.parts[p] ? f.parts[p]->measured_s * 1e6 : 0; };
    CHECK(us(RunPart::compute) == near(15));   // the product and what is made of a lambda
    CHECK(us(RunPart::optimizer) == near(5));  // 40 to 45: compute goes before it
    CHECK(us(RunPart::tp) == near(25));        // 10 to 30, 45 to 50
    CHECK(us(RunPart::dp) == near(20));        // 50 to 70
    CHECK(us(RunPart::memory) == near(10));    // 70 to 80
    CHECK(us(RunPart::idle) == near(25));
    CHECK(f.parts[RunPart::dp]->total_s * 1e6 == near(50));
    CHECK(f.step_s == near(100e-6));
    REQUIRE(f.warnings.size() == 1);
    CHECK(has(f.warnings[0], "1 event without a sensible time"));
}

TEST_CASE("a group is found by its ranks in the plan's mesh, also where only the first are written") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    const Mesh mesh = build_mesh(plan);
    const auto part = [&](GroupKind kind, const std::string& extra) {
        const std::vector<std::int64_t> members = group_members(mesh, kind, 0);
        std::string ranks = "[";
        for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 2); ++i)
            ranks += (i > 0 ? ", " : "") + std::to_string(members[i]);
        ranks += members.size() > 2 ? ", ..., " + std::to_string(members.back()) + "]" : "]";
        const RunFile f = read_text(
            trace_of(kernel(
                "ncclAllGather", 10, 40,
                R"("Process Group Description":"undefined","Process Group Name":"1","Group size":)"
                    + std::to_string(members.size()) + R"(,"Process Group Ranks":")" + ranks + "\"" + extra)),
            &mesh);
        for (const RunPart p : all_of<RunPart>())
            if (f.parts[p] && f.parts[p]->measured_s > 0) return p;
        return RunPart::rest;
    };
    CHECK(part(GroupKind::tp, "") == RunPart::tp);
    CHECK(part(GroupKind::pp, "") == RunPart::pp);
    CHECK(part(GroupKind::dp, "") == RunPart::dp);
    CHECK(part(GroupKind::pp, R"(,"Global rank start":0,"Global rank stride":1)") == RunPart::unnamed);
}

TEST_CASE("logs of Megatron with timers and of torchtitan are read") {
    const json all = answers();
    for (const std::string name : {"run2602-01", "run2602-07"}) {
        CAPTURE(name);
        const Measured m = measure_folder(name, true);
        CHECK(m.files[0].kind == RunFileKind::megatron_log);
        const json& known = all[name]["parts"];
        CHECK(*m.measured_s == near(known["step_s"].get<double>(), 1e-9));
        for (const RunPart p :
             {RunPart::compute, RunPart::pipeline, RunPart::dp, RunPart::optimizer, RunPart::rest}) {
            CAPTURE(name_of(p));
            CHECK(measured_of(m, p) == near(known[std::string(name_of(p))].get<double>(), 1e-3));
        }
        check_sums(m);
    }
    const Measured titan = measure_folder("run2602-05", true);
    CHECK(titan.files[0].kind == RunFileKind::torchtitan_log);
    CHECK(*titan.measured_s == near(all["run2602-05"]["parts"]["step_s"].get<double>(), 1e-9));
    CHECK_FALSE(measure_folder("run2602-05", false).measured_s.has_value());  // it needs the tokens of a step
}

TEST_CASE("timers are read in all their forms, and not those of a checkpoint") {
    const auto parts = [](const std::string& timers) {
        return read_text(
            " iteration 1/ 9 | elapsed time per iteration (ms): 100.0 | global batch size:    64 |\n"
            + timers);
    };
    const RunFile all = parts(
        "times across ranks (ms):\n  forward-backward:\n     rank  0: 60.0\n     rank  1: 70.0\n"
        "  forward-compute:\n     rank  0: 20.5\n     rank  1: 10.0\n"
        "saving checkpoint\n(min, max) time across ranks (ms):\n    forward-backward ...: (1.0, 900.0)\n");
    CHECK(all.global_batch == 64);
    CHECK(all.parts[RunPart::compute]->measured_s == near(0.0205));
    CHECK(all.parts[RunPart::pipeline]->measured_s == near(0.0495));
    CHECK(all.parts[RunPart::rest]->measured_s == near(0.030));
    const RunFile old = parts("time (ms) | forward-compute: 58.16 | backward-compute: 10.2 | "
                              "forward-backward: 80.0 | optimizer: 30.0\n");
    CHECK(old.parts[RunPart::compute]->measured_s == near(0.06836));
    CHECK(old.parts[RunPart::rest]->measured_s == 0);  // maxima of different ranks exceed the step
    CHECK(std::ranges::any_of(old.warnings, [](const std::string& w) { return has(w, "below 0"); }));
    const RunFile level1 =
        parts("max time across ranks (ms):\n    forward-backward ....: 80.0\n    optimizer ...: 15.0\n");
    CHECK_FALSE(level1.parts[RunPart::compute].has_value());
    CHECK(level1.parts[RunPart::pipeline]->measured_s == near(0.080));
}

TEST_CASE("a run faster than its useful work is impossible") {
    const Measured m = measure_folder("run2602-08", true);
    CHECK_FALSE(m.possible);
    REQUIRE(m.problems.size() == 1);
    CHECK(has(m.problems[0].message, "4.47 s would be 166 % of the bf16 peak: is the batch 256, or fp8?"));
    // The largest batch is as much smaller as the step is too short.
    CHECK(*m.ideal_s / *m.measured_s == near(1.66, 0.005));
    CHECK(has(m.problems[0].message, "a batch of 153 is possible at most"));
}

TEST_CASE("the Inspector's calls of several ranks give the transfer and who comes last") {
    const Measured m = measure_folder("run2602-03", true);
    const json known = answers()["run2602-03"]["collectives"];
    CHECK(m.files.size() == 4);
    CHECK_FALSE(m.measured_s.has_value());
    REQUIRE(m.collectives.size() == known.size());
    for (const CollectiveRow& r : m.collectives) {
        const json& k = known[r.collective + "/" + std::to_string(r.bytes)];
        CHECK(r.axis == k["axis"].get<std::string>());
        CHECK(r.ranks == k["ranks"].get<std::int64_t>());
        CHECK(r.calls == k["calls"].get<std::size_t>());
        REQUIRE(r.transfer_s.has_value());
        CHECK(*r.transfer_s == near(k["transfer_us"].get<double>() / 1e6, 1e-6));
        CHECK(r.median_s > *r.transfer_s);
        CHECK(r.last_rank >= 0);
        CHECK(r.last_share >= 0.25);
    }
    REQUIRE(m.collectives[0].predicted_s.has_value());  // 64 MiB is the plan's own all-gather
    const Measured one =
        measure({read_run_file(kMeasured + "run2602-03/node2-pid1639469.log.gz", parts_by(nullptr))}, nullptr,
                presets());
    CHECK_FALSE(one.collectives[0].transfer_s.has_value());
    CHECK(one.collectives[0].axis == "tp");
}

TEST_CASE("two ranks' traces of a group: the shortest time of each call is the transfer") {
    const auto rank = [](int number, double first, double second) {
        const std::string args =
            R"("Process Group Description":"mesh_tp","Process Group Name":"1","Group size":2,"Process Group Ranks":"[2, 3]",)"
            R"("Collective name":"_allgather_base","In msg nelems":512,"Out msg nelems":1024,"dtype":"BFloat16")";
        std::string text =
            trace_of(kernel("nccl", 10, first, args) + "," + kernel("nccl", 500, second, args));
        text.replace(text.find("\"rank\": 3"), 9, "\"rank\": " + std::to_string(number));
        return read_text(text);
    };
    const Measured m = measure({rank(2, 30, 60), rank(3, 20, 50)}, nullptr, presets());
    REQUIRE(m.collectives.size() == 1);
    const CollectiveRow& r = m.collectives[0];
    CHECK(r.collective == "AllGather");
    CHECK(r.bytes == 2048);
    CHECK(*r.transfer_s == near(35e-6, 1e-6));
    CHECK(r.last_rank == 3);
    CHECK(r.last_share == 1);
}

TEST_CASE("a log of one figure says whether it is the first step's, which warms up") {
    const auto line = [](const std::string& number) {
        return " [2025-03-01 10:00:00] iteration " + number
               + " | consumed samples: 256 | elapsed time per iteration (ms): 20300.1 | global batch size: "
                 "64 |\n";
    };
    const RunFile first = read_text(line("       1/     100"));
    CHECK(first.warm_up);
    CHECK(has(measure({first}, nullptr, presets()).summary, "The first step, which warms up, takes 20.3 s"));
    const RunFile later = read_text(line("     500/    1000"));
    CHECK_FALSE(later.warm_up);
    REQUIRE(later.warnings.size() == 1);
    CHECK(has(later.warnings[0], "one figure, of step 500"));
    CHECK(has(measure({later}, nullptr, presets()).summary, "A step takes 20.3 s"));
    const RunFile two = read_text(line("       1/     100") + line("       2/     100"));
    CHECK_FALSE(two.warm_up);
    CHECK(two.warnings.empty());
    const RunFile titan =
        read_text("step:  1  loss: 12.25  memory:  9.84GiB(10.36%)  tps: 1,234  mfu: 5.0%\n");
    CHECK(titan.warm_up);
}

namespace {

// Returns the trace of a rank of the tp group of 8 in which rank 40 is the first.
RunFile traced(std::int64_t rank, double compute_s, double idle_s, double tp_s) {
    RunFile f;
    f.file = "rank" + std::to_string(rank), f.rank = rank, f.world = 64, f.steps = 1;
    f.step_s = compute_s + idle_s + tp_s;
    f.parts[RunPart::compute] = PartTime{compute_s, compute_s};
    f.parts[RunPart::idle] = PartTime{idle_s, idle_s};
    f.parts[RunPart::tp] = PartTime{tp_s, tp_s};
    RunGroup group{.name = "mesh_tp", .size = 8, .ranks = {}, .own_name = "1"};
    for (std::int64_t r = rank / 8 * 8; r < rank / 8 * 8 + 8; ++r) group.ranks.push_back(r);
    f.groups.push_back(group);
    return f;
}

// Returns the ranks that are slow of eight whose compute takes so long, in a step of 4 s.
std::vector<std::int64_t> slow_of(const std::vector<double>& compute_s) {
    std::vector<RunFile> files;
    for (std::size_t i = 0; i < compute_s.size(); ++i)
        files.push_back(traced(40 + static_cast<std::int64_t>(i), compute_s[i], 0.2, 3.8 - compute_s[i]));
    const Measured m = measure(std::move(files), nullptr, presets());
    std::vector<std::int64_t> out;
    for (const SlowRank& s : m.slow) out.push_back(m.ranks[s.row].rank);
    return out;
}

}  // namespace

TEST_CASE("of several ranks the one that works longer than its peers is named, with what it has more") {
    std::vector<RunFile> files;
    for (std::int64_t r = 47; r >= 40; --r)
        files.push_back(r == 45 ? traced(r, 2.6, 0.2, 1.2) : traced(r, 2.0, 0.2, 1.8));
    const Measured m = measure(files, nullptr, presets());
    REQUIRE(m.ranks.size() == 8);
    CHECK(m.ranks[0].rank == 40);
    CHECK(m.ranks[5].own_s == near(2.8));
    CHECK(m.ranks[5].place.empty());
    REQUIRE(m.slow.size() == 1);
    CHECK(m.ranks[m.slow[0].row].rank == 45);
    CHECK(m.slow[0].part == RunPart::compute);
    CHECK(m.slow[0].more_s() == near(0.6));
    CHECK(m.slow[0].peers == 7);
    CHECK(has(m.summary, "Rank 45 is slow: compute takes " + time_text(2.6) + " a step, " + time_text(0.6)
                             + " more than for its 7 peers."));
    // A rank that is idle for longer is late as well; the plan says where it stands.
    for (RunFile& f : files)
        if (f.rank == 45) f = traced(45, 2.0, 0.8, 1.2);
    Plan plan = presets().plan("llama-3-70b-3d");
    plan.layout.tp = 8, plan.layout.pp = 2, plan.layout.dp_shard = 4, plan.layout.cp = 1;
    plan.layout.dp_replicate = 1, plan.layout.ep = 1;
    plan.cluster.gpus = 64;
    const Mesh mesh = build_mesh(plan);
    REQUIRE(mesh.world == 64);
    std::vector<RankRow> rows = rank_rows(files, &plan, &mesh, {});
    const std::vector<SlowRank> slow = find_slow_ranks(rows);
    REQUIRE(slow.size() == 1);
    CHECK(slow[0].part == RunPart::idle);
    CHECK(has(rows[slow[0].row].place, "tp 5"));
    CHECK(has(rows[slow[0].row].place, "node 5"));
    // By the names of hosts instead.
    Hosts hosts{.names = {"a", "b", "c", "d"}, .gpus_each = 16};
    CHECK(rank_rows(files, nullptr, nullptr, hosts)[5].place == "c");
}

TEST_CASE("ranks that tie, and those of other stages, are not slow") {
    CHECK(slow_of({2, 2, 2, 2, 2, 2, 2, 2}).empty());
    CHECK(slow_of({2, 2, 2, 2, 2, 2.6, 2.6, 2}) == std::vector<std::int64_t>{45, 46});
    CHECK(slow_of({2.6, 2.6, 2.6, 2.6, 2.6, 2, 2, 2}).empty());      // more than half
    CHECK(slow_of({2, 2.2, 2.4, 2.6, 2.8, 3.0, 3.2, 3.4}).empty());  // none stands apart
    CHECK(slow_of({2, 2, 2, 2, 2, 2.1, 2, 2}).empty());              // under 3 % of the step
    CHECK(slow_of({2, 2.6}) == std::vector<std::int64_t>{41});
    // Two groups of tp are no peers: they may be of two stages.
    std::vector<RunFile> files{traced(40, 2, 0.2, 1.8), traced(41, 2, 0.2, 1.8), traced(48, 3, 0.2, 0.8),
                               traced(49, 3, 0.2, 0.8)};
    CHECK(measure(files, nullptr, presets()).slow.empty());
    // Without groups nobody is known to be a peer.
    for (RunFile& f : files) f.groups.clear();
    const Measured m = measure(files, nullptr, presets());
    CHECK(m.slow.empty());
    CHECK(m.ranks[0].peers_of == -1);
}

TEST_CASE("of ranks that come at the same time nobody is last") {
    const auto file = [](std::int64_t rank, float seconds) {
        RunFile f = traced(rank, 2, 0.2, 1.8);
        f.calls.push_back({.group = 0,
                           .collective = "AllGather",
                           .bytes = 8,
                           .buffer = 8,
                           .seconds = {seconds, seconds},
                           .numbers = {}});
        return f;
    };
    const auto row = [&](float a, float b, float c) {
        return measure({file(40, a), file(41, b), file(42, c)}, nullptr, presets()).collectives.at(0);
    };
    CHECK(row(1, 1, 1).last_rank == -1);
    CHECK(row(1, 1.02F, 3).last_rank == -1);
    CHECK(*row(1, 1.02F, 3).transfer_s == near(1));
    CHECK(row(3, 1, 2).last_rank == 41);
    CHECK(row(3, 1, 2).last_share == 1);
}

TEST_CASE("what is no such file is refused by its name") {
    CHECK(has(refusal(trace_of(R"({"ph":"X","cat":"cpu_op","name":"mm","ts":1,"dur":2})")), "a CPU trace"));
    // torch_npu writes times as texts, and its device as a process.
    CHECK(has(
        refusal(
            R"([{"ph":"M","name":"process_name","pid":4,"args":{"name":"Ascend Hardware"}},)"
            R"({"ph":"X","name":"MatMul","pid":4,"tid":3,"ts":"201","dur":2,"args":{"Task Type":"AI_CORE"}}])"),
        "an accelerator that is no GPU (\"Ascend Hardware\")"));
    CHECK(has(refusal(trace_of(R"({"ph":"M","name":"process_name","pid":3,"args":{"name":"/device:TPU:0"}},)"
                               R"({"ph":"X","name":"fusion.1","pid":3,"tid":3,"ts":1,"dur":2})")),
              "an accelerator that is no GPU (\"/device:TPU:0\")"));
    CHECK(has(refusal(trace_of(R"({"ph":"M","name":"process_name","pid":3,"args":{"name":"/device:GPU:0"}},)"
                               R"({"ph":"X","name":"fusion.1","pid":3,"tid":3,"ts":1,"dur":2})")),
              "XLA's profiler"));
    CHECK(has(refusal(trace_of(R"({"ph":"X","cat":"hpu_op","name":"mm","ts":1,"dur":2})")),
              "no GPU (\"hpu_op\")"));
    CHECK(has(refusal(trace_of(R"({"ph":"X","cat":"build","name":"cc","ts":1,"dur":2})")),
              "the category \"build\""));
    CHECK(has(refusal(trace_of(kernel("a", 1, 2)
                               + R"(,{"ph":"X","cat":"kernel","name":"b","pid":1,"ts":3,"dur":2})")),
              "kernels of several GPUs"));
    CHECK(has(refusal("{\"traceEvents\": []}"), "no events of a GPU"));
    CHECK(has(refusal("{\"a\": 1}"), "no list of events"));
    CHECK(has(refusal("{\"traceEvents\": [{"), "no valid JSON"));
    CHECK(has(refusal("nothing"), "is no run that can be read"));
    CHECK(refusal("") == "is empty");
    CHECK(has(refusal("{\"pg_config\": {}, \"pg_status\": {}}"), "pentamesh hang"));
    CHECK(has(refusal(R"({"format": "pentamesh.plan/1"})"), "a plan"));
    // Depth and length are bounded.
    CHECK(has(refusal("{\"traceEvents\": " + std::string(100, '[')), "more than 64 levels"));
    if (!test::kSanitized)  // 65 MiB take half a minute there
        CHECK(has(refusal("{\"traceEvents\": [\"" + std::string(std::size_t{65} << 20U, 'x') + "\"]}"),
                  "longer than 64 MiB"));
    CHECK_THROWS_AS(static_cast<void>(read_run_file(kMeasured + "none", parts_by(nullptr))), Error);
}

TEST_CASE("a predicted step that is written as a trace is measured as it was predicted") {
    for (const char* name : {"llama-3-70b-3d", "llama-3-8b-fsdp", "deepseek-v3-2048"}) {
        CAPTURE(std::string(name));
        const Plan plan = presets().plan(name);
        const Evaluation e = evaluate(plan);
        REQUIRE(e.step.has_value());
        const StepTrace step(plan, e.timeline, e.comm, e.work, *e.step);
        TraceNames names{"", {}, {}, e.step->time_s};
        names.kernels = [&](int device, std::size_t op, std::vector<TraceSlice>& out) {
            step.add(device, op, out);
        };
        const json all = json::parse(chrome_trace(e.timeline, e.costs, names));
        json one{{"traceEvents", json::array()}};
        std::map<std::pair<int, int>, double> free;  // a track's slices follow one another
        for (const json& event : all["traceEvents"]) {
            if (event["ph"] != "X") continue;
            if (event["pid"] == e.comm.busiest_device || event["pid"] == e.timeline.shape.devices)
                one["traceEvents"].push_back(event);
            if (event["cat"] != "kernel") continue;
            double& until = free[{event["pid"], event["tid"]}];
            CAPTURE(event.dump());
            CHECK(event["ts"].get<double>() >= until - 0.002);
            until = event["ts"].get<double>() + event["dur"].get<double>();
        }
        const RunFile f = read_text(one.dump());
        CHECK(f.steps == 1);
        CHECK(f.step_s == near(e.step->time_s, 1e-6));
        EnumArray<RunPart, bool> measured{};
        for (const RunPart p : all_of<RunPart>()) measured[p] = f.parts[p].has_value();
        const auto predicted = predict_parts(e, Division::trace, e.comm.busiest_device, measured);
        // Transfers of two axes may go on at once: the one that began first has the time.
        double communicates = 0, expected = 0;
        for (const RunPart p : all_of<RunPart>()) {
            CAPTURE(name_of(p));
            const double seconds = f.parts[p] ? f.parts[p]->measured_s : 0;
            const bool axis = p >= RunPart::tp && p <= RunPart::dp;
            if (axis) communicates += seconds, expected += predicted[p];
            if (!axis) CHECK(seconds == within(predicted[p], 3e-3 * e.step->time_s));
        }
        CHECK(communicates == within(expected, 3e-3 * e.step->time_s));
    }
}

TEST_CASE("a text of the Inspector may end in backslashes, hold quotes and braces") {
    const auto call = [](const std::string& name, int number) {
        return R"({"header": {"id": "0x1", "comm_name": ")" + name
               + R"(", "rank": 0, "n_ranks": 2}, "metadata": {"inspector_output_format_version": "v4.0"}, "coll_perf": {"coll": "AllGather", "coll_sn": )"
               + std::to_string(number)
               + R"(, "coll_msg_size_bytes": 1024, "coll_exec_time_us": 12, "coll_algobw_gbs": 0.08}})";
    };
    const RunFile f =
        read_text(call(R"(mesh\\)", 0) + "\n" + call(R"(a \" { b)", 1) + call(R"(\\\\)", 2) + "\n");
    REQUIRE(f.groups.size() == 3);
    CHECK(f.groups[0].name == R"(mesh\)");
    CHECK(f.groups[1].name == R"(a " { b)");
    CHECK(f.groups[2].name == R"(\\)");
    CHECK(f.calls.size() == 3);
    CHECK(f.warnings.empty());
}

// deepspeed/utils/timer.py: the batch of the throughput timer is train_batch_size, of the whole job.
TEST_CASE("the lines of DeepSpeed's throughput timer are steps and a peak of memory") {
    std::string log;
    for (int step = 10; step <= 50; step += 10)
        log += "[2026-04-18 01:41:59,171] [INFO] [timer.py:199:stop] epoch=0/micro_step="
               + std::to_string(step) + "/global_step=" + std::to_string(step)
               + ", RunningAvgSamplesPerSec=60.5, CurrSamplesPerSec=64.0, MemAllocated=3.96GB, "
                 "MaxMemAllocated=22.95GB\n";
    const RunFile file = read_run_log(log);
    CHECK(file.kind == RunFileKind::deepspeed_log);
    CHECK(file.steps == 5);
    CHECK(file.samples_per_s == near(64.0, 1e-9));
    CHECK(file.peak_bytes == near(22.95 * (1 << 30), 1e-9));
    Plan plan = test::presets().plan("mesh-8");
    plan.training.global_batch = 128;
    const Measured m = measure({file}, &plan, test::presets());
    REQUIRE(m.measured_s);
    CHECK(*m.measured_s == near(2.0, 1e-9));
    const Measured alone = measure({file}, nullptr, test::presets());
    CHECK_FALSE(alone.measured_s.has_value());
    CHECK(alone.summary.find("64") != std::string::npos);
}
