// Tests texts of tools that data tells (presets/frameworks/NAME.json, core/interop/dialect.h). Each text has
// the settings of a public file, which is named above it with its commit.
#include "core/base/files.h"
#include "core/interop/dialect.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_recipe;
using test::import_text;
using test::listed;
using test::presets;
using test::problem_called;

namespace {

// Returns the names of the tools whose text it may be.
std::string guessed(std::string_view text) {
    std::string out;
    for (const Tool* tool : guess_tools(text)) out += (out.empty() ? "" : ", ") + std::string(tool->name);
    return out;
}

}  // namespace

// DeepSpeedExamples' Megatron-LM-v1.1.5-3D_parallelism has the flag.
TEST_CASE(
    "a tool's mark is no end of a longer name: Megatron's flag for its pipeline is no setting of GPT-NeoX") {
    const std::string flags = "deepspeed pretrain_gpt2.py --model-parallel-size 2 --pipe-parallel-size 4 "
                              "--num-layers 24 --hidden-size 1024 --num-attention-heads 16\n";
    CHECK(guessed(flags) == "megatron");
    CHECK(guessed("{\"pipe-parallel-size\": 4, \"model-parallel-size\": 2}") == "gpt-neox");
}

// modelscope/ms-swift 3602360a, examples/models/qwen3_5/mcore.sh, its layout, and a second job.
TEST_CASE("ms-swift: Megatron's names with underscores, processes of its launcher, a model by its name") {
    const std::string text =
        "PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \\\nNPROC_PER_NODE=4 \\\n"
        "CUDA_VISIBLE_DEVICES=0,1,2,3 \\\nmegatron sft \\\n    --model Qwen/Qwen3-30B-A3B \\\n"
        "    --tuner_type lora \\\n    --expert_model_parallel_size 4 \\\n    --micro_batch_size 4 \\\n"
        "    --global_batch_size 16 \\\n    --recompute_granularity full \\\n    --recompute_method uniform "
        "\\\n"
        "    --recompute_num_layers 1 \\\n    --max_length 2048 \\\n    --sequence_parallel true \\\n"
        "    --padding_free false\n\n"
        "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B --tensor_model_parallel_size 2 "
        "--max_length 4096\n\nswift infer --model x --stream true --max_new_tokens 512 --a 1 --b 2 --c 3 --d "
        "4\n";
    const Import made = import_text(text);
    CHECK(made.kind == "ms-swift");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 4);
    CHECK(p.layout.ep == 4);
    CHECK(p.layout.zero == 1);  // use_distributed_optimizer, true by default
    CHECK(p.training.global_batch == 16);
    CHECK(p.training.micro_batch == 4);
    CHECK(p.training.sequence_length == 2048);
    CHECK(p.model.layers == 48);
    CHECK(p.training.recompute == Recompute::full);
    const Listed* lora = listed(made.settings.unmapped, "--tuner_type");
    REQUIRE(lora);
    CHECK(lora->why == "the plan trains all weights");
    const Listed* length = listed(made.settings.mapped, "--max_length");
    REQUIRE(length);
    CHECK(length->path == "/training/sequence_length");

    // The other job of the script, by its place.
    REQUIRE(made.recipes.size() == 2);
    CHECK(made.recipe == made.recipes[0]);
    CHECK(problem_called(made, "several-jobs"));
    const Import second = import_recipe(text, made.recipes[1]);
    REQUIRE(second.plan);
    CHECK(second.plan->layout.tp == 2);
    CHECK(second.plan->cluster.gpus == 8);
    CHECK(second.plan->training.global_batch == 16);  // the default
    CHECK_THROWS(import_recipe(text, "line-99"));
}

// modelscope/ms-swift 3602360a, examples/train/sequence_parallel/sequence_parallel_grpo.sh and swift/config.
TEST_CASE("swift sft and rlhf: DeepSpeed's stage by the name of its file, Ulysses, LoRA by default") {
    const Import made = import_text(
        "NPROC_PER_NODE=8 \\\nswift rlhf \\\n    --rlhf_type grpo \\\n    --model Qwen/Qwen2.5-7B \\\n"
        "    --tuner_type full \\\n    --vllm_tensor_parallel_size 4 \\\n    --torch_dtype bfloat16 \\\n"
        "    --max_length 2048 \\\n    --per_device_train_batch_size 4 \\\n"
        "    --gradient_accumulation_steps 8 \\\n    --sequence_parallel_size 2 \\\n    --deepspeed zero3\n");
    CHECK(made.kind == "swift");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.layout.cp == 2);
    CHECK(p.layout.tp == 1);  // vLLM's is another program's
    CHECK(p.layout.cp_comm == CpComm::ulysses);
    CHECK(p.layout.zero == 3);
    CHECK(p.layout.dp_shard == 4);
    CHECK(p.training.global_batch == 4 * 8 * 4);
    CHECK(p.training.software == Software::deepspeed);
    CHECK(p.model.hidden == 3584);
    CHECK(listed(made.settings.unmapped, "--vllm_tensor_parallel_size"));
    CHECK(listed(made.settings.mapped, "--deepspeed"));

    const Import lora =
        import_text("NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B --max_length 1024 --a 1 --b 2");
    REQUIRE(lora.plan);
    CHECK(lora.plan->layout.zero == 0);
    CHECK(lora.plan->training.software == Software::fsdp);
    CHECK(listed(lora.settings.unmapped, "the default of ms-swift"));
}

// axolotl-ai-cloud/axolotl 067b021c, examples/distributed-parallel/llama-3_1-8b-hsdp-tp.yaml.
TEST_CASE("axolotl: HSDP with tensor parallelism") {
    const std::string text =
        "base_model: meta-llama/Llama-3.1-8B\n\ndp_shard_size: 4\ndp_replicate_size: 2\n"
        "tensor_parallel_size: 2\n\nfsdp_version: 2\nfsdp_config:\n  offload_params: false\n"
        "  state_dict_type: FULL_STATE_DICT\n  auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
        "  transformer_layer_cls_to_wrap: LlamaDecoderLayer\n  reshard_after_forward: true\n\n"
        "sequence_len: 2048\nsample_packing: true\ngradient_accumulation_steps: 1\nmicro_batch_size: 1\n"
        "optimizer: adamw_torch_fused\nbf16: true\n";
    const Import made = import_text(text);
    CHECK(made.kind == "axolotl");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 16);  // not said: the fewest that the degrees fill
    CHECK(problem_called(made, "gpus-missing"));
    CHECK(p.layout.tp == 2);
    CHECK(p.layout.dp_shard == 4);
    CHECK(p.layout.dp_replicate == 2);
    CHECK(p.layout.zero == 3);
    CHECK(p.training.global_batch == 8);
    CHECK(p.training.compute == Dtype::bf16);
    CHECK(p.model.name == "Llama 3.1 8B");
    CHECK(made.settings.not_known.empty());

    const Import twice = import_text(text, 24);
    CHECK(problem_called(twice, "world-not-divisible"));
    CHECK(twice.failed());
}

// NVIDIA-NeMo/Automodel 36044ad3, examples/llm_finetune/mimo_v2_flash/mimo_v2_flash_hellaswag.yaml with
// another model. Its comment: 16 nodes of 8, 128 GPUs.
TEST_CASE("Automodel: pp x ep says how many GPUs there are at least") {
    const Import made = import_text(
        "recipe: TrainFinetuneRecipeForNextTokenPrediction\n\nstep_scheduler:\n  global_batch_size: 256\n"
        "  local_batch_size: 8\n  max_steps: 100\n\ndistributed:\n  strategy: fsdp2\n  tp_size: 1\n"
        "  cp_size: 1\n  pp_size: 4\n  ep_size: 32\n  activation_checkpointing: true\n\nmodel:\n"
        "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
        "  pretrained_model_name_or_path: Qwen/Qwen3-235B-A22B\n  backend:\n    dispatcher: deepep\n\n"
        "packed_sequence:\n  packed_sequence_size: 4096\n");
    CHECK(made.kind == "automodel");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 128);
    CHECK(p.layout.pp == 4);
    CHECK(p.layout.ep == 32);
    CHECK(p.layout.dp_shard == 32);
    CHECK(p.layout.ep_comm == EpComm::deepep);
    CHECK(p.training.sequence_length == 4096);
    // The pipeline splits the local batch of 8 into pp_microbatch_size, by default 1 (PipelineConfig in
    // components/distributed/pipelining/config.py).
    CHECK(p.training.micro_batch == 1);
    CHECK(p.training.recompute == Recompute::full);
    CHECK(p.training.software == Software::automodel);
}

// EleutherAI/gpt-neox ea7aefd8, configs/llama2/13B.yml: intermediate_size 41472 is three times Llama 2's
// 13824.
TEST_CASE("GPT-NeoX: a gated MLP has a third of intermediate_size") {
    const Import made = import_text(
        "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 2,\n"
        "  \"make_vocab_size_divisible_by\": 1,\n\n  # model settings\n  \"num_layers\": 40,\n"
        "  \"hidden_size\": 5120,\n  \"intermediate_size\": 41472,\n  \"num_attention_heads\": 40,\n"
        "  \"seq_length\": 4096,\n  \"max_position_embeddings\": 4096,\n  \"pos_emb\": \"rotary\",\n"
        "  \"no_weight_tying\": true,\n  \"norm\": \"rmsnorm\",\n  \"use_bias_in_attn_linear\": false,\n"
        "  \"activation\": \"swiglu\",\n  \"zero_optimization\": {\"stage\": 1},\n"
        "  \"fp16\": {\"enabled\": true},\n  \"train_micro_batch_size_per_gpu\": 4,\n"
        "  \"gradient_accumulation_steps\": 2,\n}\n",
        16);
    CHECK(made.kind == "gpt-neox");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.layout.tp == 2);
    CHECK(p.layout.zero == 1);
    CHECK(p.layout.dp_shard == 8);
    CHECK(p.training.global_batch == 4 * 2 * 8);
    CHECK(p.training.compute == Dtype::fp16);
    CHECK(p.model.ffn == 13824);
    CHECK(p.model.ffn_kind == FfnKind::swiglu);
    CHECK_FALSE(p.model.tied_embeddings);
    CHECK_FALSE(p.model.attention_bias);
}

// volcengine/verl b178a3cd, examples/router_replay/run_qwen30_a3b_megatron_sglang.sh with a model.
TEST_CASE("verl: the actor is read, the other roles are named") {
    const Import made = import_text(
        "set -x\nNODES=6\nPP=6\nTP=1\nEP=8\nETP=1\n\n"
        "python3 -m verl.trainer.main_ppo --config-path=config \\\n"
        "    --config-name='ppo_megatron_trainer.yaml' \\\n    data.max_prompt_length=512 \\\n"
        "    data.max_response_length=512 \\\n    actor_rollout_ref.model.path=/models/Qwen3-30B-A3B \\\n"
        "    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \\\n"
        "    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \\\n"
        "    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1 \\\n"
        "    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\\n"
        "    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \\\n"
        "    actor_rollout_ref.actor.megatron.param_offload=True \\\n"
        "    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=$PP \\\n"
        "    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=$TP \\\n"
        "    actor_rollout_ref.actor.megatron.expert_model_parallel_size=$EP \\\n"
        "    actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=$ETP \\\n"
        "    actor_rollout_ref.rollout.tensor_model_parallel_size=4 \\\n    actor_rollout_ref.rollout.n=8 "
        "\\\n"
        "    trainer.n_gpus_per_node=8 \\\n    trainer.nnodes=$NODES\n");
    CHECK(made.kind == "verl-megatron");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 48);
    CHECK(p.layout.tp == 1);  // SGLang's 4 is the rollout's
    CHECK(p.layout.pp == 6);
    CHECK(p.layout.ep == 8);
    CHECK(p.training.sequence_length == 1024);
    CHECK(p.training.global_batch == 512);
    CHECK(p.training.recompute == Recompute::full);
    const Listed* rollout =
        listed(made.settings.unmapped, "actor_rollout_ref.rollout.tensor_model_parallel_size");
    REQUIRE(rollout);
    CHECK(rollout->why == "another part of the job: the plan holds the training of one model");
    const Listed* each = listed(made.settings.mapped, "data.max_response_length");
    REQUIRE(each);
    CHECK(each->path == "/training/sequence_length");
}

// AI-Hypercomputer/maxtext e591f30c, src/maxtext/configs/base.yml: names and defaults.
TEST_CASE("MaxText: axes inside a slice and between slices multiply, the batch counts all devices") {
    const Import made =
        import_text("python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml \\\n"
                    "  model_name=llama3.1-70b per_device_batch_size=2 max_target_length=8192 \\\n"
                    "  ici_fsdp_parallelism=8 ici_tensor_parallelism=4 dcn_data_parallelism=4 \\\n"
                    "  remat_policy=full quantization=fp8\n");
    CHECK(made.kind == "maxtext");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 128);
    CHECK(p.layout.tp == 4);
    CHECK(p.layout.dp_shard == 8);
    CHECK(p.layout.dp_replicate == 4);
    CHECK(p.training.global_batch == 256);
    CHECK(p.training.micro_batch == 8);
    CHECK(p.training.compute == Dtype::fp8);
    CHECK(p.training.software == Software::maxtext);
}

// hiyouga/LLaMA-Factory ff6d4d12, examples/train_full/qwen3_full_sft.yaml.
TEST_CASE("LLaMA-Factory: its DeepSpeed files by name") {
    const std::string text = "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\ntrust_remote_code: true\n"
                             "stage: sft\ndo_train: true\nfinetuning_type: full\n"
                             "deepspeed: examples/deepspeed/ds_z3_config.json\ncutoff_len: 2048\n"
                             "per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n";
    const Import made = import_text(text, 8);
    CHECK(made.kind == "llama-factory");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->layout.dp_shard == 8);
    CHECK(made.plan->training.global_batch == 16);
    CHECK(made.plan->model.hidden == 2560);
    CHECK(made.settings.not_known.empty());
}

// THUDM/slime 624b824a, scripts/run-qwen3-4B.sh with models/qwen3-4B.sh.
TEST_CASE("slime: the trainer's GPUs, bf16 with the distributed optimizer, micro-batches by tokens") {
    const Import made = import_text(
        "ray job submit --address=http://127.0.0.1:8265 -- python3 train.py --actor-num-nodes 2 "
        "--actor-num-gpus-per-node 8 --colocate --num-layers 36 --hidden-size 2560 "
        "--ffn-hidden-size 9728 --num-attention-heads 32 --group-query-attention --num-query-groups 8 "
        "--kv-channels 128 --qk-layernorm --normalization RMSNorm --swiglu --disable-bias-linear "
        "--position-embedding-type rope --vocab-size 151936 --tensor-model-parallel-size 2 "
        "--sequence-parallel --context-parallel-size 2 --rollout-batch-size 32 "
        "--n-samples-per-prompt 8 --use-dynamic-batch-size --max-tokens-per-gpu 9216 "
        "--rollout-num-gpus-per-engine 2 --sglang-mem-fraction-static 0.7\n");
    CHECK(made.kind == "slime");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 16);
    CHECK(p.layout.zero == 1);
    CHECK(p.training.compute == Dtype::bf16);
    CHECK(p.training.global_batch == 256);
    CHECK(p.training.sequence_length == 18432);
    CHECK(listed(made.settings.unmapped, "--sglang-mem-fraction-static"));
    CHECK(problem_called(made, "micro-batches-by-tokens"));
}

// THUDM/slime 624b824a, examples/on_policy_distillation/run-qwen3-8B-opd-megatron.sh, without the file that
// it sources: EVAL_ARGS, which may be set there, is no value of the flag before it.
TEST_CASE(
    "slime: a checkpoint names the model where no size is said; an array that is not there ends a flag") {
    const std::string job = "source models/qwen3-8B.sh\nray job submit -- python3 train.py "
                            "--actor-num-nodes 1 --actor-num-gpus-per-node 8 ${MODEL_ARGS[@]} "
                            "--hf-checkpoint /root/Qwen3-8B --tensor-model-parallel-size 2 "
                            "--global-batch-size 64 --use-dynamic-batch-size --max-tokens-per-gpu 9216 "
                            "${EVAL_ARGS[@]} --lr 1e-6\n";
    const Import made = import_text(job);
    REQUIRE(made.plan);
    CHECK(made.plan->model.hidden == 4096);
    CHECK(made.plan->model.layers == 36);
    CHECK(made.plan->training.sequence_length == 9216);
    REQUIRE(listed(made.settings.mapped, "--hf-checkpoint"));
    CHECK(listed(made.settings.mapped, "--hf-checkpoint")->path == "/model");
    // Sizes that the text says win over the name.
    const Import sized = import_text(job + "# \n" + "MODEL_ARGS=(--num-layers 2)\n");
    CHECK(sized.plan);
    std::string own = job;
    own.replace(own.find("${MODEL_ARGS[@]}"), 16, "--num-layers 4 --hidden-size 512 --num-attention-heads 8");
    const Import small = import_text(own);
    CHECK(listed(small.settings.mapped, "--hidden-size"));
    CHECK(listed(small.settings.ignored, "--hf-checkpoint"));
    // A field of the plan that only slime names is a row next to those of Megatron.
    std::string gathered = job;
    gathered.replace(gathered.find("--use-dynamic"), 0, "--allgather-cp --context-parallel-size 2 ");
    const Import rows = import_text(gathered);
    REQUIRE(rows.plan);
    CHECK(rows.plan->layout.cp == 2);
    CHECK(rows.plan->layout.cp_comm == CpComm::allgather);
    REQUIRE(listed(rows.settings.mapped, "--allgather-cp"));
    CHECK(listed(rows.settings.mapped, "--allgather-cp")->path == "/layout/cp_comm");
}

// modelscope/ms-swift, examples/train/multi-gpu/deepspeed/train_zero3.sh and multimodal/video.sh.
TEST_CASE(
    "swift: expr is worked out, a program's path and a YAML name the tool, encoders are left out aloud") {
    const Import made = import_text(
        "nproc_per_node=2\nNPROC_PER_NODE=$nproc_per_node swift sft --model Qwen/Qwen2.5-VL-7B-Instruct "
        "--tuner_type full --per_device_train_batch_size 1 --gradient_accumulation_steps $(expr 16 / "
        "$nproc_per_node) --max_length 2048 --deepspeed zero3\n");
    REQUIRE(made.plan);
    CHECK(made.plan->model.hidden == 3584);
    CHECK(made.plan->training.global_batch == 16);
    CHECK(problem_called(made, "language-model-only"));
    CHECK(guessed("torchrun swift/cli/sft.py --model a --deepspeed zero2\n") == "swift");
    CHECK(guessed("model: a\ntuner_type: full\nmicro_batch_size: 1\n") == "ms-swift");
    CHECK(guessed("model: a\ntuner_type: full\nper_device_train_batch_size: 1\n") == "swift");
}

TEST_CASE("every tool that marks tell has its data, whose targets are fields or settings that are read") {
    std::set<std::string_view> names;
    for (const Tool& tool : tools())
        if (tool.dialect) names.insert(tool.name);
    CHECK(names.size() == 39);
    for (const std::string_view name : names) {
        CAPTURE(name);
        const Dialect dialect(name, presets());
        const nlohmann::json source = dialect.data().value("source", nlohmann::json::array());
        REQUIRE_FALSE(source.empty());
        CHECK(source[0].value("repository", "").find('/') != std::string::npos);
        CHECK_FALSE(dialect.data().value("called", "").empty());
        for (const auto& [written, key] : dialect.data().at("names").items())
            CHECK(dialect.key_of(written) == (key.is_object() ? written : key.get<std::string>()));
        if (!dialect.of_fields()) continue;
        for (const auto& rule : dialect.data().value("rules", nlohmann::json::array())) {
            const nlohmann::json set = rule.value("set", nlohmann::json::object());
            for (const auto& item : set.items()) {
                const std::string& target = item.key();
                CAPTURE(target);
                const std::string part = target.substr(0, target.find('/', 1));
                const std::set<std::string> parts{"/layout", "/training", "/model"};
                if (target.starts_with("/")) CHECK(parts.contains(part));
            }
        }
    }
}

// NVIDIA-NeMo/RL 7ea279ab:
// examples/configs/recipes/llm/dpo-llama3.1-8b-instruct-4n8g-megatrontp2pp2-quick.yaml over what it takes of
// examples/configs/dpo.yaml; dpo.py trains both sequences of a pair.
TEST_CASE("NeMo RL: the trainer's layout over the file that it starts from, a pair of sequences a sample") {
    const std::string base =
        "dpo:\n  max_num_steps: 150\npolicy:\n  model_name: a\n  train_global_batch_size: 128\n"
        "  precision: bfloat16\n  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 4\n"
        "  megatron_cfg:\n    enabled: false\n    tensor_model_parallel_size: 2\n"
        "    activation_checkpointing: false\n";
    ImportRequest r;
    r.path = "test";
    r.text =
        "defaults: ../../dpo.yaml\npolicy:\n  model_name: meta-llama/Llama-3.1-8B-Instruct\n"
        "  train_global_batch_size: 256\n  train_micro_batch_size: 1\n  max_total_sequence_length: 2048\n"
        "  dtensor_cfg:\n    enabled: false\n  megatron_cfg:\n    enabled: true\n"
        "    pipeline_model_parallel_size: 2\n  generation:\n    vllm_cfg:\n      tensor_parallel_size: 8\n"
        "cluster:\n  gpus_per_node: 8\n  num_nodes: 4\n";
    const Import bare = import_settings(r, presets());
    CHECK(problem_called(bare, "not-read"));
    r.other = [&](const std::string& name) {
        return name == "../../dpo.yaml" ? std::optional(base) : std::nullopt;
    };
    const Import made = import_settings(r, presets());
    CHECK(made.kind == "nemo-rl");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 32);
    CHECK(p.layout.tp == 2);
    CHECK(p.layout.pp == 2);
    CHECK(p.layout.zero == 1);
    CHECK(p.training.global_batch == 512);
    CHECK(p.training.micro_batch == 2);
    CHECK(p.training.software == Software::megatron_bridge);
    const Listed* other = listed(made.settings.unmapped, "policy.generation.vllm_cfg.tensor_parallel_size");
    REQUIRE(other);
    CHECK(other->why.find("another part") != std::string::npos);
    CHECK(problem_called(made, "files-read"));

    // Recipes of NVIDIA-NeMo/RL that change little have none of the words by which the tool is known.
    r.text = "defaults: ../../dpo.yaml\npolicy:\n  model_name: meta-llama/Llama-3.1-8B-Instruct\n"
             "  max_total_sequence_length: 4096\n";
    const Import little = import_settings(r, presets());
    CHECK(little.kind == "nemo-rl");
    REQUIRE(little.plan);
    CHECK(little.plan->training.sequence_length == 4096);
    CHECK(little.plan->layout.tp == 4);  // of DTensor's, which the base switches on
    r.other = {};
    CHECK_THROWS_AS(static_cast<void>(import_settings(r, presets())), Error);
}

// hiyouga/LLaMA-Factory ff6d4d12: examples/v1/train_full/train_full_ulysses_cp.yaml.
TEST_CASE("LLaMA-Factory v1: Ulysses over FSDP 2") {
    const Import made =
        import_text("model: Qwen/Qwen3-0.6B\ndist_config:\n  name: fsdp2\ncp_mode: ulysses\ncp_size: 2\n"
                    "micro_batch_size: 1\ncutoff_len: 2048\nbf16: false\n",
                    8);
    CHECK(made.kind == "llama-factory-v1");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.cp == 2);
    CHECK(made.plan->layout.dp_shard == 4);
    CHECK(made.plan->layout.cp_comm == CpComm::ulysses);
    CHECK(made.plan->training.compute == Dtype::fp32);
}

// AMD-AGI/Primus fd1eeabb: examples/torchtitan/configs/MI300X/deepseek_v3_671b-pretrain.yaml.
TEST_CASE("Primus on torchtitan has defaults of its own") {
    const Import made =
        import_text("modules:\n  pre_trainer:\n    framework: torchtitan\n    model: deepseek_v3_671b.yaml\n"
                    "    overrides:\n      training:\n        seq_len: 4096\n      parallelism:\n"
                    "        expert_parallel_degree: 8\n",
                    64);
    CHECK(made.kind == "primus-torchtitan");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.ep == 8);
    CHECK(made.plan->training.micro_batch == 8);
    CHECK(made.plan->training.recompute.kind == Recompute::none);
}

// lm-sys/FastChat 0e6d3e4b, fastchat/train/train_lora.py: get_peft_model is called with any flags,
// with lora_r 8 by default; huggingface/trl f2cd5771, trl/trainer/model_config.py: use_peft is off by
// default.
TEST_CASE("transformers' Trainer: adapters that no switch says are said") {
    const auto read = [](const std::string& program, const std::string& more) {
        return import_text("deepspeed --num_gpus 8 " + program
                           + " --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True "
                             "--per_device_train_batch_size 2 --model_max_length 2048 "
                             "--gradient_checkpointing True "
                           + more + "\n");
    };
    const auto warns = [](const Import& made) {
        REQUIRE(made.plan);
        return std::count_if(made.problems.begin(), made.problems.end(),
                             [](const ImportProblem& p) { return p.code == "adapters"; });
    };
    CHECK(warns(read("fastchat/train/train_lora.py", "--lora_r 8 --lora_alpha 16 --q_lora False")) == 1);
    CHECK(warns(read("fastchat/train/train_lora.py", "--lora_r 8 --lora_alpha 16")) == 1);
    CHECK(warns(read("fastchat/train/train_lora.py", "")) == 1);
    CHECK(warns(read("fastchat/train/train.py", "")) == 0);
    CHECK(warns(read("sft.py", "--lora_target_modules all-linear")) == 1);
    CHECK(warns(read("sft.py", "--use_peft --lora_r 8")) == 0);
}
