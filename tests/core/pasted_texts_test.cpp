// Tests what scripts and files of public repositories leave to their framework, or write in their own way:
// each number is worked out by the code, or published for the model, that the comment names.
#include "core/base/files.h"
#include "core/model/model.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_beside;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

std::string verl_job(const std::string& more) {
    return "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 "
           "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.rollout.n=8 "
           "trainer.n_gpus_per_node=8 "
           "trainer.nnodes=1 "
           + more + "\n";
}

}  // namespace

// volcengine/verl: ActorConfig.validate (workers/config/actor.py) asks for a batch of at least one mini-batch
// unless use_dynamic_bsz is on; then dp_actor.py splits the samples that are there. rllm-org/rllm,
// cookbooks/math/train_verl.sh has 32 prompts and a mini-batch of 64, eight answers each: 256 samples.
TEST_CASE("verl: a mini-batch is never more than the batch") {
    const std::string small = "data.train_batch_size=32 actor_rollout_ref.actor.ppo_mini_batch_size=64 ";
    const Import dynamic = import_text(verl_job(small + "actor_rollout_ref.actor.use_dynamic_bsz=True"));
    REQUIRE(dynamic.plan);
    CHECK(dynamic.plan->training.global_batch == 256);
    CHECK(stands_in(dynamic.settings.mapped, "data.train_batch_size"));
    CHECK(stands_in(dynamic.settings.mapped, "actor_rollout_ref.actor.ppo_mini_batch_size"));
    CHECK(problem_called(import_text(verl_job(small)), "mini-batch"));
    CHECK(
        problem_called(import_text(verl_job("data.train_batch_size=128")), "mini-batch"));  // 256 by default
    const Import usual =
        import_text(verl_job("data.train_batch_size=128 actor_rollout_ref.actor.ppo_mini_batch_size=64"));
    REQUIRE(usual.plan);
    CHECK(usual.plan->training.global_batch == 512);
    // verl/protocol.py, make_iterator: under Megatron a batch is whole mini-batches.
    CHECK(
        problem_called(import_text(verl_job(small
                                            + "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 "
                                              "actor_rollout_ref.actor.use_dynamic_bsz=True")),
                       "mini-batch"));
}

// verl-project/verl-recipe, gkd/megatron: megatron_workers.py trains the whole batch in one step, and fills
// micro-batches up to the actor's max_token_len (run_moonlight_dsv3_training.sh: 1,024 of at most 4,096).
TEST_CASE("verl: on-policy distillation trains a batch at once") {
    const Import made =
        import_text("python3 -m main_gkd --config-name on_policy_distill_trainer data.train_batch_size=1024 "
                    "data.max_prompt_length=2048 data.max_response_length=2048 "
                    "actor_rollout_ref.model.path=/path/to/Moonlight-16B-A3B-Instruct "
                    "actor_rollout_ref.actor.micro_batch_size=2 actor_rollout_ref.actor.max_token_len=6000 "
                    "actor_rollout_ref.actor.use_dynamic_bsz=True "
                    "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=3 "
                    "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 "
                    "actor_rollout_ref.actor.megatron.expert_model_parallel_size=2 trainer.nnodes=1 "
                    "trainer.n_gpus_per_node=6\n");
    CHECK(made.kind == "verl-megatron");
    REQUIRE(made.plan);
    CHECK(made.plan->training.global_batch == 1024);
    CHECK(made.plan->training.micro_batch == 1);
}

// fsdp_workers.py: fsdp_config.dtype is what FSDP computes in where mixed_precision says nothing.
TEST_CASE("verl: the type that FSDP computes in") {
    const Import made = import_text(verl_job("actor_rollout_ref.actor.fsdp_config.dtype=float16"));
    REQUIRE(made.plan);
    CHECK(made.plan->training.compute == Dtype::fp16);
    CHECK(made.plan->training.parameters == Dtype::fp32);
}

// Stability-AI/StableLM, configs/stablelm-3b-4e1t.yml; its card has 2,795,443,200 parameters, which are those
// of a gated MLP of 6,912 = 8/3 of 2,560, up to a multiple of 256, and of 50,304 padded tokens.
TEST_CASE("GPT-NeoX: a gated MLP that mlp_type names") {
    const std::string sizes =
        "{\"pipe-parallel-size\": 1, \"model-parallel-size\": 1, \"num-layers\": 32, \"hidden-size\": 2560,\n"
        "\"num-attention-heads\": 32, \"seq-length\": 4096, \"norm\": \"layernorm\", \"pos-emb\": "
        "\"rotary\",\n"
        "\"mlp_multiple_of\": 256, \"no-weight-tying\": true, \"use_bias_in_attn_linear\": false,\n"
        "\"use_bias_in_mlp\": false, \"padded_vocab_size\": 50304, \"train_micro_batch_size_per_gpu\": 4,\n"
        "\"gradient_accumulation_steps\": 1,\n";
    const Import made = import_text(sizes + "\"mlp_type\": \"gated\", \"activation\": \"silu\"}\n", 8);
    REQUIRE(made.plan);
    CHECK(made.plan->model.ffn == 6912);
    CHECK(made.plan->model.ffn_kind == FfnKind::swiglu);
    CHECK(count_parameters(made.plan->model).total == 2795443200);
    // megatron/model/activations.py of ea7aefd8: reglu, bilinear and glu are gated too.
    const Import gated = import_text(sizes + "\"activation\": \"reglu\"}\n", 8);
    REQUIRE(gated.plan);
    CHECK(gated.plan->model.ffn_kind == FfnKind::swiglu);
    CHECK(problem_called(gated, "activation"));
    const Import plain = import_text(sizes + "\"activation\": \"silu\"}\n", 8);
    REQUIRE(plain.plan);
    CHECK(plain.plan->model.ffn_kind == FfnKind::gelu);
    CHECK(problem_called(plain, "activation"));
}

// nebius/ml-cookbook, slurm/torchft: the TOML lies in the folder of the script that names it by $(pwd).
TEST_CASE("files that a script names by the folder it is started in") {
    const std::string toml =
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\nseq_len = 4096\n";
    for (const char* here : {"$(pwd)", "$PWD", "${SLURM_SUBMIT_DIR}"}) {
        const Import made = import_beside(
            "#!/bin/bash\nCONFIG_FILE=\"" + std::string(here)
                + "/llama3_8b.toml\"\ntorchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train "
                  "--job.config_file $CONFIG_FILE\n",
            {{"./llama3_8b.toml", toml}});
        CAPTURE(here);
        REQUIRE(made.plan);
        CHECK(made.plan->cluster.gpus == 16);
        CHECK(made.plan->training.sequence_length == 4096);
        CHECK(made.plan->training.micro_batch == 2);
    }
    const Import model = import_text(
        "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 "
        "actor_rollout_ref.model.path=$(pwd)/models/Qwen3-8B trainer.n_gpus_per_node=8\n");
    REQUIRE(model.plan);
    CHECK(model.plan->model.layers == 36);  // Qwen3-8B's config.json
}

// NVIDIA-NeMo/Nemotron, recipes/super3/stage1_sft: ${art:data,pack_size} asks the program's own resolver.
TEST_CASE("a reference that a program's own function resolves is asked for") {
    const std::string text =
        "model:\n  tensor_model_parallel_size: 2\n  num_layers: 32\n  hidden_size: 4096\n"
        "  num_attention_heads: 32\n  vocab_size: 32000\n  seq_length: ${art:data,pack_size}\n"
        "train:\n  micro_batch_size: 1\n  global_batch_size: 64\n";
    ImportRequest r;
    r.text = text;
    r.path = "test";
    r.gpus = 8;
    r.tool = "bridge";
    const Import open = import_settings(r, test::presets());
    for (const ImportProblem& p : open.problems) {
        CAPTURE(p.message);
        CHECK(p.message.find("found data,pack_size") == std::string::npos);
    }
    r.variables = {"art:data,pack_size=8192"};
    const Import said = import_settings(r, test::presets());
    REQUIRE(said.plan);
    CHECK(said.plan->training.sequence_length == 8192);
}

// allenai/OLMo, configs/official-1124: its trainer has two of Composer's names, and norms of its own.
TEST_CASE("OLMo's first trainer is not taken for Composer") {
    const auto file = [](const std::string& model) {
        return "model:\n" + model
               + "global_train_batch_size: 2048\ndevice_train_microbatch_size: 2\nmax_duration: 1ep\n"
                 "precision: amp_bf16\n";
    };
    CHECK_THROWS_WITH_AS(import_text(file("  d_model: 5120\n  layer_norm_type: rms\n")),
                         doctest::Contains("OLMo's own trainer"), Error);
    CHECK_THROWS_WITH_AS(import_text(file("  name: mpt_causal_lm\n  d_model: 5120\n")),
                         doctest::Contains("Composer"), Error);
}

// okoge-kaz/llm-recipes, scripts/gcp/codestral-22b.sh: its arguments.py has Megatron's names for a program of
// FSDP, which shards where Megatron would keep whole weights.
TEST_CASE("llm-recipes is not taken for Megatron") {
    CHECK_THROWS_WITH_AS(
        import_text("mpirun -np 16 --npernode 8 python examples/finetuning.py --seq-length 4096 "
                    "--micro-batch-size 1 --global-batch-size 1024 --optimizer adam --bf16 --mixed-precision "
                    "--base-model Codestral-22B-v0.1 --low-cpu-fsdp --sharding-strategy FULL_SHARD\n"),
        doctest::Contains("llm-recipes"), Error);
}

// nebius/ml-cookbook, pytorch-dsv3-mxfp8/train_671b.sh; swiss-ai/pretrain-code, submit_apertus_70b.sh.
TEST_CASE("sections' flags and launchers' letters that change nothing are known") {
    const Import titan = import_text(
        "torchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train --model.name llama3 --model.flavor 8B "
        "--training.local_batch_size 1 --training.seq_len 8192 --compile.enable "
        "--debug.moe_force_load_balance --model.print_after_conversion\n");
    REQUIRE(titan.plan);
    for (const char* flag :
         {"--compile.enable", "--debug.moe_force_load_balance", "--model.print_after_conversion"}) {
        CAPTURE(flag);
        CHECK(stands_in(titan.settings.ignored, flag));
    }
    const Import srun = import_text(
        "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        "srun -lu torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 "
        "--num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "
        "--global-batch-size 64 --vocab-size 50304 --bf16 --xielu --goldfish-k 50\n");
    REQUIRE(srun.plan);
    CHECK(stands_in(srun.settings.ignored, "-lu"));
    CHECK(stands_in(srun.settings.ignored, "--goldfish-k"));
    CHECK(stands_in(srun.settings.unmapped, "--xielu"));
    CHECK_FALSE(stands_in(srun.settings.not_known, "--xielu"));
}
