// Tests that an export writes nothing that its framework refuses, and names what its text trains otherwise
// than the plan, also where other parts of the plan are lost.
#include "core/interop/export.h"
#include "core/interop/import.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;
using namespace pentamesh::interop;

namespace {

using test::presets;

Plan export_llama(std::int64_t gpus) {
    Plan p = presets().plan("single-gpu");
    p.model = presets().model("llama-3-8b");
    p.model_source = {"llama-3-8b", {}};
    p.cluster = presets().cluster("h100-sxm-ib");
    p.cluster.gpus = gpus;
    p.layout = Layout();
    p.layout.dp_shard = gpus;
    p.layout.dp_replicate = 1;
    p.training = Training();
    p.training.sequence_length = 4096;
    p.training.global_batch = 256;
    return p;
}

bool text_has(const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

bool notes_it(const Export& made, std::string_view begin) {
    return std::any_of(made.notes.begin(), made.notes.end(),
                       [&](const std::string& n) { return n.starts_with(begin); });
}

bool field_lost(const Export& made, std::string_view pointer) {
    return std::any_of(made.lost.begin(), made.lost.end(),
                       [&](const Unsaid& u) { return u.pointer == pointer; });
}

Plan plan_back(const Plan& plan, const char* tool, const std::string& text) {
    ImportRequest r;
    r.text = text;
    r.path = "exported";
    r.tool = tool;
    r.gpus = plan.cluster.gpus;
    r.model = plan.model_source.preset;
    const Import read = import_settings(r, presets());
    INFO(text);
    REQUIRE(read.plan);
    return *read.plan;
}

}  // namespace

// Megatron-LM d98e8a64: core/model_parallel_config.py (cross_entropy_fusion_impl is native or te),
// training/arguments.py (te is refused; cpu_offloading is no flag, cpu_offloading_num_layers sets it).
TEST_CASE("Megatron's script has only flags and words that its parser takes") {
    Plan p = export_llama(8);
    const auto made = [&](const char* tool) { return export_plan(p, tool, presets()); };
    for (const LossKernel kernel : {LossKernel::chunked, LossKernel::in_place}) {
        p.training.loss_kernel = kernel;
        CHECK_FALSE(text_has(made("megatron").text, "    --cross-entropy"));
        CHECK(field_lost(made("megatron"), "/training/loss_kernel"));
    }
    CHECK(text_has(made("bridge").text, "cfg.model.cross_entropy_fusion_impl = \"te\"\n"));
    p.training.loss_kernel = LossKernel::chunked;
    CHECK(field_lost(made("bridge"), "/training/loss_kernel"));
    p.training.loss_kernel = LossKernel::fp32;
    CHECK(text_has(made("megatron").text, "    --cross-entropy-fusion-impl native\n"));
    p.training.loss_kernel = LossKernel::by_software;
    p.training.offload.activations_layers = 4;
    CHECK(text_has(made("megatron").text, "    --cpu-offloading-num-layers 4\n"));
    CHECK_FALSE(text_has(made("megatron").text, "--cpu-offloading\n"));
    CHECK(text_has(made("bridge").text, "cfg.model.cpu_offloading = True\n"));
}

// training/arguments.py, validate_args: full_iteration asks for --no-check-for-nan-in-loss-and-grad.
TEST_CASE("a graph of the whole step is written without the check that Megatron refuses beside it") {
    Plan p = export_llama(8);
    const auto text = [&](const char* tool) { return export_plan(p, tool, presets()).text; };
    CHECK_FALSE(text_has(text("megatron"), "--no-check-for-nan-in-loss-and-grad"));
    p.training.cuda_graphs = CudaGraphs::iteration;
    CHECK(text_has(text("megatron"), "    --no-check-for-nan-in-loss-and-grad\n"));
    CHECK(text_has(text("bridge"), "cfg.rerun_state_machine.check_for_nan_in_loss = False\n"));
}

// torchtitan b5bcd76c, models/deepseek_v3/__init__.py: model_registry(..., num_mtp_layers=0).
TEST_CASE("torchtitan is asked for DeepSeek's prediction layers, or they are lost") {
    Plan p = export_llama(64);
    p.model = presets().model("deepseek-v3");
    p.model_source = {"deepseek-v3", {}};
    p.layout.zero = 3;
    CHECK(text_has(export_plan(p, "torchtitan", presets()).text, "\"671B\", num_mtp_layers=1)"));
    p.layout.pp = 2;
    p.layout.dp_shard = 32;
    p.layout.stage_layers = {31, 30};
    const Export staged = export_plan(p, "torchtitan", presets());
    CHECK_FALSE(text_has(staged.text, "num_mtp_layers"));
    CHECK(field_lost(staged, "/model/mtp_layers"));
}

// parallelism_config.py: the sizes multiply to the processes; tp does not go with copies only. DeepSpeed's
// runtime/config.py: train_batch_size is micro-batch x accumulation x ranks of data.
TEST_CASE("without its pipeline a plan is written as a run that accelerate and DeepSpeed start") {
    Plan p = export_llama(32);
    p.layout.pp = 4;
    for (const std::int64_t tp : {1, 2}) {
        p.layout.tp = tp;
        p.layout.dp_shard = 8 / tp;
        for (const int zero : {0, 1, 3}) {
            CAPTURE(tp);
            CAPTURE(zero);
            p.layout.zero = zero;
            const Export made = export_plan(p, "accelerate", presets());
            CHECK(field_lost(made, "/layout/pp"));
            REQUIRE(made.refused.empty());
            const Layout l = plan_back(p, "accelerate", made.text).layout;
            CHECK(l.tp == tp);
            CHECK(l.dp_shard * l.dp_replicate.value_or(1) == 32 / tp);
        }
    }
    p.layout.tp = 1;
    p.layout.dp_shard = 8;
    p.layout.zero = 1;
    const Export made = export_plan(p, "deepspeed", presets());
    CHECK(field_lost(made, "/layout/pp"));
    CHECK(plan_back(p, "deepspeed", made.text).layout.dp_shard == 32);
}

TEST_CASE("tensor parallelism over copies is written to accelerate as it starts, and said to be sharded") {
    Plan p = export_llama(16);
    p.layout.tp = 2;
    p.layout.dp_shard = 8;
    p.layout.zero = 0;
    const Export made = export_plan(p, "accelerate", presets());
    CHECK(made.refused.empty());
    CHECK(field_lost(made, "/layout/zero"));
    CHECK(plan_back(p, "accelerate", made.text).layout.dp_shard == 8);
}

TEST_CASE("what a text trains otherwise is named beside what it loses") {
    Plan p = export_llama(16);
    p.layout.zero = 1;
    p.training.cuda_graphs = CudaGraphs::layers;
    p.training.attention = AttentionImpl::math;
    p.training.overlap.dp = false;
    const Export titan = export_plan(p, "torchtitan", presets());
    CHECK(field_lost(titan, "/layout/zero"));
    CHECK(notes_it(titan, "types of parameters, gradients and optimizer states: the text comes to 16 bytes"));
    CHECK(notes_it(titan, "cuda_graphs layers: the text comes to none"));
    CHECK(notes_it(titan, "overlap/dp off: the text comes to on"));
    CHECK(notes_it(export_plan(p, "nanotron", presets()), "attention math: the text comes to flash"));
    CHECK_FALSE(notes_it(export_plan(p, "megatron", presets()), "cuda_graphs"));
    CHECK_FALSE(notes_it(export_plan(p, "megatron", presets()), "overlap"));
}

// MaxText, configs/types.py: opt_type, optimizer_memory_host_offload. nanotron, helpers.py,
// _vocab_size_with_padding: to a multiple of the setting times tp.
TEST_CASE("MaxText's optimizer and offload and nanotron's padding come back") {
    Plan p = export_llama(16);
    p.layout.zero = 3;
    p.training.optimizer = Optimizer::muon;
    p.training.offload.optimizer = 1;
    const Training back = plan_back(p, "maxtext", export_plan(p, "maxtext", presets()).text).training;
    CHECK(back.optimizer == Optimizer::muon);
    CHECK(back.offload.optimizer == 1);
    for (const char* id : {"mixtral-8x7b", "qwen2.5-7b", "qwen3-30b-a3b"}) {
        p.model = presets().model(id);
        p.model_source = {id, {}};
        CHECK_FALSE(export_plan(p, "maxtext", presets()).refused.empty());
    }
    p = export_llama(16);
    p.layout.zero = 3;
    p.training.attention = AttentionImpl::math;
    const Export plain_scores = export_plan(p, "maxtext", presets());
    CHECK(plan_back(p, "maxtext", plain_scores.text).training.attention == AttentionImpl::math);
    CHECK_FALSE(notes_it(plain_scores, "attention"));
    p = export_llama(16);
    p.model.vocab_multiple = 64;
    ImportRequest r;
    r.text = export_plan(p, "nanotron", presets()).text;
    r.path = "exported";
    r.tool = "nanotron";
    const Import read = import_settings(r, presets());
    REQUIRE(read.plan);
    CHECK(read.plan->model.vocab_multiple == 64);
}
