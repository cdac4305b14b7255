#include "core/base/characters.h"
#include "core/base/text.h"
#include "core/interop/megatron.h"
#include "core/interop/words.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Turns "torch.bfloat16", "bf16", "fp32" into a plan's name; empty for an unknown type.
std::string dtype_name(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    return words("dtypes").value(std::string(text.substr(dot + 1)), "");
}

// delayed and current scaling have one scale a tensor; subchannel: NeMo's name of blocks.
std::string recipe_name(std::string_view word) {
    const auto has = [&](std::string_view part) { return word.find(part) != std::string_view::npos; };
    if (has("mxfp8") || has("fp8_mx")) return "mxfp8";
    if (has("block") || has("subchannel") || has("fp8_sc")) return "blockwise";
    return "tensorwise";
}

// Reads what is captured: a whole iteration has its own name among the ways or among the scopes.
void read_graphs(Sheet& s, Draft& d) {
    constexpr const char* kField = "/training/cuda_graphs";
    std::string graphs = "none";
    if (s.flag("enable_cuda_graph", kField).value_or(false)) graphs = "layers";
    const std::string way = s.text("cuda_graph_impl", kField).value_or("none");
    if (way != "none") graphs = way == "full_iteration" ? "iteration" : "layers";
    for (const char* key : {"cuda_graph_scope", "cuda_graph_modules"})
        if (const auto scope = s.text(key, kField);
            scope && way != "none" && scope->find("full_iteration") != std::string::npos)
            graphs = "iteration";
    if (graphs != "none") d.training["cuda_graphs"] = graphs;
}

// Reads a recipe of Megatron-Bridge's by the name under which it is registered; another word is refused there
// too. A configuration that is made in the text says its fields, which are settings.
void read_mixed_precision(Sheet& s, nlohmann::json& t, std::string& base) {
    constexpr const char* kKey = "mixed_precision";
    auto word = s.text(kKey, "/training/compute");
    if (!word || word->starts_with("MixedPrecisionConfig")) return;
    std::replace(word->begin(), word->end(), '-', '_');
    const auto& known = words("bridge_precisions");
    const auto row = known.find(*word);
    if (row == known.end()) {
        // In Python a bare word is a variable, whose value the text may not have.
        const bool literal =
            s.last(kKey)->quoted
            || (word->find_first_of(".( ") == std::string::npos && word->find("config") == std::string::npos);
        if (!literal) return s.not_known(kKey);
        return s.not_allowed(kKey,
                             "one of " + join(known.items(), ", ", [](const auto& e) { return e.key(); }));
    }
    base = word_of((*row)["parameters"]);
    if (row->contains("compute")) t["compute"] = (*row)["compute"];
    if (row->contains("fp8_recipe")) t["fp8_recipe"] = (*row)["fp8_recipe"];
    if (row->contains("gather")) t["parameters"] = "fp8";
}

// Reads the word of a trainer, or of a performance script: "bf16-mixed", "32-true", "fp8_cs", "nvfp4".
void read_precision_word(Sheet& s, nlohmann::json& t, const char* key, std::string& base) {
    const auto text = s.text(key, "/training/compute");
    if (!text) return;
    std::string word;
    for (const char c : *text) word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
    if (word.starts_with("16") || has("fp16"))
        base = "fp16";
    else if (word.starts_with("32") || has("fp32"))
        base = "fp32";
    else if (has("bf16") || has("fp8") || has("fp4"))
        base = "bf16";
    else
        return s.not_allowed(key, "a type: bf16, fp16, fp32, fp8 or nvfp4");
    if (has("fp4")) t["compute"] = "fp4";
    if (!has("fp8")) return;
    t["compute"] = "fp8";
    if (word != "fp8") t["fp8_recipe"] = recipe_name(word);
}

void read_precision(Sheet& s, Draft& d, const MegatronDialect& dialect) {
    nlohmann::json& t = d.training;
    const bool bf16 = s.flag("bf16", "/training/compute").value_or(false);
    const bool fp16 = s.flag("fp16", "/training/compute").value_or(false);
    if (bf16 && fp16) s.error("two-precisions", "--bf16 and --fp16 are both set: Megatron takes one");
    std::string base = bf16 ? "bf16" : fp16 ? "fp16" : dialect.command_line ? "fp32" : "bf16";
    if (s.flag("fp32", "/training/compute").value_or(false)) base = "fp32";
    for (const char* key : {"precision", "compute_dtype"}) read_precision_word(s, t, key, base);
    read_mixed_precision(s, t, base);
    if (const auto word = s.text("fp8_recipe", "/training/fp8_recipe")) t["fp8_recipe"] = recipe_name(*word);
    if (const auto word = s.text("params_dtype", "/training/parameters"))
        if (const std::string name = dtype_name(*word); !name.empty()) base = name;
    if (!t.contains("parameters") || s.flag("fp8_param_gather", "/training/parameters") == false)
        t["parameters"] = base;
    if (!t.contains("compute")) t["compute"] = base;
    for (const char* key : {"fp8_format", "fp8", "fp4_format", "fp4"})
        if (const auto word = s.text(key, "/training/compute"); word && flag_of_word(*word) != false)
            t["compute"] = std::string(key, 3);

    // From arguments.py: bf16 accumulates and reduces gradients in fp32 unless a flag says otherwise.
    bool wide = base != "fp16";
    if (const auto on = s.flag("accumulate_allreduce_grads_in_fp32", "/training/gradients"))
        wide = wide || *on;
    if (const auto on = s.flag("grad_reduce_in_fp32", "/training/gradients")) wide = *on;
    if (s.flag("grad_reduce_in_bf16", "/training/gradients").value_or(false)) wide = false;
    t["gradients"] = wide ? "fp32" : base;
    if (const auto word = s.text("main_grads_dtype", "/training/gradients"))
        if (const std::string name = dtype_name(*word); !name.empty() && wide) t["gradients"] = name;
    if (const auto word = s.text("exp_avg_dtype", "/training/optimizer_state"))
        if (const std::string name = dtype_name(*word); !name.empty()) t["optimizer_state"] = name;
    if (s.has("exp_avg_sq_dtype")) s.map("exp_avg_sq_dtype", "/training/optimizer_state");
    if (const auto word = s.text("main_params_dtype", "/training/master_weights"))
        if (const std::string name = dtype_name(*word); name == "bf16" || name == "fp32")
            t["master_weights"] = name;
    for (const char* key : {"use_precision_aware_optimizer"}) s.map(key, "/training/optimizer_state");
}

void read_optimizer(Sheet& s, Draft& d) {
    for (const char* key : {"optimizer", "optim.name", "optimizer.optimizer"}) {
        const auto word = s.text(key, "/training/optimizer");
        if (!word) continue;
        if (word->find("muon") != std::string::npos)
            d.training["optimizer"] = "muon";
        else if (*word == "sgd")
            d.training["optimizer"] = "sgd-momentum";
        else if (word->find("bit") != std::string::npos
                 || (word->find("adam") == std::string::npos && *word != "mcore_distributed_optim"))
            s.cannot_hold(key, "the plan has AdamW, Muon and SGD with states of one type");  // 8-bit, Lion
        else
            d.training["optimizer"] = "adamw";
    }
}

// Reads "mla_up_proj layernorm", "[core_attn, mlp]": modules by Megatron's names, which are the plan's. With
// an unknown module the setting is not held whole.
void read_modules(Sheet& s, Draft& d, const std::string& text) {
    nlohmann::json list = nlohmann::json::array();
    bool all = true;
    std::string names = text;
    std::replace_if(
        names.begin(), names.end(), [](char c) { return !is_name_char(c); }, ' ');
    for (const std::string_view word : split_words(names)) {
        if (parse_name<RecomputeModule>(word))
            list.push_back(word);
        else
            all = false;
    }
    if (!all)
        s.cannot_hold("recompute_modules", "the plan knows the modules of attention, MLP and MoE layers");
    if (list.empty()) {
        d.training["recompute"] = "none";
    } else if (list.size() == 1 && list.front() == pentamesh::name_of(RecomputeModule::core_attn)) {
        d.training["recompute"] = "selective";
    } else {
        d.training["recompute"] = {{"modules", list}};
        s.problem(Severity::info, "recompute-modules", s.written("recompute_modules"), " ", text,
                  ": the memory of these modules and their work are counted, not the host's time to "
                  "launch their kernels again.");
    }
}

// Reads how many layers: a unit's (uniform), or those of a chunk that are recomputed (block).
void read_method(Draft& d, const std::string& method, std::int64_t layers) {
    if (method == "block")
        d.training["recompute"] = {{"layers", layers}, {"method", "block"}};
    else if (layers > 1)
        d.training["recompute"] = {{"layers", layers}, {"method", "uniform"}};
}

void read_recompute(Sheet& s, Draft& d) {
    const bool activations = s.flag("recompute_activations", "/training/recompute").value_or(false);
    auto granularity = s.text("recompute_granularity", "/training/recompute");
    if (!granularity)
        granularity = s.text("activations_checkpoint_granularity", "/training/recompute");  // NeMo 1
    auto method = s.text("recompute_method", "/training/recompute");
    if (!method) method = s.text("activations_checkpoint_method", "/training/recompute");
    auto layers = s.integer("recompute_num_layers", "/training/recompute");
    if (!layers) layers = s.integer("activations_checkpoint_num_layers", "/training/recompute", 0);
    if (layers && *layers == 0) layers.reset();  // NeMo 1 writes 0 where nothing is recomputed
    // Megatron of 2021 and 2022, and Megatron-DeepSpeed, whose own switch of the same sound only says whose
    // code recomputes (megatron/model/gpt_model.py, GPTModelPipe).
    if (!layers) layers = s.integer("checkpoint_num_layers", "/training/recompute");
    bool whole = s.has("activations_checkpoint_method") && method && !granularity;
    whole = s.flag("checkpoint_activations", "/training/recompute").value_or(false) || whole;
    const std::string word = activations ? "selective" : granularity.value_or(whole ? "full" : "none");
    d.training["recompute"] = word == "full" || word == "selective" ? word : "none";
    if (word == "full" && s.has("recompute_method") && method && !layers)
        s.refusal("recompute-num-layers", "Megatron refuses ", s.written("recompute_method"), " without ",
                  "--recompute-num-layers");
    if (word == "full" && layers && (method || whole)) read_method(d, method.value_or("uniform"), *layers);
    const auto modules = s.text("recompute_modules", "/training/recompute");
    if (modules && word == "selective") read_modules(s, d, *modules);
}

// From transformer_config.py (cpu_offloading), optimizer_config.py (optimizer_cpu_offload).
void read_offload(Sheet& s, Draft& d) {
    nlohmann::json away = nlohmann::json::object();
    const auto layers =
        s.integer("cpu_offloading_num_layers", "/training/offload/activations_layers", 0).value_or(0);
    const bool on = s.flag("cpu_offloading", "/training/offload/activations_layers").value_or(layers > 0);
    if (on && layers > 0) away["activations_layers"] = layers;
    const double share = s.number("optimizer_offload_fraction", "/training/offload/optimizer").value_or(1.0);
    if (s.flag("optimizer_cpu_offload", "/training/offload/optimizer").value_or(false))
        away["optimizer"] = std::clamp(share, 0.0, 1.0);
    if (!away.empty()) d.training["offload"] = away;
}

void read_overlap(Sheet& s, Draft& d, const MegatronDialect& dialect) {
    d.training["overlap"]["dp"] = dialect.overlap_default;
    take_settings(s, d, "megatron_overlap");
    if (s.has("overlap_param_gather")) s.map("overlap_param_gather", "/training/overlap/dp");
}

}  // namespace

void read_megatron_training(Sheet& s, Draft& d, const MegatronDialect& dialect) {
    nlohmann::json& t = d.training;
    read_precision(s, d, dialect);
    read_graphs(s, d);
    read_optimizer(s, d);
    read_recompute(s, d);
    read_offload(s, d);
    read_overlap(s, d, dialect);
    if (dialect.micro_batch_default > 0) t["micro_batch"] = dialect.micro_batch_default;
    if (dialect.global_batch_default > 0) t["global_batch"] = dialect.global_batch_default;
    take_settings(s, d, "megatron_training");
    if (dialect.command_line && !dialect.model_named)
        for (const char* key : {"seq_length", "micro_batch_size"})
            if (!s.has(key) && !s.has("encoder_seq_length")) {
                std::string flag = key;
                std::replace(flag.begin(), flag.end(), '_', '-');
                s.error("setting-missing", "--", flag, " is missing: Megatron asks for it");
            }

    double dropout = 0;
    bool said = false;
    for (const char* key : {"attention_dropout", "hidden_dropout"}) {
        const auto x = s.number(key, "/training/dropout");
        said = said || x;
        dropout = std::max(dropout, x.value_or(dialect.command_line && !dialect.model_named ? 0.1 : 0.0));
    }
    if (said || dialect.command_line) t["dropout"] = dropout > 0;
    if (s.has("use_flash_attn")) s.map("use_flash_attn", "/training/attention");
}

}  // namespace pentamesh::interop
