// Tests forms of public launch files that two readings fit: a section of its own, tasks of Slurm, files that
// are not there, experts with ranks of their own, a tool's own sizes. The inputs are short ones of our own.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::listed;
using test::problem_called;
using test::stands_in;

// huggingface/smollm text/pretraining/smollm3: training on dp 12, tp 2 and cp 4, evaluation on dp 4. Its
// global batch is published as 2.36 M tokens: 12 x 6 sequences of 32,768.
TEST_CASE("a section of an evaluation sets no field of the training") {
    const Import made = import_text(
        "general:\n  run: x\nmodel:\n  model_config:\n    num_hidden_layers: 4\n    hidden_size: 256\n"
        "    num_attention_heads: 8\n    num_key_value_heads: 4\n    intermediate_size: 512\n"
        "    vocab_size: 1024\n    is_llama_config: true\nparallelism:\n  dp: 12\n  pp: 1\n  tp: 2\n"
        "  context_parallel_size: 4\ntokens:\n  batch_accumulation_per_replica: 6\n  micro_batch_size: 1\n"
        "  sequence_length: 32768\nlighteval:\n  parallelism:\n    dp: 4\n    pp: 2\n    tp: 1\n"
        "    recompute_layer: true\n  batch_size: 8\n");
    CHECK(made.kind == "nanotron");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 96);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.pp == 1);
    CHECK(made.plan->layout.dp_replicate == 12);
    CHECK(made.plan->training.global_batch * made.plan->training.sequence_length == 2'359'296);
    for (const char* name : {"lighteval.parallelism.dp", "lighteval.parallelism.recompute_layer"}) {
        CAPTURE(name);
        CHECK(stands_in(made.settings.ignored, name));
    }
    CHECK(made.settings.not_known.empty());
}

TEST_CASE("torchtitan's validation has a batch and a sequence of its own") {
    const Import made = import_text(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\nseq_len = 8192\n"
        "[parallelism]\ndata_parallel_shard_degree = 8\n[validation]\nenable = true\n"
        "local_batch_size = 4\nseq_len = 2048\n");
    CHECK(made.kind == "torchtitan");
    REQUIRE(made.plan);
    CHECK(made.plan->training.micro_batch == 2);
    CHECK(made.plan->training.global_batch == 16);
    CHECK(made.plan->training.sequence_length == 8192);
    CHECK(stands_in(made.settings.ignored, "validation.seq_len"));

    CHECK(evaluation_in("--validation.steps") == 0);
    CHECK(evaluation_in("trainer.Validator.steps") == 8);
    CHECK(evaluation_in("training.eval_steps") == std::string::npos);
    CHECK(evaluation_in("validation") == std::string::npos);
}

// One task on a node starts Ray there, which starts a process on each GPU.
TEST_CASE("what a tool says of its GPUs stands over Slurm's tasks") {
    const std::string head = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n"
                             "#SBATCH --gres=gpu:8\n";
    const Import verl = import_text(
        head
        + "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 "
          "actor_rollout_ref.model.path=Qwen/Qwen2.5-3B-Instruct "
          "actor_rollout_ref.actor.ppo_mini_batch_size=128 "
          "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 trainer.n_gpus_per_node=8 "
          "trainer.nnodes=2\n");
    CHECK(verl.kind == "verl");
    REQUIRE(verl.plan);
    CHECK(verl.plan->cluster.gpus == 16);
    const std::string flags = "python -m openrlhf.cli.train_ppo_ray --actor.num_nodes 1 "
                              "--actor.num_gpus_per_node 4 --train.micro_batch_size 4 "
                              "--train.batch_size 128 --data.max_len 2048 "
                              "--actor.model_name_or_path Qwen/Qwen2.5-7B --ds.zero_stage 3\n";
    const Import openrlhf = import_text(head + flags);
    CHECK(openrlhf.kind == "openrlhf");
    REQUIRE(openrlhf.plan);
    CHECK(openrlhf.plan->cluster.gpus == 4);
    // The user's number stands over both, and is held against the tool's own words.
    const Import given = import_text(head + flags, 32);
    REQUIRE(given.plan);
    CHECK(given.plan->cluster.gpus == 32);
    REQUIRE(problem_called(given, "gpus-said"));
    CHECK(problem_called(given, "gpus-said")->message.find("The text says 4 GPUs") == 0);
    // Without words of its own a job has as many processes as tasks.
    const Import tasks =
        import_text("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\nsrun python "
                    "pretrain_gpt.py --num-layers 4 --hidden-size 256 --num-attention-heads 8 "
                    "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 "
                    "--global-batch-size 16 --vocab-size 1024\n");
    REQUIRE(tasks.plan);
    CHECK(tasks.plan->cluster.gpus == 16);
}

TEST_CASE("EasyR1: the file that its command starts from is read, or said not to be there") {
    ImportRequest r;
    r.path = "test";
    r.text = "#!/bin/bash\npython3 -m verl.trainer.main \\\n    config=examples/small.yaml \\\n"
             "    worker.actor.model.model_path=Qwen/Qwen2.5-7B-Instruct \\\n"
             "    trainer.n_gpus_per_node=8\n";
    const Import alone = import_settings(r, test::presets());
    CHECK(alone.kind == "easyr1");
    REQUIRE(problem_called(alone, "not-read"));
    CHECK(problem_called(alone, "not-read")->message.find("examples/small.yaml is not in the text") == 0);
    CHECK(stands_in(alone.settings.unmapped, "config"));
    CHECK_FALSE(stands_in(alone.settings.ignored, "config"));

    r.other = [](const std::string& name) {
        return name == "examples/small.yaml"
                   ? std::optional<std::string>("data:\n  max_prompt_length: 1000\n"
                                                "  max_response_length: 24\nworker:\n  actor:\n"
                                                "    micro_batch_size_per_device_for_update: 2\n"
                                                "    ulysses_size: 2\n")
                   : std::nullopt;
    };
    const Import both = import_settings(r, test::presets());
    CHECK_FALSE(problem_called(both, "not-read"));
    REQUIRE(both.plan);
    CHECK(both.plan->training.sequence_length == 1024);
    CHECK(both.plan->layout.cp == 2);
    CHECK(both.plan->cluster.gpus == 8);
}

// axolotl 067b021c, examples/expert_parallel/qwen3_30ba3b_ep_fsdp_fft_4gpu.yaml says that 4 GPUs are the
// least: expert_parallel_size x dp_shard_size.
TEST_CASE("axolotl's experts take ranks of their own, and each of them a batch") {
    const std::string text = "base_model: Qwen/Qwen3-30B-A3B\nplugins:\n"
                             "  - axolotl.integrations.expert_parallel.ExpertParallelPlugin\n"
                             "expert_parallel_size: 2\ndp_shard_size: 2\nmicro_batch_size: 1\n"
                             "gradient_accumulation_steps: 1\nsequence_len: 2048\nbf16: true\n"
                             "fsdp_config:\n  fsdp_version: 2\n  reshard_after_forward: true\n";
    const Import made = import_text(text);
    CHECK(made.kind == "axolotl");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 4);
    CHECK(p.layout.ep == 2);
    CHECK(p.layout.dp_shard == 4);
    CHECK(p.layout.dp_replicate == 1);
    CHECK(p.training.global_batch == 4);
    REQUIRE(listed(made.settings.mapped, "dp_shard_size"));
    CHECK(listed(made.settings.mapped, "dp_shard_size")->path == "/layout/dp_shard");
    CHECK_FALSE(problem_called(made, "gpus-missing"));  // the product is the whole world
    CHECK_FALSE(made.failed());

    const Import more = import_text(text, 8);
    REQUIRE(problem_called(more, "gpus-said"));
    CHECK(problem_called(more, "gpus-said")->message.find("The text's degrees make 4 GPUs") == 0);
    const Import tensor = import_text(text + "tensor_parallel_size: 2\n");
    CHECK(problem_called(tensor, "expert-parallel"));
    CHECK(tensor.failed());
    const Import replicas = import_text(text + "dp_replicate_size: 2\n");
    CHECK(problem_called(replicas, "expert-parallel"));
    // Without experts of their own ranks the degree is the plan's.
    const Import dense = import_text("base_model: Qwen/Qwen3-8B\ndp_shard_size: 4\nmicro_batch_size: 1\n"
                                     "sequence_len: 2048\nbf16: true\nfsdp_config:\n  fsdp_version: 2\n");
    REQUIRE(dense.plan);
    CHECK(dense.plan->layout.dp_shard == 4);
    CHECK(dense.plan->cluster.gpus == 4);
}

// AI-Hypercomputer/maxtext e591f30c, src/maxtext/configs/base.yml: head_dim 128, vocab_size 32000,
// base_num_decoder_layers 16, base_mlp_dim 7168, base_num_kv_heads 16.
TEST_CASE("MaxText: sizes that a text does not say are its own") {
    const std::string command = "python3 -m maxtext.trainers.pre_train.train configs/base.yml "
                                "ici_fsdp_parallelism=8 base_emb_dim=12288 base_num_query_heads=32 ";
    const Import made = import_text(command + "base_num_kv_heads=32 base_mlp_dim=49152\n");
    CHECK(made.kind == "maxtext");
    REQUIRE(made.plan);
    const Model& m = made.plan->model;
    CHECK(m.head_dim == 128);  // not 12288 / 32
    CHECK(m.vocab == 32'000);
    CHECK(m.layers == 16);
    CHECK(made.plan->training.sequence_length == 2048);
    CHECK(made.plan->training.global_batch == 12 * 8);
    CHECK(problem_called(made, "head-dim-default"));
    CHECK(problem_called(made, "vocab-default"));
    CHECK_FALSE(problem_called(made, "vocab-missing"));

    const Import said = import_text(command + "head_dim=384 vocab_size=50304 base_num_decoder_layers=4\n");
    REQUIRE(said.plan);
    CHECK(said.plan->model.head_dim == 384);
    CHECK(said.plan->model.vocab == 50'304);
    CHECK(said.plan->model.layers == 4);
    CHECK(said.plan->model.kv_heads == 16);
    CHECK(said.plan->model.ffn == 7168);
    CHECK_FALSE(problem_called(said, "head-dim-default"));
    CHECK_FALSE(problem_called(said, "vocab-default"));

    // Sizes that it multiplies are refused. The user's model says what the text does not.
    const std::string scaled = command + "base_num_kv_heads=32 global_parameter_scale=8\n";
    CHECK(problem_called(import_text(scaled), "scaled-sizes"));
    CHECK_FALSE(problem_called(import_text(command + "global_parameter_scale=1\n"), "scaled-sizes"));
    ImportRequest r;
    r.path = "test";
    r.text = command;
    r.model = "llama-3-8b";
    const Import named = import_settings(r, test::presets());
    CHECK_FALSE(problem_called(named, "head-dim-default"));
    REQUIRE(named.plan);
    CHECK(named.plan->model.vocab == 128'256);
}

// NVIDIA-NeMo/Automodel 36044ad3, examples/llm_benchmark/deepseek/deepseek_v3_te_deepep_1024.yaml: 128 nodes.
TEST_CASE("Automodel's benchmarks say their nodes") {
    const std::string text = "benchmark:\n  num_nodes: 128\n  peak_tflops: 989\nstep_scheduler:\n"
                             "  global_batch_size: 4096\n  local_batch_size: 4\nmodel:\n"
                             "  pretrained_model_name_or_path: deepseek-ai/DeepSeek-V3\ndistributed:\n"
                             "  strategy: fsdp2\n  pp_size: 4\n  ep_size: 64\ndataset:\n  seq_len: 4096\n";
    const Import made = import_text(text);
    CHECK(made.kind == "automodel");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 1024);
    REQUIRE(listed(made.settings.mapped, "benchmark.num_nodes"));
    CHECK(listed(made.settings.mapped, "benchmark.num_nodes")->path == "/cluster/gpus");
    CHECK(problem_called(made, "gpus-of-nodes"));
    CHECK_FALSE(problem_called(made, "gpus-missing"));
    const Import given = import_text(text, 512);
    REQUIRE(given.plan);
    CHECK(given.plan->cluster.gpus == 512);
}

// README.md of databricks/flashoptim: moments of 8 bits; 8 bits next to bf16 weights make a master copy of
// 24, 16 one of 32; None keeps none.
TEST_CASE("what an optimizer's row says and what a parameter takes agree: FlashAdamW") {
    const std::string text =
        "recipe: x\nstep_scheduler:\n  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n"
        "  pretrained_model_name_or_path: Qwen/Qwen3-8B\ndistributed:\n"
        "  strategy: fsdp2\n  tp_size: 2\ndataset:\n  seq_len: 4096\noptimizer:\n"
        "  _target_: flashoptim.FlashAdamW\n";
    for (const char* more : {"", "  master_weight_bits: 32\n"}) {
        const Import made = import_text(text + more);
        REQUIRE(made.plan);
        CHECK(made.plan->training.optimizer == Optimizer::adamw_8bit);
        CHECK(made.plan->training.master_weights == MasterWeights::fp32);
        CHECK(stands_in(made.settings.unmapped, "optimizer._target_"));
        REQUIRE(problem_called(made, "state-types"));
        CHECK(problem_called(made, "state-types")->message.find("no master copy") == std::string::npos);
        CHECK(made.settings.not_known.empty());
    }
    const Import none = import_text(text + "  master_weight_bits: null\n");
    REQUIRE(none.plan);
    REQUIRE(problem_called(none, "state-types"));
    CHECK(problem_called(none, "state-types")->message.find("no master copy") != std::string::npos);
}

// torch/distributed/run.py: --nnodes is a number, or MIN:MAX of an elastic job.
TEST_CASE("an elastic job is said to change its size, and taken at its largest") {
    const auto with = [](const char* nodes) {
        return import_text(
            std::string("torchrun --nnodes ") + nodes
            + " --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 "
              "--num-attention-heads 8 --position-embedding-type rope --seq-length 1024 --micro-batch-size 1 "
              "--global-batch-size 64 --tensor-model-parallel-size 2\n");
    };
    const Import elastic = with("2:4");
    REQUIRE(elastic.plan);
    CHECK(elastic.plan->cluster.gpus == 32);
    CHECK(problem_called(elastic, "elastic"));
    CHECK_FALSE(problem_called(with("4:4"), "elastic"));
    CHECK_FALSE(problem_called(with("4"), "elastic"));
}
