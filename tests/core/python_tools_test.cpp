// Tests Python texts of tools that data tells (presets/frameworks/NAME.json and NAME_recipes.py). Each text
// has the settings of a public file, which is named above it with its commit.
#include "core/interop/import.h"
#include "core/model/model.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_recipe;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

// Returns a script of OLMo-core's internal kind: `dp`, `more` are arguments of the train module.
std::string olmo(const std::string& model, const std::string& dp, const std::string& more) {
    return "from functools import partial\n\nfrom olmo_core.internal.experiment import build_config, main\n\n"
           "SEQUENCE_LENGTH = 4096\nGLOBAL_BATCH_SIZE = 1024 * SEQUENCE_LENGTH\n\n\n"
           "def build_model_config(common: CommonComponents) -> TransformerConfig:\n    return "
           + model
           + "\n\n\ndef build_train_module_config(common: CommonComponents) -> "
             "TransformerTrainModuleConfig:\n"
             "    rank_microbatch_size = 2 * common.max_sequence_length\n"
             "    if common.launch is not None:\n        rank_microbatch_size *= 2\n"
             "    return TransformerTrainModuleConfig(\n        rank_microbatch_size=rank_microbatch_size,\n"
             "        max_sequence_length=common.max_sequence_length,\n"
             "        optim=SkipStepAdamWConfig(lr=3e-4, betas=(0.9, 0.95)),\n        compile_model=True,\n"
             "        dp_config=TransformerDataParallelConfig("
           + dp + "),\n" + more
           + "        float8_config=Float8Config(enabled=False),\n    )\n\n\nif __name__ == \"__main__\":\n"
             "    config_builder = partial(\n        build_config,\n"
             "        global_batch_size=GLOBAL_BATCH_SIZE,\n        max_sequence_length=SEQUENCE_LENGTH,\n"
             "        model_config_builder=build_model_config,\n"
             "        train_module_config_builder=build_train_module_config,\n    )\n"
             "    main(config_builder=config_builder)\n";
}

constexpr const char* k7B = "TransformerConfig.olmo2_7B(vocab_size=common.tokenizer.padded_vocab_size())";
constexpr const char* kHsdp =
    "name=DataParallelType.hsdp, param_dtype=DType.bfloat16, reduce_dtype=DType.float32";

}  // namespace

// allenai/OLMo-core fa6c5014: src/scripts/train/OLMo2/OLMo2-7B.py. The parameters are those of num_params in
// nn/transformer/config.py, with dolma2's 100,278 tokens padded to a multiple of 128.
TEST_CASE("OLMo-core: batches in tokens, HSDP with a replica a node, the model by its function") {
    const Import made = import_text(olmo(k7B, kHsdp, ""), 64);
    CHECK(made.kind == "olmo-core");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.training.sequence_length == 4096);
    CHECK(p.training.global_batch == 1024);
    CHECK(p.training.micro_batch == 2);
    CHECK(p.layout.zero == 3);
    CHECK(p.layout.dp_shard == 8);
    CHECK(p.layout.dp_replicate == 8);
    CHECK(p.training.compute == Dtype::bf16);
    CHECK(p.training.recompute.kind == Recompute::none);
    CHECK(p.model.vocab == 100'352);
    CHECK(count_parameters(p.model).total == 7'298'617'344);
    CHECK(made.settings.not_known.empty());
    CHECK_FALSE(made.failed());
}

// OLMo-core, src/olmo_core/optim/adamw.py: exp_avg and exp_avg_sq are of SkipStepAdamWConfig.dtype.
TEST_CASE("OLMo-core: the optimizer's states in bf16, tokens of a micro-batch that are no whole sequence") {
    std::string text = olmo(k7B, kHsdp, "");
    text.replace(text.find("(0.9, 0.95)"), 11, "(0.9, 0.95), dtype=DType.bfloat16");
    text.replace(text.find("2 * common.max_sequence_length"), 30, "3000");
    const Import made = import_text(text, 64);
    REQUIRE(made.plan);
    CHECK(made.plan->training.optimizer_state == Dtype::bf16);
    CHECK(made.plan->training.micro_batch == 1);
    CHECK(problem_called(made, "not-divisible"));
    CHECK(made.settings.not_known.empty());
}

// The same with OLMo2-13B.py's model, and OLMo2-32B.py's replicas, recomputation and model.
TEST_CASE("OLMo-core: the sizes of its functions, replicas, a selective recomputation") {
    const Import small = import_text(
        olmo("TransformerConfig.olmo2_13B(vocab_size=common.tokenizer.padded_vocab_size())", kHsdp, ""), 64);
    REQUIRE(small.plan);
    CHECK(count_parameters(small.plan->model).total == 13'716'198'400);

    const std::string ac =
        "        ac_config=TransformerActivationCheckpointingConfig(\n"
        "            mode=TransformerActivationCheckpointingMode.selected_modules,\n"
        "            modules=[f\"blocks.{i}.feed_forward\" for i in range(64)],\n        ),\n";
    const Import made =
        import_text(olmo("TransformerConfig.olmo2_32B(vocab_size=common.tokenizer.padded_vocab_size())",
                         std::string(kHsdp) + ", num_replicas=128 // 32", ac),
                    1024);
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(count_parameters(p.model).total == 32'234'279'936);
    CHECK(p.layout.dp_replicate == 4);
    CHECK(p.layout.dp_shard == 256);
    CHECK(p.training.recompute.modules == RecomputeModules(RecomputeModule::mlp));
}

// src/scripts/official/OLMo3/OLMo-3-1025-7B-long-context.py: 64 sequences of 65,536 tokens.
TEST_CASE("OLMo-core: context parallelism by gathers and by Ulysses, float8, an argument's default") {
    const std::string text =
        "import argparse\nfrom olmo_core.nn.transformer import TransformerConfig\n\n"
        "DEFAULT_SEQUENCE_LENGTH = 65536\nGLOBAL_BATCH_SIZE = 2**22  # tokens\n\n\n"
        "def build_config(opts: argparse.Namespace, overrides: List[str]) -> ExperimentConfig:\n"
        "    sequence_length = opts.sequence_length or DEFAULT_SEQUENCE_LENGTH\n"
        "    tokenizer_config = TokenizerConfig.dolma2()\n"
        "    model_config = TransformerConfig.olmo3_7B(\n"
        "        vocab_size=tokenizer_config.padded_vocab_size(),\n        block_name=x,\n    )\n"
        "    data_loader_config = NumpyDataLoaderConfig(global_batch_size=GLOBAL_BATCH_SIZE, seed=1)\n"
        "    train_module_config = TransformerTrainModuleConfig(\n"
        "        rank_microbatch_size=sequence_length,\n        max_sequence_length=sequence_length,\n"
        "        dp_config=TransformerDataParallelConfig(\n"
        "            name=DataParallelType.hsdp, param_dtype=DType.bfloat16, shard_degree=1,\n        ),\n"
        "        cp_config=TransformerContextParallelConfig.llama3(degree=8, head_stride=4),\n"
        "        float8_config=Float8Config(enabled=True, ao=AOFloat8LinearConfig.recommended()),\n    )\n"
        "    return ExperimentConfig(model=model_config, train_module=train_module_config)\n";
    const Import made = import_text(text, 512);
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.layout.cp == 8);
    CHECK(p.layout.cp_comm == CpComm::allgather);
    CHECK(p.layout.dp_shard == 1);
    CHECK(p.layout.dp_replicate == 64);
    CHECK(p.training.global_batch == 64);
    CHECK(p.training.micro_batch == 1);
    CHECK(p.training.sequence_length == 65536);
    CHECK(p.training.compute == Dtype::fp8);
    CHECK(p.model.sliding_window == 4096);
    // A keyword that the function passes on changes the model: the plan does not have it, and it is said.
    CHECK(stands_in(made.settings.unmapped, "TransformerConfig.olmo3_7B.block_name"));

    std::string other = text;
    other.replace(other.find(".llama3(degree=8, head_stride=4)"), 32, ".ulysses(degree=2)");
    const Import uly = import_text(other, 512);
    REQUIRE(uly.plan);
    CHECK(uly.plan->layout.cp == 2);
    CHECK(uly.plan->layout.cp_comm == CpComm::ulysses);
}

// build_world_mesh in distributed/parallel/__init__.py; src/scripts/train/OLMoE-1B-7B.py's model.
TEST_CASE("OLMo-core: experts take the shards of HSDP, and exclude tensor parallelism") {
    const std::string moe = "TransformerConfig.olmoe_1B_7B(vocab_size=common.tokenizer.padded_vocab_size())",
                      ep = "        ep_config=TransformerExpertParallelConfig(degree=-1),\n";
    const Import made = import_text(olmo(moe, kHsdp, ep), 32);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.ep == 8);
    CHECK(made.plan->layout.dp_shard == 8);
    CHECK(made.plan->model.moe->experts == 64);
    CHECK(made.plan->model.moe->expert_ffn == 1024);
    CHECK_FALSE(made.failed());
    const Import both = import_text(
        olmo(moe, kHsdp, ep + "        tp_config=TransformerTensorParallelConfig(degree=2),\n"), 32);
    CHECK(problem_called(both, "ep-and-tp"));
    const Import plain = import_text(olmo(moe, "name=DataParallelType.fsdp", ep), 32);
    CHECK(problem_called(plain, "ep-needs-hsdp"));
    const Import tensor =
        import_text(olmo(k7B, kHsdp, "        tp_config=TransformerTensorParallelConfig(degree=2),\n"), 32);
    REQUIRE(tensor.plan);
    CHECK(tensor.plan->layout.tp == 2);
    CHECK(tensor.plan->layout.sequence_parallel);
    CHECK(tensor.plan->layout.dp_shard == 4);  // 8 GPUs of a node, over tp
}

// AI-Hypercomputer/maxtext e591f30c: benchmarks/maxtext_v5p_model_configs.py.
TEST_CASE("MaxText's lists of benchmarks: each variable is a recipe") {
    const std::string text =
        "import os.path\n\nv5p_model_dict = {}\n\n"
        "deepseek_v3_ep_256_v5p_512 = _add_to_model_dictionary(\n    v5p_model_dict,\n    MaxTextModel(\n"
        "        model_name=\"deepseek_v3_ep_256_v5p_512\",\n        model_type=\"deepseek3-671b\",\n"
        "        tuning_params={\n            \"per_device_batch_size\": 4,\n"
        "            \"max_target_length\": 8192,\n            \"ici_fsdp_parallelism\": 1,\n"
        "            \"ici_expert_parallelism\": -1,\n            \"enable_checkpointing\": False,\n        "
        "},\n"
        "    ),\n)\n\n"
        "llama4_maverick_dropless_v5p_256 = _add_to_model_dictionary(\n    v5p_model_dict,\n    "
        "MaxTextModel(\n"
        "        model_name=\"llama4_maverick_dropless_v5p_256\",\n        model_type=\"llama4-17b-128e\",\n"
        "        tuning_params={\n            \"per_device_batch_size\": 0.5,\n"
        "            \"max_target_length\": 8192,\n            \"ici_fsdp_parallelism\": 32,\n"
        "            \"ici_tensor_parallelism\": 4,\n            \"remat_policy\": \"custom\",\n"
        "            \"out_proj\": \"offload\",\n            \"some_new_thing\": 3,\n"
        "            \"tokenizer_path\": os.path.join(ROOT, \"tokenizers\"),\n        },\n"
        "        xla_flags=(flags.A + flags.B),\n    ),\n)\n";
    const Import none = import_text(text, 128);
    CHECK(none.kind == "maxtext");
    CHECK_FALSE(none.plan);
    CHECK(none.recipes
          == std::vector<std::string>{"deepseek_v3_ep_256_v5p_512", "llama4_maverick_dropless_v5p_256"});
    CHECK(problem_called(none, "recipe-missing"));

    const Import made = import_recipe(text, "llama4_maverick_dropless_v5p_256", 128);
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.layout.tp == 4);
    CHECK(p.layout.dp_shard == 32);
    CHECK(p.training.global_batch == 64);  // half a sequence a device
    CHECK(p.training.micro_batch == 2);
    CHECK(p.training.sequence_length == 8192);
    CHECK(p.model.moe->experts == 128);
    CHECK(stands_in(made.settings.unmapped, "MaxTextModel.tuning_params.out_proj"));
    REQUIRE(made.settings.not_known.size() == 1);
    CHECK(made.settings.not_known.front().setting == "MaxTextModel.tuning_params.some_new_thing");
    CHECK(made.settings.not_known.front().line == 32);

    const Import experts = import_recipe(text, "deepseek_v3_ep_256_v5p_512", 256);
    REQUIRE(experts.plan);
    CHECK(experts.plan->layout.ep == 256);
    CHECK(experts.plan->training.global_batch == 1024);
    CHECK_THROWS(import_recipe(text, "no_such_recipe", 256));
}
