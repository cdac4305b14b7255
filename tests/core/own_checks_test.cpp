// Tests that the import says what a framework's own checks and defaults say of a text: where hybrid sharding
// lies, types of state that an optimizer does not take, batches and backends that a tool refuses, recipes and
// values that stand elsewhere.
#include "core/base/files.h"
#include "core/interop/settings_sheet.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_beside;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

const std::string kFsdpProgram = "finetune.py --model_name_or_path meta-llama/Llama-3.1-8B --bf16 True "
                                 "--per_device_train_batch_size 1 --model_max_length 2048 ";

std::string megatron_with(const std::string& more) {
    return "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
           "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
           "--micro-batch-size 1 --global-batch-size 32 --bf16 --vocab-size 32000 "
           + more + "\n";
}

std::string deepspeed_with(const std::string& bf16, int stage, const std::string& more = "") {
    return "{\"train_micro_batch_size_per_gpu\": 1, \"train_batch_size\": 64, " + bf16
           + ", \"zero_optimization\": {\"stage\": " + std::to_string(stage) + more + "}}";
}

Import deepspeed(const std::string& text) {
    ImportRequest r;
    r.text = text;
    r.path = "test";
    r.gpus = 8;
    r.model = "llama-3-8b";
    return import_settings(r, test::presets());
}

}  // namespace

// torch/distributed/fsdp: HYBRID_SHARD shards within a node and copies over nodes.
TEST_CASE("hybrid sharding lies inside a node") {
    const Import trainer = import_text("torchrun --nnodes 4 --nproc_per_node 4 " + kFsdpProgram
                                       + "--fsdp \"hybrid_shard auto_wrap\"\n");
    REQUIRE(trainer.plan);
    CHECK(trainer.plan->layout.dp_shard == 4);
    CHECK(trainer.plan->layout.dp_replicate == 4);
    CHECK(trainer.plan->layout.zero == 3);
    const Import two =
        import_text("torchrun --nnodes 4 --nproc_per_node 4 " + kFsdpProgram + "--fsdp hybrid_shard_zero2\n");
    REQUIRE(two.plan);
    CHECK(two.plan->layout.dp_shard == 4);
    CHECK(two.plan->layout.zero == 2);
    const Import whole = import_text("torchrun --nnodes 4 --nproc_per_node 4 " + kFsdpProgram
                                     + "--fsdp \"full_shard auto_wrap\"\n");
    REQUIRE(whole.plan);
    CHECK(whole.plan->layout.dp_shard == 16);
    // accelerate: processes over machines, flags as in its file.
    const Import flags = import_text("accelerate launch --num_processes 16 --num_machines 2 --use_fsdp "
                                     "--fsdp_sharding_strategy HYBRID_SHARD --mixed_precision bf16 "
                                     + kFsdpProgram + "\n");
    REQUIRE(flags.plan);
    CHECK(flags.plan->cluster.gpus == 16);
    CHECK(flags.plan->layout.dp_shard == 8);
    CHECK(flags.plan->layout.dp_replicate == 2);
    CHECK(stands_in(flags.settings.mapped, "--num_processes"));
    // An assumed size of the node is said.
    const Import axolotl = import_text("base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\n"
                                       "gradient_accumulation_steps: 4\nsequence_len: 4096\nbf16: true\n"
                                       "fsdp:\n  - hybrid_shard\n  - auto_wrap\n",
                                       32);
    REQUIRE(axolotl.plan);
    CHECK(axolotl.plan->layout.dp_shard == 8);
    CHECK(axolotl.plan->layout.dp_replicate == 4);
    CHECK(problem_called(axolotl, "node-assumed"));
}

// transformers, training_args.py: fsdp_config is a file or a dictionary.
TEST_CASE("a file that --fsdp_config names is read") {
    const std::string text = "torchrun --nproc_per_node 8 " + kFsdpProgram
                             + "--fsdp \"full_shard auto_wrap\" --fsdp_config fsdp.json\n";
    const Import alone = import_text(text);
    REQUIRE(alone.plan);
    CHECK(alone.plan->training.recompute.kind == Recompute::none);
    CHECK(stands_in(alone.settings.unmapped, "--fsdp_config"));
    const Import both = import_beside(text, {{"fsdp.json", "{\"activation_checkpointing\": true}"}});
    REQUIRE(both.plan);
    CHECK(both.plan->training.recompute.kind == Recompute::full);
    CHECK(stands_in(both.settings.mapped, "--fsdp_config"));
    CHECK(problem_called(both, "files-read"));
}

// accelerate/parallelism_config.py, which axolotl builds: __post_init__.
TEST_CASE("axolotl refuses tensor parallelism over pure replicas") {
    const std::string text = "base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 1\nsequence_len: 4096\n"
                             "gradient_accumulation_steps: 4\nbf16: true\ntensor_parallel_size: 2\n"
                             "dp_replicate_size: 4\nfsdp_version: 2\n"
                             "fsdp_config:\n  reshard_after_forward: true\n";
    CHECK(problem_called(import_text(text, 8), "no-sharded-axis"));
    const Import sharded = import_text(text, 16);  // two ranks are left for the shards
    CHECK_FALSE(problem_called(sharded, "no-sharded-axis"));
    REQUIRE(sharded.plan);
    CHECK(sharded.plan->layout.dp_shard == 2);
}

// deepspeed/runtime/base_optimizer.py, _configure_master_weights; zero/stage_1_and_2.py clones the weights,
// zero/stage3.py takes those that are there.
TEST_CASE("DeepSpeed's masters of 16 bits are taken, said or refused as its ZeRO does") {
    const std::string masters = "\"bf16\": {\"enabled\": true, \"bf16_master_weights_and_grads\": true";
    const Import two = deepspeed(deepspeed_with(masters + ", \"bf16_optimizer_states\": true}", 2));
    REQUIRE(two.plan);
    CHECK(two.plan->training.optimizer_state == Dtype::bf16);
    CHECK(two.plan->training.master_weights == MasterWeights::none);
    CHECK(problem_called(two, "master-of-16-bits"));
    const Import three = deepspeed(deepspeed_with(masters + ", \"bf16_optimizer_states\": true}", 3));
    CHECK_FALSE(three.failed());
    CHECK_FALSE(problem_called(three, "master-of-16-bits"));
    const Import no_states = deepspeed(deepspeed_with(masters + "}", 2));
    CHECK(no_states.failed());
    CHECK(problem_called(no_states, "masters-without-offload"));
    const Import offloaded =
        deepspeed(deepspeed_with(masters + "}", 2, ", \"offload_optimizer\": {\"device\": \"cpu\"}"));
    CHECK_FALSE(offloaded.failed());
    const Import states =
        deepspeed(deepspeed_with("\"bf16\": {\"enabled\": true, \"bf16_optimizer_states\": true}", 2));
    CHECK(problem_called(states, "states-without-masters"));
}

// Megatron-LM, core/optimizer/optimizer_config.py, __post_init__, and arguments.py.
TEST_CASE("Megatron's types of state go only with its precision-aware optimizer") {
    const std::string aware = "--use-distributed-optimizer --use-precision-aware-optimizer ";
    const Import alone = import_text(megatron_with("--exp-avg-dtype bf16"));
    CHECK(alone.failed());
    CHECK(problem_called(alone, "states-of-other-types"));
    const Import with = import_text(
        megatron_with(aware + "--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --main-params-dtype fp16"));
    CHECK_FALSE(with.failed());
    REQUIRE(with.plan);
    CHECK(with.plan->training.optimizer_state == Dtype::bf16);
    CHECK(with.plan->training.master_weights == MasterWeights::fp32);
    CHECK(stands_in(with.settings.unmapped, "--main-params-dtype"));  // never mapped and not held
    const Import two = import_text(megatron_with(aware + "--exp-avg-dtype fp8 --exp-avg-sq-dtype fp16"));
    CHECK(stands_in(two.settings.unmapped, "--exp-avg-sq-dtype"));
    CHECK(problem_called(import_text(megatron_with(aware + "--exp-avg-dtype bf16")), "moments-differ"));
    CHECK(import_text(megatron_with("--outer-dp-sharding-strategy optimizer")).failed());
}

// slime/utils/arguments.py at THUDM/slime 624b824a.
TEST_CASE("slime refuses a batch that is no part of its rollout, and a backend that it has not") {
    const std::string text = "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 "
                             "--num-layers 4 --hidden-size 256 --num-attention-heads 8 --vocab-size 1024 "
                             "--position-embedding-type rope "
                             "--rollout-batch-size 32 --n-samples-per-prompt 8 --num-steps-per-rollout 2 ";
    const Import half = import_text(text + "--global-batch-size 128\n");
    CHECK_FALSE(half.failed());
    REQUIRE(half.plan);
    CHECK(half.plan->training.global_batch == 128);
    CHECK(problem_called(import_text(text + "--global-batch-size 256\n"), "step-batch"));
    CHECK(problem_called(import_text(text + "--global-batch-size 64\n"), "step-batch"));
    CHECK(problem_called(import_text(text + "--train-backend deepspeed\n"), "other-backend"));
    CHECK_FALSE(problem_called(import_text(text + "--train-backend megatron\n"), "other-backend"));
}

TEST_CASE("ROLL's DeepSpeed has the stage that the name of its file says") {
    const std::string text = "pretrain: Qwen/Qwen2.5-7B-Instruct\nprompt_length: 1024\n"
                             "response_length: 3072\nactor_train:\n  model_args: {dtype: bf16}\n"
                             "  training_args: {per_device_train_batch_size: 1}\n  strategy_args:\n"
                             "    strategy_name: deepspeed_train\n    strategy_config: ${deepspeed_zero2}\n"
                             "  device_mapping: list(range(0,16))\n";
    const Import made = import_text(text);
    CHECK(made.kind == "roll");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 2);
    CHECK(made.plan->training.software == Software::deepspeed);
    CHECK(problem_called(made, "zero-by-name"));
}

TEST_CASE("a value of the environment is asked for by its name, and --var gives it") {
    const std::string text = "recipe:\n  _target_: megatron.bridge.recipes.llama.llama3_8b_pretrain_config\n"
                             "model:\n  tensor_model_parallel_size: 4\n"
                             "  context_parallel_size: ${oc.env:CP}\n"
                             "  pipeline_model_parallel_size: ${oc.env:PP,2}\n";
    const Import open = import_beside(text, {}, 32);
    REQUIRE(problem_called(open, "unknown-value"));
    CHECK(problem_called(open, "unknown-value")->name == "CP");
    const Import given = import_beside(text, {}, 32, {"CP=2"});
    CHECK_FALSE(given.failed());
    REQUIRE(given.plan);
    CHECK(given.plan->layout.cp == 2);
    CHECK(given.plan->layout.pp == 2);  // its default
}

TEST_CASE("a recipe that is not there says its model by its name") {
    const Import absent = import_text("recipe:\n  _target_: megatron.bridge.recipes.qwen.qwen3_moe."
                                      "qwen3_30b_a3b_pretrain_config\nmodel:\n"
                                      "  tensor_model_parallel_size: 2\n",
                                      16);
    REQUIRE(absent.plan);
    CHECK(absent.plan->model.layers == 48);
    CHECK(absent.plan->layout.tp == 2);
    const Import nemo = import_text("_target_: nemo.collections.llm.recipes.llama3_70b.pretrain_recipe\n"
                                    "num_nodes: 8\nnum_gpus_per_node: 8\ntrainer:\n  strategy:\n"
                                    "    tensor_model_parallel_size: 8\n");
    CHECK(nemo.kind == "bridge");
    REQUIRE(nemo.plan);
    CHECK(nemo.plan->model.layers == 80);
    CHECK(nemo.plan->layout.tp == 8);
    CHECK(nemo.plan->cluster.gpus == 64);
}

TEST_CASE("names in brackets and several statements of a line have their values") {
    const std::string head = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
                             "def recipe():\n    cfg = llama3_8b_pretrain_config()\n";
    const std::string end = "    cfg.model.tensor_model_parallel_size = tp\n"
                            "    cfg.model.context_parallel_size = cp\n    return cfg\n";
    for (const char* line : {"    tp, pp = 4, 1; cp = 2\n", "    (tp, cp) = (4, 2)\n",
                             "    tp, cp = (4, 2)\n", "    tp, cp = [4, 2]; pp = 1\n"}) {
        CAPTURE(line);
        const Import made = import_text(head + line + end, 32);
        REQUIRE(made.plan);
        CHECK(made.plan->layout.tp == 4);
        CHECK(made.plan->layout.cp == 2);
    }
}

// A word that the text does not set is asked for; one that a function of it prints is read.
TEST_CASE("settings that a function of the script prints are read") {
    const Import made = import_text("sizes() { echo \"--tensor-model-parallel-size $1 "
                                    "--context-parallel-size $2\"; }\n"
                                    + megatron_with("$(sizes 4 2)"));
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->layout.cp == 2);
    CHECK_FALSE(problem_called(made, "word-not-read"));
}

// megatron/training/arguments.py: what --hybrid-context-parallel asks for.
TEST_CASE("hybrid context parallelism is refused where Megatron refuses it") {
    const std::string hybrid = "--context-parallel-size 2 --hybrid-context-parallel ";
    const Import made = import_text(megatron_with(hybrid + "--calculate-per-token-loss"));
    CHECK_FALSE(problem_called(made, "hybrid-cp"));
    CHECK(stands_in(made.settings.unmapped, "--hybrid-context-parallel"));
    CHECK(problem_called(import_text(megatron_with(hybrid)), "hybrid-cp"));
    CHECK(problem_called(import_text(megatron_with(hybrid
                                                   + "--calculate-per-token-loss "
                                                     "--pipeline-model-parallel-size 2")),
                         "hybrid-cp"));
}

// NVIDIA-NeMo/Automodel 36044ad3, components/distributed/pipelining/functional.py: calculate_virtual_stages.
TEST_CASE("Automodel's interleaved schedule has the stages that its layers make") {
    const auto text = [](const std::string& model, const std::string& pipeline, int pp) {
        return "recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler:\n"
               "  global_batch_size: 2048\n  local_batch_size: 8\nmodel:\n"
               "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
               "  pretrained_model_name_or_path: "
               + model
               + "\noptimizer:\n  _target_: torch.optim.Adam\ndistributed:\n  strategy: fsdp2\n  pp_size: "
               + std::to_string(pp)
               + "\n  pipeline:\n    pp_schedule: interleaved1f1b\n    pp_microbatch_size: 1\n" + pipeline
               + "dataset:\n  seq_length: 4096\n";
    };
    const Import even = import_text(text("Qwen/Qwen2.5-14B", "    layers_per_stage: 12\n", 2), 16);
    REQUIRE(even.plan);
    CHECK(even.plan->layout.schedule == Schedule::interleaved);
    CHECK(even.plan->layout.virtual_stages == 2);
    CHECK(even.plan->layout.stage_layers.empty());
    CHECK(stands_in(even.settings.mapped, "distributed.pipeline.pp_schedule"));
    CHECK(stands_in(even.settings.mapped, "distributed.pipeline.layers_per_stage"));
    // 94 layers in twos are 47 stages: 48 of them on 4 ranks, the last two with one layer.
    const Import up =
        import_text(text("Qwen/Qwen3-235B-A22B",
                         "    layers_per_stage: 2\n    round_virtual_stages_to_pp_multiple: up\n", 4),
                    256);
    REQUIRE(up.plan);
    CHECK(up.plan->layout.virtual_stages == 12);
    REQUIRE(up.plan->layout.stage_layers.size() == 48);
    CHECK(up.plan->layout.stage_layers[45] == 2);
    CHECK(up.plan->layout.stage_layers[46] == 1);
    const Import usual = import_text(text("Qwen/Qwen2.5-14B", "", 4), 16);
    REQUIRE(usual.plan);
    CHECK(usual.plan->layout.virtual_stages == 2);
    const Import odd = import_text(text("Qwen/Qwen3-235B-A22B", "    layers_per_stage: 2\n", 4), 256);
    CHECK(problem_called(odd, "virtual-stages"));
}

TEST_CASE("a preset has the name of the model whose config.json it is of") {
    constexpr std::string_view kHub = "huggingface.co/";
    int tried = 0;
    for (const Presets::Entry& e : test::presets().list(PresetKind::model)) {
        if (e.own) continue;
        const auto file = test::presets().root() / "models" / (e.id + ".json");
        const std::string source = nlohmann::json::parse(read_file(file)).value("source", std::string());
        const std::size_t at = source.find(kHub);
        if (at == std::string::npos) continue;
        const std::size_t begin = at + kHub.size();
        std::string name = source.substr(begin, source.find_first_of(" ;,", begin) - begin);
        while (name.ends_with('.')) name.pop_back();
        CAPTURE(name);
        CHECK(preset_for(test::presets(), name) == e.id);
        ++tried;
    }
    CHECK(tried > 60);
}
