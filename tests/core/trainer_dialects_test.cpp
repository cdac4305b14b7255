// Tests texts of trainers for supervised and reinforcement training that data tells, and of a script that
// makes its values by loops. Each text has the settings of a public file, which is named above it with its
// commit.
#include "tests/core/imports.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::near;
using test::presets;
using test::problem_called;

// verl-project/verl 1dda039b: examples/sft/gsm8k/run_qwen3_8b_fsdp.sh, and what sft_trainer_engine.yaml says.
TEST_CASE("verl's supervised training under FSDP: Ulysses, micro-batches of as many tokens as fit") {
    const std::string text = "nproc_per_node=$1\nshift 2\n\n"
                             "torchrun --standalone --nnodes=1 --nproc_per_node=${nproc_per_node} \\\n"
                             "    -m verl.trainer.sft_trainer \\\n    data.micro_batch_size_per_gpu=64 \\\n"
                             "    data.max_length=2048 \\\n    optim.lr=1e-4 \\\n    engine=fsdp \\\n"
                             "    engine.ulysses_sequence_parallel_size=2 \\\n"
                             "    model.path=Qwen/Qwen3-8B \\\n    trainer.total_epochs=2 \"$@\"\n";
    const Import made = import_text(text, 0, "8 out data.use_dynamic_bsz=False");
    CHECK(made.kind == "verl-sft");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 8);
    CHECK(p.layout.cp == 2);
    CHECK(p.layout.cp_comm == CpComm::ulysses);
    CHECK(p.layout.zero == 3);
    CHECK(p.layout.dp_shard == 4);
    CHECK(p.training.micro_batch == 64);
    CHECK(p.training.global_batch == 256);  // the default
    CHECK(p.training.sequence_length == 2048);
    CHECK(p.training.recompute.kind == Recompute::full);
    CHECK(p.model.layers == 36);
    CHECK(made.settings.not_known.empty());
    CHECK_FALSE(problem_called(made, "micro-batches-by-tokens"));
    const Import dynamic = import_text(text, 0, "8 out data.use_dynamic_bsz=True");
    CHECK(problem_called(dynamic, "micro-batches-by-tokens"));
    // fsdp_sft_trainer, b178a3cd: examples/sft/gsm8k/run_qwen_05_sp2.sh.
    const Import old =
        import_text("torchrun --nnodes=1 --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer "
                    "data.micro_batch_size=4 model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct "
                    "ulysses_sequence_parallel_size=2 use_remove_padding=true\n");
    CHECK(old.kind == "verl-sft");
    REQUIRE(old.plan);
    CHECK(old.plan->layout.cp == 2);
    CHECK(old.plan->layout.dp_shard == 2);
    CHECK(old.plan->model.hidden == 896);
}

// examples/sft/gsm8k/run_qwen3_5_397b_a17b_megatron.sh.
TEST_CASE("verl's supervised training under Megatron") {
    const Import made = import_text(
        "TP_SIZE=${TP_SIZE:-2}\ntorchrun --nproc_per_node=8 --nnodes=16 -m verl.trainer.sft_trainer "
        "data.train_batch_size=128 data.micro_batch_size_per_gpu=2 data.max_length=2048 "
        "data.use_dynamic_bsz=False model.path=Qwen/Qwen3.5-397B-A17B engine=megatron "
        "+optim.override_optimizer_config.optimizer_cpu_offload=True "
        "+optim.override_optimizer_config.optimizer_offload_fraction=1 "
        "engine.tensor_model_parallel_size=${TP_SIZE} engine.pipeline_model_parallel_size=4 "
        "engine.virtual_pipeline_model_parallel_size=null engine.context_parallel_size=1 "
        "engine.expert_model_parallel_size=32 engine.expert_tensor_parallel_size=1 "
        "+engine.override_transformer_config.recompute_method=uniform "
        "+engine.override_transformer_config.recompute_granularity=full "
        "+engine.override_transformer_config.recompute_num_layers=1\n");
    CHECK(made.kind == "verl-sft-megatron");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 128);
    CHECK(p.layout.tp == 2);
    CHECK(p.layout.pp == 4);
    CHECK(p.layout.ep == 32);
    CHECK(p.layout.etp == 1);
    CHECK(p.layout.zero == 1);
    CHECK(p.layout.sequence_parallel);
    CHECK(p.training.global_batch == 128);
    CHECK(p.training.micro_batch == 2);
    CHECK(p.training.recompute.kind == Recompute::full);
    CHECK(p.training.offload.optimizer > 0.99);
    CHECK_FALSE(made.failed());
}

// NVIDIA-NeMo/RL 7ea279ab: examples/configs/recipes/llm/grpo-deepseek-v3-32n8g.yaml's stages, and values of
// examples/configs/grpo_math_1B.yaml that switch nothing on.
TEST_CASE("NeMo RL: layers of the first and last stage; what is switched off changes nothing") {
    const Import made = import_text(
        "policy:\n  model_name: deepseek-ai/DeepSeek-V3\n  train_global_batch_size: 512\n"
        "  train_micro_batch_size: 1\n  max_total_sequence_length: 1536\n  precision: bfloat16\n"
        "  dtensor_cfg:\n    enabled: false\n  megatron_cfg:\n    enabled: true\n"
        "    tensor_model_parallel_size: 8\n    pipeline_model_parallel_size: 16\n"
        "    expert_model_parallel_size: 16\n    num_layers_in_first_pipeline_stage: 3\n"
        "    num_layers_in_last_pipeline_stage: 2\n    sequence_parallel: false\n"
        "    activation_checkpointing: false\n    recompute_granularity: full\n    moe_enable_deepep: false\n"
        "    moe_shared_expert_overlap: false\n    cuda_graph_impl: none\n    cuda_graph_modules: []\n"
        "    fine_grained_activation_offloading: false\n    mtp_num_layers: 0\n"
        "    empty_unused_memory_level: 1\n    pipeline_dtype: bfloat16\n    optimizer:\n"
        "      optimizer_cpu_offload: false\n      use_distributed_optimizer: true\n"
        "      params_dtype: float32\n      overlap_cpu_optimizer_d2h_h2d: false\n"
        "cluster:\n  gpus_per_node: 8\n  num_nodes: 32\n");
    REQUIRE(made.plan);
    const std::vector<std::int64_t>& stages = made.plan->layout.stage_layers;
    REQUIRE(stages.size() == 16);
    CHECK(stages.front() == 3);
    CHECK(stages[1] == 4);
    CHECK(stages[14] == 4);
    CHECK(stages.back() == 2);
    CHECK(made.settings.not_known.empty());
    CHECK(made.settings.unmapped.empty());
    const Import flex = import_text(
        "policy:\n  model_name: Qwen/Qwen3-30B-A3B\n  train_global_batch_size: 64\n"
        "  max_total_sequence_length: 512\n  megatron_cfg:\n    enabled: true\n"
        "    expert_model_parallel_size: 8\n    moe_token_dispatcher_type: flex\n"
        "    moe_flex_dispatcher_backend: hybridep\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n");
    REQUIRE(flex.plan);
    CHECK(flex.plan->layout.ep_comm == EpComm::hybridep);
}

// NVIDIA-NeMo/RL 7ea279ab, nemo_rl/algorithms/grpo.py, setup: with several nodes generation takes whole ones
// (examples/configs/recipes/llm/performance/grpo-qwen3-30ba3b-24n8g-async-8off.yaml), with one some of its
// GPUs; so does a reward model (examples/configs/grpo_rm_1B.yaml).
TEST_CASE("NeMo RL: the GPUs of generation, a reward model and teachers are not the trainer's") {
    const auto read = [](const std::string& generation, const std::string& cluster,
                         const std::string& more = "") {
        return import_text(
            "policy:\n  model_name: Qwen/Qwen3-1.7B\n  train_global_batch_size: 512\n"
            "  train_micro_batch_size: 1\n  max_total_sequence_length: 512\n  precision: bfloat16\n"
            "  dtensor_cfg:\n    enabled: true\n  generation:\n    colocated:\n"
            + generation + cluster + more);
    };
    const auto gpus = [](const Import& made) { return made.plan ? made.plan->cluster.gpus : 0; };
    const std::string apart = "      enabled: false\n      resources:\n",
                      n24 = "cluster:\n  gpus_per_node: 8\n  num_nodes: 24\n",
                      n1 = "cluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    const Import nodes = read(apart + "        gpus_per_node: 8\n        num_nodes: 16\n", n24);
    CHECK(gpus(nodes) == 64);
    CHECK_FALSE(nodes.failed());
    CHECK(problem_called(nodes, "generation-gpus"));
    CHECK(nodes.settings.not_known.empty());
    const Import together = read("      enabled: true\n      resources:\n        num_nodes: 16\n", n24);
    CHECK(gpus(together) == 192);
    CHECK_FALSE(problem_called(together, "generation-gpus"));
    const std::string three = apart + "        gpus_per_node: 3\n        num_nodes: null\n";
    CHECK(gpus(read(three, n1)) == 5);
    const std::string reward =
        "env:\n  reward_model:\n    resources:\n      gpus_per_node: 1\n      num_nodes: 1\n";
    CHECK(gpus(read(three, n1, reward)) == 4);
    CHECK(gpus(read(apart + "        gpus_per_node: 8\n        num_nodes: 15\n", n24, reward)) == 64);
    // One of the two nodes is the reward model's: generation and training share the other.
    CHECK(gpus(read(three, "cluster:\n  gpus_per_node: 8\n  num_nodes: 2\n", reward)) == 5);
    const Import teachers = read(apart + "        gpus_per_node: 8\n        num_nodes: 1\n",
                                 "cluster:\n  gpus_per_node: 8\n  num_nodes: 6\n",
                                 "on_policy_distillation:\n  non_colocated_teachers:\n    enabled: true\n"
                                 "    default_teacher_cfg:\n      num_nodes: 3\n");
    CHECK(gpus(teachers) == 16);
    CHECK(problem_called(teachers, "teacher-nodes"));
    CHECK(read(apart + "        gpus_per_node: 8\n        num_nodes: 24\n", n24).failed());  // none is left
}

// THUDM/slime 624b824a: scripts/models/deepseek-v3.sh.
TEST_CASE("a list that a loop makes and printf -v joins") {
    const std::string head = "NLAYERS=5\nFIRST_K_DENSE_REPLACE=3\n\narr=()\n"
                             "for ((i=0; i<NLAYERS; i++)); do\n"
                             "  if (( i < FIRST_K_DENSE_REPLACE )); then\n    arr+=(0)\n  else\n"
                             "    arr+=(1)\n  fi\ndone\n\n",
                      tail = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $NLAYERS "
                             "--hidden-size 1024 --num-attention-heads 16 --num-experts 8 "
                             "--moe-router-topk 2 --moe-ffn-hidden-size 512 --swiglu --seq-length 128 "
                             "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 8 "
                             "--vocab-size 1000 --moe-layer-freq \"$FREQ\"\n";
    const Import made =
        import_text(head + "printf -v FREQ \"[%s]\" \"$(IFS=', '; echo \"${arr[*]}\")\"\n" + tail);
    REQUIRE(made.plan);
    REQUIRE(made.plan->model.moe);
    CHECK(made.plan->model.moe->first_dense_layers == 3);
    CHECK(made.plan->model.moe->every == 1);
    CHECK(made.plan->model.layers == 5);
    // The list of a loop without a known end stays unknown, and is asked for.
    const Import open = import_text("arr=()\nfor ((i=0; i<$(nproc); i++)); do arr+=(1); done\n"
                                    "printf -v FREQ \"[%s]\" \"$(IFS=','; echo \"${arr[*]}\")\"\nNLAYERS=5\n"
                                    + tail);
    CHECK(open.failed());
    const Import twice =
        import_text("printf -v FREQ '%s+' \"[0]*3\" \"[1]*2\"\nFREQ=${FREQ%+}\nNLAYERS=5\n" + tail);
    CHECK_FALSE(twice.failed());
}

// NVIDIA-NeMo/Megatron-Bridge 067f987d: diffusion/recipes/wan/wan.py.
TEST_CASE("a diffusion transformer is refused as one, not for its vocabulary") {
    const Import made = import_text(
        "from megatron.bridge.training.config import ConfigContainer\n\n\n"
        "def wan_14b_pretrain_32gpu_h100_bf16_config() -> ConfigContainer:\n"
        "    from megatron.bridge.recipes.utils.tokenizer_utils import DEFAULT_SIZE\n\n"
        "    model_cfg = WanModelProvider(num_layers=40, hidden_size=5120, num_attention_heads=40, "
        "crossattn_emb_size=5120)\n    precision_config = get_mixed_precision_config(\"bf16_mixed\")\n"
        "    precision_config.grad_reduce_in_fp32 = False\n"
        "    return ConfigContainer(model=model_cfg, tokenizer=TokenizerConfig(vocab_size=DEFAULT_SIZE), "
        "mixed_precision=precision_config)\n");
    CHECK_FALSE(made.plan);
    CHECK(problem_called(made, "other-model"));
    CHECK(std::count_if(made.problems.begin(), made.problems.end(),
                        [](const ImportProblem& p) { return p.severity == Severity::error; })
          == 1);
}

// hiyouga/LLaMA-Factory ff6d4d12: v1/accelerator/interface.py (dp, cp) and fsdpturbo.py (edp, efsdp, ep, cp).
TEST_CASE("LLaMA-Factory v1: cp is the innermost axis, then ep") {
    const Import made =
        import_text("model: Qwen/Qwen3-30B-A3B\ndist_config:\n  name: fsdpturbo\n  ep_size: 2\n"
                    "cp_size: 2\nmicro_batch_size: 1\ncutoff_len: 2048\n",
                    8);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.ep == 2);
    CHECK(made.plan->layout.order.front() == Axis::cp);
}

// NVIDIA/Megatron-LM d98e8a64: core/model_parallel_config.py, where shards of a weight are tp x gtp_remat.
TEST_CASE("Megatron's gtp_remat is weight_shards, by either of its names") {
    const std::string head = "cfg.model.num_layers = 8\ncfg.model.hidden_size = 1024\n"
                             "cfg.model.num_attention_heads = 16\ncfg.model.tensor_model_parallel_size = 2\n"
                             "cfg.model.position_embedding_type = \"rope\"\n";
    for (const std::string more :
         {"cfg.model.gtp_weight_remat_size = 4\n", "cfg.model.tensor_parallel_num_weight_shards = 8\n"}) {
        CAPTURE(more);
        const Import made = import_text(head + more, 64);
        REQUIRE(made.plan);
        CHECK(made.plan->layout.weight_shards == 4);
    }
}

Import deepspeed_of(const std::string& text) {
    ImportRequest r;
    r.text = text, r.path = "ds.json", r.gpus = 8, r.model = "llama-3-8b";
    return import_settings(r, presets());
}

// deepspeedai/DeepSpeed edaa7221: runtime/config.py, _set_batch_related_parameters.
TEST_CASE("DeepSpeed: a batch that nothing else divides is one call of all ranks") {
    const Import made = deepspeed_of(R"({"train_batch_size": 64, "zero_optimization": {"stage": 2}})");
    REQUIRE(made.plan);
    CHECK(made.plan->training.micro_batch == 8);
    CHECK(made.plan->training.global_batch == 64);
}

TEST_CASE("a word in the place of a number is refused by its field, an emptied stage by its framework") {
    for (const char* text : {R"({"train_batch_size": "abc", "zero_optimization": {"stage": 2}})",
                             R"({"train_batch_size": 64, "zero_optimization": {"stage": "x"}})",
                             R"({"train_batch_size": 1e300, "zero_optimization": {"stage": 2}})"}) {
        CAPTURE(text);
        const Import made = deepspeed_of(text);
        CHECK(made.failed());
        for (const ImportProblem& p : made.problems) {
            CHECK(p.message.find("json.exception") == std::string::npos);
            CHECK(p.message.find("discarded") == std::string::npos);
        }
    }
    const Import stages =
        import_text("policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 64\n"
                    "  train_micro_batch_size: 1\n  max_total_sequence_length: 1024\n"
                    "  megatron_cfg:\n    enabled: true\n    pipeline_model_parallel_size: 2\n"
                    "    num_layers_in_first_pipeline_stage: 10\n"
                    "    num_layers_in_last_pipeline_stage: 10\n"
                    "cluster:\n  gpus_per_node: 8\n  num_nodes: 1\n");
    CHECK(problem_called(stages, "stage-layers"));
}

TEST_CASE("a switch is on by any of the words that YAML has for it") {
    for (const char* word : {"yes", "on", "true", "\"yes\"", "1"}) {
        CAPTURE(word);
        ImportRequest r;
        r.text = std::string("distributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n  fsdp_version: 2\n"
                             "  fsdp_activation_checkpointing: ")
                 + word + "\n";
        r.path = "accelerate.yaml", r.model = "llama-3-8b";
        const Import made = import_settings(r, presets());
        REQUIRE(made.plan);
        CHECK(made.plan->training.recompute.kind == Recompute::full);
    }
}

TEST_CASE(
    "verl: names of the actor by their beginning change nothing, what is put over the model is not held") {
    const Import made =
        import_text("#!/bin/bash\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 "
                    "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B trainer.n_gpus_per_node=8 "
                    "actor_rollout_ref.actor.clip_ratio=0.2 actor_rollout_ref.actor.clipped=1 "
                    "+actor_rollout_ref.model.override_config.num_hidden_layers=4\n");
    const auto is_in = [](const std::vector<Listed>& rows, std::string_view end) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const Listed& l) { return l.setting.ends_with(end); });
    };
    CHECK(is_in(made.settings.ignored, "actor.clip_ratio"));
    CHECK(is_in(made.settings.not_known, "actor.clipped"));
    CHECK(is_in(made.settings.unmapped, "override_config.num_hidden_layers"));
}

TEST_CASE("a batch or degree that is no whole number is refused, and one that divides badly is named") {
    const std::string zero = "{\"zero_optimization\": {\"stage\": 2";
    for (const char* wrong :
         {"}, \"train_micro_batch_size_per_gpu\": 2.5}", "}, \"train_micro_batch_size_per_gpu\": 0}",
          "}, \"train_micro_batch_size_per_gpu\": 1, \"sequence_parallel_size\": -2}"})
        CHECK(problem_called(import_text(zero + wrong, 8), "setting-not-allowed"));
    const Import mics =
        import_text(zero + ", \"mics_shard_size\": 3}, \"train_micro_batch_size_per_gpu\": 1}", 8);
    const ImportProblem* refused = problem_called(mics, "world-not-divisible");
    REQUIRE(refused);
    CHECK(refused->message.ends_with("zero_optimization.mics_shard_size 3"));
}

// hiyouga/LLaMA-Factory ff6d4d12, hparams/model_args.py: disable_gradient_checkpointing is false unless said.
TEST_CASE("what accelerate's file does not say of recomputation is the trainer's to say") {
    const Import made =
        import_text("model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\n"
                    "finetuning_type: full\ntemplate: llama3\ncutoff_len: 1024\nuse_muon: true\n"
                    "per_device_train_batch_size: 1\nbf16: true\n");
    REQUIRE(made.plan);
    CHECK(made.plan->training.recompute.kind == Recompute::full);
    CHECK(made.plan->training.optimizer == Optimizer::muon);
    const Import launched =
        import_text("accelerate launch --use_fsdp --num_processes 4 --fsdp_sharding_strategy FULL_SHARD "
                    "src/train.py --stage sft --do_train --finetuning_type full --template llama3 "
                    "--model_name_or_path meta-llama/Meta-Llama-3-8B --cutoff_len 1024 "
                    "--per_device_train_batch_size 1 --bf16 true --dataset a\n");
    REQUIRE(launched.plan);
    CHECK(launched.kind == "llama-factory");
    CHECK(launched.plan->training.recompute.kind == Recompute::full);
}

// deepspeedai/DeepSpeedExamples: DeepSpeed-Chat, step 1 and 2 (main.py: --dtype is fp16 unless said; the
// reward model gets the chosen and the rejected answer of each sample).
TEST_CASE("DeepSpeed-Chat computes in fp16 unless --dtype says another, and its reward model has pairs") {
    const std::string text = "deepspeed --num_gpus 8 main.py --data_split 2,4,4 --model_name_or_path "
                             "meta-llama/Llama-2-7b-hf --per_device_train_batch_size 4 --max_seq_len 512 "
                             "--gradient_accumulation_steps 1 --gradient_checkpointing --zero_stage 3 "
                             "--deepspeed --output_dir out";
    const Import made = import_text(text + "\n");
    REQUIRE(made.plan);
    CHECK(made.plan->training.compute == Dtype::fp16);
    CHECK(made.plan->training.master_weights == MasterWeights::fp32);
    CHECK(made.plan->training.global_batch == 32);
    CHECK(made.settings.not_known.empty());
    const Import bf16 = import_text(text + " --dtype bf16 --offload\n");
    REQUIRE(bf16.plan);
    CHECK(bf16.plan->training.compute == Dtype::bf16);
    CHECK(bf16.plan->training.offload.optimizer == near(1.0));
    CHECK(bf16.plan->training.offload.parameters == near(1.0));
    const Import lora = import_text(text + " --lora_dim 128 --lora_module_name layers.\n");
    CHECK(test::stands_in(lora.settings.unmapped, "--lora_dim"));
    const Import reward = import_text(text + " --num_padding_at_beginning 0\n");
    REQUIRE(reward.plan);
    CHECK(reward.plan->training.micro_batch == 8);
    CHECK(reward.plan->training.global_batch == 64);
}

// HfArgumentParser.parse_json_file takes a JSON of arguments (transformers/hf_argparser.py).
TEST_CASE("a JSON of arguments of transformers' Trainer is read as its YAML is") {
    const Import made = import_text(
        "{\n  \"model_name_or_path\": \"Qwen/Qwen2.5-7B\",\n  \"per_device_train_batch_size\": 2,\n"
        "  \"gradient_accumulation_steps\": 16,\n  \"max_seq_length\": 1024,\n"
        "  \"gradient_checkpointing\": true,\n  \"train_mode\": \"full\",\n  \"bf16\": true\n}\n",
        8);
    CHECK(made.kind == "hf-trainer");
    REQUIRE(made.plan);
    CHECK(made.plan->training.global_batch == 256);
    CHECK(made.plan->training.sequence_length == 1024);
    CHECK(made.plan->training.recompute.kind == Recompute::full);
    CHECK(made.settings.not_known.empty());
}

// axolotl-ai-cloud/axolotl 067b021c, utils/config/__init__.py: batch_size // micro_batch_size.
TEST_CASE("axolotl's batch_size says the accumulation that is not said") {
    const Import made =
        import_text("base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 2048\nmicro_batch_size: 2\n"
                    "batch_size: 8\noptimizer: adamw_torch\nbf16: auto\n"
                    "datasets:\n  - path: a\n    type: alpaca\n",
                    4);
    CHECK(made.kind == "axolotl");
    REQUIRE(made.plan);
    CHECK(made.plan->training.micro_batch == 2);
    CHECK(made.plan->training.global_batch == 32);
}

// ByteDance-Seed/VeOmni d9774494: train.optimizer.type is adamw, anyprecision_adamw or muon; data_type dpo.
TEST_CASE("VeOmni's Muon is the plan's, and a sample of its DPO is a pair") {
    const Import made =
        import_text("model:\n  model_path: Qwen/Qwen3-0.6B\ndata:\n  data_type: dpo\n  max_seq_len: 2048\n"
                    "train:\n  accelerator:\n    fsdp_config:\n      fsdp_mode: fsdp2\n"
                    "  optimizer:\n    type: muon\n  micro_batch_size: 1\n  global_batch_size: 8\n",
                    4);
    CHECK(made.kind == "veomni");
    REQUIRE(made.plan);
    CHECK(made.plan->training.optimizer == Optimizer::muon);
    CHECK(made.plan->training.micro_batch == 2);
    CHECK(made.plan->training.global_batch == 16);
}
