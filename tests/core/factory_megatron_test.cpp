// Tests LLaMA-Factory on Megatron's two back ends. Settings are those of its examples, numbers are worked out
// by its own code: hiyouga/LLaMA-Factory ff6d4d12 and alibaba/ROLL 8eb27cc2, mcore_adapter.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::check_batch;
using test::import_beside;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

// examples/megatron/qwen3_moe_full.yaml.
const std::string kFactoryMoe =
    "model_name_or_path: Qwen/Qwen3-30B-A3B-Instruct-2507\ndo_train: true\nstage: sft\n"
    "finetuning_type: full\ndataset: alpaca_en_demo\ncutoff_len: 4096\n"
    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n"
    "tensor_model_parallel_size: 1\nsequence_parallel: false\n"
    "pipeline_model_parallel_size: 4\nbias_activation_fusion: true\n"
    "use_distributed_optimizer: true\noverlap_param_gather: true\n"
    "overlap_grad_reduce: true\nmoe_token_dispatcher_type: alltoall\n"
    "expert_model_parallel_size: 2\nrecompute_granularity: full\n";

}  // namespace

// trainer.py: per_device_train_batch_size x gradient_accumulation_steps x the data-parallel ranks, here
// 1 x 8 x 8 / (1 x 4).
TEST_CASE("LLaMA-Factory on mcore_adapter: Megatron's layout, the step's own batch") {
    const Import made = import_text(kFactoryMoe, 8);
    CHECK(made.kind == "llama-factory-mca");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.model.layers == 48);
    CHECK(p.layout.pp == 4);
    CHECK(p.layout.ep == 2);
    CHECK(p.layout.zero == 1);
    CHECK(p.training.sequence_length == 4096);
    check_batch(made, 1, 16);
    CHECK(p.training.recompute.kind == Recompute::full);
    CHECK(p.training.overlap.dp);
    CHECK(made.settings.not_known.empty());
    // dpo_trainer.py: micro_batch_size = per_device_train_batch_size * 2.
    std::string pairs = kFactoryMoe;
    pairs.replace(pairs.find("stage: sft"), 10, "stage: dpo");
    const Import dpo = import_text(pairs, 8);
    check_batch(dpo, 2, 32);
}

// model_config.py: tp with ep brings sequence parallelism; training_args.py has the refusals.
TEST_CASE("LLaMA-Factory on mcore_adapter: what it sets by itself, and what it refuses") {
    std::string both = kFactoryMoe;
    both.replace(both.find("tensor_model_parallel_size: 1"), 29, "tensor_model_parallel_size: 2");
    const Import made = import_text(both, 16);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.sequence_parallel);
    std::string gather = kFactoryMoe;
    gather.replace(gather.find("overlap_grad_reduce: true"), 25, "overlap_grad_reduce: false");
    CHECK(problem_called(import_text(gather, 8), "gather-without-reduce"));
    std::string lengths = kFactoryMoe + "variable_seq_lengths: true\n";
    CHECK_FALSE(problem_called(import_text(lengths, 8), "lengths-of-dispatcher"));
    lengths.erase(lengths.find("moe_token_dispatcher_type: alltoall\n"), 36);
    CHECK(problem_called(import_text(lengths, 8), "lengths-of-dispatcher"));
    // The front end's variable says the back end where the file does not.
    const Import front = import_beside(
        "#!/bin/bash\nUSE_MCA=1 NPROC_PER_NODE=4 llamafactory-cli train small.yaml\n",
        {{"small.yaml",
          "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: 1024\n"
          "bf16: true\nper_device_train_batch_size: 2\n"}});
    CHECK(front.kind == "llama-factory-mca");
    REQUIRE(front.plan);
    CHECK(front.plan->cluster.gpus == 4);
    CHECK(front.plan->layout.zero == 0);
    CHECK(front.plan->training.global_batch == 8);
}

// config_builder.py, _compute_train_schedule: micro-batch x accumulation x processes over tp x pp x cp x ep.
TEST_CASE("LLaMA-Factory on Megatron-Bridge: its defaults, its batch and its refusals") {
    const std::string text = "model_name_or_path: Qwen/Qwen3-30B-A3B\nstage: sft\nfinetuning_type: full\n"
                             "cutoff_len: 2048\nper_device_train_batch_size: 1\n"
                             "gradient_accumulation_steps: 8\nbf16: true\ntensor_model_parallel_size: 2\n"
                             "pipeline_model_parallel_size: 1\ncontext_parallel_size: 1\n"
                             "expert_model_parallel_size: 4\nsequence_parallel: true\n"
                             "mixed_precision: bf16_mixed\nuse_packed_sequences: false\n";
    const Import made = import_text(text, 16);
    CHECK(made.kind == "llama-factory-bridge");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 1);
    check_batch(made, 1, 16);  // 1 x 8 x 16 / (2 x 4)
    CHECK(made.plan->training.gradients == Dtype::fp32);
    CHECK(made.settings.not_known.empty());
    std::string dpo = text;
    dpo.replace(dpo.find("stage: sft"), 10, "stage: dpo");
    CHECK(problem_called(import_text(dpo, 16), "stage-of-bridge"));
    std::string alone = text;
    alone.replace(alone.find("tensor_model_parallel_size: 2"), 29, "tensor_model_parallel_size: 1");
    CHECK(problem_called(import_text(alone, 16), "sequence-parallel-without-tp"));
}
