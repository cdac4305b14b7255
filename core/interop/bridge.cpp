// Reads Megatron-Bridge and NeMo. Recipes: megatron/bridge/recipes/common.py; performance scripts:
// scripts/performance/argument_parser.py; NeMo 1: megatron_gpt_config.yaml; NeMo 2:
// nemo/collections/llm/recipes.
#include "core/interop/megatron.h"
#include "core/interop/readers.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Takes the recipe or model that a text names.
void take_named(Sheet& sheet, Draft& draft, const Presets& presets) {
    for (const char* key :
         {"from_hf_pretrained(0)", "recipe", "mr", "model_recipe_name", "pretrain_recipe()", "hf_model_id"}) {
        std::string value = sheet.value_of(key);
        if (value.empty()) continue;
        if (std::string_view(key) == "pretrain_recipe()") {  // llm.llama3_70b.pretrain_recipe
            const std::size_t end = value.rfind('.');
            const std::size_t begin = value.rfind('.', end == std::string::npos || end == 0 ? end : end - 1);
            if (begin == std::string::npos || end == std::string::npos || begin >= end) continue;
            value = value.substr(begin + 1, end - begin - 1);
        }
        take_model(sheet, draft, presets, key, value);
        if (!draft.model_preset.empty()) return;
    }
}

// Sets what HybridModelProvider has where the text does not say it (models/hybrid/hybrid_provider.py).
void hybrid_defaults(const Sheet& s, nlohmann::json& m) {
    if (!s.has("add_bias_linear")) {
        m["mlp_bias"] = m["attention_bias"] = false;
        if (m.contains("mamba")) m["mamba"]["bias"] = false;
    }
    if (!s.has("share_embeddings_and_output_weights")) m["tied_embeddings"] = false;
    if (!s.has("normalization")) m["norm"] = "rmsnorm";
    if (s.has("position_embedding_type")) return;
    m["positions"] = "rope";
    m.erase("max_positions");
}

void read_world(Sheet& s, Draft& d, const Launch* launch) {
    const auto total = s.integer("num_gpus", "/cluster/gpus");
    const auto devices = s.integer("devices", "/cluster/gpus"),
               per_node = s.integer("num_gpus_per_node", "/cluster/gpus");
    const auto nodes = s.integer("num_nodes", "/cluster/gpus");
    const auto of_node = s.integer("gpus_per_node", "/cluster/gpus");
    d.gpus_per_node = devices.value_or(per_node.value_or(of_node.value_or(0)));
    if (d.gpus > 0) return;
    std::int64_t fewest = 1;
    for (const char* key :
         {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"})
        fewest *= std::clamp<std::int64_t>(parse_integer(s.value_of(key)).value_or(1), 1, 1 << 16);
    if (total)
        d.gpus = *total;
    else if (d.gpus_per_node > 0 && (nodes || fewest <= d.gpus_per_node))  // else nobody says how many nodes
        d.gpus = d.gpus_per_node * nodes.value_or(1);
    else if (launch)
        d.gpus = launch->gpus;
}

}  // namespace

void read_bridge(Sheet& s, Draft& d, const Presets& presets, const Launch* launch) {
    MegatronDialect dialect;
    dialect.command_line = false;
    for (const char* key : {"crossattn_emb_size", "num_joint_layers"})  // Wan's, FLUX's
        if (s.has(key)) {
            d.model["hidden"] = s.integer("hidden_size", "/model/hidden").value_or(1);
            return s.error("other-model", "The model is a diffusion transformer (", s.written(key),
                           "): a plan holds language models.");
        }
    const bool own_model = (s.has("num_layers") || s.has("hybrid_layer_pattern")) && s.has("hidden_size");
    dialect.model_named = !own_model;
    if (!own_model && d.model_preset.empty()) take_named(s, d, presets);
    for (const char* key : {"recipe", "mr", "model_recipe_name"})
        if (launch && s.unread.empty() && !s.value_of(key).empty())
            s.leave_unread("the recipe " + s.value_of(key));
    if (!own_model && d.model_preset.empty()) d.model_preset = d.named_model;
    const bool nemo1 = s.has("optim.name");
    if (!nemo1) {
        dialect.overlap_default = true;
        dialect.distributed_optimizer_default = true;
        dialect.micro_batch_default = 2;
        dialect.global_batch_default = 32;
    }
    read_world(s, d, launch);
    const bool experts = presets.has(PresetKind::model, d.model_preset) && presets.model(d.model_preset).moe;
    if (experts) d.model["moe"] = nlohmann::json::object();
    know_layers(d, presets);
    const bool performance =
        launch
        && (!s.value_of("tensor_model_parallel_size").empty()
            && (launch->program.ends_with("setup_experiment.py") || launch->program == "run_script.py"));
    read_megatron_model(s, d, dialect);
    if (own_model && d.model.contains("pattern") && s.has("hybrid_layer_pattern"))
        hybrid_defaults(s, d.model);
    if (d.model.contains("moe") && d.model["moe"].empty()) d.model.erase("moe");
    read_megatron_training(s, d, dialect);
    if (experts && !d.model.contains("moe")) d.model["moe"] = nlohmann::json::object();
    read_megatron_layout(s, d, dialect);
    if (d.model.contains("moe") && d.model["moe"].empty()) d.model.erase("moe");
    // The performance scripts set it wherever there is tensor parallelism.
    if (performance && !s.has("sequence_parallel")) d.layout["sequence_parallel"] = degree(d, "tp") > 1;
}

}  // namespace pentamesh::interop
