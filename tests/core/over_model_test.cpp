// Holds what a text says over a model that it names: what it changes, and what a null or a false takes away.
#include "core/interop/script/read_python.h"
#include "tests/core/imports.h"

#include <string>

using namespace pentamesh;
using interop::Import;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

// AMD-AGI/Primus fd1eeabb: examples/megatron/configs/MI300X/deepseek_v2_lite-BF16-pretrain.yaml, shorter.
Import primus_over(const std::string& model, const std::string& settings) {
    std::string text = "work_group: amd\nexp_name: a\nworkspace: ./output\nmodules:\n  pre_trainer:\n"
                       "    framework: megatron\n    config: pre_trainer.yaml\n    model: "
                       + model
                       + ".yaml\n    overrides:\n      micro_batch_size: 4\n      global_batch_size: 640\n"
                         "      seq_length: 4096\n      expert_model_parallel_size: 8\n";
    std::string line;
    for (const char c : settings + "\n") {
        line.push_back(c);
        if (c == '\n') text += "      " + line, line.clear();
    }
    return import_text(text, 64);
}

Model model_over(const std::string& model, const std::string& settings) {
    const Import made = primus_over(model, settings);
    CHECK(made.kind == "primus");
    REQUIRE(made.plan);
    return made.plan->model;
}

}  // namespace

// primus/configs/models/megatron: deepseek_v2_lite.yaml and deepseek_v3.yaml have kv_channels 128, their
// bases qk_layernorm and no group_query_attention. MI300X's examples take latent attention away.
TEST_CASE("latent attention of a named model is taken away by a false") {
    const Import made = primus_over("${PRIMUS_MODEL:deepseek_v2_lite}", "multi_latent_attention: false");
    REQUIRE(made.plan);
    const Model& m = made.plan->model;
    CHECK(m.attention == AttentionKind::mha_gqa);
    CHECK_FALSE(m.mla);
    CHECK(m.heads == 16);
    CHECK(m.kv_heads == 16);
    CHECK(m.head_dim == 128);
    CHECK(m.qk_norm == QkNorm::head);
    CHECK(m.moe->experts == 64);
    CHECK_FALSE(problem_called(made, "head-dim-missing"));
    const Model large = model_over("deepseek_v3", "multi_latent_attention: false\nnum_query_groups: 8");
    CHECK(large.kv_heads == 8);
    CHECK(large.head_dim == 128);
}

// NVIDIA-NeMo/Megatron-Bridge 067f987d: its providers say no kv_channels for DeepSeek.
TEST_CASE("latent attention that is taken away asks for the width of heads where nobody says it") {
    const std::string command = "#!/bin/bash\ntorchrun --nnodes=8 --nproc_per_node=8 run_recipe.py --recipe "
                                "deepseek_v3_pretrain_config model.multi_latent_attention=false ";
    const Import open = import_text(command + "\n");
    REQUIRE(open.plan);
    CHECK(open.plan->model.attention == AttentionKind::mha_gqa);
    CHECK(problem_called(open, "head-dim-missing"));
    const Import said = import_text(command + "model.kv_channels=64\n");
    REQUIRE(said.plan);
    CHECK(said.plan->model.head_dim == 64);
    CHECK_FALSE(problem_called(said, "head-dim-missing"));
}

// deepseek-ai/DeepSeek-V3, config.json: queries of rank 1536, keys of rank 512.
TEST_CASE("latent attention of a named model keeps what the text does not change") {
    const Model same = model_over("deepseek_v3", "multi_latent_attention: true");
    REQUIRE(same.mla);
    CHECK(same == test::presets().model("deepseek-v3"));
    const Model less = model_over("deepseek_v3", "kv_lora_rank: 256");
    REQUIRE(less.mla);
    CHECK(less.mla->q_lora_rank == 1536);
    CHECK(less.mla->kv_lora_rank == 256);
    CHECK(model_over("deepseek_v3", "q_lora_rank: null").mla->q_lora_rank == 0);
}

TEST_CASE("experts of a named model keep what the text does not change") {
    const Model half = model_over("deepseek_v3", "num_experts: 128");
    REQUIRE(half.moe);
    CHECK(half.moe->experts == 128);
    CHECK(half.moe->top_k == 8);
    CHECK(half.moe->expert_ffn == 2048);
    CHECK(half.moe->first_dense_layers == 3);
    const Model fewer = model_over("deepseek_v3", "moe_router_topk: 4\nmoe_ffn_hidden_size: 1024");
    REQUIRE(fewer.moe);
    CHECK(fewer.moe->experts == 256);
    CHECK(fewer.moe->top_k == 4);
    CHECK(fewer.moe->expert_ffn == 1024);
    CHECK(model_over("deepseek_v3", "moe_layer_freq: 1").moe->first_dense_layers == 0);
    CHECK(model_over("deepseek_v3", "moe_layer_freq: ([0]*3+[1]*58)")
          == test::presets().model("deepseek-v3"));
    // Two shared experts of 1408: deepseek_v2_lite.yaml has their width together.
    CHECK(model_over("deepseek_v2_lite", "moe_shared_expert_intermediate_size: 2816").moe->shared_experts
          == 2);
}

TEST_CASE("null, false and 0 take away what a named model has") {
    CHECK(model_over("deepseek_v3", "mtp_num_layers: null").mtp_layers == 0);
    CHECK(model_over("deepseek_v3", "mtp_num_layers: 0").mtp_layers == 0);
    CHECK(model_over("deepseek_v3", "moe_shared_expert_intermediate_size: null").moe->shared_experts == 0);
    CHECK_FALSE(model_over("deepseek_v3", "moe_router_enable_expert_bias: false").moe->router_bias);
    CHECK(model_over("deepseek_v3", "moe_router_group_topk: null").moe->max_nodes_per_token == 0);
    CHECK(model_over("deepseek_v3", "swiglu: false").ffn_kind == FfnKind::gelu);
    CHECK(model_over("llama3_70B", "group_query_attention: false").kv_heads == 64);
    CHECK_FALSE(model_over("deepseek_v3", "num_experts: null\nexpert_model_parallel_size: 1").moe);
}

TEST_CASE("a size that is taken away, and that tools fill in their own way, is said") {
    const Import made = primus_over("deepseek_v3", "ffn_hidden_size: null");
    REQUIRE(made.plan);
    CHECK(made.plan->model.ffn == 18432);
    CHECK(stands_in(made.settings.unmapped, "modules.pre_trainer.overrides.ffn_hidden_size"));
}

// NVIDIA/NeMo, nemo/collections/llm/recipes/llama3_8b.py: pretrain_recipe takes num_nodes and
// num_gpus_per_node.
TEST_CASE("a partial of a recipe is the recipe with its arguments, however it is called") {
    const std::string head = "import functools\nfrom functools import partial\nimport nemo_run as run\n"
                             "from nemo.collections import llm\n";
    const std::string rest = "    recipe.trainer.strategy.tensor_model_parallel_size = 4\n"
                             "    recipe.data.global_batch_size = 64\n    run.run(recipe)\n";
    for (const std::string& text :
         {head
              + "make = functools.partial(llm.llama3_8b.pretrain_recipe, num_nodes=4,\n"
                "    num_gpus_per_node=8)  # small\n\ndef main():\n    recipe = make(name=\"a\")\n"
              + rest,
          head
              + "make = partial(llm.llama3_8b.pretrain_recipe, num_nodes=2, # one half\n"
                "    num_gpus_per_node=8)\n\ndef main():\n    recipe = make(num_nodes=4)\n"
              + rest,
          head
              + "def main():\n    recipe = partial(llm.llama3_8b.pretrain_recipe, num_nodes=4)("
                "num_gpus_per_node=8)\n"
              + rest}) {
        CAPTURE(text);
        const Import made = import_text(text);
        REQUIRE(made.plan);
        CHECK(made.plan->model.layers == 32);
        CHECK(made.plan->cluster.gpus == 32);
        CHECK(made.plan->layout.tp == 4);
        CHECK(made.plan->training.global_batch == 64);
    }
    // A partial of another function stays.
    CHECK(interop::without_partials("a = partial(build_config, b=1)\nc = a(d=2)\n")
          == "a = partial(build_config, b=1)\nc = a(d=2)\n");
    CHECK(interop::without_partials("# partial(x_recipe, b=1)\nf(partial(x_recipe,\n  b=1))\n")
          == "# partial(x_recipe, b=1)\nf(x_recipe(b=1\n))\n");
    CHECK(interop::without_partials("partial(x_recipe") == "partial(x_recipe");
}
