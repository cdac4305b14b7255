// Tests in which types a trainer keeps what it trains, against bytes a parameter that the tool's own
// documents state or its code shows: the storage type and the optimizer say it, for all tools by one rule.
#include "core/memory/state_words.h"
#include "tests/core/imports.h"
#include "tests/near.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::near;
using test::presets;
using test::problem_called;

namespace {

struct KeptCase {
    const char* source;  // of the bytes
    const char* text;
    double bytes;
    Dtype parameters, gradients, moments;
    MasterWeights master;
    std::int64_t gpus = 8;
};

const std::string kAutomodel = "recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler:\n"
                               "  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n"
                               "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\ndistributed:\n"
                               "  strategy: fsdp2\n";

constexpr Dtype k32 = Dtype::fp32, k16 = Dtype::bf16;
constexpr MasterWeights kNoCopy = MasterWeights::none, kFullCopy = MasterWeights::fp32;

}  // namespace

TEST_CASE("bytes a parameter follow from the storage type and the optimizer") {
    const KeptCase cases[] = {
        {"NeMo Automodel 36044ad3, mixed-precision-training: storage in fp32 is the master, all in fp32",
         "  dp_size: none\noptimizer:\n  _target_: torch.optim.AdamW\ndataset:\n  seq_length: 4096\n", 16,
         k32, k32, k32, kNoCopy},
        {"DeepSpeed config-json: gradients accumulate in the model's type; ZeRO paper, section 3.1: 16 bytes",
         "{\"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": true}, "
         "\"zero_optimization\": {\"stage\": 2}, \"optimizer\": {\"type\": \"AdamW\"}}",
         16, k16, k16, k32, kFullCopy},
        {"DeepSpeed, data_types.grad_accum_dtype fp32",
         "{\"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": true}, "
         "\"zero_optimization\": {\"stage\": 1}, \"data_types\": {\"grad_accum_dtype\": \"fp32\"}}",
         18, k16, k32, k32, kFullCopy},
        {"torchtitan configs.py: training.dtype is float32 where it is not said",
         "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\nseq_len = 4096\n"
         "[parallelism]\ndata_parallel_shard_degree = 8\n",
         16, k32, k32, k32, kNoCopy},
        {"accelerate fsdp_utils.py: parameters are upcast to fp32 under mixed precision",
         "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\nmixed_precision: bf16\nnum_machines: 1\n"
         "num_processes: 8\n",
         16, k32, k32, k32, kNoCopy},
        {"verl fsdp_workers.py: the actor is loaded in fp32",
         "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
         "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=1 "
         "data.max_prompt_length=512 "
         "data.max_response_length=512 trainer.nnodes=1 trainer.n_gpus_per_node=8 "
         "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1\n",
         16, k32, k32, k32, kNoCopy},
        {"verl, fsdp_config.model_dtype: bf16 and torch's AdamW",
         "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
         "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=1 "
         "data.max_prompt_length=512 "
         "data.max_response_length=512 trainer.nnodes=1 trainer.n_gpus_per_node=8 "
         "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
         "actor_rollout_ref.actor.fsdp_config.model_dtype=bf16\n",
         8, k16, k16, k16, kNoCopy},
        {"transformers' Trainer: a model that is loaded in bf16 has its moments in bf16",
         "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path Qwen/Qwen3-8B "
         "--per_device_train_batch_size 1 --bf16 True --torch_dtype bfloat16 --optim adamw_torch "
         "--gradient_checkpointing True\n",
         8, k16, k16, k16, kNoCopy},
        {"transformers' Trainer with DeepSpeed: its engine keeps a copy in fp32",
         "deepspeed --num_gpus 8 run_clm.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size "
         "1 "
         "--bf16 True --torch_dtype bfloat16 --deepspeed ds_zero3.json\n",
         16, k16, k16, k32, kFullCopy},
        {"Megatron-LM, docs of the distributed optimizer: 6 + 12 / d bytes, 18 in all",
         "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
         "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 "
         "--global-batch-size 32 --bf16 --vocab-size 32000\n",
         18, k16, k32, k32, kFullCopy},
    };
    for (const KeptCase& c : cases) {
        INFO(c.source);
        const bool automodel = std::string_view(c.text).starts_with("  dp_size");
        const Import made = import_text((automodel ? kAutomodel : std::string()) + c.text, c.gpus);
        // accelerate's own file names no model: it is asked for.
        const bool asks = made.kind == "accelerate" || made.kind == "deepspeed";
        if (asks) {
            ImportRequest r;
            r.text = c.text;
            r.path = "test";
            r.gpus = c.gpus;
            r.model = "llama-3-8b";
            const Import named = import_settings(r, presets());
            REQUIRE(named.plan);
            CHECK(bytes_per_parameter(*named.plan) == near(c.bytes, 1e-6));
            continue;
        }
        REQUIRE(made.plan);
        const Training& t = made.plan->training;
        CHECK(bytes_per_parameter(*made.plan) == near(c.bytes, 1e-6));
        CHECK(t.parameters == c.parameters);
        CHECK(t.gradients == c.gradients);
        CHECK(t.optimizer_state == c.moments);
        CHECK(t.master_weights == c.master);
    }
}

TEST_CASE("Transformer Engine's Adam keeps moments in fp32 unless it is told, and a copy only where it is") {
    const auto made = [](const std::string& optimizer) {
        return import_text(
            kAutomodel
                + "optimizer:\n  _target_: transformer_engine.pytorch.optimizers.fused_adam.FusedAdam\n"
                + optimizer + "dataset:\n  seq_length: 4096\n",
            8);
    };
    const Import plain = made("");
    REQUIRE(plain.plan);
    CHECK(bytes_per_parameter(*plain.plan) == near(12, 1e-6));
    const Import copied = made("  master_weights: true\n");
    REQUIRE(copied.plan);
    CHECK(bytes_per_parameter(*copied.plan) == near(16, 1e-6));
    const Import small = made("  master_weights: true\n  exp_avg_dtype: torch.bfloat16\n"
                              "  exp_avg_sq_dtype: torch.bfloat16\n");
    REQUIRE(small.plan);
    CHECK(bytes_per_parameter(*small.plan) == near(12, 1e-6));
    CHECK(test::stands_in(small.settings.mapped, "optimizer.master_weights"));
}

TEST_CASE("a sentence says what a parameter takes") {
    Plan p;
    Training& t = p.training;
    CHECK(state_words(p)
          == "18 bytes a parameter: weights in bf16, gradients, two moments and a master copy in fp32");
    t.gradients = t.optimizer_state = Dtype::bf16;
    t.master_weights = MasterWeights::none;
    CHECK(state_words(p)
          == "8 bytes a parameter: weights, gradients and two moments in bf16; no master copy");
    CHECK(state_words(p, "torch.optim.AdamW").ends_with("; torch.optim.AdamW keeps no master copy"));
    // Products want fp8 matrices along both dimensions: a second copy where scales are a block's.
    t.parameters = Dtype::fp8;
    t.fp8_recipe = Fp8Recipe::blockwise;
    CHECK(bytes_per_parameter(p) == near(8, 1e-6));
    CHECK(state_words(p).starts_with("8 bytes a parameter: weights in fp8 twice, "));
    const Import made = import_text(kAutomodel
                                        + "optimizer:\n  _target_: torch.optim.AdamW\ndataset:\n"
                                          "  seq_length: 4096\n",
                                    8);
    const ImportProblem* said = problem_called(made, "state-types");
    REQUIRE(said);
    CHECK(said->message.find("16 bytes a parameter") != std::string::npos);
    CHECK(said->message.find("torch.optim.AdamW") != std::string::npos);
}

// v1/core/model_engine.py: full tuning puts the whole model into fp32; torch.optim.AdamW by default.
TEST_CASE("LLaMA-Factory v1 keeps parameters in fp32, and degrees that make other GPUs are said") {
    const Import made = import_text("model: Qwen/Qwen3-0.6B\nmodel_class: llm\ndist_config:\n  name: fsdp2\n"
                                    "micro_batch_size: 4\ncutoff_len: 2048\n",
                                    8);
    REQUIRE(made.plan);
    CHECK(made.kind == "llama-factory-v1");
    CHECK(bytes_per_parameter(*made.plan) == near(16, 1e-6));
    CHECK(made.plan->training.parameters == Dtype::fp32);
    const Import nano =
        import_text("model:\n  model_config:\n    is_llama_config: true\n    hidden_size: 1024\n    "
                    "num_hidden_layers: 4\n"
                    "    num_attention_heads: 8\n    intermediate_size: 4096\n    vocab_size: "
                    "32000\nparallelism:\n  dp: 1\n"
                    "  pp: 1\n  tp: 2\ntokens:\n  micro_batch_size: 1\n  batch_accumulation_per_replica: 1\n"
                    "  sequence_length: 1024\n",
                    8);
    CHECK(problem_called(nano, "gpus-said"));
}

// huggingface/transformers trainer_optimizer.py: lion_8bit is bitsandbytes' Lion, one state of 8 bits;
// bitsandbytes/optim/lion.py. The name of the optimizer counts before the bits of its states.
TEST_CASE("an optimizer is known by its own name first, then by the bits of its states") {
    const auto kept = [](const std::string& name) {
        return import_text("torchrun --nproc_per_node 8 run_clm.py --model_name_or_path Qwen/Qwen3-8B "
                           "--per_device_train_batch_size 1 --block_size 2048 --bf16 True --torch_dtype "
                           "bfloat16 --optim "
                           + name + "\n");
    };
    const Import lion = kept("lion_8bit");
    REQUIRE(lion.plan);
    CHECK(lion.plan->training.optimizer == Optimizer::sgd_momentum);
    CHECK(bytes_per_parameter(*lion.plan) == near(5, 1e-6));
    CHECK(bytes_per_parameter(*kept("lion_32bit").plan) == near(8, 1e-6));
    CHECK(test::stands_in(lion.settings.unmapped, "--optim"));
    for (const char* other : {"galore_adamw_8bit", "ademamix_8bit", "rmsprop_bnb_8bit", "adafactor"}) {
        INFO(other);
        const Import made = kept(other);
        REQUIRE(made.plan);
        CHECK(made.plan->training.optimizer == Optimizer::adamw);
        CHECK(test::stands_in(made.settings.unmapped, "--optim"));
    }
    CHECK(kept("paged_adamw_8bit").plan->training.optimizer == Optimizer::adamw_8bit);
    CHECK(test::stands_in(kept("sgd").settings.unmapped, "--optim"));  // torch's keeps no moment by default
}

// NVIDIA/TransformerEngine fused_adam.py: exp_avg_sq_dtype is float32 unless it is said.
TEST_CASE("one moment in bf16 and a master copy of 16 bits are said where the plan cannot hold them") {
    const std::string head =
        kAutomodel + "optimizer:\n  _target_: transformer_engine.pytorch.optimizers.fused_adam.FusedAdam\n";
    const Import first =
        import_text(head + "  exp_avg_dtype: torch.bfloat16\ndataset:\n  seq_length: 4096\n", 8);
    REQUIRE(first.plan);
    CHECK(test::stands_in(first.settings.unmapped, "optimizer.exp_avg_dtype"));
    const Import both = import_text(head
                                        + "  exp_avg_dtype: torch.bfloat16\n  exp_avg_sq_dtype: "
                                          "torch.bfloat16\ndataset:\n  seq_length: 4096\n",
                                    8);
    CHECK(test::stands_in(both.settings.mapped, "optimizer.exp_avg_dtype"));
}
