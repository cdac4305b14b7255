// Tests ROLL, prime-rl and levanter, which data tells, the launchers of gpu-recipes, and which names no
// pattern of a list makes harmless. Each text has the settings of a public file, which is named above it
// with its commit.
#include "core/interop/settings_sheet.h"
#include "core/model/model.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::presets;
using test::problem_called;
using test::stands_in;

// alibaba/ROLL 8eb27cc2, examples/qwen3-30BA3B-rlvr_megatron/rlvr_config.yaml.
TEST_CASE("ROLL under Megatron: the trainer's GPUs and batch, other roles by name") {
    const Import made = import_text(R"(num_gpus_per_node: 8
rollout_batch_size: 64
prompt_length: 2048
response_length: 4096
pretrain: Qwen/Qwen3-30B-A3B-Base
actor_train:
  model_args:
    disable_gradient_checkpointing: false
    dtype: bf16
  training_args:
    learning_rate: 1.0e-6
    per_device_train_batch_size: 1
    gradient_accumulation_steps: 32
  strategy_args:
    strategy_name: megatron_train
    strategy_config:
      tensor_model_parallel_size: 1
      pipeline_model_parallel_size: 2
      expert_model_parallel_size: 4
      context_parallel_size: 4
      use_distributed_optimizer: true
      sequence_parallel: true
      moe_token_dispatcher_type: "alltoall"
      moe_layer_recompute: true
  device_mapping: list(range(0,32))
actor_infer:
  strategy_args:
    strategy_name: vllm
    strategy_config:
      tensor_parallel_size: 2
  device_mapping: list(range(0,24))
)");
    CHECK(made.kind == "roll-megatron");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 32);
    CHECK(p.layout.pp == 2);
    CHECK(p.layout.cp == 4);
    CHECK(p.layout.ep == 4);
    CHECK(p.layout.zero == 1);
    CHECK(p.training.sequence_length == 6144);
    CHECK(p.training.micro_batch == 1);
    CHECK(p.training.global_batch == 128);  // 32 calls on each of 32 / (2 x 4) replicas
    CHECK(p.model.layers == 48);
    CHECK(
        stands_in(made.settings.unmapped, "actor_infer.strategy_args.strategy_config.tensor_parallel_size"));
    CHECK(stands_in(made.settings.unmapped, "actor_train.strategy_args.strategy_config.moe_layer_recompute"));
    CHECK(made.settings.not_known.empty());
}

// examples/qwen3-30BA3B-rlvr_fsdp2/rlvr_config_ep.yaml, and the pairs of examples/dpo_examples.
TEST_CASE("ROLL under FSDP 2: experts, Ulysses; DPO's pairs are two sequences each") {
    const std::string text = R"(prompt_length: 2048
response_length: 4096
pretrain: Qwen/Qwen3-30B-A3B-Base
actor_train:
  model_args:
    disable_gradient_checkpointing: false
    dtype: bf16
    ulysses_size: 4
  training_args:
    per_device_train_batch_size: 1
    gradient_accumulation_steps: 4
  strategy_args:
    strategy_name: fsdp2_train
    strategy_config:
      fsdp_size: 32
      ep_size: 8
      param_dtype: bf16
      reduce_dtype: bf16
      my_shard_size: 2
      offload_policy: false
      reshard_after_forward: true
  device_mapping: list([0,1,2,3,8,9,10,11])
)";
    const Import made = import_text(text);
    CHECK(made.kind == "roll");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 8);
    CHECK(p.layout.cp == 4);
    CHECK(p.layout.cp_comm == CpComm::ulysses);
    CHECK(p.layout.ep == 8);
    CHECK(p.layout.zero == 3);
    CHECK(p.training.global_batch == 8);
    CHECK(p.training.recompute.kind == Recompute::full);
    CHECK(stands_in(made.settings.not_known, "actor_train.strategy_args.strategy_config.my_shard_size"));
    const Import pairs = import_text("chosen_key: chosen\n" + text);
    REQUIRE(pairs.plan);
    CHECK(pairs.plan->training.micro_batch == 2);
}

// PrimeIntellect-ai/prime-rl 559b4477, examples/advanced/nemotron-3-super/swe.toml.
TEST_CASE("prime-rl: the trainer's nodes, Ulysses, experts, what it offloads by default") {
    const std::string text = R"(max_steps = 1000
seq_len = 131072
[slurm]
pre_run_command = 'uv sync --all-extras --all-packages'
[deployment]
type = "multi_node"
num_train_nodes = 4
num_infer_nodes = 1
[model]
name = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16"
[trainer.model]
cp = 8
cp_style = "ulysses"
ep = 8
fused_lm_head_token_chunk_size = 1024
[trainer.model.ac]
[trainer.optim]
type = "adamw"
[orchestrator]
batch_size = 256
group_size = 16
[inference.vllm]
tensor_parallel_size = 8
)";
    const Import made = import_text(text);
    CHECK(made.kind == "prime-rl");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 32);
    CHECK(p.layout.cp == 8);
    CHECK(p.layout.cp_comm == CpComm::ulysses);
    CHECK(p.layout.ep == 8);
    CHECK(p.layout.dp_shard == 4);
    CHECK(p.training.sequence_length == 131072);
    CHECK(p.training.global_batch == 256);
    CHECK(p.training.offload.optimizer == 1.0);
    CHECK(p.training.recompute.kind == Recompute::full);
    CHECK(problem_called(made, "activations-offloaded"));
    CHECK_FALSE(problem_called(made, "expert-parallel-auto"));
    CHECK(stands_in(made.settings.unmapped, "inference.vllm.tensor_parallel_size"));
    CHECK(made.settings.not_known.empty());
}

// examples/basic/reverse-text/sft.toml; what TOML calls "None" is off.
TEST_CASE("prime-rl's supervised training, and a setting that is none") {
    const std::string text = "max_steps = 100\n[model]\nname = \"PrimeIntellect/Qwen3-0.6B\"\nac = \"None\"\n"
                             "optim_cpu_offload = false\nmy_new_parallel = 2\n[data]\nseq_len = 4096\n"
                             "batch_size = 32\n\n[optim]\nlr = 2e-5\n";
    const Import made = import_text(text);
    CHECK(made.kind == "prime-rl");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 1);
    CHECK(made.plan->training.sequence_length == 4096);
    CHECK(made.plan->training.global_batch == 32);
    CHECK(made.plan->training.recompute.kind == Recompute::none);
    CHECK(made.plan->training.offload.optimizer == 0.0);
    CHECK(problem_called(made, "expert-parallel-auto"));
    CHECK(stands_in(made.settings.not_known, "model.my_new_parallel"));
}

// stanford-crfm/levanter 9263f81e, config/gpt2_20b.yaml and config/llama_7b_with_olmo_config_uswest4.yaml.
TEST_CASE("levanter: sizes by the type's defaults, mixed precision, FSDP unless it is null") {
    const Import gpt = import_text(R"(data: !include data/pile_source_old.yaml
model:
  type: gpt2
  hidden_dim: 6144
  num_heads: 64
  num_layers: 44
  seq_len: 2048
  gradient_checkpointing: true
  use_bias: false

trainer:
  mp: p=f32,c=bfloat16
  train_batch_size: 1024
  num_train_steps: 100000
)",
                                   256);
    CHECK(gpt.kind == "levanter");
    REQUIRE(gpt.plan);
    const Model& m = gpt.plan->model;
    CHECK(m.ffn == 24576);
    CHECK(m.positions == Positions::learned);
    CHECK(m.max_positions == 2048);
    CHECK_FALSE(m.mlp_bias);
    CHECK(m.tied_embeddings);
    CHECK(gpt.plan->training.compute == Dtype::bf16);
    CHECK(gpt.plan->training.micro_batch == 4);  // the whole batch at once
    CHECK(gpt.plan->layout.zero == 3);
    CHECK(problem_called(gpt, "vocab-missing"));
    const Import llama = import_text(R"(model:
  type: llama
  seq_len: 2048
  num_kv_heads: 8

trainer:
  mp: f32
  train_batch_size: 2048
  per_device_parallelism: 4
  num_train_steps: 750000
  model_axis_size: 4
  tensor_parallel_axes: ["mlp", "heads"]
  fsdp_axis: null
)",
                                     16);
    REQUIRE(llama.plan);
    CHECK(llama.plan->model.hidden == 4096);
    CHECK(llama.plan->model.kv_heads == 8);
    CHECK(llama.plan->layout.tp == 4);
    CHECK(llama.plan->layout.zero == 0);
    CHECK(llama.plan->training.micro_batch == 4);
    CHECK(llama.plan->training.compute == Dtype::fp32);
    CHECK(llama.plan->training.parameters == Dtype::fp32);
    CHECK(llama.plan->training.master_weights == MasterWeights::none);
    CHECK(import_text("model:\n  type: whisper\n\ntrainer:\n  num_train_steps: 1\n  train_batch_size: 4\n", 1)
              .failed());
}

// AI-Hypercomputer/gpu-recipes 2e1fd5ef,
// training/a3ultra/llama3_70b/megatron-bridge-gke/nemo2602/64gpus-bf16-seq8192-gbs256/recipe/launcher.sh.
TEST_CASE("a launcher that writes its worker's command into a file from a here-document") {
    const Import made = import_text(R"X(cd /opt/Megatron-Bridge
worker_command=$(cat <<- EOM
  if [ "\$RANK" -eq "0" ]; then
    sleep 3 ;
  fi ;
  numactl \
    --cpunodebind=\$((LOCAL_RANK/4)) nsys profile -o "${explicit_log_dir}/rank-\$RANK" \
  nice -10 \
  python scripts/performance/run_script.py \
    --gpu h100 \
    --model_family_name llama \
    --model_recipe_name llama3_70b \
    --num_gpus 64 \
    --gpus_per_node 8 \
    --compute_dtype fp8_mx \
    --global_batch_size 256 \
    --micro_batch_size 1 \
    --seq_length 8192 \
    --tensor_model_parallel_size 4 \
    --pipeline_model_parallel_size 8 \
    --context_parallel_size 1 \
    --virtual_pipeline_model_parallel_size 5 \
    --max_steps 50 \

EOM
)
echo "$worker_command" > worker_command.sh
torchrun --nproc-per-node="8" --nnodes="8" --no-python bash worker_command.sh
)X");
    CHECK(made.kind == "bridge");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 64);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->layout.pp == 8);
    CHECK(made.plan->layout.sequence_parallel);
    CHECK(made.plan->model.layers == 80);
    CHECK(made.plan->training.compute == Dtype::fp8);
    CHECK(made.plan->training.fp8_recipe == Fp8Recipe::mxfp8);
}

// training/a4x-max/kimi-k2/megatron-bridge-gke/nemo2604 of the same: the recipe has a layout of its own for
// 61 layers over 16 chunks.
TEST_CASE(
    "a recipe that a launch names may set more: what the text alone would be refused for, a warning is") {
    const Import made = import_text(
        "python scripts/performance/run_script.py --model_family_name kimi --model_recipe_name kimi_k2 "
        "--num_gpus 256 --gpus_per_node 4 --seq_length 4096 --global_batch_size 4096 --micro_batch_size 2 "
        "--tensor_model_parallel_size 1 --pipeline_model_parallel_size 4 "
        "--virtual_pipeline_model_parallel_size 4 --expert_model_parallel_size 64\n");
    CHECK(made.kind == "bridge");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.ep == 64);
    CHECK(made.plan->layout.virtual_stages == 4);
    CHECK(problem_called(made, "not-read"));
    REQUIRE(problem_called(made, "layers-not-divisible"));
    CHECK_FALSE(made.failed());
    for (const ImportProblem& p : made.problems) CHECK(p.severity != Severity::error);
}

TEST_CASE("a pattern of harmless names makes none harmless that sounds of layout") {
    const Import made =
        import_text("python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
                    "data.max_prompt_length=512 data.max_response_length=512 "
                    "data.my_shard_count=2 trainer.logger=console trainer.zero_stage=2 "
                    "actor_rollout_ref.actor.optim.lr=1e-6 "
                    "actor_rollout_ref.actor.optim.my_state_bits=8 "
                    "actor_rollout_ref.actor.optim.exp_avg_dtype=bf16 "
                    "actor_rollout_ref.model.my_memory_trick=True "
                    "actor_rollout_ref.actor.checkpoint.fp8_contents=1\n");
    CHECK(made.kind == "verl");
    const SettingLists& l = made.settings;
    for (const char* name :
         {"data.my_shard_count", "trainer.zero_stage", "actor_rollout_ref.actor.optim.my_state_bits",
          "actor_rollout_ref.model.my_memory_trick", "actor_rollout_ref.actor.checkpoint.fp8_contents"}) {
        CAPTURE(name);
        CHECK(stands_in(l.not_known, name));
    }
    CHECK(stands_in(l.ignored, "trainer.logger"));
    CHECK(stands_in(l.ignored, "actor_rollout_ref.actor.optim.lr"));
    CHECK(stands_in(l.unmapped, "actor_rollout_ref.actor.optim.exp_avg_dtype"));
}

// NVIDIA/NeMo-Framework-Launcher, launcher_scripts/conf/training/llama/llama1_7b.yaml: Python's word.
TEST_CASE("fp8 that is False is off") {
    const Import made = import_text("trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n"
                                    "  micro_batch_size: 1\n  global_batch_size: 8\n"
                                    "  tensor_model_parallel_size: 1\n  encoder_seq_length: 2048\n"
                                    "  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n"
                                    "  position_embedding_type: rope\n  fp8: False\n");
    REQUIRE(made.plan);
    CHECK(made.plan->training.compute == Dtype::bf16);
}

TEST_CASE("a path names its model before what stands for checkpoints, and says whether it has encoders") {
    for (const char* path :
         {"Qwen/Qwen3-8B", "/models/Qwen3-8B/checkpoint-100", "/c/Qwen3-8B/global_step_20/actor/huggingface/",
          "models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218"}) {
        CAPTURE(path);
        CHECK(preset_for(presets(), path) == "qwen3-8b");
        CHECK_FALSE(has_encoders(presets(), path));
    }
    CHECK(preset_for(presets(), "/models/Qwen3-8B/my-own-13B").empty());
    for (const char* path : {"Qwen/Qwen2.5-VL-7B-Instruct",
                             "/m/Qwen2.5-VL-7B-Instruct/snapshots/cc594898137f460bfe9f0759e9844b3ce807cfb5",
                             "/out/Qwen3-VL-8B/checkpoint-100", "qwen3_vl_moe", "google/gemma-3-27b-it",
                             "OpenGVLab/InternVL3-8B", "zai-org/GLM-4.6V", "moonshotai/Kimi-K2.5"}) {
        CAPTURE(path);
        CHECK(has_encoders(presets(), path));
    }
    for (const char* path : {"for_vllm", "google/gemma-3-1b-it", "deepseek-ai/DeepSeek-V3", "/vl/Qwen3-8B"}) {
        CAPTURE(path);
        CHECK_FALSE(has_encoders(presets(), path));
    }
    const Import made = import_text("python -m verl.trainer.main_ppo "
                                    "actor_rollout_ref.model.path=/out/Qwen3-VL-8B/checkpoint-100 "
                                    "data.max_prompt_length=512 data.max_response_length=512\n");
    REQUIRE(made.plan);
    CHECK(problem_called(made, "language-model-only"));
}

// Names are those of recipes and model cards of NVIDIA-NeMo/Megatron-Bridge 067f987d.
TEST_CASE(
    "names of Megatron-Bridge's recipes mean their own shape, and one that no plan can state says why") {
    const std::pair<const char*, const char*> named[] = {
        {"zai-org/GLM-5.1", "glm-5"},
        {"zai-org/GLM-5.2", "glm-5.2"},
        {"zai-org/GLM-4.5V", "glm-4.5v"},
        {"zai-org/GLM-4.7", "glm-4.5"},
        {"Qwen/Qwen3.8-27B", "qwen3.5-27b"},
        {"Qwen/Qwen3.5-9B-Base", "qwen3.5-9b"},
        {"Qwen/Qwen3-Omni-30B-A3B-Instruct", "qwen3-omni-30b-a3b"},
        {"google/gemma-2-2b", "gemma-2-2b"},
        {"allenai/OLMoE-1B-7B-0924", "olmoe-1b-7b"},
        {"stepfun-ai/Step-3.5-Flash", "step-3.5-flash"},
        {"stepfun-ai/Step-3.7-Flash", "step-3.5-flash"},
        {"nvidia/Nemotron-H-4B-Base-8K", "nemotron-h-4b"},
        {"nvidia/Nemotron-H-47B-Base-8K", "nemotron-h-47b"},
        {"nvidia/NVIDIA-Nemotron-Nano-12B-v2-Base", "nemotron-nano-12b-v2"},
        {"nvidia/NVIDIA-Nemotron-Nano-12B-v2-VL-BF16", "nemotron-nano-12b-v2"},
        {"nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16", "nemotron-3-nano-4b"},
        {"nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16", "nemotron-3.5-lightning"},
        {"nvidia/Nemotron-3-Nano-Omni-30B-A3B-Reasoning-BF16", "nemotron-3-nano"},
        {"mistralai/Ministral-3-8B-Instruct-2512", "ministral-3-8b"},
        {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"},
        {"LGAI-EXAONE/EXAONE-4.0-1.2B", "exaone-4.0-1.2b"},
        {"sarvamai/sarvam-30b", "sarvam-30b"}};
    for (const auto& each : named) {
        CAPTURE(each.first);
        CHECK(preset_for(presets(), each.first) == each.second);
    }
    for (const char* name :
         {"stepfun-ai/Step-3.7-Flash", "mistralai/Ministral-3-8B-Instruct-2512", "zai-org/GLM-4.5V",
          "nvidia/NVIDIA-Nemotron-Nano-12B-v2-VL-BF16", "Qwen/Qwen3.8-27B"})
        CHECK_MESSAGE(has_encoders(presets(), name), name);
    for (const char* name : {"moonshotai/Kimi-K3", "MiniMaxAI/MiniMax-M3", "google/gemma-4-E4B-it"}) {
        CAPTURE(name);
        CHECK(preset_for(presets(), name).empty());
        CHECK_FALSE(why_no_preset(presets(), name).empty());
    }
    for (const char* name : {"inclusionAI/Ling-1T", "inclusionAI/Ling-flash-base-2.0"})
        CHECK_MESSAGE(preset_for(presets(), name).empty(), name);  // no source that can be read has its sizes
    CHECK(why_no_preset(presets(), "moonshotai/Kimi-K2.5").empty());
    const Import made = import_text(
        "from megatron.bridge import AutoBridge\n"
        "def k3_pretrain_config():\n"
        "    cfg.model = AutoBridge.from_hf_pretrained(\"moonshotai/Kimi-K3\").to_megatron_provider()\n"
        "    cfg.model.tensor_model_parallel_size = 2\n    cfg.model.pipeline_model_parallel_size = 3\n"
        "    cfg.train.global_batch_size = 8\n    cfg.train.micro_batch_size = 1\n    return cfg\n");
    CHECK_FALSE(made.plan);
    bool said = false;
    for (const ImportProblem& p : made.problems)
        said |= p.message.find("attention residuals") != std::string::npos;
    CHECK(said);
}

// recipes/gemma/h100/gemma3.py and recipes/olmoe/h100/olmoe_7b.py call providers, which have the rest.
TEST_CASE("a provider of Megatron-Bridge that has a family's blocks is not read as a plain GPT") {
    const std::string
        head = "from megatron.bridge.recipes.common import _pretrain_common\n"
               "def a_pretrain_config():\n    cfg = _pretrain_common()\n",
        end = "    cfg.train.global_batch_size = 8\n    cfg.train.micro_batch_size = 1\n    return cfg\n";
    const Import gemma = import_text(
        head
            + "    cfg.model = Gemma3ModelProvider(\n        num_layers=26,\n        hidden_size=1152,\n"
              "        num_attention_heads=4,\n        num_query_groups=1,\n        kv_channels=256,\n"
              "        ffn_hidden_size=6912,\n        window_size=512,\n        seq_length=4096,\n"
              "        vocab_size=262_144,\n    )\n"
            + end,
        8);
    REQUIRE(gemma.plan);
    CHECK(count_parameters(gemma.plan->model).total == 999885952);
    CHECK(gemma.plan->model.sliding_window == 512);
    const Import olmoe =
        import_text(head
                        + "    cfg.model = OlMoEModelProvider(\n        tensor_model_parallel_size=1,\n"
                          "        expert_model_parallel_size=8,\n    )\n"
                        + end,
                    8);
    REQUIRE(olmoe.plan);
    CHECK(count_parameters(olmoe.plan->model).total == 6919161856);
}

// deepseek_v2 of NVIDIA-NeMo/Megatron-Bridge writes `moe_grouped_gemm = (True  # comment)` on three lines.
TEST_CASE("a value of a recipe on several lines may have comments") {
    const Import made = import_text(
        "from megatron.bridge.recipes.common import _pretrain_common\n"
        "def a_pretrain_config():\n    cfg = _pretrain_common()\n"
        "    cfg.model = GPTModelProvider(\n        num_layers=16,\n        hidden_size=1024,\n"
        "        num_attention_heads=8,\n        ffn_hidden_size=4096,\n        vocab_size=32000,\n        "
        "position_embedding_type=\"rope\",\n    )\n"
        "    cfg.model.sequence_parallel = (\n        True  # with tp\n    )\n"
        "    cfg.model.tensor_model_parallel_size = (  # in a node\n        2  # of (8)\n    )\n"
        "    cfg.train.global_batch_size = 8\n    cfg.train.micro_batch_size = 1\n    return cfg\n",
        8);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.sequence_parallel);
}

TEST_CASE("a layout of the pipeline that a recipe makes step by step is asked for, and refused by nobody") {
    const std::string
        head = "from megatron.bridge.recipes.common import _pretrain_common\n"
               "def a_pretrain_config():\n    cfg = _pretrain_common()\n"
               "    cfg.model = GPTModelProvider(\n        num_layers=17,\n        hidden_size=1024,\n"
               "        num_attention_heads=8,\n        ffn_hidden_size=4096,\n        vocab_size=32000,\n   "
               "     position_embedding_type=\"rope\",\n   "
               " )\n"
               "    cfg.model.pipeline_model_parallel_size = 4\n",
        end = "    cfg.train.global_batch_size = 8\n    cfg.train.micro_batch_size = 1\n    return cfg\n";
    for (const char* made_by :
         {"    layout = []\n    for i in range(4):\n        layout.append([\"decoder\"] * 4)\n"
          "    layout[-1].append(\"loss\")\n    cfg.model.pipeline_model_parallel_layout = layout\n",
          "    layout = [[\"decoder\"]] * 4\n    layout[0] = [\"embedding\", \"decoder\"]\n"
          "    cfg.model.pipeline_model_parallel_layout = layout\n",
          "    cfg.model.pipeline_model_parallel_layout = [[\"decoder\"] * 4 for _ in range(4)]\n"}) {
        CAPTURE(made_by);
        const Import made = import_text(head + made_by + end, 8);
        CHECK_FALSE(problem_called(made, "pipeline-layout"));
        CHECK_FALSE(problem_called(made, "layers-not-divisible"));
        const auto* asked = problem_called(made, "unknown-value");
        REQUIRE(asked);
        CHECK(asked->message.find("pipeline_model_parallel_layout") != std::string::npos);
        CHECK(asked->message.find("line ") != std::string::npos);
    }
    const Import written = import_text(
        head
            + "    cfg.model.pipeline_model_parallel_layout = [[\"embedding\"] + [\"decoder\"] * 4] + "
              "[[\"decoder\"] * 4] * 2 + [[\"decoder\"] * 5 + [\"loss\"]]\n"
            + end,
        8);
    REQUIRE(written.plan);
    CHECK(written.plan->layout.stage_layers == std::vector<std::int64_t>{4, 4, 4, 5});
}

// recipes/nemotronh/h100/nemotron_3_nano.py of Megatron-Bridge predicts with one layer, run twice.
TEST_CASE("prediction layers that share their weights are counted apart, and the import says it") {
    const auto read = [](const char* depths) {
        return import_text(
            std::string(
                "from megatron.bridge.recipes.common import _pretrain_common\n"
                "def a_pretrain_config():\n    cfg = _pretrain_common()\n"
                "    cfg.model = GPTModelProvider(\n        num_layers=16,\n        hidden_size=1024,\n"
                "        num_attention_heads=8,\n        ffn_hidden_size=4096,\n"
                "        vocab_size=32000,\n        position_embedding_type=\"rope\",\n    )\n    "
                "cfg.model.mtp_num_layers = ")
                + depths
                + "\n    cfg.model.mtp_use_repeated_layer = True\n    cfg.train.global_batch_size = 8\n"
                  "    cfg.train.micro_batch_size = 1\n    return cfg\n",
            8);
    };
    const Import two = read("2");
    REQUIRE(two.plan);
    CHECK(two.plan->model.mtp_layers == 2);
    CHECK(problem_called(two, "prediction-layers"));
    CHECK_FALSE(problem_called(read("1"), "prediction-layers"));
}

// NVIDIA/Megatron-LM d98e8a64, tests/functional_tests/test_cases/gpt/gpt3_mcore_te_tp2_pp2_cp2_etp4_dp_last:
// without experts too, parallel_state.py compares the data-parallel sizes of both meshes, 1 and 1 of 8 ranks.
TEST_CASE("a dense model with pp inside is run where etp makes both meshes alike") {
    const auto read = [](const char* more) {
        return import_text(std::string("MODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n"
                                       "  --num-attention-heads: 8\n  --micro-batch-size: 4\n"
                                       "  --global-batch-size: 32\n  --seq-length: 1024\n"
                                       "  --max-position-embeddings: 1024\n  --train-iters: 50\n"
                                       "  --tensor-model-parallel-size: 2\n"
                                       "  --pipeline-model-parallel-size: 2\n"
                                       "  --context-parallel-size: 2\n  --sequence-parallel: true\n"
                                       "  --bf16: true\n  --use-tp-pp-dp-mapping: true\n")
                               + more,
                           8);
    };
    const std::string refused(name_of(ProblemCode::megatron_expert_order));
    CHECK_FALSE(problem_called(read("  --expert-tensor-parallel-size: 4\n"), refused));
    CHECK(problem_called(read(""), refused));
    // Experts may stand in that order since 3e7ceda6
    // (moe/gpt3_mcore_tp2_cp2_pp2_ep2_te_4experts2parallel_dp_last).
    const Import experts = read("  --num-experts: 4\n  --expert-model-parallel-size: 2\n");
    REQUIRE(experts.plan);
    CHECK(experts.plan->layout.order.back() != Axis::pp);
    CHECK_FALSE(problem_called(experts, refused));
    CHECK(std::none_of(experts.problems.begin(), experts.problems.end(),
                       [](const auto& p) { return p.message.find("refuses") != std::string::npos; }));
}

// NVIDIA/Megatron-LM d98e8a64, tests/functional_tests/test_cases/gpt/gpt3_mcore_te_tp2_pp1_gdn_no_nvrx_sync.
TEST_CASE("Megatron's gated delta net is linear attention in all layers but each Nth") {
    const auto read = [](const char* more) {
        return import_text(
            std::string("MODEL_ARGS:\n  --num-layers: 6\n  --hidden-size: 512\n  --num-attention-heads: 8\n"
                        "  --group-query-attention: true\n  --num-query-groups: 2\n  --micro-batch-size: 4\n"
                        "  --global-batch-size: 32\n  --seq-length: 1024\n  --max-position-embeddings: 1024\n"
                        "  --train-iters: 50\n  --experimental-attention-variant: gated_delta_net\n"
                        "  --linear-conv-kernel-dim: 4\n  --linear-key-head-dim: 64\n"
                        "  --linear-value-head-dim: 64\n  --linear-num-key-heads: 4\n"
                        "  --linear-num-value-heads: 8\n  --bf16: true\n")
                + more,
            8);
    };
    const Import dense = read("  --linear-attention-freq: 3\n");
    REQUIRE(dense.plan);
    const Model& m = dense.plan->model;
    REQUIRE(m.linear);
    CHECK(*m.linear == Linear{LinearKind::gated_delta, 4, 8, 64, 64, 4, false, false});
    REQUIRE(m.pattern.size() == 2);
    CHECK(m.pattern[0].kind == MixerKind::linear);
    CHECK(m.pattern[0].count == 2);
    CHECK(m.pattern[1].kind == MixerKind::full);
    CHECK(m.pattern[1].count == 1);
    const Import experts = read("  --linear-attention-freq: 3\n  --num-experts: 32\n"
                                "  --moe-ffn-hidden-size: 64\n  --moe-router-topk: 8\n");
    REQUIRE(experts.plan);
    for (const LayerRun& run : experts.plan->model.pattern) CHECK(run.ffn == LayerFfn::moe);
    CHECK(problem_called(read(""), "linear-attention"));
}
