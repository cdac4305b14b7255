// Import says truly why it does not take a setting: the plan has no field, or the import does not read it.
#include "core/interop/flags.h"
#include "core/interop/import.h"
#include "core/interop/unheld.h"
#include "core/io/plan_json.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace pentamesh;
using namespace pentamesh::interop;
using nlohmann::json;

namespace {

// Collects words of all keys that a plan file may have: "weight_shards" gives "weight" and "shards".
void collect_words(const json& schema, std::set<std::string>& out) {
    if (schema.is_array())
        for (const json& s : schema) collect_words(s, out);
    if (!schema.is_object()) return;
    for (const auto& item : schema.items()) {
        if (item.key() == "properties")
            for (const auto& property : item.value().items()) {
                std::string word;
                for (const char c : property.key() + "_")
                    if (c == '_')
                        out.insert(std::exchange(word, ""));
                    else
                        word += c;
            }
        collect_words(item.value(), out);
    }
}

bool schema_has(const json& schema, std::string_view pointer) {
    if (pointer.empty()) return true;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string key(pointer.substr(1, end - 1));
    if (schema.is_array())
        return std::any_of(schema.begin(), schema.end(),
                           [&](const json& s) { return schema_has(s, pointer); });
    if (!schema.is_object()) return false;
    if (const auto own = schema.find("properties"); own != schema.end() && own->contains(key))
        if (schema_has((*own)[key], pointer.substr(end))) return true;
    const auto forms = schema.find("anyOf");
    return forms != schema.end() && schema_has(*forms, pointer);
}

// A denial may use these words of the field though keys of the plan have them, for it denies another thing.
const std::map<std::string_view, std::string_view> kReviewed{
    {"delay_wgrad_compute", "weight, gradients: the plan says their types, not when they are computed"},
    {"moe_shared_expert_overlap", "shared, overlap: the plan has both, not the two together"},
    {"distribute_saved_activations", "activations, tp: the plan offloads them, it does not cut them"},
};

const Listed* unmapped(const Import& made, std::string_view setting) {
    const auto it = std::find_if(made.unmapped.begin(), made.unmapped.end(),
                                 [&](const Listed& l) { return l.setting == setting; });
    return it == made.unmapped.end() ? nullptr : &*it;
}

constexpr const char* kLine = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 1024 "
                              "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
                              "--micro-batch-size 1 --global-batch-size 64 --bf16 ";

Import import_line(const std::string& more) {
    return import_settings({.text = kLine + more, .path = "run.sh", .framework = Framework::megatron},
                           test::presets());
}

}  // namespace

TEST_CASE("what import says that no plan has names no field that plans have") {
    const json schema = json::parse(plan_schema());
    std::set<std::string> words;
    collect_words(schema, words);
    REQUIRE(words.contains("linear"));
    std::size_t rows = 0;
    for (const Framework framework : {Framework::megatron, Framework::bridge, Framework::torchtitan})
        for (const Unheld& u : unheld_settings(framework)) {
            ++rows;
            const std::string said = words_of(u);
            CAPTURE(said);
            CAPTURE(u.key);
            if (!u.field.empty()) {
                CHECK(schema_has(schema, u.field));
                CHECK(said.find("no field") == std::string::npos);
                continue;
            }
            REQUIRE_FALSE(u.why.empty());
            constexpr std::string_view kDenial = "the plan has no field for ";
            if (!u.why.starts_with(kDenial) || kReviewed.contains(u.key)) continue;
            std::string word;
            for (const char c : std::string(u.why.substr(kDenial.size())) + " ")
                if (c == ' ') {
                    CAPTURE(word);
                    CHECK_FALSE(words.contains(word));
                    word.clear();
                } else {
                    word += c;
                }
        }
    CHECK(rows > 15);
}

TEST_CASE("no setting that says a field of the plan is listed as one that no plan has") {
    for (const Framework framework : {Framework::megatron, Framework::bridge, Framework::torchtitan})
        for (const SpelledField& f : flags_of(framework)) {
            std::string key(f.name.substr(f.name.find_last_of('.') + 1));
            key.erase(0, key.find_first_not_of('-'));
            std::replace(key.begin(), key.end(), '-', '_');
            CAPTURE(key);
            CHECK(find_unheld(framework, key) == nullptr);
        }
}

TEST_CASE("a pattern of mixers is not read, and import says which field of the plan can say it") {
    const Import made = import_line("--hybrid-override-pattern M-M-M*- --linear-attention-freq 4");
    for (const char* flag : {"--hybrid-override-pattern", "--linear-attention-freq"}) {
        CAPTURE(flag);
        const Listed* row = unmapped(made, flag);
        REQUIRE(row != nullptr);
        CHECK(row->why.find("no field") == std::string::npos);
        CHECK(row->why.find("/model/pattern") != std::string::npos);
    }
}

TEST_CASE("MoE layers in no regular order become the plan's pattern") {
    const std::string experts = "--num-experts 8 --moe-router-topk 2 --moe-layer-freq ";
    const Import made = import_line(experts + "'[1,1,0,0,1,0]'");
    REQUIRE(made.plan);
    const std::vector<LayerRun>& pattern = made.plan->model.pattern;
    REQUIRE(pattern.size() == 4);
    const LayerFfn ffn[] = {LayerFfn::moe, LayerFfn::dense, LayerFfn::moe, LayerFfn::dense};
    const int count[] = {2, 2, 1, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(pattern[i].kind == MixerKind::full);
        CHECK(pattern[i].ffn == ffn[i]);
        CHECK(pattern[i].count == count[i]);
    }
    CHECK(unmapped(made, "--moe-layer-freq") == nullptr);
    // A pattern that repeats is held once: 1 of 3 MoE, the first one.
    const Import again = import_line(experts + "'[1,0,0]*2'");
    REQUIRE(again.plan);
    REQUIRE(again.plan->model.pattern.size() == 2);
    CHECK(again.plan->model.pattern[0].count + again.plan->model.pattern[1].count == 3);
}

TEST_CASE("Bridge's offloaded optimizer stands in the plan and in one list") {
    const Import made = import_settings(
        {.text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
                 "cfg = llama3_8b_pretrain_config()\ncfg.optimizer.optimizer_cpu_offload = True\n",
         .path = "recipe.py",
         .framework = Framework::bridge,
         .gpus = 8,
         .model = "llama-3-8b"},
        test::presets());
    REQUIRE(made.plan);
    CHECK(made.plan->training.offload.optimizer == 1);
    for (const Listed& row : made.unmapped)
        CHECK(row.setting.find("optimizer_cpu_offload") == std::string::npos);
}

TEST_CASE("Megatron's CUDA graphs, fp8 recipe and fused operations stand in the plan") {
    const auto training = [](const std::string& more) {
        const Import made = import_line(more);
        REQUIRE(made.plan);
        for (const Listed& row : made.unmapped) CHECK(row.setting.find("graph") == std::string::npos);
        return made.plan->training;
    };
    CHECK(training("").cuda_graphs == CudaGraphs::none);
    CHECK(training("--cuda-graph-impl none --cuda-graph-scope full_iteration").cuda_graphs
          == CudaGraphs::none);
    CHECK(training("--cuda-graph-impl transformer_engine --cuda-graph-scope attn").cuda_graphs
          == CudaGraphs::layers);
    CHECK(training("--cuda-graph-impl local --cuda-graph-scope full_iteration").cuda_graphs
          == CudaGraphs::iteration);
    CHECK(training("--cuda-graph-impl full_iteration").cuda_graphs == CudaGraphs::iteration);
    CHECK(training("--enable-cuda-graph").cuda_graphs == CudaGraphs::layers);
    CHECK(training("--fp8-format hybrid --fp8-recipe mxfp8").fp8_recipe == Fp8Recipe::mxfp8);
    CHECK(training("--fp8-format hybrid --fp8-recipe blockwise").fp8_recipe == Fp8Recipe::blockwise);
    CHECK(training("--fp8-format hybrid --fp8-recipe delayed").fp8_recipe == Fp8Recipe::tensorwise);
    CHECK(training("--use-transformer-engine-op-fuser").fused_experts);
    CHECK_FALSE(training("").fused_experts);
}
