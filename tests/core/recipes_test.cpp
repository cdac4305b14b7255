// Tests texts that need more than one look: Python files of several configurations, scripts that leave values
// to their user or read other files in, layouts that cannot be run.
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/interop/script/read_python.h"
#include "tests/core/imports.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::presets;

namespace {

Import read(ImportRequest r) {
    r.path = "test";
    return import_settings(r, presets());
}

Import read_recipe(const std::string& text, const std::string& recipe) {
    ImportRequest r;
    r.text = text;
    r.recipe = recipe;
    return read(std::move(r));
}

const ImportProblem* problem_of(const Import& made, const std::string& code) {
    const auto it = std::find_if(made.problems.begin(), made.problems.end(),
                                 [&](const ImportProblem& p) { return p.code == code; });
    return it == made.problems.end() ? nullptr : &*it;
}

bool lists(const std::vector<Listed>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Listed& r) { return r.setting.find(name) != std::string::npos; });
}

constexpr const char* kRegistry = R"(
from torchtitan.config import ParallelismConfig, TrainingConfig
from torchtitan.trainer import Trainer
from . import model_registry

SEQUENCE = 8192


def _wide(config, tp=2):
    config.parallelism.tensor_parallel_degree = tp * 2


def llama3_8b() -> Trainer.Config:
    model_spec = model_registry("8B")
    return Trainer.Config(
        hf_assets_path="./assets/hf/Llama-3.1-8B",
        model_spec=model_spec,
        training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * SEQUENCE, max_context_length=SEQUENCE),
        parallelism=ParallelismConfig(data_parallel_shard_degree=8, tensor_parallel_degree=1),
    )


def llama3_8b_wide() -> Trainer.Config:
    config = llama3_8b()
    _wide(config, tp=4)
    return config


def llama3_8b_context() -> Trainer.Config:
    config = llama3_8b()
    config.parallelism = ParallelismConfig(data_parallel_shard_degree=4, context_parallel_degree=2)
    if config.parallelism.context_parallel_degree > 1:
        config.parallelism.context_parallel_rotate_method = "alltoall"
    if somewhere():
        config.parallelism.pipeline_parallel_degree = 4
    return config
)";

constexpr const char* kJob =
    "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 8 --hidden-size 1024"
    " --num-attention-heads 8 --seq-length 2048 --micro-batch-size 1 --max-position-embeddings 2048"
    " --vocab-size 32000 --bf16 --tensor-model-parallel-size $TP\n";

ImportRequest script(const std::string& before) {
    ImportRequest r;
    r.text = before + kJob;
    return r;
}

}  // namespace

TEST_CASE("a file of several configurations is listed and asked for, and each is read by itself") {
    const Import asked = read_recipe(kRegistry, "");
    CHECK_FALSE(asked.plan);
    CHECK(asked.recipes == std::vector<std::string>{"llama3_8b", "llama3_8b_wide", "llama3_8b_context"});
    REQUIRE(problem_of(asked, "recipe-missing"));
    CHECK(problem_of(asked, "recipe-missing")->asks == Asked::recipe);
    CHECK(problem_of(asked, "recipe-missing")->message.find("llama3_8b_wide") != std::string::npos);

    const Import plain = read_recipe(kRegistry, "llama3_8b");
    REQUIRE(plain.plan);
    CHECK(plain.recipe == "llama3_8b");
    CHECK(plain.plan->layout.tp == 1);
    CHECK(plain.plan->layout.dp_shard == 8);
    CHECK(plain.plan->training.micro_batch == 2);
    CHECK(plain.plan->training.sequence_length == 8192);

    const Import wide = read_recipe(kRegistry, "llama3_8b_wide");  // its base, and a helper with an argument
    REQUIRE(wide.plan);
    CHECK(wide.plan->layout.tp == 8);
    CHECK(wide.plan->cluster.gpus == 64);

    const Import context = read_recipe(kRegistry, "llama3_8b_context");
    REQUIRE(context.plan);
    CHECK(context.plan->layout.dp_shard == 4);  // the second ParallelismConfig stands for the first
    CHECK(context.plan->layout.cp == 2);
    CHECK(context.plan->layout.cp_comm == CpComm::ring);
    CHECK(context.plan->layout.pp == 1);
    CHECK(lists(context.settings.not_known, "pipeline_parallel_degree (if somewhere())"));

    CHECK_THROWS_WITH_AS(read_recipe(kRegistry, "llama3_8b_wid"),
                         doctest::Contains("the closest is llama3_8b_wide"), Error);
}

TEST_CASE(
    "a recipe's name says GPUs, their type and the model, and the recipes that it starts from are known") {
    const Import made = read_recipe(
        "from megatron.bridge.recipes.deepseek.deepseek_v3 import deepseek_v3_pretrain_config\n\n\n"
        "def deepseek_v3_pretrain_256gpu_gb200_bf16_config() -> ConfigContainer:\n"
        "    cfg = deepseek_v3_pretrain_config()\n"
        "    cfg.model.pipeline_model_parallel_size = 4\n"
        "    cfg.model.virtual_pipeline_model_parallel_size = 4\n"
        "    cfg.model.tensor_model_parallel_size = 1\n"
        "    set_deepseek_v3_pipeline_model_parallel_layout(cfg.model)\n"
        "    return cfg\n",
        "");
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->cluster.gpus == 256);
    CHECK(made.plan->cluster.gpu.name.find("GB200") != std::string::npos);
    CHECK(made.plan->model.layers == 61);
    CHECK(made.plan->layout.ep == 64);  // of the recipe that it starts from
    CHECK(made.plan->layout.etp == 1);
    CHECK(made.plan->layout.stage_layers.size() == 16);
}

TEST_CASE("what a framework refuses is not said where a function that no text has may change it") {
    const std::string text = "def llama3_8b_pretrain_8gpu_h100_config() -> ConfigContainer:\n"
                             "    cfg = %()\n"
                             "    cfg.model = AutoBridge.from_hf_pretrained(\"meta-llama/Meta-Llama-3-8B\")\n"
                             "    cfg.model.pipeline_model_parallel_size = 3\n"
                             "    return cfg\n";
    const auto with = [&](const std::string& base) {
        std::string own = "from megatron.bridge.x import a\n\n\n" + text;
        return read_recipe(own.replace(own.find('%'), 1, base), "");
    };
    const Import open = with("our_own_start");
    REQUIRE(open.plan);
    CHECK_FALSE(open.failed());
    for (const ImportProblem& p : open.problems) {
        CHECK(p.severity != Severity::error);
        CHECK(p.message.find("refuses") == std::string::npos);
    }
    CHECK(problem_of(open, "not-read"));
    const Import known = with("llama3_8b_pretrain_config");
    CHECK(known.failed());
    REQUIRE(problem_of(known, "world-not-divisible"));
    // The sentence keeps the setting's name, and who refuses where all of the text is there.
    std::string parts = text;
    parts.replace(parts.find("    return"), 0,
                  "    cfg.model.pipeline_model_parallel_layout = \"Et*31|t|L\"\n"
                  "    cfg.model.num_layers = 30\n");
    const auto message = [&](const std::string& base) {
        std::string own = "from megatron.bridge.x import a\n\n\n" + parts;
        const Import made = read_recipe(own.replace(own.find('%'), 1, base), "");
        const ImportProblem* p = problem_of(made, "pipeline-layout");
        REQUIRE(p);
        return p->message;
    };
    CHECK(message("our_own_start")
              .find("which the text does not have, may change this: cfg.model.pipeline_model_parallel_layout "
                    "has 3 stages")
          != std::string::npos);
    CHECK(message("llama3_8b_pretrain_config")
              .starts_with("Megatron refuses: cfg.model.pipeline_model_parallel_layout has 3 stages"));
}

TEST_CASE("a layout that cannot be run opens with what is wrong and what mends it, and may be set first") {
    ImportRequest r = script("TP=3\n");
    const Import broken = read(r);
    REQUIRE(broken.plan);
    CHECK(broken.failed());
    CHECK(broken.plan->layout.tp == 3);
    CHECK(problem_of(broken, "world-not-divisible"));
    CHECK(std::any_of(broken.problems.begin(), broken.problems.end(),
                      [](const ImportProblem& p) { return p.opens && !p.fix.empty(); }));
    r.sets = {"layout.tp=4", "layout.dp_replicate=4", "training.global_batch=16"};
    const Import mended = read(r);
    REQUIRE(mended.plan);
    CHECK_FALSE(mended.failed());
    CHECK(mended.plan->layout.tp == 4);
}

TEST_CASE("a script gets from its user what it does not say") {
    const Import asked = read(script("TP=$1\n"));
    CHECK_FALSE(asked.plan);
    REQUIRE(problem_of(asked, "unknown-value"));
    CHECK(problem_of(asked, "unknown-value")->asks == Asked::value);
    CHECK(problem_of(asked, "unknown-value")->name == "$1");
    ImportRequest given = script("TP=$1\n");
    given.arguments = "4 2";
    REQUIRE(read(given).plan);
    CHECK(read(given).plan->layout.tp == 4);
    ImportRequest named = script("");
    named.variables = {"TP=8"};
    REQUIRE(read(named).plan);
    CHECK(read(named).plan->layout.tp == 8);
    ImportRequest command = script("TP=$(nproc)\n");
    command.variables = {"TP=2"};
    REQUIRE(read(command).plan);
    CHECK(read(command).plan->layout.tp == 2);
}

TEST_CASE(
    "scripts are read as they are: files read in, here-strings, placeholders, tests of a user's variables") {
    const auto tp_of = [](const ImportRequest& r) {
        const Import made = read(r);
        REQUIRE(made.plan);
        return made.plan->layout.tp;
    };
    ImportRequest beside = script("HERE=$(dirname $0)\nsource $HERE/models/sizes.sh\n");
    beside.other = [](const std::string& name) -> std::optional<std::string> {
        return name == "models/sizes.sh" ? std::optional<std::string>("A=1\nB=2\nTP=4\n") : std::nullopt;
    };
    CHECK(tp_of(beside) == 4);
    ImportRequest alone = script("source sizes.sh\nTP=2\n");
    CHECK(tp_of(alone) == 2);
    REQUIRE(problem_of(read(alone), "not-read"));
    CHECK(problem_of(read(alone), "not-read")->message.find("sizes.sh") != std::string::npos);

    CHECK(tp_of(script("C=\"4,2\"\nIFS=',' read -r TP PP <<< \"$C\"\n")) == 4);
    CHECK(tp_of(script("exec > >(tee log.txt) 2>&1\nTP=2\n")) == 2);
    CHECK(tp_of(script("DATA=<Specify path>\nSAVE=<path>/x\nTP=2\n")) == 2);
    CHECK(tp_of(script("if [[ -z $WORKSPACE ]]; then echo set it; exit 1; else TP=1; fi\nTP=2\n")) == 2);
    CHECK(tp_of(script("[ -n \"$KEY\" ] || { echo none; exit 1; }\nTP=8\n")) == 8);
    CHECK_THROWS_AS(read(script("TP=2\nexit 0\n")), Error);
}

TEST_CASE("settings of YAML take what stands elsewhere in it, in the environment or with the user") {
    ImportRequest r;
    r.text = "trainer:\n  devices: 8\n  num_nodes: ${NODES:2}\n  precision: bf16\nmodel:\n"
             "  tensor_model_parallel_size: ${TP}\n  hidden_size: 1024\n  num_layers: 8\n"
             "  num_attention_heads: 8\n  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
             "  position_embedding_type: rope\n  encoder_seq_length: 2048\n  micro_batch_size: 1\n  "
             "global_batch_size: 16\n"
             "  optim:\n    name: fused_adam\n";
    r.tool = "bridge";
    const Import asked = read(r);
    REQUIRE(problem_of(asked, "unknown-value"));
    CHECK(problem_of(asked, "unknown-value")->name == "TP");
    r.variables = {"TP=4"};
    const Import made = read(r);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->model.ffn == 4096);
}

TEST_CASE("Python's values are worked out as Python does, and no others") {
    const auto value = [](const char* text) {
        return python_value(text, [](const std::string& name) {
            return name == "pp" ? PythonValue{PythonValue::Kind::number, 4, {}, {}} : PythonValue{};
        });
    };
    CHECK(value("2 * 8192 + 1").number == 16385);
    CHECK(value("7 // 2 % 2").number == 1);
    CHECK(value("\"a\" if pp > 2 and not None else \"b\"").text == "a");
    CHECK(value("{(4, 1): \"x\", (8, 2): \"y\"}[(pp, 1)]").text == "x");
    CHECK(value("[\"t\"] * 2 + [\"L\"]").written() == "[t, t, L]");
    CHECK(value("list([list(x) for x in [[1], [2]]])").written() == "[[1], [2]]");
    CHECK(value("pp in (1, 4)").number == 1);
    CHECK(value("unknown or 3").known() == false);
    CHECK(value("3 * 2**21").number == 6'291'456);
    CHECK(value("-2 ** 2").number == -4);
    CHECK(value("2 ** 99").known() == false);
    CHECK(value("2 ** -1").known() == false);
    CHECK(value("int(0.5 * 4096)").number == 2048);
    CHECK(value("int(pp * 1.5) + 1").number == 7);
    CHECK(value("int(0.3 * pp)").known() == false);  // 1.2: no whole number
    CHECK(value("max(0.5 ** 2, 1)").known() == false);
    CHECK(value("[0.5, pp]").written() == value("[unknown, pp]").written());
    CHECK(value("torch.bfloat16").known() == false);
    CHECK(value("(1").known() == false);
}

TEST_CASE("a setting behind an error is said to be unread, not to be unknown") {
    ImportRequest request;
    request.text =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size $TP --num-layers 32 "
        "--hidden-size 4096 --num-attention-heads 32 --use-distributed-optimizer --some-new-thing 3\n";
    const Import made = import_settings(request, test::presets());
    REQUIRE(made.failed());
    REQUIRE(made.settings.not_known.size() == 1);
    CHECK(made.settings.not_known.front().setting == "--some-new-thing");
    REQUIRE(made.settings.unmapped.size() == 1);
    CHECK(made.settings.unmapped.front().setting == "--use-distributed-optimizer");
}

// NVIDIA-NeMo/Megatron-Bridge 067f987d: recipes/utils/finetune_utils.py and its token dispatcher's choice by
// GPU.
TEST_CASE("conditions on texts and on the GPU of a recipe's name are decided") {
    const char* text = R"(
def _dispatch(cfg, backend="deepep"):
    if not torch.cuda.is_available():
        return
    device_properties = torch.cuda.get_device_properties(0)
    if not (device_properties.major in [8, 9] or device_properties.name.startswith(("NVIDIA B200", "NVIDIA B300"))):
        cfg.model.moe_token_dispatcher_type = "alltoall"
        return
    if isinstance(backend, str) and backend.lower() == "deepep":
        cfg.model.moe_token_dispatcher_type = "flex"
        cfg.model.moe_flex_dispatcher_backend = "deepep"


def qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config() -> ConfigContainer:
    cfg = ConfigContainer()
    cfg.model.expert_model_parallel_size = 4
    cfg.model.expert_model_parallel_size *= 2
    cfg.train.global_batch_size = 64
    _dispatch(cfg, "DeepEP")
    return cfg


def qwen3_30b_a3b_pretrain_8gpu_gb200_bf16_config() -> ConfigContainer:
    cfg = qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config()
    return cfg
)";
    const Import hopper = read_recipe(text, "qwen3_30b_a3b_pretrain_8gpu_h100_bf16_config");
    REQUIRE(hopper.plan);
    CHECK(hopper.plan->layout.ep == 8);
    CHECK(hopper.plan->layout.ep_comm == EpComm::deepep);
    CHECK(hopper.settings.not_known.empty());
    const Import blackwell = read_recipe(text, "qwen3_30b_a3b_pretrain_8gpu_gb200_bf16_config");
    REQUIRE(blackwell.plan);
    CHECK(blackwell.plan->layout.ep_comm == EpComm::alltoall);
}

// nemo/collections/llm/recipes: a recipe's function takes the degrees by names of its own.
TEST_CASE("NeMo 2: a recipe's function, its arguments, and a job that is put together are read") {
    const std::string quick =
        "import nemo_run as run\nfrom nemo.collections import llm\n"
        "def configure_recipe(nodes: int = 2, gpus_per_node: int = 8):\n"
        "    recipe = llm.llama3_8b.pretrain_recipe(\n        dir=\"/checkpoints\", name=\"x\", "
        "tensor_parallelism=2,\n        num_nodes=nodes, num_gpus_per_node=gpus_per_node)\n"
        "    recipe.trainer.max_steps = 100\n    return recipe\n";
    const Import recipe = test::import_text(quick);
    REQUIRE(recipe.plan);
    CHECK(recipe.kind == "bridge");
    CHECK(recipe.plan->cluster.gpus == 16);
    CHECK(recipe.plan->layout.tp == 2);
    CHECK(recipe.plan->model.layers == 32);
    // Its own settings stand in NeMo.
    const bool open = std::any_of(recipe.problems.begin(), recipe.problems.end(), [](const auto& p) {
        return p.message.find("what it sets is not known") != std::string::npos;
    });
    CHECK(open);
    const std::string job =
        "import nemo_run as run\nfrom nemo import lightning as nl\nfrom nemo.collections import llm\n"
        "def configure():\n"
        "    strategy = run.Config(nl.MegatronStrategy, tensor_model_parallel_size=2, "
        "pipeline_model_parallel_size=2, sequence_parallel=True)\n"
        "    trainer = run.Config(nl.Trainer, devices=8, num_nodes=2, strategy=strategy, "
        "plugins=run.Config(nl.MegatronMixedPrecision, precision=\"bf16-mixed\"))\n"
        "    return run.Partial(llm.pretrain, model=run.Config(llm.LlamaModel), trainer=trainer,\n"
        "        data=run.Config(llm.MockDataModule, seq_length=8192, global_batch_size=128, "
        "micro_batch_size=1))\n";
    ImportRequest r;
    r.text = job;
    r.path = "job.py";
    r.model = "llama-3-8b";
    const Import made = import_settings(r, test::presets());
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.pp == 2);
    CHECK(made.plan->training.global_batch == 128);
}

// The Python language reference, 7.2: the value goes to each of the targets.
TEST_CASE("Python: one value for several names") {
    const Import made = read_recipe(
        "from megatron.bridge import AutoBridge\n"
        "def small():\n"
        "    cfg = _pretrain_common()\n"
        "    cfg.model = AutoBridge.from_hf_pretrained(\"meta-llama/Meta-Llama-3-8B\")\n"
        "    tp = degree = 4\n"
        "    cfg.model.tensor_model_parallel_size = tp\n"
        "    cfg.model.pipeline_model_parallel_size = cfg.model.context_parallel_size = degree // 2\n"
        "    cfg.train.micro_batch_size = 1\n"
        "    cfg.train.global_batch_size = 64\n"
        "    return cfg\n",
        "small");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->layout.pp == 2);
    CHECK(made.plan->layout.cp == 2);
}
