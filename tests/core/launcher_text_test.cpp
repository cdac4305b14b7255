// Tests that what stands between a launcher and the program is a part of the text, as are the files next to
// it that either names, and that no word of a command line is dropped in silence.
#include "core/base/files.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::presets;
using test::problem_called;
using test::stands_in;

namespace {

const std::string kTrainerWords =
    " train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 "
    "--bf16 True --max_seq_length 4096 --gradient_checkpointing True\n";

Import import_with_files(const std::string& text, const std::map<std::string, std::string>& files,
                         std::vector<std::string> sets = {}) {
    ImportRequest r;
    r.text = text;
    r.path = "run.sh";
    r.sets = std::move(sets);
    r.other = test::found_in(files);
    return import_settings(r, presets());
}

bool listed(const Import& made, const std::string& setting) {
    return stands_in(made.settings.mapped, setting) || stands_in(made.settings.unmapped, setting)
           || stands_in(made.settings.ignored, setting) || stands_in(made.settings.not_known, setting);
}

}  // namespace

TEST_CASE("flags of accelerate launch are settings of its file") {
    const Import fsdp = import_text("accelerate launch --use_fsdp --fsdp_version 2 --num_processes 16 "
                                    "--num_machines 2 --mixed_precision bf16 --machine_rank 0 "
                                    "--fsdp_reshard_after_forward false"
                                    + kTrainerWords);
    REQUIRE(fsdp.plan);
    CHECK(fsdp.kind == "hf-trainer");
    CHECK(fsdp.plan->cluster.gpus == 16);
    CHECK(fsdp.plan->layout.zero == 3);
    CHECK(fsdp.plan->layout.reshard == Reshard::never);
    CHECK_FALSE(problem_called(fsdp, "launcher-file"));
    for (const char* flag : {"--use_fsdp", "--fsdp_version", "--num_processes", "--mixed_precision",
                             "--machine_rank", "--fsdp_reshard_after_forward"})
        CHECK_MESSAGE(listed(fsdp, flag), flag);
    const Import zero = import_text("accelerate launch --use_deepspeed --zero_stage 3 --num_processes 8 "
                                    "--offload_optimizer_device cpu --some_new_flag 3"
                                    + kTrainerWords);
    REQUIRE(zero.plan);
    CHECK(zero.plan->layout.zero == 3);
    CHECK(zero.plan->training.software == Software::deepspeed);
    CHECK(zero.plan->training.offload.optimizer == 1);
    CHECK(stands_in(zero.settings.not_known, "--some_new_flag"));
}

TEST_CASE("a launcher's own words are listed: torchrun, srun, deepspeed, ray") {
    const Import made =
        import_text("srun -N 2 --container-image=a.sqsh torchrun --nproc_per_node 8 --nnodes 2 "
                    "--rdzv_backend c10d --strange_word 1"
                    + kTrainerWords);
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(stands_in(made.settings.mapped, "--nproc_per_node"));
    CHECK(stands_in(made.settings.ignored, "--rdzv_backend"));
    CHECK(stands_in(made.settings.ignored, "--container-image"));
    CHECK(stands_in(made.settings.not_known, "--strange_word"));
    const Import four =
        import_text("deepspeed --include localhost:0,1,2,3 --master_port 29500" + kTrainerWords);
    REQUIRE(four.plan);
    CHECK(four.plan->cluster.gpus == 4);
    // The machine says how many: they are asked for.
    const Import open = import_text("torchrun --nproc_per_node gpu" + kTrainerWords);
    REQUIRE(open.plan);
    CHECK(problem_called(open, "gpus-missing"));
}

TEST_CASE("a file of DeepSpeed that the script writes is read by the name that the command has for it") {
    const auto script = [](const std::string& name, const std::string& written) {
        return "#!/bin/bash\n" + written
               + "deepspeed --num_gpus 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
                 "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --bf16 True "
                 "--learning_rate 1e-5 --deepspeed "
               + name + "\n";
    };
    const std::string json =
        R"({"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 3}})";
    const std::string named = R"($(dirname "$0")/ds.json)";
    const auto document = [&](const std::string& name, const std::string& text) {
        return "cat > " + name + " <<EOF\n" + text + "\nEOF\n";
    };
    for (const std::string& text :
         {script(named, document(named, json)), script("ds.json", document("./ds.json", json)),
          script("\"$DS\"", "DS=conf/ds.json\ncat <<EOF > $DS\n" + json + "\nEOF\n"),
          script("ds.json", "tee ds.json <<EOF\n" + json + "\nEOF\n"),
          script("ds.json", "echo '" + json + "' > ds.json\n")}) {
        CAPTURE(text);
        const Import made = import_text(text);
        REQUIRE(made.plan);
        CHECK(made.plan->layout.zero == 3);
        CHECK(problem_called(made, "files-read"));
        CHECK_FALSE(problem_called(made, "file-by-name"));
    }
    // A message on the error stream, and two texts of one name, are no file that is known.
    const Import twice =
        import_text(script("ds.json", document("ds.json", json)
                                          + document("ds.json", R"({"zero_optimization": {"stage": 1}})")));
    REQUIRE(twice.plan);
    CHECK(twice.plan->layout.zero == 0);
    CHECK_FALSE(problem_called(twice, "files-read"));
    CHECK_FALSE(
        problem_called(import_text(script("ds.json", "echo '" + json + "' 2> ds.json\n")), "files-read"));
    // A value that the script does not say is asked for.
    const Import open =
        import_text(script(named, document(named, R"({"zero_optimization": {"stage": ${STAGE}}})")));
    CHECK(open.failed());
    CHECK(problem_called(open, "unknown-value"));
}

TEST_CASE("files that stand beside the text and that it names are read") {
    const std::map<std::string, std::string> files = {
        {"fsdp.yaml",
         "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\nnum_machines: 1\n"
         "num_processes: 8\n"},
        {"ds.json",
         "{\"zero_optimization\": {\"stage\": 2, \"overlap_comm\": true}, \"bf16\": {\"enabled\": \"auto\"}, "
         "\"train_micro_batch_size_per_gpu\": \"auto\"}"}};
    const Import made = import_with_files("accelerate launch --config_file fsdp.yaml" + kTrainerWords, files);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 2);
    CHECK(made.plan->cluster.gpus == 8);
    CHECK(made.plan->training.software == Software::deepspeed);
    REQUIRE(problem_called(made, "files-read"));
    CHECK(problem_called(made, "files-read")->message.find("ds.json") != std::string::npos);
    const Import named =
        import_with_files("torchrun --nproc_per_node 8" + kTrainerWords.substr(0, kTrainerWords.size() - 1)
                              + " --deepspeed ds.json\n",
                          files);
    REQUIRE(named.plan);
    CHECK(named.plan->layout.zero == 2);
    CHECK_FALSE(problem_called(named, "not-read"));
    const Import missing =
        import_with_files("accelerate launch --config_file other.yaml" + kTrainerWords, files);
    REQUIRE(missing.plan);
    CHECK(problem_called(missing, "not-read"));
}

TEST_CASE("a word that is no setting is named") {
    const std::string megatron =
        " --num-layers 16 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 "
        "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 32 "
        "--bf16 --vocab-size 32000\n";
    for (const char* word : {"${PARALLEL_ARGS}", "$(cat parallel.args)", "${EXTRA[@]}", "@args.txt"}) {
        INFO(word);
        const Import made = import_text("torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py "
                                        + std::string(word) + megatron);
        REQUIRE(made.plan);
        REQUIRE(problem_called(made, "word-not-read"));
        CHECK_FALSE(made.settings.not_known.empty());
    }
    // A script that is started without arguments has none to hand on.
    const Import own = import_text("torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py"
                                   + megatron.substr(0, megatron.size() - 1) + " \"$@\"\n");
    REQUIRE(own.plan);
    CHECK_FALSE(problem_called(own, "word-not-read"));
    const ImportProblem* note = problem_called(own, "arguments-of-script");
    REQUIRE(note);
    CHECK(note->severity == Severity::info);
    CHECK(own.settings.not_known.empty());
}

TEST_CASE("a word that the framework's own list refuses is refused") {
    const std::string usual =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
        "--micro-batch-size 1 --global-batch-size 32 --bf16 --vocab-size 32000 ";
    for (const char* words :
         {"--recompute-granularity partial", "--recompute-method blok", "--normalization BatchNorm",
          "--position-embedding-type ropes", "--fp8-format e5m3",
          "--use-megatron-fsdp --data-parallel-sharding-strategy optimize"}) {
        INFO(words);
        const Import made = import_text(usual + words + "\n");
        CHECK(made.failed());
        CHECK(problem_called(made, "word-not-allowed"));
    }
    CHECK_FALSE(import_text(usual + "--recompute-granularity selective --normalization RMSNorm\n").failed());
}

TEST_CASE("a text of which nothing is read is no plan") {
    ImportRequest r;
    r.text = "import argparse\nfrom megatron.bridge.recipes.utils import something\n\n\ndef main():\n"
             "    p = argparse.ArgumentParser()\n    args = p.parse_args()\n    run(args)\n";
    r.path = "launch.py";
    r.model = "llama-3-8b";
    r.gpus = 16;
    const Import made = import_settings(r, presets());
    CHECK_FALSE(made.plan);
    CHECK(problem_called(made, "nothing-read"));
}

TEST_CASE("what the user sets heals the setting of that field") {
    const std::string text = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
                             "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
                             "--micro-batch-size 1 --global-batch-size 32 --bf16 --vocab-size 32000 "
                             "--tensor-model-parallel-size $(nproc)\n";
    CHECK(import_with_files(text, {}).failed());
    const Import healed = import_with_files(text, {}, {"layout.tp=4"});
    REQUIRE(healed.plan);
    CHECK(healed.plan->layout.tp == 4);
    CHECK_FALSE(healed.failed());
}

TEST_CASE("a layout that the framework stops at is refused in its words") {
    const auto zero = [](int stage) {
        return import_text("{\"pipe_parallel_size\": 2, \"model_parallel_size\": 1, \"num_layers\": 12, "
                           "\"hidden_size\": 768, \"num_attention_heads\": 12, \"seq_length\": 2048, "
                           "\"max_position_embeddings\": 2048, \"train_micro_batch_size_per_gpu\": 4, "
                           "\"zero_optimization\": {\"stage\": "
                               + std::to_string(stage) + "}, \"fp16\": {\"enabled\": true}}",
                           8);
    };
    CHECK(problem_called(zero(2), "zero-with-pipeline"));
    CHECK_FALSE(problem_called(zero(1), "zero-with-pipeline"));
    const auto mesh = [](const std::string& sizes, const std::string& type = "FSDP") {
        ImportRequest r;
        r.text = "distributed_type: " + type
                 + "\nfsdp_config:\n  fsdp_version: 2\nmixed_precision: bf16\n"
                   "num_machines: 1\nnum_processes: 8\nparallelism_config:\n"
                 + sizes;
        r.path = "a.yaml";
        r.model = "llama-3-8b";
        return import_settings(r, presets());
    };
    CHECK(problem_called(mesh("  parallelism_config_dp_replicate_size: 4\n  parallelism_config_tp_size: 2\n"),
                         "no-sharded-axis"));
    CHECK(problem_called(mesh("  parallelism_config_dp_shard_size: 4\n  parallelism_config_sp_size: 2\n"),
                         "split-ignored"));
    CHECK_FALSE(problem_called(
        mesh("  parallelism_config_dp_shard_size: 4\n  parallelism_config_tp_size: 2\n"), "no-sharded-axis"));
}

TEST_CASE("accelerate over Megatron-LM is a layout") {
    ImportRequest r;
    r.text = "distributed_type: MEGATRON_LM\nmegatron_lm_config:\n  megatron_lm_tp_degree: 2\n"
             "  megatron_lm_pp_degree: 2\n  megatron_lm_num_micro_batches: 4\n"
             "  megatron_lm_sequence_parallelism: true\n  megatron_lm_recompute_activations: true\n"
             "  megatron_lm_use_distributed_optimizer: true\nmixed_precision: bf16\nnum_machines: 1\n"
             "num_processes: 8\n";
    r.path = "a.yaml";
    r.model = "llama-3-8b";
    const Import made = import_settings(r, presets());
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.pp == 2);
    CHECK(made.plan->layout.sequence_parallel);
    CHECK(made.plan->layout.zero == 1);
    CHECK(made.plan->training.software == Software::megatron);
    CHECK(made.plan->training.recompute.kind == Recompute::selective);
}

// huggingface/transformers, training_args.py: per_device_train_batch_size is 8, which TRL keeps.
TEST_CASE("TRL without a batch has transformers' own, and it is said") {
    for (const char* start : {"accelerate launch --num_processes 8 trl/scripts/sft.py", "trl sft"}) {
        CAPTURE(start);
        const Import made = import_text(
            start
                + std::string(" --model_name_or_path Qwen/Qwen2.5-1.5B --dataset_name x --max_length 1024 "
                              "--bf16 --gradient_accumulation_steps 2\n"),
            8);
        CHECK(made.kind == "hf-trainer");
        REQUIRE(made.plan);
        CHECK(made.plan->training.micro_batch == 8);
        CHECK(made.plan->training.global_batch == 8 * 8 * 2);
        CHECK(problem_called(made, "batch-default"));
    }
    const Import said = import_text("model_name_or_path: Qwen/Qwen2.5-1.5B\nmax_length: 1024\nbf16: true\n"
                                    "gradient_accumulation_steps: 2\nper_device_train_batch_size: 4\n",
                                    8);
    REQUIRE(said.plan);
    CHECK(said.plan->training.micro_batch == 4);
    CHECK_FALSE(problem_called(said, "batch-default"));
}

// Megatron-LM, tools/run_text_generation_server.py and tasks/main.py take the flags of a training.
TEST_CASE("a program that serves or evaluates a model trains none, and it is said") {
    const std::string flags = " --tensor-model-parallel-size 4 --num-layers 32 --hidden-size 4096 "
                              "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
                              "--micro-batch-size 1 --vocab-size 32000 --bf16\n";
    const std::string start = "torchrun --nproc_per_node 8 ";
    const Import server = import_text(start + "tools/run_text_generation_server.py" + flags);
    REQUIRE(problem_called(server, "no-training"));
    CHECK(problem_called(server, "no-training")->message.find("serves a model") != std::string::npos);
    CHECK(problem_called(import_text(start + "tasks/main.py --task WIKITEXT103" + flags), "no-training"));
    CHECK(problem_called(import_text(start + "examples/inference/gpt/gpt_static_inference.py" + flags),
                         "no-training"));
    CHECK_FALSE(problem_called(import_text(start + "pretrain_gpt.py" + flags), "no-training"));
    CHECK_FALSE(problem_called(import_text(start + "main.py" + flags), "no-training"));
}

TEST_CASE("another tool is refused by its name, with the nearest") {
    try {
        (void)import_text("from xtuner.v1.train import Trainer\nconfig = 1\n");
        FAIL("it is read");
    } catch (const Error& e) {
        CHECK(std::string(e.message()).find("xtuner") != std::string::npos);
    }
    try {
        (void)import_text("parallelism:\n  dp: 2\n  tp: 4\n pp: 2\n");
        FAIL("it is read");
    } catch (const Error& e) {
        CHECK(std::string(e.message()).find("line 4") != std::string::npos);
    }
}

TEST_CASE("names of Python take several values, and a line several statements") {
    for (const char* begin : {"tp, cp = 4, 2\n", "tp = 4; cp = 2\n"}) {
        const Import made =
            import_text(std::string("from megatron.bridge.recipes.x import y\n") + begin
                            + "cfg.model.tensor_model_parallel_size = tp\n"
                              "cfg.model.context_parallel_size = cp\n"
                              "cfg.train.global_batch_size = 32\ncfg.train.micro_batch_size = 1\n",
                        16);
        INFO(begin);
        const ImportProblem* wrong = problem_called(made, "setting-not-allowed");
        CHECK_MESSAGE(!wrong, (wrong ? wrong->message : std::string()));
    }
}

TEST_CASE("Hydra takes the quotes off a value") {
    const Import made = import_text("python run_recipe.py --recipe llama3_8b_pretrain_config "
                                    "'model.pipeline_model_parallel_layout=\"Et*15|t*17L\"' "
                                    "model.pipeline_model_parallel_size=2 train.global_batch_size=32\n",
                                    16);
    CHECK_FALSE(problem_called(made, "pipeline-layout"));
}

TEST_CASE("nanotron's words are read in any case, and its defaults are its own") {
    const std::string model =
        "model:\n  model_config:\n    is_qwen2_config: true\n    hidden_size: 2048\n"
        "    num_hidden_layers: 24\n    num_attention_heads: 16\n    intermediate_size: 5504\n"
        "    vocab_size: 32000\n";
    const std::string rest =
        "parallelism:\n  dp: 2\n  tp: 4\n  pp: 1\n  tp_mode: reduce_scatter\n  pp_engine: ";
    const std::string tokens = "\ntokens:\n  micro_batch_size: 1\n  sequence_length: 2048\n"
                               "  batch_accumulation_per_replica: 4\n";
    const Import made = import_text(model + rest + "1f1b" + tokens);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.sequence_parallel);
    CHECK_FALSE(made.plan->model.qkv_bias);
    CHECK(import_text(model + rest + "2f2b" + tokens).failed());
    const Import moe = import_text(
        model + "    moe_config:\n      num_experts: 60\n      top_k: 4\n      enable_shared_expert: true\n"
        + rest + "1f1b" + tokens);
    REQUIRE(moe.plan);
    REQUIRE(moe.plan->model.moe);
    CHECK(moe.plan->model.moe->expert_ffn == 1408);
    CHECK(moe.plan->model.moe->shared_expert_ffn == 5632);
    CHECK(moe.plan->model.moe->shared_expert_gate);
}

TEST_CASE("a model that is named beside the text says what the text does not") {
    ImportRequest r;
    r.text = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
             "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 32 --bf16 "
             "--position-embedding-type rope\n";
    r.path = "run.sh";
    r.model = "llama-3-8b";
    const Import made = import_settings(r, presets());
    REQUIRE(made.plan);
    CHECK(made.plan->model.vocab == 128256);
    CHECK_FALSE(problem_called(made, "vocab-missing"));
}

TEST_CASE("a script whose program takes a file of settings is that file, on the script's GPUs") {
    const std::map<std::string, std::string> files = {
        {"full.yaml", "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 2\ngradient_accumulation_steps: "
                      "4\nsequence_len: 4096\n"
                      "bf16: true\noptimizer: adamw_torch\ngradient_checkpointing: true\n"}};
    const Import made = import_with_files(
        "accelerate launch --use_fsdp --num_processes 16 -m axolotl.cli.train full.yaml\n", files);
    REQUIRE(made.plan);
    CHECK(made.kind == "axolotl");
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->training.micro_batch == 2);
    REQUIRE(problem_called(made, "files-read"));
    CHECK(stands_in(made.settings.mapped, "micro_batch_size"));
}

TEST_CASE("a tool's own command is the file that it is given, with the command's overrides") {
    const std::map<std::string, std::string> files = {
        {"full.yaml", "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: "
                      "4096\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n"},
        {"axo.yml", "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 2\nsequence_len: 4096\nbf16: true\n"},
        {"auto.yaml", "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n  "
                      "pretrained_model_name_or_path: Qwen/Qwen3-8B\ndistributed:\n  strategy: fsdp2\n  "
                      "tp_size: 2\n"}};
    const Import factory =
        import_with_files("FORCE_TORCHRUN=1 NNODES=2 NPROC_PER_NODE=8 llamafactory-cli train full.yaml "
                          "per_device_train_batch_size=4\n",
                          files);
    REQUIRE(factory.plan);
    CHECK(factory.kind == "llama-factory");
    CHECK(factory.plan->cluster.gpus == 16);
    CHECK(factory.plan->training.micro_batch == 4);
    CHECK(problem_called(factory, "files-read"));
    // The file may be a variable of the script.
    const Import variable =
        import_with_files("#!/bin/bash\nCONFIG=full.yaml\nllamafactory-cli train ${CONFIG}\n", files);
    REQUIRE(variable.plan);
    CHECK(variable.plan->training.micro_batch == 1);
    // Words behind "--" are the launcher's.
    const Import axolotl = import_with_files(
        "axolotl train axo.yml --launcher torchrun -- --nproc_per_node=8 --nnodes=2\n", files);
    REQUIRE(axolotl.plan);
    CHECK(axolotl.kind == "axolotl");
    CHECK(axolotl.plan->cluster.gpus == 16);
    CHECK(axolotl.plan->training.micro_batch == 2);
    const Import automodel = import_with_files("automodel finetune llm -c auto.yaml\n", files);
    REQUIRE(automodel.plan);
    CHECK(automodel.kind == "automodel");
    CHECK(automodel.plan->layout.tp == 2);
}

TEST_CASE("a command whose file of settings is not there says that it needs the file") {
    for (const char* text : {"llamafactory-cli train gone.yaml\n", "axolotl train gone.yml\n",
                             "python -m nemo_automodel.cli.app -c gone.yaml\n",
                             "torchrun --nproc_per_node 8 run_train.py --config-file gone.yaml\n"}) {
        CAPTURE(text);
        std::string said;
        try {
            (void)import_with_files(text, {});
        } catch (const Error& e) {
            said = e.what();
        }
        CHECK(said.find("gone.y") != std::string::npos);
        CHECK(said.find("is not there") != std::string::npos);
    }
    try {
        (void)import_with_files("llamafactory-cli train $CONFIG\n", {});
        FAIL("a name that the text does not set was taken");
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find("--var") != std::string::npos);
    }
}

TEST_CASE("a command whose words a document feeds is read, and its first line alone without -d") {
    const std::string words = " openrlhf.cli.train_dpo \\\n   --train.batch_size 256 \\\n   "
                              "--train.micro_batch_size 2 \\\n   --model.model_name_or_path "
                              "Qwen/Qwen3-8B \\\n   --data.max_len 8192 \\\n   --ds.zero_stage 3\nEOF\n";
    const Import made = import_text("set -x\nread -r -d '' training_commands <<EOF\n" + words
                                    + "if [[ ${1} != \"slurm\" ]]; then\n    deepspeed --num_gpus 8 "
                                      "--module $training_commands\nfi\n");
    REQUIRE(made.plan);
    CHECK(made.kind == "openrlhf");
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->training.global_batch == 512);  // 256 pairs
    CHECK(made.plan->training.micro_batch == 4);
    const Import first = import_text("read -r TP REST <<EOF\n4 8\n9 9\nEOF\ntorchrun --nproc_per_node 8 "
                                     "pretrain_gpt.py --tensor-model-parallel-size $TP --num-layers 16 "
                                     "--hidden-size 2048 --num-attention-heads 16 --seq-length 2048 "
                                     "--max-position-embeddings 2048 --micro-batch-size 1 "
                                     "--global-batch-size $REST --bf16 --vocab-size 32000\n");
    REQUIRE(first.plan);
    CHECK(first.plan->layout.tp == 4);
    CHECK(first.plan->training.global_batch == 8);
}

TEST_CASE("a switch whose rule speaks of its other way changes nothing, and is known") {
    const Import made = import_text("worker:\n  actor:\n    global_batch_size: 128\n"
                                    "    micro_batch_size_per_device_for_update: 1\n    ulysses_size: 1\n"
                                    "    model:\n      model_path: Qwen/Qwen2.5-7B-Instruct\n"
                                    "      enable_gradient_checkpointing: true\n    fsdp:\n"
                                    "      enable_full_shard: true\n      enable_cpu_offload: false\n"
                                    "  rollout:\n    n: 5\ntrainer:\n  n_gpus_per_node: 8\n",
                                    8);
    REQUIRE(made.plan);
    CHECK(made.kind == "easyr1");
    CHECK(made.settings.not_known.empty());
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->training.recompute == RecomputeChoice(Recompute::full));
}
