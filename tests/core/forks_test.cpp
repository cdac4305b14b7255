// Tests settings of forks and neighbours of Megatron and MaxText: each number is worked out by the code that
// the comment names.
#include "core/base/files.h"
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

std::string small_gpt(const std::string& launcher, const std::string& more) {
    return "#!/bin/bash\n" + launcher + " pretrain_gpt.py --num-layers 12 --hidden-size 768 "
           + "--num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "
             "--global-batch-size 64 --vocab-size 50304 --bf16 "
           + more + "\n";
}

const std::string kFlagScale =
    "system:\n  tensor_model_parallel_size: 8\n  pipeline_model_parallel_size: 4\n  sequence_parallel: True\n"
    "  use_distributed_optimizer: True\n  precision:\n    bf16: True\nmodel:\n  num_layers: 80\n"
    "  hidden_size: 8192\n  num_attention_heads: 64\n  group_query_attention: True\n  num_query_groups: 8\n"
    "  hidden_dim_multiplier: 1.3\n  multiple_of: 4096\n  seq_length: 4096\n  max_position_embeddings: 4096\n"
    "  use_rotary_position_embeddings: true\n  swiglu: true\n  normalization: RMSNorm\n"
    "  untie_embeddings_and_output_weights: true\n  micro_batch_size: 2\n  global_batch_size: 1024\n"
    "data:\n  data_path: ${data_path:??}\n  tokenizer:\n    vocab_size: 100008\n";

}  // namespace

// flagscale/runner/auto_tuner/utils.py: 8192 x 8 / 3 is 21,845, x 1.3 is 28,398, up to a multiple of 4096:
// 28,672, the width of Llama 2 70B.
TEST_CASE("FlagScale: its sections are Megatron's flags, and the experiment starts from them") {
    const Import alone = import_text(kFlagScale);
    CHECK(alone.kind == "flagscale");
    REQUIRE(alone.plan);
    CHECK(alone.plan->model.ffn == 28672);
    CHECK(alone.plan->model.kv_heads == 8);
    CHECK(alone.plan->model.vocab == 100008);
    CHECK(alone.plan->layout.tp == 8);
    CHECK(alone.plan->layout.pp == 4);
    CHECK(alone.plan->layout.zero == 1);
    CHECK(problem_called(alone, "gpus-missing"));
    const Import whole = import_beside(
        "defaults:\n  - train: 70b\n  - _self_\nexperiment:\n  task:\n    backend: megatron\n"
        "    entrypoint: ./flagscale/train/train_gpt.py\n  runner:\n    nnodes: 8\n    nproc_per_node: 8\n",
        {{"train/70b.yaml", kFlagScale}});
    CHECK(whole.kind == "flagscale");
    REQUIRE(whole.plan);
    CHECK(whole.plan->cluster.gpus == 64);
    CHECK(whole.plan->model.ffn == 28672);
}

// xpk's system_characteristics.py: v6e-256 has 256 chips, tpu7x-4x4x4 64 of two devices each, v5p-512 512
// cores on 256 chips.
TEST_CASE("xpk: a slice's type and count say the devices, and the cluster") {
    const auto job = [](const std::string& flags, const std::string& words) {
        return import_text("#!/bin/bash\nxpk workload create --cluster=c " + flags
                           + " --command=\"export A=1 && python3 -m MaxText.train MaxText/configs/base.yml "
                             "model_name=llama3.1-8b per_device_batch_size=2 max_target_length=8192 "
                             "ici_fsdp_parallelism=-1 "
                           + words + "\"\n");
    };
    const Import two = job("--device-type=v6e-256 --num-slices=2", "dcn_data_parallelism=2");
    REQUIRE(two.plan);
    CHECK(two.plan->cluster.gpus == 512);
    CHECK(two.plan->layout.dp_replicate == 2);
    CHECK(two.plan->training.global_batch == 1024);
    CHECK_FALSE(problem_called(two, "cluster-assumed"));
    const Import chips = job("--device-type=tpu7x-4x4x4 --num-slices=1", "");
    REQUIRE(chips.plan);
    CHECK(chips.plan->cluster.gpus == 128);
    CHECK(problem_called(chips, "devices-of-chip"));
    const Import cores = job("--tpu-type=v5p-512", "");
    REQUIRE(cores.plan);
    CHECK(cores.plan->cluster.gpus == 256);
    const Import nodes = job("--device-type=h100-mega-80gb-8 --num-nodes=4", "");
    REQUIRE(nodes.plan);
    CHECK(nodes.plan->cluster.gpus == 32);
}

// microsoft/Megatron-DeepSpeed, megatron/arguments.py: topk 1, expert-interval 2; choices in small letters.
TEST_CASE("Megatron-DeepSpeed: experts by its own flags and defaults") {
    const Import made = import_text(small_gpt("deepspeed --num_gpus 16",
                                              "--deepspeed --zero-stage 1 --tensor-model-parallel-size 2 "
                                              "--num-experts 64 --moe-expert-parallel-size 8 "
                                              "--num-key-value-heads 4 --normalization rmsnorm"));
    REQUIRE(made.plan);
    REQUIRE(made.plan->model.moe);
    CHECK(made.plan->model.moe->top_k == 1);
    CHECK(made.plan->model.moe->every == 2);
    CHECK(made.plan->model.kv_heads == 4);
    CHECK(made.plan->layout.ep == 8);
    CHECK(made.plan->layout.etp == 1);
    CHECK_FALSE(problem_called(made, "word-not-allowed"));
    CHECK_FALSE(problem_called(made, "moe-without-sequence-parallel"));
    const Import said = import_text(small_gpt("deepspeed --num_gpus 8",
                                              "--deepspeed --num-experts 8 --topk 2 --expert-interval 1 "
                                              "--moe-expert-parallel-size 8"));
    REQUIRE(said.plan);
    CHECK(said.plan->model.moe->top_k == 2);
    CHECK(said.plan->model.moe->every == 1);
    // Megatron-LM's own words are in its letters.
    CHECK(problem_called(import_text(small_gpt("torchrun --nproc_per_node 8", "--normalization rmsnorm")),
                         "word-not-allowed"));
}

// HabanaAI/Megatron-DeepSpeed 891d6db9: megatron/arguments.py has three words, and
// megatron/model/transformer.py, _checkpointed_mlp_forward, runs what stands behind attention again.
TEST_CASE("Habana's Megatron-DeepSpeed recomputes the MLP alone") {
    const std::string words = " --recompute-granularity mlp ";
    const Import made =
        import_text(small_gpt("deepspeed --num_gpus 8", "--deepspeed --zero-stage 1" + words));
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->training.recompute.modules == RecomputeModules(RecomputeModule::mlp));
    CHECK(problem_called(import_text(small_gpt("torchrun --nproc_per_node 8", words)), "word-not-allowed"));
}

// IEIT-Yuan/Yuan2.0-M32, megatron/arguments.py; bigcode-project/Megatron-LM, megatron/model/transformer.py.
TEST_CASE("forks of Megatron: Yuan's stages and norm, bigcode's one head for all") {
    const Import yuan = import_text(small_gpt("torchrun --nproc_per_node 4",
                                              "--pipeline-model-parallel-size 4 --norm-dtype RMSNorm "
                                              "--pipeline-model-parallel-method block "
                                              "--pipeline-model-parallel-blocks 2,3,3,4"));
    REQUIRE(yuan.plan);
    CHECK(yuan.plan->layout.stage_layers == std::vector<std::int64_t>{2, 3, 3, 4});
    CHECK(yuan.plan->model.norm == NormKind::rmsnorm);
    const Import bigcode =
        import_text(small_gpt("torchrun --nproc_per_node 8", "--attention-head-type multiquery "
                                                             "--tensor-model-parallel-size 4"));
    REQUIRE(bigcode.plan);
    CHECK(bigcode.plan->model.kv_heads == 1);
    CHECK_FALSE(bigcode.failed());
}

// mindspeed_llm/core/transformer/mlp.py gates by gelu_tanh; transformer_config.py takes a block of 0 layers.
TEST_CASE("MindSpeed: gelu-tanh gates the MLP, shared experts' gate; a block of no layers recomputes none") {
    const Import made = import_text(small_gpt("torchrun --nproc_per_node 8",
                                              "--tensor-model-parallel-size 2 --gelu-tanh "
                                              "--ffn-hidden-size 3072 --recompute-granularity full "
                                              "--recompute-method block --recompute-num-layers 0"));
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->model.ffn_kind == FfnKind::geglu);
    CHECK(made.plan->model.ffn == 3072);
    CHECK(made.plan->training.recompute == Recompute::none);
    const Import experts =
        import_text(small_gpt("torchrun --nproc_per_node 8", "--tensor-model-parallel-size 1 --num-experts 8 "
                                                             "--moe-router-topk 2 --moe-layer-freq -1 "
                                                             "--first-k-dense-replace -1"));
    REQUIRE(experts.plan);
    REQUIRE(experts.plan->model.moe);
    CHECK(experts.plan->model.moe->first_dense_layers == 0);
}

// nemo/collections/llm/gpt/model/llama.py: Llama3Config8B has 8 groups, SwiGLU and no bias.
TEST_CASE("NeMo 2: a class's settings that the text does not change are the class's own") {
    const Import made = import_text(
        "import nemo_run as run\nfrom nemo.collections import llm\n"
        "recipe = llm.llama31_8b.pretrain_recipe(name=\"a\", dir=\"b\", num_nodes=2, num_gpus_per_node=8)\n"
        "recipe.model = run.Config(llm.LlamaModel, run.Config(llm.Llama3Config8B, num_layers=12, "
        "hidden_size=768, ffn_hidden_size=2688, num_attention_heads=16, seq_length=1024))\n");
    REQUIRE(made.plan);
    CHECK(made.plan->model.layers == 12);
    CHECK(made.plan->model.hidden == 768);
    CHECK(made.plan->model.kv_heads == 8);
    CHECK(made.plan->model.head_dim == 48);
    CHECK(made.plan->model.ffn_kind == FfnKind::swiglu);
    CHECK(made.plan->model.norm == NormKind::rmsnorm);
}

// primus/configs/modules/megatron/sft_trainer.yaml: 128 sequences of 2,048 where the text says no other.
TEST_CASE("Primus: a supervised training has the defaults of its own trainer") {
    const Import made =
        import_text("exp_name: a\nmodules:\n  post_trainer:\n    framework: megatron\n"
                    "    config: sft_trainer.yaml\n    model: llama2_70B.yaml\n    overrides:\n"
                    "      stage: sft\n      tensor_model_parallel_size: 2\n"
                    "      pipeline_model_parallel_size: 4\n",
                    64);
    CHECK(made.kind == "primus");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.pp == 4);
    CHECK(made.plan->training.global_batch == 128);
    CHECK(made.plan->training.sequence_length == 2048);
}

// examples/models/gpt_oss/slurm_sft.sh of NVIDIA-NeMo/Megatron-Bridge joins its overrides like this.
TEST_CASE("a command that only changes blanks of a variable is what the variable holds") {
    const Import made =
        import_text("#!/bin/bash\nTP=4\nOVERRIDES=\" \\\n  model.tensor_model_parallel_size=$TP "
                    "\\\n  train.global_batch_size=64 train.micro_batch_size=2\"\n"
                    "CMD=\"python run_recipe.py --recipe llama3_8b_pretrain_config\"\n"
                    "CMD=\"$CMD $(echo \"$OVERRIDES\" | tr '\\n' ' ' | sed 's/  \\+/ /g')\"\n"
                    "srun -N 2 --ntasks-per-node=8 bash -c \"$CMD\"\n");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->training.global_batch == 64);
    CHECK(made.plan->cluster.gpus == 16);
}

// modelscope/ms-swift, swift/megatron/arguments/megatron_args.py: expert_tensor_parallel_size is 1.
TEST_CASE("ms-swift: experts are whole where the text does not cut them") {
    const Import made = import_text("NPROC_PER_NODE=8 \\\nmegatron sft --model Qwen/Qwen3-30B-A3B "
                                    "--tensor_model_parallel_size 2 --expert_model_parallel_size 8 "
                                    "--micro_batch_size 1 --global_batch_size 8 --max_length 4096\n");
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->layout.etp == 1);
    CHECK(made.plan->layout.ep == 8);
}

// MaxText, max_utils.py, fill_unspecified_mesh_axes: 8 GPUs of a node over 8 ranks of fsdp leave 1.
TEST_CASE("MaxText: an axis of -1 is what the others leave, and base.yml is its own defaults") {
    const std::string sizes = "model_name: llama3-8b\nper_device_batch_size: 9\nmax_target_length: 8192\n"
                              "dcn_data_parallelism: -1\nici_tensor_sequence_parallelism: -1\n";
    const Import made = import_text(sizes + "ici_fsdp_parallelism: 8\n", 16);
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->layout.tp == 1);
    CHECK(problem_called(made, "rest-of-node"));
    const Import half = import_text(sizes + "ici_fsdp_parallelism: 4\n", 16);
    REQUIRE(half.plan);
    CHECK(half.plan->layout.tp == 2);
    const Import script =
        import_beside("#!/bin/bash\npython3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-8b "
                      "ici_fsdp_parallelism=8 per_device_batch_size=1 max_target_length=4096\n",
                      {{"MaxText/configs/base.yml", "num_pipeline_microbatches: -1\nici_fsdp_parallelism: 1\n"
                                                    "per_device_batch_size: 12\nmax_target_length: 2048\n"}});
    REQUIRE(script.plan);
    CHECK_FALSE(script.failed());
    CHECK(script.plan->layout.dp_shard == 8);
    CHECK(script.plan->training.sequence_length == 4096);
}

// NVIDIA/NeMo-Framework-Launcher, launcher_scripts/main.py and conf/config.yaml.
TEST_CASE("files that Hydra names: NeMo's launcher, NeMo-Aligner's --config-name") {
    const std::string gpt = "trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n"
                            "  mcore_gpt: True\n  micro_batch_size: 4\n  global_batch_size: 256\n"
                            "  encoder_seq_length: 2048\n  max_position_embeddings: 2048\n  num_layers: 24\n"
                            "  hidden_size: 4096\n  ffn_hidden_size: 16384\n  num_attention_heads: 32\n"
                            "  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n";
    const Import launched = import_beside(
        "#!/bin/bash\nexport NODES=4\npython3 $HOME/launcher_scripts/main.py stages=[training] "
        "training=gpt3/5b training.trainer.num_nodes=$NODES training.model.micro_batch_size=2\n",
        {{"launcher_scripts/conf/training/gpt3/5b.yaml", gpt}});
    REQUIRE(launched.plan);
    CHECK(launched.kind == "bridge");
    CHECK(launched.plan->cluster.gpus == 32);
    CHECK(launched.plan->layout.tp == 2);
    CHECK(launched.plan->training.micro_batch == 2);
    CHECK_THROWS_WITH_AS(
        import_text("#!/bin/bash\npython3 launcher_scripts/main.py stages=[training] training=gpt3/5b\n"),
        doctest::Contains("launcher_scripts/conf/training/gpt3/5b.yaml, which is not there"), Error);
    const std::string mine =
        "trainer:\n  devices: 8\n  num_nodes: 1\n  dpo:\n    max_epochs: 1\nmodel:\n  mcore_gpt: True\n"
        "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 1\n  micro_batch_size: 1\n"
        "  global_batch_size: 128\n  data:\n    seq_length: 2048\n";
    const Import aligner =
        import_beside("#!/bin/bash\npython -u train_gpt_dpo.py --config-name=mine trainer.num_nodes=2 "
                      "pretrained_checkpoint.restore_from_path=/m/llama-3.1-8b.nemo\n",
                      {{"conf/mine.yaml", mine}});
    CHECK(aligner.kind == "nemo-aligner");
    REQUIRE(aligner.plan);
    CHECK(aligner.plan->cluster.gpus == 16);
    CHECK(aligner.plan->layout.tp == 4);
    CHECK(aligner.plan->training.global_batch == 256);  // pairs
    CHECK(problem_called(aligner, "files-read"));
    CHECK_FALSE(stands_in(aligner.settings.unmapped, "--config-name"));
}

TEST_CASE("a script that starts another one beside it hands its arguments on, under its launcher") {
    const std::string train = small_gpt("python", "--tensor-model-parallel-size $1");
    const Import made = import_beside("#!/bin/bash\nsrun -N 2 --ntasks-per-node=8 bash ${DIR}/train.sh 4\n",
                                      {{"train.sh", train}});
    CHECK(made.kind == "megatron");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->cluster.gpus == 16);
}

TEST_CASE("InternEvo's configuration is refused by its name") {
    CHECK_THROWS_WITH_AS(import_text("data = dict(\n    micro_num=4,\n    micro_bsz=2,\n)\n"
                                     "hybrid_zero_optimizer = dict(overlap_sync_grad=True)\n"
                                     "parallel = dict(zero1=dict(size=-1))\n"),
                         doctest::Contains("InternEvo"), Error);
}
