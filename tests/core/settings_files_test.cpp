// Tests settings files of kinds that public repositories have: what each line means is worked out next to it.
#include "core/pipeline/stages.h"
#include "tests/core/imports.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_beside;
using test::import_text;
using test::near;
using test::presets;
using test::problem_called;
using test::stands_in;

namespace {

using Layers = std::vector<std::int64_t>;
const std::string kGpt =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --micro-batch-size 1 "
    "--position-embedding-type rope ";

}  // namespace

TEST_CASE("a last stage of its own is read where the model's layers come from its name") {
    const Import made = import_text(
        "python3 train.py --actor-num-nodes 8 --actor-num-gpus-per-node 8 --hf-checkpoint "
        "/models/Qwen3-235B-A22B --global-batch-size 64 --tensor-model-parallel-size 4 "
        "--pipeline-model-parallel-size 4 --expert-model-parallel-size 16 --expert-tensor-parallel-size 1 "
        "--decoder-last-pipeline-num-layers 22 --micro-batch-size 1 --seq-length 4096\n");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.stage_layers == Layers{24, 24, 24, 22});  // of 94
    CHECK(made.plan->model.layers == 94);
}

TEST_CASE("a text that changes the layers of the model that it names has its own number") {
    const Import made = import_text(
        "recipe: llama3_8b\nmodel:\n  num_layers: 16\n  tensor_model_parallel_size: 2\n"
        "  pipeline_model_parallel_size: 1\ntrain:\n  global_batch_size: 16\n  micro_batch_size: 1\n",
        8);
    REQUIRE(made.plan);
    CHECK(made.plan->model.layers == 16);
    CHECK(made.plan->model.hidden == 4096);
}

TEST_CASE("Megatron-DeepSpeed's sequence parallelism is Ulysses") {
    const Import made = import_text("deepspeed --num_gpus 8 pretrain_gpt.py " + kGpt
                                    + "--global-batch-size 2 --ds-sequence-parallel-size 4 --zero-stage 3 "
                                      "--deepspeed --deepspeed_config ds.json --bf16\n");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.cp == 4);
    CHECK(made.plan->layout.cp_comm == CpComm::ulysses);
    CHECK(made.plan->layout.dp_shard == 2);
    CHECK(made.plan->layout.zero == 3);
}

TEST_CASE("MindSpeed's dense layers, shared experts, and experts over the ranks of tp") {
    const Import made =
        import_text("torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py " + kGpt
                    + "--tensor-model-parallel-size 2 --expert-model-parallel-size 4 --moe-tp-extend-ep "
                      "--num-experts 16 --moe-router-topk 2 --ffn-hidden-size 2048 --moe-ffn-hidden-size 256 "
                      "--first-k-dense-replace 1 --n-shared-experts 2 --global-batch-size 8 "
                      "--vocab-size 1000 --sequence-parallel --bf16\n");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.ep == 8);
    CHECK(made.plan->layout.etp == 1);
    REQUIRE(made.plan->model.moe);
    CHECK(made.plan->model.moe->first_dense_layers == 1);
    CHECK(made.plan->model.moe->shared_experts == 2);
}

TEST_CASE("a hybrid without a pattern has Mamba layers only; one by ratios is refused") {
    const std::string text =
        "trainer:\n  devices: 1\n  num_nodes: 1\n  precision: bf16\nmodel:\n  num_layers: 6\n"
        "  hidden_size: 256\n  num_attention_heads: 4\n  ffn_hidden_size: 1024\n  mamba_ssm_ngroups: 4\n"
        "  hybrid_override_pattern: null\n  vocab_size: 512\n  encoder_seq_length: 1024\n  "
        "position_embedding_type: rope\n"
        "  micro_batch_size: 1\n  global_batch_size: 2\n  tensor_model_parallel_size: 1\n"
        "  optim:\n    name: adam\n";
    const Import made = import_text(text);
    REQUIRE(made.plan);
    CHECK(made.plan->model.layers == 6);
    REQUIRE(made.plan->model.pattern.size() == 1);
    REQUIRE(made.plan->model.mamba);
    CHECK(made.plan->model.mamba->groups == 4);
    const Import mixed = import_text(text + "  hybrid_attention_ratio: 0.5\n");
    CHECK(problem_called(mixed, "layers-of-kinds"));
}

TEST_CASE("GPUs of a node are no GPUs of a job whose layout needs more, where nobody says how many nodes") {
    const std::string text =
        "trainer:\n  devices: 8\n  precision: bf16\nmodel:\n  num_layers: 32\n  hidden_size: 512\n"
        "  num_attention_heads: 8\n  encoder_seq_length: 1024\n  position_embedding_type: rope\n  "
        "micro_batch_size: 1\n"
        "  global_batch_size: 64\n  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 4\n"
        "  optim:\n    name: mcore_distributed_optim\n";
    const Import made = import_text(text);
    CHECK(problem_called(made, "gpus-missing"));
    CHECK_FALSE(made.failed());
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    std::string one_node = text;
    one_node.replace(one_node.find("pipeline_model_parallel_size: 4"), 31, "pipeline_model_parallel_size: 2");
    // A node is enough, and the job may still have more of them: the launcher says how many.
    const Import fewest = import_text(one_node);
    CHECK(problem_called(fewest, "gpus-missing"));
    REQUIRE(fewest.plan);
    CHECK(fewest.plan->cluster.gpus == 8);
    one_node.replace(one_node.find("  precision"), 0, "  num_nodes: 1\n");
    CHECK_FALSE(problem_called(import_text(one_node), "gpus-missing"));
}

TEST_CASE("a model that no preset has is named, and not said to be missing in the text") {
    const Import made = import_text(
        "base_model: example-org/Unheard-7B\nmicro_batch_size: 1\nsequence_len: 2048\nbf16: true\n");
    const ImportProblem* missing = problem_called(made, "model-missing");
    REQUIRE(missing);
    CHECK(missing->message.find("example-org/Unheard-7B") != std::string::npos);
    CHECK(missing->message.find("does not say") == std::string::npos);
    CHECK(stands_in(made.settings.unmapped, "base_model"));
    CHECK(made.settings.not_known.empty());
}

TEST_CASE("MaxText: a batch per device below one is a part of a sequence; xpk's command is read") {
    const Import part = import_text("#!/bin/bash\npython3 -m MaxText.train base.yml model_name=llama2-7b "
                                    "per_device_batch_size=0.25 ici_tensor_parallelism=8 "
                                    "ici_fsdp_parallelism=1\n");
    REQUIRE(part.plan);
    CHECK(stands_in(part.settings.ignored, "base.yml"));  // MaxText's own defaults
    CHECK(part.plan->cluster.gpus == 8);
    CHECK(part.plan->training.global_batch == 2);

    const Import inner = import_text(
        "ARGS=\"model_name=llama3.1-8b per_device_batch_size=2 ici_fsdp_parallelism=-1 \"\n"
        "xpk workload create --cluster=$CLUSTER --num-slices=1 --device-type=v6e-256 \\\n"
        "  --command=\"set -e && export X=1 && python3 -m maxtext.train base.yml ${ARGS} | tee l\"\n",
        64);
    REQUIRE(inner.plan);
    CHECK(inner.plan->training.global_batch == 128);
    CHECK(inner.plan->layout.dp_shard == 64);
    CHECK(inner.plan->model.layers == 32);
}

TEST_CASE("GPT-NeoX rounds the width of an MLP up") {
    const std::string text =
        "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 2, \"num_layers\": 2,\n"
        "\"hidden_size\": 512, \"num_attention_heads\": 8, \"seq_length\": 512, \"pos_emb\": \"rotary\",\n"
        "\"intermediate_size\": 1000, \"activation\": \"swiglu\",\n"
        "\"train_micro_batch_size_per_gpu\": 1, \"gas\": 4";
    const Import plain = import_text(text + "}\n", 4);
    REQUIRE(plain.plan);
    CHECK(plain.plan->model.ffn == 333);
    CHECK(plain.plan->training.global_batch == 8);
    const Import up = import_text(text + ", \"mlp_multiple_of\": 1000}\n", 4);
    REQUIRE(up.plan);
    CHECK(up.plan->model.ffn == 1000);
    CHECK(stands_in(up.settings.mapped, "mlp_multiple_of"));
    std::string gelu = text;
    gelu.replace(gelu.find("1000, \"activation\": \"swiglu\""), 28, "3000, \"activation\": \"gelu\"");
    const Import whole = import_text(gelu + ", \"mlp_multiple_of\": 256}\n", 4);
    REQUIRE(whole.plan);
    CHECK(whole.plan->model.ffn == 3072);
}

TEST_CASE("the tenth argument of a script and those behind it are given too") {
    const std::string text =
        "TP=${10}\nPP=${11}\ntorchrun --nproc_per_node 8 pretrain_gpt.py " + kGpt
        + "--global-batch-size 8 --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP\n";
    const Import made = import_text(text, 0, "1 2 3 4 5 6 7 8 9 2 4");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.pp == 4);
    const Import asked = import_text(text);
    const ImportProblem* unknown = problem_called(asked, "unknown-value");
    REQUIRE(unknown);
    CHECK(unknown->message.find("$10") != std::string::npos);
}

TEST_CASE(
    "transformers' Trainer: the stage by the name of DeepSpeed's file, and what a launcher's file says") {
    const std::string flags =
        "train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 "
        "--gradient_accumulation_steps 4 --model_max_length 4096 --bf16 True --gradient_checkpointing True ";
    const Import made =
        import_text("torchrun --nnodes 2 --nproc_per_node 8 " + flags + "--deepspeed cfg/zero3.json\n");
    CHECK(made.kind == "hf-trainer");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 16);
    CHECK(p.layout.zero == 3);
    CHECK(p.training.software == Software::deepspeed);
    CHECK(p.training.global_batch == 2 * 4 * 16);
    CHECK(p.training.sequence_length == 4096);
    CHECK(p.training.recompute == Recompute::full);
    CHECK(problem_called(made, "file-by-name"));
    CHECK(made.settings.not_known.empty());

    const Import other = import_text("accelerate launch --config_file fsdp.yaml " + flags + "\n", 8);
    REQUIRE(other.plan);
    CHECK(problem_called(other, "not-read"));
    CHECK(stands_in(other.settings.unmapped, "--config_file"));
}

TEST_CASE("a program that hands its command on to torchrun: torchrun's is the job") {
    const Import made = import_text(
        "python submit.py --num_nodes 4 --gpus 8 -- torchrun --nnodes=4 --nproc_per_node=8 dpo.py "
        "--model_name_or_path meta-llama/Llama-3.1-8B --max_seq_length 2048 --bf16 True "
        "--gradient_checkpointing True --per_device_train_batch_size 1 --fsdp_shard_degree 32\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(made.plan->layout.dp_shard == 32);
    CHECK(made.plan->layout.zero == 3);
    CHECK_FALSE(stands_in(made.settings.not_known, "--gpus"));
    CHECK(stands_in(made.settings.unmapped, "--gpus"));  // it is submit.py's
}

TEST_CASE("an argument that names torchrun hands nothing on, and for_vllm is no model that reads pictures") {
    const auto started = [](const std::string& model) {
        return import_text("accelerate launch --num_processes 16 finetune.py --model_name_or_path " + model
                           + " --launcher torchrun --max_seq_length 2048 --bf16 True --deepspeed zero3.json "
                             "--gradient_checkpointing True --per_device_train_batch_size 1\n");
    };
    const Import made = started("/ckpt/for_vllm/Qwen3-8B");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK_FALSE(stands_in(made.settings.not_known, "--num_processes"));
    CHECK_FALSE(problem_called(made, "language-model-only"));
    CHECK(problem_called(started("/ckpt/a/Qwen3-VL-8B-Instruct"), "language-model-only"));
}

TEST_CASE("a shell script that hands Python a text is a script") {
    const Import made = import_text(
        "#!/bin/bash\npython3 - <<PY\nfrom transformers import AutoConfig\nPY\n"
        "torchrun --nproc_per_node 8 -m verl.trainer.sft_trainer data.train_batch_size=64 "
        "data.micro_batch_size_per_gpu=2 model.partial_pretrain=Qwen/Qwen3-8B data.max_length=4096\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 8);
    CHECK(made.plan->training.global_batch == 64);
}

TEST_CASE("OpenRLHF: the actor's layout by names with dots, and by those before them") {
    const Import dots = import_text(
        "python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 2 --actor.num_gpus_per_node 8 "
        "--vllm.tensor_parallel_size 4 --actor.model_name_or_path Qwen/Qwen2.5-7B --ds.zero_stage 3 "
        "--train.batch_size 64 --train.micro_batch_size 2 --data.max_len 4096 --ds.ring_attn_size 2 "
        "--actor.gradient_checkpointing_enable --ds.adam_offload\n");
    CHECK(dots.kind == "openrlhf");
    const Import plain = import_text(
        "deepspeed --num_gpus 8 --num_nodes 2 --module openrlhf.cli.train_sft --pretrain Qwen/Qwen2.5-7B "
        "--zero_stage 3 --train_batch_size 64 --micro_train_batch_size 2 --max_len 4096 "
        "--ring_attn_size 2 --gradient_checkpointing --adam_offload --bf16\n");
    for (const Import* made : {&dots, &plain}) {
        REQUIRE(made->plan);
        const Plan& p = *made->plan;
        CHECK(p.cluster.gpus == 16);
        CHECK(p.layout.zero == 3);
        CHECK(p.layout.cp == 2);
        CHECK(p.layout.tp == 1);
        CHECK(p.layout.dp_shard == 8);
        CHECK(p.training.global_batch == 64);
        CHECK(p.training.recompute == Recompute::full);
        CHECK(p.training.offload.optimizer == near(1.0));
    }
    CHECK(stands_in(dots.settings.unmapped, "--vllm.tensor_parallel_size"));
}

TEST_CASE("SkyRL: answers of a prompt multiply the mini-batch; Megatron's settings of the policy are read") {
    const std::string common =
        " trainer.policy.model.path=Qwen/Qwen3-30B-A3B trainer.policy_mini_batch_size=16 "
        "generator.n_samples_per_prompt=8 trainer.max_prompt_length=1024 "
        "generator.sampling_params.max_generate_length=3072 "
        "trainer.placement.policy_num_nodes=2 trainer.placement.policy_num_gpus_per_node=8 "
        "generator.inference_engine.tensor_parallel_size=8 ";
    const Import megatron =
        import_text("#!/bin/bash\nuv run -m skyrl.main" + common
                    + "trainer.strategy=megatron trainer.policy.megatron_config.tensor_model_parallel_size=4 "
                      "trainer.policy.megatron_config.expert_model_parallel_size=8 "
                      "trainer.policy.megatron_config.expert_tensor_parallel_size=1\n");
    CHECK(megatron.kind == "skyrl-megatron");
    REQUIRE(megatron.plan);
    CHECK(megatron.plan->layout.tp == 4);
    CHECK(megatron.plan->layout.ep == 8);
    CHECK(megatron.plan->layout.sequence_parallel);
    CHECK(megatron.plan->cluster.gpus == 16);
    CHECK(megatron.plan->training.global_batch == 128);
    CHECK(megatron.plan->training.sequence_length == 4096);
    const Import fsdp =
        import_text("#!/bin/bash\nuv run -m skyrl.main" + common + "trainer.strategy=fsdp2\n");
    CHECK(fsdp.kind == "skyrl");
    REQUIRE(fsdp.plan);
    CHECK(fsdp.plan->layout.tp == 1);
    CHECK(fsdp.plan->layout.zero == 3);
    CHECK(fsdp.plan->training.global_batch == 128);
}

TEST_CASE("VeOmni and ArcticTraining: YAML of trainers over FSDP 2 and DeepSpeed") {
    const Import veomni = import_text(
        "model:\n  model_path: Qwen3-8B-Base\ndata:\n  max_seq_len: 4096\ntrain:\n  accelerator:\n"
        "    ulysses_size: 2\n    fsdp_config:\n      fsdp_mode: fsdp2\n  gradient_checkpointing:\n"
        "    enable: false\n  global_batch_size: 32\n  micro_batch_size: 2\n",
        8);
    CHECK(veomni.kind == "veomni");
    REQUIRE(veomni.plan);
    CHECK(veomni.plan->layout.cp == 2);
    CHECK(veomni.plan->layout.zero == 3);
    CHECK(veomni.plan->layout.dp_shard == 4);
    CHECK(veomni.plan->training.recompute == Recompute::none);
    CHECK(veomni.plan->training.global_batch == 32);

    const Import arctic = import_text(
        "type: sft\nmicro_batch_size: 1\nsequence_parallel_size: 8\nmodel:\n"
        "  name_or_path: meta-llama/Llama-3.1-8B\ndeepspeed:\n  zero_optimization:\n    stage: 3\n"
        "    offload_optimizer:\n      device: cpu\noptimizer:\n  type: cpu_adam\ndata:\n"
        "  max_length: 120_000\n",
        16);
    CHECK(arctic.kind == "arctic-training");
    REQUIRE(arctic.plan);
    CHECK(arctic.plan->layout.cp == 8);
    CHECK(arctic.plan->layout.zero == 3);
    CHECK(arctic.plan->training.sequence_length == 120'000);
    CHECK(arctic.plan->training.offload.optimizer == near(1.0));
}

TEST_CASE("what was not read behind an error is said so, and is not unknown") {
    const Import made = import_text("deepspeed pretrain_gpt.py " + kGpt
                                    + "--global-batch-size $N --zero-stage 1 --deepspeed --fp16\n");
    CHECK(problem_called(made, "unknown-value"));
    CHECK(stands_in(made.settings.unmapped, "--zero-stage"));
    CHECK(made.settings.not_known.empty());
}

TEST_CASE("a script that another one writes is read, and its exit ends nothing") {
    const Import made =
        import_text("#!/bin/bash\ncat > run.sh <<EOF\n#!/bin/bash\nexport A=1\n"
                    "python pretrain_gpt.py "
                        + kGpt
                        + "--global-batch-size 16 --tensor-model-parallel-size 2\nexit 0\nEOF\n"
                          "torchrun --nproc-per-node=8 --nnodes=2 --no-python bash run.sh\n",
                    16);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->training.global_batch == 16);
}

TEST_CASE("YAML whose comments show a command is no script") {
    const Import made = import_text("# run it:\n#   python tool.py --a 1 \\\n#     --b 2\nmodel:\n"
                                    "  model_path: Qwen3-8B\ndata:\n  max_seq_len: 1024\ntrain:\n"
                                    "  global_batch_size: 8\n  micro_batch_size: 1\n",
                                    8);
    CHECK(made.kind == "veomni");
    REQUIRE(made.plan);
    CHECK(made.plan->training.global_batch == 8);
}

TEST_CASE("NeMo: a reference by the group's name, and settings of tests and encoders by their own") {
    const Import made =
        import_text("trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n"
                    "  precision: ${training.trainer.precision}\n  num_layers: 8\n  hidden_size: 512\n"
                    "  num_attention_heads: 8\n  encoder_seq_length: 1024\n  position_embedding_type: rope\n"
                    "  micro_batch_size: 1\n  global_batch_size: 64\n  tensor_model_parallel_size: 2\n"
                    "  optim:\n    name: mcore_distributed_optim\n  vision_encoder:\n    hidden_size: 1024\n"
                    "  data:\n    validation_ds:\n      micro_batch_size: 4\n      global_batch_size: 8\n");
    REQUIRE(made.plan);
    CHECK(made.plan->training.compute == Dtype::bf16);
    CHECK(made.plan->model.hidden == 512);
    CHECK(made.plan->training.micro_batch == 1);
    CHECK(made.plan->training.global_batch == 64);
    CHECK(stands_in(made.settings.unmapped, "model.vision_encoder.hidden_size"));
    CHECK(stands_in(made.settings.ignored, "model.data.validation_ds.global_batch_size"));
}

TEST_CASE("a batch that only a default says is asked for, and refuses nothing") {
    const Import made = import_text("python run_recipe.py --recipe llama3_8b --num_gpus 64 --gpus_per_node 8 "
                                    "--tensor_model_parallel_size 1\n");
    CHECK_FALSE(problem_called(made, "batch-not-divisible"));
    CHECK(problem_called(made, "batch-missing"));
    REQUIRE(made.plan);
    CHECK(made.plan->training.global_batch == 64);
}

TEST_CASE("settings of another tool's roles are no transformers' Trainer's") {
    const std::string roles = "pretrain: Qwen/Qwen2.5-7B\nactor_train:\n  model_args:\n"
                              "    model_name_or_path: Qwen/Qwen2.5-7B\n  training_args:\n"
                              "    per_device_train_batch_size: 1\n  strategy_args:\n"
                              "    strategy_name: megatron_train\n";
    CHECK(import_text(roles).kind == "roll-megatron");
    const Import made = import_text("model_name_or_path: Qwen/Qwen2.5-7B\nbf16: true\n"
                                    "gradient_checkpointing: true\nmax_length: 1024\n"
                                    "per_device_train_batch_size: 1\n",
                                    8);
    CHECK(made.kind == "hf-trainer");
    CHECK(problem_called(made, "launcher-file"));
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 0);
}

TEST_CASE("settings that bear on memory or time are not among those that change nothing") {
    const std::string hf = "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B "
                           "--per_device_train_batch_size 1 --max_length 1024 ";
    const std::string sft = "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer engine=fsdp "
                            "model.path=Qwen/Qwen3-8B ";
    const std::string rl =
        "deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --model.model_name_or_path "
        "Qwen/Qwen2.5-7B --ds.zero_stage 3 ";
    const std::string arctic = "type: sft\nmicro_batch_size: 1\ndata:\n  max_length: 1024\nmodel:\n"
                               "  name_or_path: meta-llama/Llama-3.1-8B\n";
    const std::string zero =
        "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 2}, ";
    struct Row {
        std::string text, setting;
        bool known = true;
    };
    for (const Row& r : std::vector<Row>{
             {hf + "--adafactor true", "--adafactor"},
             {hf + "--auto_find_batch_size true", "--auto_find_batch_size"},
             {hf + "--attn_implementation eager", "--attn_implementation"},
             {sft + "model.override_config.num_hidden_layers=4", "model.override_config.num_hidden_layers"},
             {sft + "optim.optimizer=Muon", "optim.optimizer"},
             {sft + "model.new_name=4", "model.new_name", false},
             {rl + "--train.new_name 4", "--train.new_name", false},
             {rl + "--model.new_name 4", "--model.new_name", false},
             {arctic + "  hf_config_kwargs:\n    num_hidden_layers: 4\ndeepspeed:\n  steps_per_print: 1\n",
              "model.hf_config_kwargs.num_hidden_layers"},
             {arctic + "deepspeed:\n  pipeline:\n    stages: 2\n", "deepspeed.pipeline.stages", false}}) {
        CAPTURE(r.setting);
        const Import made = import_text(r.text + "\n", 8);
        CHECK(stands_in(r.known ? made.settings.unmapped : made.settings.not_known, r.setting));
    }
    // DeepSpeed has float32, float16, bfloat16 and int8 for it (runtime/config.py, DtypeEnum).
    const Import wide = import_text(zero + "\"data_types\": {\"grad_accum_dtype\": \"fp64\"}}\n", 8);
    CHECK(problem_called(wide, "setting-not-allowed"));
    const Import same = import_text(hf + "--attn_implementation flash_attention_2 --adafactor false\n");
    CHECK(stands_in(same.settings.ignored, "--attn_implementation"));
    CHECK(stands_in(same.settings.ignored, "--adafactor"));
}

// Its MegatronLMPlugin (utils/dataclasses.py) hands these degrees to Megatron-LM. Only FSDP reads cp_size.
TEST_CASE("accelerate: Megatron-LM has degrees of its own, and DDP may reduce after each micro-batch") {
    const std::string rest = "num_machines: 1\nnum_processes: 8\nmixed_precision: bf16\n";
    ImportRequest r;
    r.text = "distributed_type: MEGATRON_LM\n" + rest
             + "megatron_lm_config:\n  megatron_lm_tp_degree: 2\n  megatron_lm_context_parallel_size: 2\n"
               "  megatron_lm_use_distributed_optimizer: true\n";
    r.path = "test";
    r.model = "llama-3-8b";
    const Import megatron = import_settings(r, presets());
    CHECK(stands_in(megatron.settings.mapped, "megatron_lm_config.megatron_lm_tp_degree"));
    REQUIRE(megatron.plan);
    CHECK_FALSE(problem_called(megatron, "split-ignored"));
    CHECK(megatron.plan->layout.tp == 2);
    CHECK(megatron.plan->layout.cp == 2);
    CHECK(megatron.plan->layout.zero == 1);
    CHECK(megatron.plan->training.software == Software::megatron);
    const Import each = import_text("distributed_type: MULTI_GPU\n" + rest + "sync_each_batch: true\n");
    CHECK(stands_in(each.settings.mapped, "sync_each_batch"));
}

TEST_CASE("ZeRO's stage is read from the name of DeepSpeed's file, not from its folder's") {
    for (const char* file : {"z1_exp/ds_zero3.json", "zero2/ds_z3_config.json"}) {
        const Import made =
            import_text("torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B "
                        "--per_device_train_batch_size 1 --max_length 1024 --deepspeed "
                        + std::string(file) + "\n");
        REQUIRE(made.plan);
        CHECK(made.plan->layout.zero == 3);
    }
}

// deepspeed/runtime/engine.py, get_data_types: fp32 where neither fp16 nor bf16 is enabled.
TEST_CASE("DeepSpeed trains in fp32 where neither bf16 nor fp16 is enabled, and that is said") {
    for (const std::string more :
         {"", R"(, "bf16": {"enabled": false})", R"(, "fp16": {"enabled": false})"}) {
        CAPTURE(more);
        interop::ImportRequest r;
        r.text = R"({"train_micro_batch_size_per_gpu": 1, "train_batch_size": 8)" + more + "}";
        r.gpus = 8;
        r.model = "llama-3-8b";
        r.tool = "deepspeed";
        const Import made = import_settings(r, presets());
        REQUIRE(made.plan);
        CHECK(made.plan->training.compute == Dtype::fp32);
        CHECK(made.plan->training.parameters == Dtype::fp32);
        REQUIRE(problem_called(made, "precision-default"));
        r.text = R"({"train_batch_size": 8, "bf16": {"enabled": "auto"}})";
        CHECK(import_settings(r, presets()).plan->training.compute == Dtype::bf16);
        CHECK_FALSE(problem_called(import_settings(r, presets()), "precision-default"));
    }
}

// accelerate scales fp16 gradients of fp32 parameters; LLaMA-Factory casts what it trains to fp32; axolotl
// loads the model in fp16.
TEST_CASE("a recipe in fp16 keeps its parameters in the type that its tool stores them in") {
    for (const std::string text :
         {"distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 8\nmixed_precision: fp16\n",
          "base_model: NousResearch/Meta-Llama-3-8B\nmicro_batch_size: 1\nsequence_len: 4096\nfp16: true\n",
          "model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: "
          "full\nper_device_train_batch_size: 1\n"
          "fp16: true\n"}) {
        CAPTURE(text);
        interop::ImportRequest r;
        r.text = text;
        r.gpus = 8;
        r.model = "llama-3-8b";
        const Import made = import_settings(r, presets());
        REQUIRE(made.plan);
        CHECK(made.plan->training.compute == Dtype::fp16);
        CHECK(made.plan->training.parameters == (made.kind == "axolotl" ? Dtype::fp16 : Dtype::fp32));
    }
}

// torchtitan/distributed/pipeline_parallel.py: 32 layers, the embedding and the head count 34, in parts of at
// most 6: the first four of six stages have 6, the others 5, and the ends take one off the first and the
// last.
TEST_CASE("a model that is given in a file has its layers in torchtitan's pipeline too") {
    interop::ImportRequest r;
    r.text = "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_layers_per_stage = 6\n"
             "pipeline_parallel_schedule = \"Interleaved1F1B\"\n[training]\nlocal_batch_size = 8\n";
    r.tool = "torchtitan";
    r.gpus = 8;
    for (const bool file : {false, true}) {
        CAPTURE(file);
        r.model = file ? R"({"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocab": 128256})"
                       : "llama-3-8b";
        const Import made = import_settings(r, presets());
        REQUIRE(made.plan);
        CHECK(made.plan->layout.virtual_stages == 3);
        std::vector<std::int64_t> layers;
        layers_of_chunks(*made.plan, layers);
        CHECK(layers == std::vector<std::int64_t>{5, 6, 6, 6, 5, 4});
    }
}

TEST_CASE("a setting of a file that the text reads in is said with that file and its line") {
    const auto beside = [](const std::string& text, const std::string& name, const std::string& other) {
        return import_beside(text, {{name, other}}, 8);
    };
    const auto ends_with = [](const Import& made, std::string_view code, const std::string& place) {
        const ImportProblem* p = problem_called(made, code);
        REQUIRE(p);
        CAPTURE(p->message);
        CHECK(p->message.ends_with(place + ")"));
    };
    const auto place_of = [](const std::vector<Listed>& rows, std::string_view setting) {
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&](const Listed& l) { return l.setting.ends_with(setting); });
        REQUIRE(row != rows.end());
        return words_of(TextPlace{row->line, row->file});
    };

    // A word of a script stands where it is written, not where it is handed to the job.
    const std::string job =
        "source models/sizes.sh\ntorchrun pretrain_gpt.py " + kGpt + "\\\n  ${LAYOUT[@]}\n";
    const std::string sizes = "#!/bin/bash\nLAYOUT=(\n  --global-batch-size 16\n  "
                              "--tensor-model-parallel-size two\n  --context-parallel-size $CP\n)\n";
    const Import script = beside(job, "models/sizes.sh", sizes);
    ends_with(script, "setting-not-allowed", "(models/sizes.sh, line 4");
    ends_with(script, "unknown-value", "models/sizes.sh, line 5");
    CHECK(place_of(script.settings.mapped, "global-batch-size") == "models/sizes.sh, line 3");
    CHECK(place_of(script.settings.mapped, "num-layers") == "line 2");

    // A file of YAML stands behind the one that it starts from.
    const Import yaml = beside("defaults: ../base.yaml\npolicy:\n  model_name: meta-llama/Llama-3.1-8B\n"
                               "  train_global_batch_size: 16\n  megatron_cfg:\n    enabled: false\n",
                               "../base.yaml",
                               "policy:\n  train_micro_batch_size: 1\n  max_total_sequence_length: 2048\n"
                               "  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: two\n");
    ends_with(yaml, "setting-not-allowed", "(../base.yaml, line 6");
    CHECK(place_of(yaml.settings.mapped, "train_micro_batch_size") == "../base.yaml, line 2");
    CHECK(place_of(yaml.settings.mapped, "train_global_batch_size") == "line 4");

    // A function of another module sets what stands there.
    const Import python =
        beside("from megatron.bridge.recipes import run\nfrom layouts.wide import set_layout\n"
               "def config() -> ConfigContainer:\n    cfg = ConfigContainer()\n"
               "    cfg.model.context_parallel_size = 1\n    set_layout(cfg)\n    return cfg\n",
               "layouts/wide.py",
               "def set_layout(cfg):\n    cfg.model.pipeline_model_parallel_size = 2\n"
               "    cfg.model.tensor_model_parallel_size = \"two\"\n");
    ends_with(python, "setting-not-allowed", "(layouts/wide.py, line 3");
    CHECK(place_of(python.settings.mapped, "pipeline_model_parallel_size") == "layouts/wide.py, line 2");
    CHECK(place_of(python.settings.mapped, "context_parallel_size") == "line 5");
}
