// Tests what tools refuse by their own checks, and batches and types that they work out themselves.
#include "core/memory/state_words.h"
#include "tests/core/imports.h"
#include "tests/near.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::near;
using test::problem_called;

namespace {

Import by_deepspeed(const std::string& more) {
    ImportRequest r;
    r.text = "{\"train_micro_batch_size_per_gpu\": 1, \"gradient_accumulation_steps\": 4, " + more + "}";
    r.path = "test";
    r.gpus = 8;
    r.model = "llama-3-8b";
    return import_settings(r, test::presets());
}

Import neox_with(const std::string& optimizer) {
    return import_text("{\"pipe_parallel_size\": 1, \"model_parallel_size\": 2, \"num_layers\": 24, "
                       "\"hidden_size\": 2048, \"num_attention_heads\": 16, \"seq_length\": 2048, "
                       "\"max_position_embeddings\": 2048, \"train_micro_batch_size_per_gpu\": 4, \"fp16\": "
                       "{\"enabled\": true}, \"zero_optimization\": {\"stage\": 1, \"cpu_offload\": true}, "
                       "\"optimizer\": {\"type\": \""
                           + optimizer + "\"}}",
                       16);
}

}  // namespace

// deepspeedai/DeepSpeed edaa7221: runtime/config.py:827, runtime/engine.py:1984, runtime/torch_autocast.py.
TEST_CASE("DeepSpeed: one precision, no amp with ZeRO; autocast keeps everything in fp32") {
    const Import both = by_deepspeed("\"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": true}");
    CHECK(both.failed());
    CHECK(problem_called(both, "two-precisions"));
    CHECK(problem_called(by_deepspeed("\"amp\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 1}"),
                         "amp-with-zero"));
    const Import cast = by_deepspeed("\"torch_autocast\": {\"enabled\": true, \"dtype\": \"bfloat16\"}, "
                                     "\"zero_optimization\": {\"stage\": 3}");
    REQUIRE(cast.plan);
    CHECK(cast.plan->training.compute == Dtype::bf16);
    CHECK(cast.plan->training.parameters == Dtype::fp32);
    CHECK(bytes_per_parameter(*cast.plan) == near(16, 1e-6));
    const Import away = by_deepspeed(
        "\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 2, \"cpu_offload\": true}");
    REQUIRE(away.plan);
    CHECK(away.plan->training.offload.optimizer == 1.0);
}

// EleutherAI/gpt-neox: megatron/training.py, get_optimizer.
TEST_CASE("GPT-NeoX: its optimizers are read as DeepSpeed's are") {
    const Import sgd = neox_with("SGD");
    REQUIRE(sgd.plan);
    CHECK(sgd.plan->training.optimizer == Optimizer::sgd_momentum);
    CHECK(sgd.plan->training.offload.optimizer == 1.0);
    CHECK(neox_with("Lion").plan->training.optimizer == Optimizer::sgd_momentum);
    const Import bit = neox_with("OneBitAdam");
    CHECK(bit.plan->training.optimizer == Optimizer::adamw);
    CHECK(test::stands_in(bit.settings.unmapped, "optimizer.type"));
    CHECK(test::stands_in(neox_with("Adam").settings.mapped, "optimizer.type"));
}

// volcengine/verl b178a3cd: workers/fsdp_workers.py:249 shares it over the data-parallel ranks;
// workers/config/actor.py:181.
TEST_CASE("verl: a micro-batch of all ranks is shared over them, and stands alone") {
    const auto actor = [](const std::string& more) {
        return import_text("python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 "
                           "data.max_response_length=3072 actor_rollout_ref.rollout.n=8 "
                           "actor_rollout_ref.model.path=Qwen/Qwen3-8B "
                           "actor_rollout_ref.actor.ppo_mini_batch_size=128 trainer.n_gpus_per_node=8 "
                           "trainer.nnodes=2 actor_rollout_ref.actor.ppo_micro_batch_size=64 "
                           + more + "\n");
    };
    test::check_batch(actor(""), 4, 1024);
    test::check_batch(actor("actor_rollout_ref.actor.ulysses_sequence_parallel_size=2"), 8, 1024);
    test::check_batch(actor("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=null"), 4, 1024);
    const Import both = actor("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4");
    CHECK(both.failed());
    CHECK(problem_called(both, "two-micro-batches"));
    // The check stands under `if not self.use_dynamic_bsz`.
    CHECK_FALSE(problem_called(actor("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 "
                                     "actor_rollout_ref.actor.use_dynamic_bsz=True"),
                               "two-micro-batches"));
}

// NVIDIA-NeMo/RL 7ea279ab: nemo_rl/models/policy/lm_policy.py:121.
TEST_CASE("NeMo RL: one of its two backends") {
    const Import made = import_text(
        "policy:\n  model_name: meta-llama/Llama-3.1-8B-Instruct\n  train_global_batch_size: 128\n"
        "  train_micro_batch_size: 2\n  max_total_sequence_length: 4096\n  dtensor_cfg:\n    enabled: true\n"
        "  megatron_cfg:\n    enabled: true\ncluster:\n  gpus_per_node: 8\n  num_nodes: 2\nsft:\n"
        "  max_num_steps: 10\n");
    CHECK(made.failed());
    CHECK(problem_called(made, "two-backends"));
}

// pytorch/torchtitan, config/job_config.py: ActivationCheckpoint.mode; fields of tyro take no other word.
TEST_CASE("torchtitan and torchforge: modes of recomputation by their words") {
    const auto mode = [](const std::string& word) {
        return import_text("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = "
                           "1\nseq_len = 4096\n[parallelism]\ndata_parallel_shard_degree = 8\n"
                           "[activation_checkpoint]\nmode = \""
                           + word + "\"\n");
    };
    CHECK(mode("partial").failed());
    const Import budget = mode("memory_budget");
    REQUIRE(budget.plan);
    CHECK(budget.plan->training.recompute == Recompute::none);
    CHECK(test::stands_in(budget.settings.unmapped, "activation_checkpoint.mode"));
    CHECK_FALSE(mode("full").failed());
    const auto forge = [](const std::string& word) {
        return import_text("model:\n  name: llama3\n  flavor: 8B\n  hf_assets_path: "
                           "hf://meta-llama/Llama-3.1-8B\nprocesses:\n  procs: 8\n  with_gpus: true\n"
                           "training:\n  local_batch_size: 1\n  seq_len: 2048\n  dtype: bfloat16\n"
                           "parallelism:\n  data_parallel_shard_degree: -1\n  tensor_parallel_degree: 2\n"
                           "  pipeline_parallel_degree: 1\nactivation_checkpoint:\n  mode: "
                           + word + "\n");
    };
    CHECK(forge("partial").failed());
    const Import whole = forge("full");
    REQUIRE(whole.plan);
    CHECK(whole.kind == "torchforge");
    CHECK(whole.plan->layout.tp == 2);
    CHECK(bytes_per_parameter(*whole.plan) == near(8, 1e-6));
}

// AI-Hypercomputer/maxtext e591f30c: optimizers/optimizers.py.
TEST_CASE("MaxText: its optimizers") {
    const auto by = [](const std::string& optimizer) {
        return import_text("python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-8b "
                           "per_device_batch_size=2 max_target_length=8192 ici_fsdp_parallelism=-1 "
                           "base_output_directory=gs://x opt_type="
                               + optimizer + "\n",
                           16);
    };
    CHECK(by("muon").plan->training.optimizer == Optimizer::muon);
    CHECK(by("sgd").plan->training.optimizer == Optimizer::sgd_momentum);
    CHECK(by("adamw").plan->training.optimizer == Optimizer::adamw);
    CHECK(by("lion").failed());
}
