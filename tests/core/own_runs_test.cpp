// Reads files to calibrate from, as tools write them: a whole log of Megatron, tables of nccl-tests of
// several tiers.
#include "core/base/files.h"
#include "core/comm/collective_time.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/runs/calibrate.h"
#include "core/runs/run_layout.h"
#include "core/step/constants.h"
#include "tests/core/nccl_table.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;
using pentamesh::test::near;
using test::presets;

namespace {

// Returns a log as `pretrain_gpt.py` prints it: the lines before, the block of arguments, warnings between,
// iterations.
std::string megatron_log(const std::vector<double>& iteration_ms) {
    std::string log = "using world size: 16, data-parallel size: 8, context-parallel size: 1, hierarchical "
                      "context-parallel "
                      "sizes: None, tensor-model-parallel size: 2, pipeline-model-parallel size: 1\n"
                      "WARNING: overriding default arguments for tokenizer_type:GPT2BPETokenizer\n"
                      "using torch.bfloat16 for parameters ...\n"
                      "------------------------ arguments ------------------------\n"
                      "  accumulate_allreduce_grads_in_fp32 .............. True\n"
                      "  adam_beta1 ...................................... 0.9\n"
                      "  add_bias_linear ................................. False\n"
                      "  bf16 ............................................ True\n"
                      "  context_parallel_size ........................... 1\n"
                      "  data_parallel_size .............................. 8\n"
                      "  ffn_hidden_size ................................. 14336\n"
                      "  global_batch_size ............................... 64\n"
                      "  group_query_attention ........................... True\n"
                      "  hidden_size ..................................... 4096\n"
                      "  max_position_embeddings ......................... 8192\n"
                      "  micro_batch_size ................................ 1\n"
                      "  normalization ................................... RMSNorm\n"
                      "  num_attention_heads ............................. 32\n"
                      "  num_layers ...................................... 32\n"
                      "  num_query_groups ................................ 8\n"
                      "  overlap_grad_reduce ............................. True\n"
                      "  overlap_param_gather ............................ True\n"
                      "  padded_vocab_size ............................... 128256\n"
                      "  pipeline_model_parallel_size .................... 1\n"
                      "  position_embedding_type ......................... rope\n"
                      "  seq_length ...................................... 8192\n"
                      "  sequence_parallel ............................... True\n"
                      "  swiglu .......................................... True\n"
                      "  tensor_model_parallel_size ...................... 2\n"
                      "  transformer_impl ................................ transformer_engine\n"
                      "  untie_embeddings_and_output_weights ............. True\n"
                      "  use_distributed_optimizer ....................... True\n"
                      "  use_flash_attn .................................. True\n"
                      "  vocab_size ...................................... 128256\n"
                      "  world_size ...................................... 16\n"
                      "-------------------- end of arguments ---------------------\n"
                      "> initializing torch distributed ...\n"
                      "[rank0]: NCCL version 2.21.5+cuda12.4\n"
                      "time to initialize megatron (seconds): 12.104\n"
                      "[after training is done] datetime: 2025-03-01 10:00:00\n";
    int i = 0;
    for (const double ms : iteration_ms) {
        char line[400];
        std::snprintf(
            line, sizeof line,
            " [2025-03-01 10:%02d:00] iteration %8d/     100 | consumed samples: %12d | elapsed time per "
            "iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): 400.1 | learning rate: 1.0E-04 | "
            "global batch size:    64 | lm loss: 9.1E+00 | grad norm: 1.2 | number of skipped iterations:"
            "   0 | number of nan iterations:   0 |\n",
            i % 60, i + 1, (i + 1) * 64, ms);
        log += line;
        if (++i == 1)
            log +=
                "[Rank 0] (after 1 iterations) memory (MB) | allocated: 40123.1 | max allocated: 51234.0\n";
    }
    return log;
}

// Returns a table as nccl-tests prints it, of a wire that carries `busbw` and takes `latency` for the
// shortest call.
std::string nccl_table(int hosts, int each, double bus_bytes_per_s, double latency_s) {
    std::string s = test::nccl_head(hosts, each);
    const double n = hosts * each, factor = 2 * (n - 1) / n;
    for (double size = 8; size <= 8.0 * (1 << 30); size *= 2) {
        const double time = 2 * (n - 1) * latency_s + size * factor / bus_bytes_per_s;
        char line[200];
        std::snprintf(line, sizeof line, "%12.0f %12.0f float sum -1 %.4f %.4f %.4f 0 %.4f %.4f %.4f N/A\n",
                      size, size / 4, time * 1e6, size / time / 1e9, size / time / 1e9 * factor, time * 1e6,
                      size / time / 1e9, size / time / 1e9 * factor);
        s += line;
    }
    return s;
}

constexpr double kLarge = 8.0 * (1 << 30);

double measured_s(int ranks, double bus_bytes_per_s, double latency_s) {
    return 2 * (ranks - 1.0) * latency_s + kLarge * 2 * (ranks - 1.0) / ranks / bus_bytes_per_s;
}

// Returns the time of 8 GiB, by the time model.
double all_reduce_s(const Cluster& cluster, int ranks) {
    Plan p = presets().plan("llama-3-70b-3d");
    p.cluster = cluster;
    p.cluster.gpus = p.layout.tp = ranks;
    p.layout.cp = p.layout.pp = p.layout.dp_shard = 1;
    p.layout.dp_replicate = 1;
    const Mesh mesh = build_mesh(p);
    const Route route = find_route(p, mesh, summarize(mesh, p.cluster, GroupKind::tp));
    return collective_time(route, p.cluster.gpu.efficiency, Collective::all_reduce, kLarge);
}

const Constant* constant_named(const std::vector<Constant>& all, std::string_view id) {
    for (const Constant& c : all)
        if (c.id == id) return &c;
    return nullptr;
}

}  // namespace

TEST_CASE("a whole log of Megatron is a run of its own settings, at the median of its steps") {
    const std::string log = megatron_log({31000, 9000, 6100, 6000, 6050, 5990, 6020});
    CHECK(own_file_kind(log) == OwnFile::log);
    CHECK_FALSE(is_measured_text(log));  // dropped on a window it is imported: it has settings
    OwnFiles own;
    CHECK(add_own_file(own, log, "jobs/train.log", nullptr, "h100-sxm-ib", presets()) == "a log of 7 steps");
    REQUIRE(own.runs.size() == 1);
    const MeasuredRun& run = own.runs[0];
    CHECK(run.id == "train.log");
    CHECK(run.step_s == near(6.02));
    CHECK(run.plan.cluster.gpus == 16);
    CHECK(run.plan.layout.tp == 2);
    CHECK(run.plan.layout.sequence_parallel);
    CHECK(run.plan.training.global_batch == 64);
    CHECK(run.plan.model.layers == 32);
    CHECK(own.from == "train.log");
    const Calibrated made = calibrate(own.runs, own.links, *cluster_of_runs(own), own.from);
    REQUIRE(made.runs.size() == 1);
    // One run moves the constants towards it, never past it.
    const Evaluation before = evaluate(run.plan);
    REQUIRE(before.step.has_value());
    CHECK(made.runs[0].before_s == near(before.step->time_s));
    CHECK(made.runs[0].better());
    const double gap = 6.02 - made.runs[0].before_s, left = 6.02 - made.runs[0].after_s;
    CHECK(std::abs(left) <= std::abs(gap));
    CHECK(gap * left >= 0);
    REQUIRE(made.cluster.calibration.has_value());
    CHECK(made.cluster.calibration->from == "train.log");
}

TEST_CASE("tables of nccl-tests set the tiers that they measure, and the fit keeps to them") {
    const Cluster on = presets().cluster("h100-sxm-ib");
    const double nvlink = on.tiers[0].bytes_per_s * 0.8, network = on.tiers[1].bytes_per_s * 8 * 0.5;
    OwnFiles own;
    const std::string one = nccl_table(1, 8, nvlink, 3e-6), two = nccl_table(2, 8, network, 12e-6);
    CHECK(own_file_kind(one) == OwnFile::links);
    CHECK(add_own_file(own, one, "one_node.txt", nullptr, "", presets()) == "a table of nccl-tests");
    (void)add_own_file(own, two, "two_nodes.txt", nullptr, "", presets());
    CHECK(own.runs.empty());
    CHECK(cluster_of_runs(own) == nullptr);
    const Calibrated made = calibrate(own.runs, own.links, on, own.from);
    CHECK(made.links.size() == 2);
    CHECK(made.runs.empty());
    // The calls of the table take as long on the calibrated cluster as they were measured to take.
    CHECK(all_reduce_s(made.cluster, 8) == near(measured_s(8, nvlink, 3e-6), 0.05));
    // Over two nodes the model runs one ring after the other: a sum in a node of 8 over NVLink, then one of
    // an eighth between the nodes. The table's rates hold its waits too, 1.3 % of 2 to 4 GiB.
    const double inside = kLarge * 14 / 8 / nvlink, between = kLarge / 8 / (network / 8);
    CHECK(all_reduce_s(made.cluster, 16) == near(inside + between, 0.02));
    // NCCL overlaps the two, so that the model is slower than the table, by a tenth at most with so slow a
    // network.
    CHECK(all_reduce_s(made.cluster, 16) > measured_s(16, network, 12e-6));
    CHECK(all_reduce_s(made.cluster, 16) < 1.1 * measured_s(16, network, 12e-6));
    CHECK(made.cluster.tiers[1].bytes_per_s < on.tiers[1].bytes_per_s);
    CHECK(made.cluster.gpu.efficiency == on.gpu.efficiency);  // they say nothing of the GPU
    bool measured = false;
    for (const CalibratedConstant& c : made.constants) {
        CHECK(c.measured);
        measured = measured || c.id == "tier.0.bytes_per_s";
        CHECK(c.after != c.before);
    }
    CHECK(measured);
    // A second table of a tier counts in the place of the first, and says so.
    OwnFiles again = own;
    (void)add_own_file(again, nccl_table(1, 8, nvlink * 0.9, 3e-6), "later.txt", nullptr, "", presets());
    const Calibrated later = calibrate(again.runs, again.links, on, again.from);
    CHECK(later.constants.size() == made.constants.size());
    CHECK(later.constants[0].before == made.constants[0].before);
    CHECK(later.cluster.tiers[0].bytes_per_s < made.cluster.tiers[0].bytes_per_s);
    CHECK(later.links.back().find("in the place of an earlier table") != std::string::npos);
    // With a run in addition, the tiers stay as they were measured, and the figure names the table.
    (void)add_own_file(own, megatron_log({9e3, 9e3, 6e3, 6e3}), "train.log", nullptr, "h100-sxm-ib",
                       presets());
    const Calibrated both = calibrate(own.runs, own.links, on, own.from);
    CHECK(both.cluster.tiers[0].bytes_per_s == made.cluster.tiers[0].bytes_per_s);
    CHECK(both.cluster.tiers[1].bytes_per_s == made.cluster.tiers[1].bytes_per_s);
    CHECK(both.cluster.calibration->from == "one_node.txt, two_nodes.txt, train.log");
    const Plan with = with_constants_of(own.runs[0].plan, both.cluster, presets());
    const auto constants = list_constants(with, presets());
    const Constant* const bandwidth = constant_named(constants, "tier.0.bytes_per_s");
    REQUIRE(bandwidth != nullptr);
    CHECK(bandwidth->value == both.cluster.tiers[0].bytes_per_s);
}

TEST_CASE("a run's own parts give constants, where hardware can reach them") {
    const std::string measured = std::string(GOLDEN_DIR) + "/measured/";
    const auto add = [&](const std::string& folder, std::initializer_list<const char*> files, OwnFiles& own) {
        const std::filesystem::path in = measured + folder;
        Plan plan = parse_plan(read_file(in / "plan.json"), "plan.json", presets());
        const Mesh mesh = build_mesh(plan);
        std::vector<runs::RunFile> read;
        for (const char* file : files) read.push_back(runs::read_run_file(in / file, runs::parts_by(&mesh)));
        add_run_files(own, std::move(read), plan, presets());
        return plan;
    };
    OwnFiles trace;
    const Plan plan = add("run2602-04", {"rank81.pt.trace.json.gz"}, trace);
    REQUIRE(trace.runs.size() == 1);
    CHECK(trace.runs[0].step_s == near(9.693886, 1e-6));
    // Compute took 0.91 of what is predicted for the rank's stage; that share is of the longest stage's.
    const Evaluation before = evaluate(plan);
    CHECK(trace.runs[0].compute_s
          < before.step->compute_s + before.step->recompute_s + before.step->uneven_s);
    const Calibrated made = calibrate(trace.runs, trace.links, plan.cluster, trace.from, trace.parts);
    const Evaluation after = evaluate(with_constants_of(plan, made.cluster, presets()));
    const auto compute = [](const Evaluation& e) {
        return e.step->compute_s + e.step->recompute_s + e.step->uneven_s;
    };
    CHECK(std::abs(std::log(compute(after) / trace.runs[0].compute_s))
          < std::abs(std::log(compute(before) / trace.runs[0].compute_s)));
    // The made trace's optimizer takes twenty times as long as memory allows for.
    CHECK(made.cluster.gpu.efficiency.hbm == plan.cluster.gpu.efficiency.hbm);
    CHECK(std::ranges::any_of(
        made.links, [](const std::string& s) { return s.find("it is not taken") != std::string::npos; }));
    OwnFiles calls;
    static_cast<void>(add("run2602-03",
                          {"node2-pid1639469.log.gz", "node2-pid1639470.log.gz", "node2-pid1639471.log.gz",
                           "node2-pid1639472.log.gz"},
                          calls));
    CHECK(calls.runs.empty());
    REQUIRE(calls.parts.size() == 1);
    CHECK(calls.parts[0].id == "efficiency.fast_link");
    CHECK(calls.parts[0].value < 0.4);
    CHECK(calls.from == "node2-pid1639469.log.gz and 3 files");
    calls.parts[0].value = 0.6;
    const Calibrated linked = calibrate(calls.runs, calls.links, plan.cluster, calls.from, calls.parts);
    CHECK(linked.cluster.gpu.efficiency.fast_link == 0.6);
    REQUIRE(linked.constants.size() == 1);
    CHECK(linked.constants[0].measured);
    CHECK(linked.worse_words().empty());
}

TEST_CASE("a fit that is no better than none says so, and an impossible run is refused") {
    MeasuredRun run;
    run.id = "a", run.plan = presets().plan("llama-3-8b-fsdp");
    const Evaluation e = evaluate(run.plan);
    run.step_s = e.step->time_s;
    const Calibrated same = calibrate({run}, {}, run.plan.cluster, "a");
    CHECK(same.worse_words().find("no better than none") != std::string::npos);
    run.step_s = 1.2 * e.step->time_s;
    CHECK(calibrate({run}, {}, run.plan.cluster, "a").worse_words().empty());
    run.step_s = 0.9 * e.step->ideal_s;
    try {
        static_cast<void>(calibrate({run}, {}, run.plan.cluster, "a"));
        FAIL("it was not refused");
    } catch (const Error& error) {
        CHECK(error.message().find("would be 111 % of the bf16 peak: is the batch 256, or fp8?")
              != std::string::npos);
    }
}

TEST_CASE("files are told apart by what stands in them, and what cannot be read is named") {
    CHECK(own_file_kind("  {\"cases\": []}") == OwnFile::table);
    CHECK(own_file_kind("[{\"plan\": \"single-gpu\"}]") == OwnFile::table);
    CHECK(own_file_kind("[rank0]: step: 1 tps: 7,000") == OwnFile::log);
    CHECK(is_measured_text("[rank0]: step: 1  loss: 7.1  tps: 7,000\n"));
    CHECK(is_measured_text(R"({"cases": [{"plan": "single-gpu", "measured": {"iteration_s": 1}}]})"));
    CHECK_FALSE(is_measured_text(R"({"cases": []})"));
    CHECK_FALSE(is_measured_text(R"({"format": "pentamesh.plan/1"})"));
    CHECK_FALSE(is_measured_text("{"));
    CHECK_FALSE(is_measured_text(""));
    OwnFiles own;
    CHECK_THROWS_AS((void)add_own_file(own, "nothing", "a.log", nullptr, "", presets()), Error);
    CHECK(own.runs.empty());
    CHECK(own.from.empty());
    CHECK(add_own_file(own,
                       R"([{"id": "a", "plan": "single-gpu", "measured": {"iteration_s": 1}},
                           {"id": "b", "plan": "single-gpu", "measured": {"peak_allocated_gib": 50}}])",
                       "t.json", nullptr, "", presets())
          == "1 run, 1 without a time left out");
}
