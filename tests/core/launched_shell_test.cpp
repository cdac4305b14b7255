// Tests launchers whose command is a text for a shell, files that a program finds by itself, and those that a
// file starts from.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::Files;
using test::import_beside;
using test::import_text;
using test::presets;
using test::problem_called;
using test::stands_in;

namespace {

const std::string kJob =
    "python3 -u pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 "
    "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 "
    "--global-batch-size 64 --vocab-size 1024";

}  // namespace

// NVIDIA/NeMo-Framework-Launcher 26e42fa9, nemo_launcher/core/launchers.py writes such a script; the short
// flags are those of its earlier releases.
TEST_CASE("bcprun: nodes, processes of a node, and the command that it is handed") {
    const Import made = import_text("#!/bin/bash\n# command 1\nbcprun --nnodes 4 --npernode 8 -no_redirect "
                                    "--launcher mpirun --env 'NCCL_DEBUG=INFO' --cmd \"\n  cd /opt/NeMo;\n  "
                                    + kJob + " \" 2>&1 | tee -a log.out\n");
    CHECK(made.kind == "megatron");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(made.plan->model.layers == 8);
    CHECK(stands_in(made.settings.mapped, "--nnodes"));
    CHECK(stands_in(made.settings.mapped, "--npernode"));
    CHECK(stands_in(made.settings.ignored, "-no_redirect"));
    CHECK(made.settings.not_known.empty());
    const Import brief = import_text("bcprun -n 2 -p 4 -c \"" + kJob + "\"\n");
    REQUIRE(brief.plan);
    CHECK(brief.plan->cluster.gpus == 8);
    // Without -n it is all nodes of its job, which the text does not say.
    const Import open = import_text("bcprun -p 8 -c \"" + kJob + "\"\n");
    CHECK(problem_called(open, "gpus-missing"));
    // One process a node, which starts the others.
    const Import torchrun = import_text("bcprun -n 4 -p 1 -c \"torchrun --nproc_per_node 8 "
                                        + kJob.substr(std::string("python3 -u ").size()) + "\"\n");
    REQUIRE(torchrun.plan);
    CHECK(torchrun.plan->cluster.gpus == 32);
}

TEST_CASE("what stands before a launcher's shell is the launcher's, as before a program") {
    const Import made =
        import_text("srun -N 4 --ntasks-per-node 8 --strange 3 --container-image=a.sqsh bash -c "
                    "\"cd /a && "
                    + kJob + "\"\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(stands_in(made.settings.not_known, "--strange"));
    CHECK(stands_in(made.settings.ignored, "--container-image"));
    const Import mpi = import_text("mpirun -n 16 --allow-run-as-root " + kJob + "\n");
    REQUIRE(mpi.plan);
    CHECK(mpi.plan->cluster.gpus == 16);
    // One task of a job of two nodes: it says no GPUs.
    const Import head = import_text("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
                                    "srun --overlap --nodes=1 --ntasks=1 -w node1 bash -c \""
                                    + kJob + "\"\n");
    REQUIRE(head.plan);
    CHECK(head.plan->cluster.gpus == 16);
}

TEST_CASE("an element of an array that holds a flag and its value is two words where it is not quoted") {
    const std::string array = "#!/bin/bash\nARGS=( \"--tensor-model-parallel-size 4\" --bf16 )\n"
                              "torchrun --nproc_per_node 8 "
                              + kJob.substr(std::string("python3 -u ").size());
    for (const char* words : {" ${ARGS[@]}", " ${ARGS[*]}"}) {
        CAPTURE(words);
        const Import made = import_text(array + words + "\n");
        REQUIRE(made.plan);
        CHECK(made.plan->layout.tp == 4);
        CHECK(made.plan->training.compute == Dtype::bf16);
    }
    CHECK(problem_called(import_text(array + " \"${ARGS[@]}\"\n"), "word-with-blank"));
    // A file of flags that another script reads in says nothing of how it is expanded.
    const Import list =
        import_text("#!/bin/bash\nMODEL_ARGS=(\n  \"--num-layers 8\"\n  \"--hidden-size 512\"\n"
                    "  \"--num-attention-heads 8\"\n  \"--seq-length 512\"\n"
                    "  \"--max-position-embeddings 512\"\n  \"--micro-batch-size 2\"\n"
                    "  \"--vocab-size 1024\"\n  --swiglu\n)\n",
                    8);
    REQUIRE(list.plan);
    CHECK(list.plan->model.layers == 8);
    CHECK(list.plan->training.micro_batch == 2);
}

// NVIDIA-NeMo/RL 7ea279ab: examples/run_grpo.py and ray.sub, nemo_rl/utils/config.py.
TEST_CASE("NeMo RL's files are found from the file that names them, the program's own too") {
    const std::string base = "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 512\n"
                             "  train_micro_batch_size: 4\n  max_total_sequence_length: 512\n"
                             "  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 1\n"
                             "  scheduler:\n    warmup: 5\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    const Files files = {{"examples/configs/grpo_math_1B.yaml", base},
                         {"examples/configs/recipes/llm/../../grpo_math_1B.yaml", base},
                         {"examples/configs/recipes/llm/small.yaml",
                          "defaults: ../../grpo_math_1B.yaml\ncluster:\n  num_nodes: 2\n"}};
    const Import recipe = import_beside(
        "uv run examples/run_grpo.py \\\n  --config examples/configs/recipes/llm/small.yaml \\\n"
        "  ++policy.dtensor_cfg.tensor_parallel_size=2 ~policy.scheduler\n",
        files);
    CHECK(recipe.kind == "nemo-rl");
    REQUIRE(recipe.plan);
    CHECK(recipe.plan->cluster.gpus == 16);
    CHECK(recipe.plan->layout.tp == 2);
    CHECK(recipe.plan->training.global_batch == 512);
    CHECK(stands_in(recipe.settings.unmapped, "~policy.scheduler"));
    CHECK_FALSE(stands_in(recipe.settings.not_known, "policy.scheduler.warmup"));
    CHECK_FALSE(stands_in(recipe.settings.ignored, "policy.scheduler.warmup"));
    const Import usual = import_beside(
        "uv run python examples/run_grpo.py policy.model_name=Qwen/Qwen3-4B cluster.num_nodes=4\n", files);
    REQUIRE(usual.plan);
    CHECK(usual.plan->cluster.gpus == 32);
    CHECK(usual.plan->model.name == "Qwen3 4B");
    const Import batch = import_beside("#!/bin/bash\nCOMMAND=\"uv run ./examples/run_grpo.py --config "
                                       "examples/configs/grpo_math_1B.yaml cluster.num_nodes=2\" \\\n"
                                       "  sbatch --nodes=2 --gres=gpu:8 ray.sub\n",
                                       files);
    REQUIRE(batch.plan);
    CHECK(batch.plan->cluster.gpus == 16);
    // A YAML that speaks of Automodel's classes is NeMo RL's all the same.
    CHECK(import_text(base + "# _target_: nemo_automodel.components\n").kind == "nemo-rl");
}

TEST_CASE("a section with _override_ stands in the place of that of the file before") {
    const std::string base = "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 64\n"
                             "  train_micro_batch_size: 1\n  max_total_sequence_length: 512\n"
                             "  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 4\n"
                             "cluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    const std::string policy = "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 32\n"
                               "  train_micro_batch_size: 1\n  max_total_sequence_length: 512\n"
                               "  dtensor_cfg:\n    enabled: true\n";
    const Import merged = import_beside("defaults: base.yaml\n" + policy, {{"base.yaml", base}});
    REQUIRE(merged.plan);
    CHECK(merged.plan->layout.tp == 4);
    const Import instead =
        import_beside("defaults: base.yaml\n" + policy + "  _override_: true\n", {{"base.yaml", base}});
    REQUIRE(instead.plan);
    CHECK(instead.plan->layout.tp == 1);
    CHECK(instead.plan->training.global_batch == 32);
    CHECK(instead.plan->cluster.gpus == 8);
}

// NVIDIA/Megatron-LM, branch dev d48bd6be: examples/moe_recipes have flags without dashes below ARGS, and the
// GPUs in the file's name.
TEST_CASE("Megatron's recipes in YAML are read, with the GPUs of their names") {
    ImportRequest r;
    r.path = "mxfp8_SL4K_128GPU_TP1PP1EP64.yaml";
    r.text = "ENV_VARS:\n  NCCL_NVLS_ENABLE: '0'\nARGS:\n  num_layers: 8\n  hidden_size: 512\n"
             "  num_attention_heads: 8\n  swiglu: true\n  seq_length: 512\n  max_position_embeddings: 512\n"
             "  tensor_model_parallel_size: 2\n  use_distributed_optimizer: true\n  micro_batch_size: 1\n"
             "  global_batch_size: 128\n  padded_vocab_size: 1024\n  bf16: true\n  finetune: false\n"
             "  position_embedding_type: rope\n";
    const Import made = import_settings(r, presets());
    CHECK(made.kind == "megatron");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.zero == 1);
    CHECK(made.plan->model.ffn_kind == FfnKind::swiglu);
    CHECK(made.settings.not_known.empty());
    const ImportProblem* asks = problem_called(made, "gpus-missing");
    REQUIRE(asks);
    CHECK(asks->message.find("128") != std::string::npos);
}
