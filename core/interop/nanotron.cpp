// Reads nanotron's YAML (nanotron/config) and picotron's JSON (picotron/train.py, pipeline_parallel.py).
#include "core/interop/readers.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

std::string nanotron_dtype(std::string_view word) {
    return word == "float16" ? "fp16" : word == "float32" ? "fp32" : "bf16";
}

// Returns the plan's schedule. `usual` is the engine that an unknown name stands for.
std::string schedule_of(std::string_view engine, std::string_view usual) {
    auto found = schedule_called(&ScheduleTraits::nanotron, engine);
    if (!found) found = schedule_called(&ScheduleTraits::nanotron, usual);
    return std::string(pentamesh::name_of(*found));
}

void read_nanotron_model(Sheet& s, Draft& d) {
    nlohmann::json& m = d.model;
    const auto put = [&](const char* key, const char* field) {
        if (const auto n = s.integer(key, std::string("/model/") + field)) m[field] = *n;
    };
    put("num_hidden_layers", "layers");
    put("hidden_size", "hidden");
    put("num_attention_heads", "heads");
    put("num_key_value_heads", "kv_heads");
    put("intermediate_size", "ffn");
    put("vocab_size", "vocab");
    if (!m.contains("kv_heads") && m.contains("heads")) m["kv_heads"] = m["heads"];
    m["tied_embeddings"] = s.flag("tie_word_embeddings", "/model/tied_embeddings").value_or(false);
    m["norm"] = "rmsnorm";
    m["positions"] = "rope";
    const std::string act = s.text("hidden_act", "/model/ffn_kind").value_or("silu");
    m["ffn_kind"] = act == "gelu" ? "geglu" : "swiglu";
    const bool qwen = s.flag("is_qwen2_config", "/model").value_or(false);
    for (const char* key : {"is_llama_config", "is_starcoder2_config"})
        if (s.has(key)) s.map(key, "/model");
    if (const auto bias = s.flag("attention_bias", "/model/qkv_bias").value_or(qwen); bias)
        m["qkv_bias"] = bias;
    const auto experts = s.integer("num_experts", "/model/moe/experts");
    const auto top = s.integer("top_k", "/model/moe/top_k");
    const auto ffn = s.integer("moe_intermediate_size", "/model/moe/expert_ffn");
    const bool shared = s.flag("enable_shared_expert", "/model/moe/shared_experts").value_or(false);
    const auto shared_ffn = s.integer("shared_expert_intermediate_size", "/model/moe/shared_expert_ffn");
    if (experts) {
        // Missing values are those of MoEConfig (nanotron/config/models_config.py).
        m["moe"] = {{"experts", *experts}, {"top_k", top.value_or(2)}, {"expert_ffn", ffn.value_or(1408)}};
        if (shared) {
            m["moe"]["shared_experts"] = 1;
            m["moe"]["shared_expert_ffn"] = shared_ffn.value_or(5632);
        }
    }
}

}  // namespace

void read_nanotron(Sheet& s, Draft& d) {
    if (d.model_preset.empty()) read_nanotron_model(s, d);
    const auto degree_of = [&](const char* key, const char* path) {
        return s.integer(key, path).value_or(1);
    };
    const std::int64_t dp = degree_of("dp", "/layout/dp_shard"), pp = degree_of("pp", "/layout/pp");
    const std::int64_t tp = degree_of("tp", "/layout/tp"),
                       cp = degree_of("context_parallel_size", "/layout/cp");
    const std::int64_t ep = degree_of("expert_parallel_size", "/layout/ep");
    if (s.failed()) return;
    if (ep > 1)
        s.refusal("expert-parallel", "nanotron refuses expert_parallel_size " + std::to_string(ep)
                                         + ": its process groups cannot be built with more than 1");
    const std::int64_t kv = d.model.value("kv_heads", std::int64_t{0});
    if (kv > 0 && kv < tp)
        s.problem(Severity::warning, "kv-heads-below-tp",
                  "nanotron refuses this: num_key_value_heads (" + std::to_string(kv)
                      + ") must be at least tp (" + std::to_string(tp) + ")");
    const std::int64_t world = dp * pp * tp * cp;
    if (d.gpus > 0 && d.gpus != world)
        s.refusal("world-not-divisible", "nanotron refuses: dp x pp x tp x cp is " + std::to_string(world)
                                             + ", the job has " + std::to_string(d.gpus) + " GPUs");
    else
        d.gpus = world;
    const std::int64_t stage = s.integer("zero_stage", "/layout/zero", 0, 3).value_or(0);
    if (stage > 1)
        s.problem(Severity::warning, "zero-stage",
                  "nanotron shards optimizer states alone, whatever zero_stage above 0 says");
    const bool shards = stage > 0;
    const std::string mode = s.text("tp_mode", "/layout/sequence_parallel").value_or("ALL_REDUCE");
    const std::string engine = s.text("pp_engine", "/layout/schedule").value_or("afab");
    d.layout = {{"tp", tp},
                {"cp", cp},
                {"pp", pp},
                {"ep", ep},
                {"order", "tp-cp-dp-pp-ep"},
                {"sequence_parallel", tp > 1 && mode == "REDUCE_SCATTER"},
                {"zero", shards ? 1 : 0},
                {"dp_shard", shards ? dp : 1},
                {"dp_replicate", shards ? 1 : dp},
                {"schedule", schedule_of(engine, "afab")}};
    const std::string attention = s.text("_attn_implementation", "/layout/cp_comm").value_or("");
    if (cp > 1) d.layout["cp_comm"] = attention.find("llama3") != std::string::npos ? "allgather" : "ring";
    nlohmann::json& t = d.training;
    t["compute"] = t["parameters"] =
        nanotron_dtype(s.text("dtype", "/training/compute").value_or("bfloat16"));
    t["gradients"] = s.flag("accumulate_grad_in_fp32", "/training/gradients").value_or(false)
                         ? "fp32"
                         : t["compute"].get<std::string>();
    t["recompute"] = s.flag("recompute_layer", "/training/recompute").value_or(false) ? "full" : "none";
    if (const auto async = s.flag("tp_linear_async_communication", "/training/overlap/tp"))
        t["overlap"] = {{"tp", *async}};
    if (s.flag("tp_recompute_allgather", "/training").value_or(false))
        s.cannot_hold("tp_recompute_allgather", "the plan gathers once more in the backward pass always");
    if (const auto n = s.integer("sequence_length", "/training/sequence_length")) t["sequence_length"] = *n;
    const std::int64_t micro = s.integer("micro_batch_size", "/training/micro_batch").value_or(1);
    const std::int64_t calls =
        s.integer("batch_accumulation_per_replica", "/training/global_batch").value_or(1);
    t["micro_batch"] = micro;
    t["global_batch"] = micro * calls * dp;
}

void read_picotron(Sheet& s, Draft& d, const Presets& presets) {
    const auto degree_of = [&](const char* key, const char* path) {
        return s.integer(key, path).value_or(1);
    };
    const std::int64_t tp = degree_of("tp_size", "/layout/tp"), cp = degree_of("cp_size", "/layout/cp");
    const std::int64_t pp = degree_of("pp_size", "/layout/pp"),
                       dp = degree_of("dp_size", "/layout/dp_replicate");
    const std::string name = s.text("model.name", "/model").value_or("");
    if (d.model_preset.empty()) d.model_preset = preset_for(presets, name);
    const std::pair<const char*, const char*> over[] = {{"num_hidden_layers", "layers"},
                                                        {"num_attention_heads", "heads"},
                                                        {"num_key_value_heads", "kv_heads"}};
    for (const auto& [key, field] : over)
        if (const auto n = s.integer(key, std::string("/model/") + field)) d.model[field] = *n;
    if (s.failed()) return;
    const std::int64_t world = tp * cp * pp * dp;
    if (d.gpus > 0 && d.gpus != world)
        s.refusal("world-not-divisible", "picotron refuses: tp x cp x pp x dp is " + std::to_string(world)
                                             + ", the job has " + std::to_string(d.gpus) + " GPUs");
    else
        d.gpus = world;
    const std::string engine = s.text("pp_engine", "/layout/schedule").value_or("1f1b");
    d.layout = {{"tp", tp},
                {"cp", cp},
                {"pp", pp},
                {"order", "tp-cp-ep-pp-dp"},
                {"sequence_parallel", false},
                {"zero", 0},
                {"dp_shard", 1},
                {"dp_replicate", dp},
                {"cp_comm", "ring"},
                {"schedule", schedule_of(engine, "1f1b")}};
    std::int64_t layers = d.model.value("layers", std::int64_t{0});
    if (layers == 0 && !d.model_preset.empty()) layers = presets.model(d.model_preset).layers;
    if (pp > 1 && layers > 0) {  // distribute_layers: what is left goes to the first stages
        std::vector<std::int64_t> out;
        for (std::int64_t i = 0; i < pp; ++i) out.push_back(layers / pp + (i < layers % pp ? 1 : 0));
        d.layout["stage_layers"] = out;
    }
    nlohmann::json& t = d.training;
    t["compute"] = t["parameters"] =
        nanotron_dtype(s.text("dtype", "/training/compute").value_or("bfloat16"));
    // train.py hands it to the model by the environment; no line of it reads model.use_flash_attention.
    if (!s.flag("FLASH_ATTEN", "/training/attention").value_or(true)) t["attention"] = "math";
    if (const auto n = s.integer("seq_length", "/training/sequence_length")) t["sequence_length"] = *n;
    const std::int64_t micro = s.integer("micro_batch_size", "/training/micro_batch").value_or(1);
    const std::int64_t calls = s.integer("gradient_accumulation_steps", "/training/global_batch").value_or(1);
    t["micro_batch"] = micro;
    t["global_batch"] = micro * calls * dp;
    t["recompute"] = "none";
}

}  // namespace pentamesh::interop
