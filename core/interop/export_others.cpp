// Writes Hugging Face accelerate's YAML: accelerate/commands/config, parallelism_config.py,
// utils/dataclasses.py.
#include "core/base/files.h"
#include "core/interop/export.h"
#include "core/interop/script/settings.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {
namespace {

using enum Axis;
constexpr std::array kAccelerate{tp, cp, ep, dp_shard, dp_replicate, pp};

enum class Engine : std::uint8_t { none, ddp, fsdp, deepspeed };

// Returns the ranks that have data of their own. Without a pipeline its ranks do too, and all GPUs are used.
std::int64_t data_places(const Plan& p) {
    return data_ranks(p) * p.layout.pp;
}

// Returns the engine: tp and a gathered or passed-on cp need FSDP 2, Ulysses and the lower ZeRO stages need
// DeepSpeed.
Engine engine_of(const Plan& p) {
    const Layout& l = p.layout;
    const bool ulysses = l.cp > 1 && (l.cp_comm == CpComm::ulysses || l.cp_comm == CpComm::ulysses_ring);
    if (p.cluster.gpus == 1) return Engine::none;
    if (ulysses) return Engine::deepspeed;
    const int zero = zero_in_force(p);
    if (zero == 3) return Engine::fsdp;
    if (zero > 0) return l.tp == 1 && l.cp == 1 ? Engine::deepspeed : Engine::fsdp;
    return l.cp > 1 || (l.tp > 1 && data_places(p) > 1) ? Engine::fsdp : Engine::ddp;
}

void accelerate_losses(ExportDraft& draft, Engine engine) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const int zero = zero_in_force(p);
    if (l.pp > 1)
        draft.lose("/layout/pp", "pp ", l.pp,
                   ": accelerate trains without a pipeline, and its ranks have data of their own here");
    if (p.model.moe && l.ep > 1) draft.lose("/layout/ep", "ep ", l.ep, ": accelerate has no expert axis");
    if (p.model.moe && l.ep == 1 && l.etp.value_or(l.tp) != l.tp)
        draft.lose("/layout/etp", "etp: experts are cut as the rest, by tp");
    if (l.tp > 1 && l.sequence_parallel)
        draft.lose("/layout/sequence_parallel", "sequence_parallel: accelerate has none beside tp");
    if (engine == Engine::fsdp && zero != 3)
        draft.lose("/layout/zero", "zero ", l.zero,
                   ": with tp or cp accelerate shards by FSDP 2, which is zero 3");
    if (engine == Engine::deepspeed && l.zero > 0 && replicas(p) > 1)
        draft.lose("/layout/dp_replicate", "dp_replicate ", replicas(p),
                   ": DeepSpeed under accelerate shards over all ranks");
    // Under FSDP accumulate() sums whole gradients unless the program asks for sync_each_batch.
    if (engine == Engine::deepspeed || engine == Engine::fsdp)
        lose_reduction(draft, engine == Engine::fsdp ? GradientReduction::step
                                                     : usual_reduction(p, Software::deepspeed));
    if (engine == Engine::deepspeed && l.zero == 3 && reshard_of(p) == Reshard::never)
        draft.lose("/layout/reshard", "reshard never: ZeRO-3 gives gathered weights up");
    if (engine == Engine::deepspeed && l.tp > 1)
        draft.lose("/layout/tp", "tp ", l.tp, " with ulysses: accelerate does not join them");
    if (l.cp > 1 && l.cp_comm == CpComm::ulysses_ring)
        draft.lose("/layout/cp_comm", "cp by ulysses+ring: accelerate has one level");
    // parallelism_config.py, __post_init__.
    if (engine == Engine::fsdp && (l.tp > 1 || l.cp > 1) && l.zero > 0 && l.dp_shard * l.pp == 1
        && replicas(p) > 1)
        draft.refuse("accelerate refuses tp or cp with only replicas: dp_replicate ", replicas(p),
                     " wants a dp_shard above 1");
    lose_order(draft, kAccelerate, "accelerate lays ranks as tp-cp-dp_shard-dp_replicate");
    lose_finer_choices(draft);
}

void accelerate_axes(ExportDraft& draft, Engine engine) {
    const Layout& l = draft.plan.layout;
    const bool ulysses = engine == Engine::deepspeed && l.cp > 1;
    const bool axes = l.tp > 1 || l.cp > 1;
    if (!axes && engine != Engine::fsdp) return;
    // Copies of what tp or cp cuts are refused: FSDP shards them (parallelism_config.py, __post_init__).
    const bool merged = l.zero == 0, copies = merged && engine != Engine::fsdp;
    const std::int64_t all = data_places(draft.plan);
    draft.put("/layout/dp_replicate", copies ? all : merged ? std::int64_t{1} : replicas(draft.plan));
    draft.put("/layout/dp_shard", copies ? std::int64_t{1} : merged ? all : l.dp_shard * l.pp);
    draft.put("/layout/tp", l.tp);
    if (ulysses) {
        draft.say("parallelism_config.parallelism_config_sp_size", l.cp);
        draft.say("parallelism_config.parallelism_config_sp_backend", std::string("deepspeed"));
        return;
    }
    draft.put("/layout/cp", l.cp);
    if (l.cp == 1) return;
    draft.say("parallelism_config.parallelism_config_cp_backend", std::string("torch"));
    draft.put("/layout/cp_comm", std::string(l.cp_comm == CpComm::ring ? "alltoall" : "allgather"));
}

void accelerate_fsdp(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Training& t = p.training;
    draft.say("fsdp_config.fsdp_version", std::int64_t{2});
    draft.say("fsdp_config.fsdp_auto_wrap_policy", std::string("TRANSFORMER_BASED_WRAP"));
    draft.put("/layout/reshard", reshard_of(p) == Reshard::after_forward);
    draft.put("/training/recompute", t.recompute.whole_layers());
    lose_recompute(draft, "FSDP under accelerate", false);
    const bool away = t.offload.parameters == 1 && t.offload.optimizer == 1;
    draft.say("fsdp_config.fsdp_offload_params", away);
    if (t.offload.any() && !away)
        draft.lose("/training/offload", "offload: FSDP moves parameters and optimizer whole, or nothing");
    draft.say("fsdp_config.fsdp_state_dict_type", std::string("SHARDED_STATE_DICT"));
}

void accelerate_deepspeed(ExportDraft& draft) {
    const Layout& l = draft.plan.layout;
    const Training& t = draft.plan.training;
    draft.put("/layout/zero", std::int64_t{l.zero});
    draft.say("deepspeed_config.gradient_accumulation_steps", microbatches_of(draft.plan));
    draft.say("deepspeed_config.zero3_init_flag", l.zero == 3);
    const auto device = [&](const char* pointer, double share, bool allowed) {
        draft.put(pointer, std::string(share == 1 && allowed ? "cpu" : "none"));
        if (share > 0 && (share < 1 || !allowed))
            draft.lose(pointer, "offload: whole at the ZeRO stage that allows it, or nothing");
    };
    device("/training/offload/optimizer", t.offload.optimizer, l.zero >= 1);
    device("/training/offload/parameters", t.offload.parameters, l.zero == 3);
    if (t.recompute.any()) draft.note("recompute: the model's code asks for it");
}

}  // namespace

void export_accelerate(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Engine engine = engine_of(p);
    accelerate_losses(draft, engine);
    draft.say("compute_environment", std::string("LOCAL_MACHINE"));
    static constexpr std::string_view names[] = {"NO", "MULTI_GPU", "FSDP", "DEEPSPEED"};
    draft.say("distributed_type", std::string(names[static_cast<std::size_t>(engine)]));
    draft.say("num_machines", p.cluster.gpus / gpus_per_host(p));
    draft.put("/cluster/gpus", p.cluster.gpus);
    const Dtype compute = p.training.compute;
    if (compute == Dtype::fp4)
        draft.lose("/training/compute", "compute fp4: accelerate has fp8, bf16, fp16 and no");
    const bool full = compute == Dtype::fp32 || compute == Dtype::tf32;
    draft.put("/training/compute",
              full ? std::string("no")
                   : std::string(pentamesh::name_of(compute == Dtype::fp4 ? Dtype::fp8 : compute)));
    if (compute == Dtype::fp8)
        draft.note("fp8_recipe ", p.training.fp8_recipe, ": the backend that fp8_config names has its own");
    if (engine == Engine::fsdp) accelerate_fsdp(draft);
    if (engine == Engine::deepspeed) accelerate_deepspeed(draft);
    const bool plain = engine == Engine::ddp || engine == Engine::none;
    if (plain && p.training.recompute.any()) draft.note("recompute: the model's code asks for it");
    if (plain && p.training.offload.any())
        draft.lose("/training/offload", "offload: only with FSDP or DeepSpeed");
    accelerate_axes(draft, engine);
    draft.note("model, sequence length and micro-batch: your program's");
    if (p.training.dropout) draft.note("dropout: the model's own");
    if (microbatches_of(p) > 1 && engine != Engine::deepspeed)
        draft.note("gradient accumulation over ", microbatches_of(p), " micro-batches: your program's");
    note_training(draft, true);
    draft.out.text = as_comment(head_lines(draft)) + yaml_text(draft.settings);
}

// Writes DeepSpeed's JSON: deepspeed/runtime/config.py, runtime/zero/config.py.

namespace {

void deepspeed_layout(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    if (l.tp > 1) draft.put("/layout/tp", l.tp);
    if (l.cp > 1) draft.put("/layout/cp", l.cp);
    if (l.pp > 1)
        draft.lose("/layout/pp", "pp ", l.pp,
                   ": a pipeline is built in the model's code (PipelineModule), no setting says it");
    if (p.model.moe && l.ep > 1) {
        draft.say("expert_parallel.enabled", true);
        draft.put("/layout/ep", l.ep);
    }
    lose_lacks(draft, Software::deepspeed);
    lose_finer_choices(draft);
}

void deepspeed_zero(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    draft.put("/layout/zero", std::int64_t{l.zero});
    if (l.zero > 0 && replicas(p) > 1) draft.put("/layout/dp_shard", l.dp_shard);
    if (l.zero > 0) draft.put("/training/overlap/dp", t.overlap.dp);
    lose_reduction(draft, usual_reduction(p, Software::deepspeed));
    const auto away = [&](const char* pointer, const char* name, double share, bool allowed) {
        if (share <= 0) return;
        if (!allowed) return draft.lose(pointer, name, ": not at ZeRO-", l.zero);
        draft.say("zero_optimization." + std::string(name) + ".device", std::string("cpu"));
        if (share < 1) draft.say("zero_optimization." + std::string(name) + ".ratio", share);
    };
    away("/training/offload/optimizer", "offload_optimizer", t.offload.optimizer, l.zero >= 1);
    away("/training/offload/parameters", "offload_param", t.offload.parameters, l.zero == 3);
    if (t.offload.activations_layers > 0)
        draft.lose("/training/offload/activations_layers",
                   "offload of activations: the model's code asks for it");
}

void deepspeed_batch(ExportDraft& draft) {
    const Plan& p = draft.plan;
    draft.put("/training/micro_batch", p.training.micro_batch);
    draft.say("gradient_accumulation_steps", microbatches_of(p));
    // With AutoTP DeepSpeed counts the ranks of tp into the world that this figure is divided by.
    // Stages of a pipeline that is built in code are no ranks of data: the figure would be refused.
    if (p.layout.tp == 1 && p.layout.pp == 1) draft.put("/training/global_batch", p.training.global_batch);
}

void deepspeed_types(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    if (t.compute == Dtype::fp16)
        draft.say("fp16.enabled", true);
    else
        draft.put("/training/compute", t.compute != Dtype::fp32 && t.compute != Dtype::tf32);
    if (t.compute == Dtype::fp8 || t.compute == Dtype::fp4)
        draft.lose("/training/compute", "compute ", t.compute, ": DeepSpeed's JSON has bf16 and fp16");
    const std::string word(pentamesh::name_of(t.gradients));
    if (t.gradients != Dtype::fp8) draft.put("/training/gradients", word);
    // runtime/config.py, _do_sanity_check: ZeRO 1 to 3, and bf16 states ask for bf16 master weights.
    const Dtype half = Dtype::bf16;
    if (draft.plan.layout.zero > 0 && t.compute == half && t.parameters == half && t.gradients == half
        && t.optimizer_state == half && t.master_weights == MasterWeights::none) {
        draft.say("bf16.bf16_master_weights_and_grads", true);
        draft.say("bf16.bf16_optimizer_states", true);
    }
    const bool sgd = t.optimizer == Optimizer::sgd_momentum, muon = t.optimizer == Optimizer::muon;
    if (sgd || muon) draft.put("/training/optimizer", std::string(sgd ? "SGD" : "Muon"));
    if (t.optimizer == Optimizer::adamw_8bit)
        draft.note("optimizer adamw-8bit: pass it to deepspeed.initialize from your code");
}

}  // namespace

void export_deepspeed(ExportDraft& draft) {
    deepspeed_batch(draft);
    deepspeed_types(draft);
    deepspeed_zero(draft);
    deepspeed_layout(draft);
    note_training(draft, false);
    draft.note("model and sequence length: your program's");
    if (draft.plan.training.dropout) draft.note("dropout: the model's own");
    draft.note("GPUs: the launcher starts them");
    if (draft.plan.training.recompute.any())
        draft.note("recompute: the model's code asks for it (activation_checkpointing of the JSON switches "
                   "nothing on)");
    draft.out.text = json_text(draft.settings, head_lines(draft));
}

// Writes a Hugging Face config.json for the model: of the family whose reader (core/io/hf_families.h) makes
// the same model of the written text. Field names are those of transformers, models/*/configuration_*.py.

namespace {

using Json = nlohmann::ordered_json;

// Returns the model's fields as a plan states them, and what some families say in another form.
Json facts_of(const Plan& p) {
    const Model& m = p.model;
    Json out = model_to_json(m);
    out["sequence"] = p.training.sequence_length;
    out["any_ffn"] = m.ffn > 0 ? m.ffn : m.moe ? m.moe->expert_ffn : 1;
    out["head_norm"] = m.qk_norm == QkNorm::head;
    if (!m.moe) return out;
    Json& moe = out["moe"];
    moe["dense"] = Json::array();
    for (std::int64_t i = 0; i < m.moe->first_dense_layers; ++i) moe["dense"].push_back(i);
    if (m.moe->max_nodes_per_token > 0) moe["groups"] = 2 * m.moe->max_nodes_per_token;
    if (m.mtp_layers > 0) moe["mtp"] = m.mtp_layers;
    return out;
}

// Puts the fields of a table, name by name: "/moe/every" is that fact, "/moe/every=1" is 1 where the model
// has experts and does not state it. An object has a value for each kind of MLP, "" for those that it leaves
// out.
void put_fields(Json& out, const Json& table, const Json& facts) {
    for (const auto& [name, row] : table.items()) {
        if (row.is_object()) {
            out[name] = row.value(facts["ffn_kind"].get<std::string>(), row[""]);
            continue;
        }
        const auto text = row.get<std::string>();
        const std::size_t equals = text.find('=');
        const Json::json_pointer at(text.substr(0, equals));
        if (facts.contains(at))
            out[name] = facts[at];
        else if (equals != std::string::npos && facts.contains(at.parent_pointer()))
            out[name] = Json::parse(text.substr(equals + 1));
    }
}

Json config_of(const Json& facts, const Json& family) {
    Json out{{"architectures", Json::array({family["architecture"]})}, {"model_type", family["type"]}};
    if (!family.contains("alone")) put_fields(out, words("hf_fields"), facts);
    if (family.contains("without")) out.erase(family["without"].get<std::string>());
    put_fields(out, family["fields"], facts);
    return out;
}

bool reads_back(const Plan& p, const Json& config) {
    try {
        Model read = model_from_hf(std::string_view(config.dump()), "export");
        read.name = p.model.name;
        read.vocab_multiple = p.model.vocab_multiple;
        if (p.model.moe && p.model.moe->first_dense_layers == 0 && p.model.moe->every == 1)
            read.ffn = p.model.ffn;
        return read == p.model;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void export_hf(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Json facts = facts_of(p);
    const auto& families = words("hf_families");
    Json config;
    const bool known = std::any_of(families.begin(), families.end(), [&](const Json& family) {
        return reads_back(p, config = config_of(facts, family));
    });
    if (!known) {
        draft.lose("/model",
                   "model: no model_type that is known here has these fields (pentamesh export writes "
                   "Llama, Qwen, Mixtral, DeepSeek and their likes)");
        config = config_of(facts, families[0]);
    }
    draft.note("layout, batch and cluster: a config.json holds only the model");
    if (p.model.vocab_multiple > 0)
        draft.note("vocab_multiple ", p.model.vocab_multiple, ": the trainer pads the vocabulary");
    const char* dtype = p.training.parameters == Dtype::fp16   ? "float16"
                        : p.training.parameters == Dtype::fp32 ? "float32"
                                                               : "bfloat16";
    config["torch_dtype"] = dtype;
    config["_comment"] = head_lines(draft);
    draft.out.text = config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Writes nanotron's YAML (nanotron/config/config.py) and picotron's JSON (picotron/train.py).

namespace {

using enum Axis;
constexpr std::array kPicotron{tp, cp, ep, pp, dp_shard, dp_replicate};

std::string torch_name(Dtype t) {
    return t == Dtype::fp16 ? "float16" : t == Dtype::fp32 || t == Dtype::tf32 ? "float32" : "bfloat16";
}

// Returns why the model is not of Llama's kind; empty where it is.
std::string unlike_llama(const Model& m, bool qwen, bool experts) {
    if (!m.pattern.empty() || m.linear || m.mamba) return "layers of several kinds";
    if (m.attention == AttentionKind::mla) return "multi-head latent attention (mla)";
    if (m.attention == AttentionKind::compressed) return "attention over compressed keys";
    if (m.hyper_streams > 0) return "hyper-connections";
    if (m.norm != NormKind::rmsnorm) return "its norm";
    if (m.ffn_kind != FfnKind::swiglu) return "its MLP (" + std::string(pentamesh::name_of(m.ffn_kind)) + ")";
    if (m.positions != Positions::rope) return "learned positions";
    if (m.attention_bias || m.mlp_bias || (m.qkv_bias && !qwen)) return "biases";
    if (m.qk_norm != QkNorm::none || m.post_norms || m.shared_norm) return "its norms";
    if (m.attention_sinks || m.attention_gate != AttentionGate::none || (m.sliding_window > 0 && !qwen))
        return "its attention";
    if (m.head_bias || m.mtp_layers > 0) return "its head";
    if (m.head_dim * m.heads != m.hidden) return "heads that do not make up the hidden size";
    if (m.value_head_dim > 0 && m.value_head_dim != m.head_dim) return "the dimension of its values";
    if (!m.moe) return "";
    const Moe& e = *m.moe;
    if (!experts) return "experts";
    if (e.first_dense_layers > 0 || e.every > 1 || e.router_bias || e.beside_mlp || e.latent > 0
        || e.shared_expert_gate || e.shared_experts > 1)
        return "its experts";
    return "";
}

std::string engine_of(Schedule schedule) {
    const std::string_view name = traits_of(schedule).nanotron;
    return std::string(name.empty() ? traits_of(usual_schedule(1)).nanotron : name);
}

void lose_common(ExportDraft& draft, const std::string& name) {
    const Plan& p = draft.plan;
    lose_dropout(draft, name);
    const Dtype c = p.training.compute;
    if (c == Dtype::fp8 || c == Dtype::fp4) draft.lose("/training/compute", "compute ", c, ": not in ", name);
    if (p.training.offload.any()) draft.lose("/training/offload", "offload: not in ", name);
    lose_finer_choices(draft);
}

void nanotron_model(ExportDraft& draft) {
    const Model& m = draft.plan.model;
    if (const std::string why = unlike_llama(m, true, true); !why.empty())
        draft.lose("/model", "model: nanotron has no field for ", why);
    // The attentions over cp, biases, windows and experts are those of its Qwen 2 (models_config.py).
    const bool qwen = m.qkv_bias || m.moe || m.sliding_window > 0 || draft.plan.layout.cp > 1;
    const std::string config = "model.model_config.";
    draft.say(config + (qwen ? "is_qwen2_config" : "is_llama_config"), true);
    draft.say(config + "hidden_act", std::string("silu"));
    draft.put("/model/layers", m.layers);
    draft.put("/model/hidden", m.hidden);
    draft.put("/model/heads", m.heads);
    draft.put("/model/kv_heads", m.kv_heads);
    draft.put("/model/ffn", m.ffn > 0 ? m.ffn : m.moe ? m.moe->expert_ffn : 1);
    draft.put("/model/vocab", m.vocab);
    draft.put("/model/tied_embeddings", m.tied_embeddings);
    if (qwen) draft.put("/model/qkv_bias", m.qkv_bias);
    if (m.sliding_window > 0) draft.say(config + "sliding_window_size", m.sliding_window);
    draft.say(config + "max_position_embeddings", draft.plan.training.sequence_length);
    if (draft.plan.layout.cp > 1)
        draft.put("/layout/cp_comm",
                  std::string(draft.plan.layout.cp_comm == CpComm::allgather ? "llama3_ring_attention"
                                                                             : "ring_flash_triton"));
    if (!m.moe) return;
    draft.put("/model/moe/experts", m.moe->experts);
    draft.put("/model/moe/top_k", m.moe->top_k);
    draft.put("/model/moe/expert_ffn", m.moe->expert_ffn);
    draft.say(config + "moe_config.enable_shared_expert", m.moe->shared_experts > 0);
    if (m.moe->shared_experts > 0) draft.put("/model/moe/shared_expert_ffn", m.moe->shared_expert_ffn);
}

void nanotron_losses(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    lose_common(draft, "nanotron");
    lose_lacks(draft, Software::nanotron);
    if (p.training.recompute == RecomputeChoice(Recompute::selective))
        draft.note("recompute core_attn: nanotron's flash attention keeps no scores");
    else
        lose_recompute(draft, "nanotron", false);
    if (zero_in_force(p) > 0 && l.cp > 1 && l.dp_shard == 1)
        draft.note("zero 1 over only cp: nanotron shards over dp");
}

void picotron_losses(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    if (p.model.moe && l.ep > 1) draft.lose("/layout/ep", "ep ", l.ep, ": picotron builds no groups for it");
    if (p.model.moe && l.ep == 1 && l.etp.value_or(l.tp) != l.tp)
        draft.lose("/layout/etp", "etp: picotron cuts experts by tp");
    if (l.pp > 1 && traits_of(l.schedule).nanotron.empty()) lose_schedule(draft, "picotron");
    if (l.cp > 1 && l.cp_comm != CpComm::ring)
        draft.lose("/layout/cp_comm", "cp by ", l.cp_comm, ": picotron passes keys on in a ring");
    if (p.training.recompute.any())
        draft.lose("/training/recompute", "recompute ", words_of(p.training.recompute),
                   ": picotron recomputes nothing");
}

}  // namespace

void export_nanotron(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    nanotron_losses(draft);
    draft.say("general.project", std::string("pentamesh"));
    draft.say("general.run", p.name);
    draft.say("general.seed", std::int64_t{42});
    draft.put("/layout/dp_shard", data_ranks(p));
    draft.put("/layout/pp", l.pp);
    draft.put("/layout/tp", l.tp);
    draft.put("/layout/cp", l.cp);
    draft.put("/layout/ep", std::int64_t{1});
    draft.put("/layout/schedule", engine_of(l.schedule));
    const bool sequence = l.tp > 1 && l.sequence_parallel;
    draft.put("/layout/sequence_parallel", std::string(sequence ? "REDUCE_SCATTER" : "ALL_REDUCE"));
    draft.put("/training/overlap/tp", t.overlap.tp && sequence);
    draft.put("/training/recompute", t.recompute.whole_layers());
    draft.put("/training/sequence_length", t.sequence_length);
    draft.put("/training/micro_batch", t.micro_batch);
    draft.put("/training/global_batch", microbatches_of(p));
    draft.say("tokens.train_steps", std::int64_t{100});
    draft.say("tokens.val_check_interval", std::int64_t{-1});
    draft.put("/training/compute", torch_name(t.compute));
    draft.say("model.make_vocab_size_divisible_by", vocab_multiple_of(p));
    draft.say("model.ddp_bucket_cap_mb", std::int64_t{25});
    draft.say("model.init_method.std", 0.02);
    nanotron_model(draft);
    draft.put("/layout/zero", std::int64_t{l.zero > 0 ? 1 : 0});
    draft.put("/training/gradients", t.gradients == Dtype::fp32);
    draft.say("optimizer.clip_grad", 1.0);
    draft.say("optimizer.weight_decay", 0.1);
    draft.say("optimizer.learning_rate_scheduler.learning_rate", 0.0003);
    draft.say("optimizer.learning_rate_scheduler.lr_warmup_steps", std::int64_t{10});
    draft.say("optimizer.optimizer_factory.name",
              std::string(t.optimizer == Optimizer::sgd_momentum ? "sgd" : "adamW"));
    // Without these fields the first kind of the union is taken, SGD (src/nanotron/config/config.py).
    if (t.optimizer != Optimizer::sgd_momentum) {
        draft.say("optimizer.optimizer_factory.adam_eps", 1e-8);
        draft.say("optimizer.optimizer_factory.adam_beta1", 0.9);
        draft.say("optimizer.optimizer_factory.adam_beta2", 0.95);
        draft.say("optimizer.optimizer_factory.torch_adam_is_fused", true);
    }
    draft.say("tokenizer.tokenizer_name_or_path", hub_name(draft));
    draft.say("checkpoints.checkpoints_path", std::string("checkpoints"));
    draft.say("checkpoints.checkpoint_interval", std::int64_t{1000});
    draft.note("data, learning rate, steps: yours to set");
    note_training(draft, t.optimizer != Optimizer::sgd_momentum);
    draft.out.text = as_comment(head_lines(draft)) + yaml_text(draft.settings)
                     + "data_stages:\n  - name: all\n    start_training_step: 1\n    data:\n      dataset: "
                       "null\n      seed: 42\n"
                       "      num_loading_workers: 1\n";
}

void export_picotron(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    lose_common(draft, "picotron");
    picotron_losses(draft);
    lose_order(draft, kPicotron, "picotron lays ranks as tp-cp-pp-dp");
    if (zero_in_force(p) > 0) draft.lose("/layout/zero", "zero ", l.zero, ": picotron shards nothing (DDP)");
    if (l.tp > 1 && l.sequence_parallel)
        draft.lose("/layout/sequence_parallel", "sequence_parallel: picotron has none beside tp");
    if (const std::string why = unlike_llama(p.model, false, false); !why.empty())
        draft.lose("/model", "model: picotron trains only Llama, and this one has ", why);
    const std::vector<std::int64_t> layers = chunk_layers(p);
    for (std::size_t i = 0; l.pp > 1 && i < layers.size(); ++i)  // distribute_layers: what is left goes first
        if (layers[i]
                != p.model.layers / l.pp + (static_cast<std::int64_t>(i) < p.model.layers % l.pp ? 1 : 0)
            && l.virtual_stages == 1) {
            draft.lose("/layout/stage_layers",
                       "stage_layers: picotron gives the first stages what is left over");
            break;
        }
    draft.put("/layout/tp", l.tp);
    draft.put("/layout/cp", l.cp);
    draft.put("/layout/pp", l.pp);
    draft.put("/layout/dp_replicate", data_ranks(p));
    draft.put("/layout/schedule", engine_of(l.schedule));
    draft.say("distributed.backend", std::string("nccl"));
    draft.say("distributed.use_cpu", false);
    draft.say("model.name", hub_name(draft));
    draft.put("/model/layers", p.model.layers);
    draft.put("/model/heads", p.model.heads);
    draft.put("/model/kv_heads", p.model.kv_heads);
    draft.put("/training/compute", torch_name(t.compute));
    draft.say("model.use_fused_adam", t.optimizer == Optimizer::adamw);
    draft.put("/training/sequence_length", t.sequence_length);
    draft.put("/training/micro_batch", t.micro_batch);
    draft.put("/training/global_batch", microbatches_of(p));
    draft.say("training.learning_rate", 0.0003);
    draft.say("training.total_train_steps", std::int64_t{100});
    draft.say("training.max_tokens", static_cast<std::int64_t>(100 * tokens_per_step(t)));
    draft.say("training.seed", std::int64_t{42});
    draft.say("checkpoint.save_dir", std::string("checkpoints"));
    draft.say("checkpoint.save_frequency", std::int64_t{1000});
    draft.say("checkpoint.load_path", std::string());
    draft.say("logging.use_wandb", false);
    draft.say("dataset.name", std::string("roneneldan/TinyStories"));
    draft.say("dataset.num_workers", std::int64_t{0});
    draft.say("dataset.num_proc", std::int64_t{4});
    // train.py reads these three before anything else, as texts.
    draft.say("environment.OMP_NUM_THREADS", std::string("1"));
    draft.say("environment.TOKENIZERS_PARALLELISM", std::string("false"));
    draft.say("environment.FLASH_ATTEN", std::string(t.attention == AttentionImpl::flash ? "1" : "0"));
    draft.note("data, learning rate, steps: yours to set");
    note_training(draft, true);
    draft.out.text = json_text(draft.settings, head_lines(draft));
}

// Writes torchtitan's Python configuration: torchtitan/config/configs.py, distributed/pipeline_parallel.py.

namespace {

// Returns torchtitan's family and flavour of the plan's model; null: it ships none.
const nlohmann::ordered_json* flavour_of(const Plan& plan) {
    const auto& all = words("torchtitan_flavours");
    const auto it = all.find(plan.model_source.preset);
    return it == all.end() || !plan.model_source.overrides.empty() ? nullptr : &*it;
}

// Follows _generate_llm_fqn_per_model_part: the ends count for `first` and `last` layers more, the rest goes
// to the first parts. It is empty where torchtitan refuses.
std::vector<std::int64_t> titan_split(std::int64_t layers, std::int64_t parts, std::int64_t first,
                                      std::int64_t last) {
    const std::int64_t counted = layers + first + last, each = counted / parts;
    if (each == 0 || first > each || last > each) return {};
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < parts; ++i) out.push_back(each + (i < counted % parts ? 1 : 0));
    out.front() -= first;
    out.back() -= last;
    return out;
}

Parts module_names(const std::vector<std::int64_t>& layers) {
    Parts out;
    std::int64_t next = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::vector<std::string>& part = out.emplace_back();
        if (i == 0) part.emplace_back("tok_embeddings");
        for (std::int64_t k = 0; k < layers[i]; ++k) part.push_back("layers." + std::to_string(next++));
        if (i + 1 == layers.size()) part.insert(part.end(), {"norm", "lm_head"});
    }
    return out;
}

// Finds the shortest way to the plan's own split.
void titan_stages(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const std::vector<std::int64_t> layers = chunk_layers(p);
    const auto parts = static_cast<std::int64_t>(layers.size());
    if (parts != l.pp * l.virtual_stages) return;  // a schedule that is lost anyway
    const std::int64_t usual = usual_chunks(l.schedule);
    for (std::int64_t ends = 0; ends <= 8; ++ends) {
        const std::int64_t first = ends % 3, last = ends / 3, counted = p.model.layers + first + last;
        if (titan_split(p.model.layers, parts, first, last) != layers) continue;
        const std::int64_t each = (counted + parts - 1) / parts;
        if (l.virtual_stages != usual && (counted + each - 1) / each != parts) continue;
        if (l.virtual_stages != usual) draft.put("/layout/virtual_stages", each);
        draft.say("parallelism.pipeline_parallel_first_stage_less_layers", first);
        draft.say("parallelism.pipeline_parallel_last_stage_less_layers", last);
        return;
    }
    draft.put("/layout/stage_layers", module_names(layers));
}

void titan_pipeline(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    if (l.pp == 1) return;
    const std::string_view name = traits_of(l.schedule).torchtitan;
    if (name.empty()) return;
    draft.put("/layout/schedule", std::string(name));
    titan_stages(draft);
    draft.say("parallelism.num_pp_microbatches", microbatches_of(p));
}

void titan_degrees(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const bool shards = l.dp_shard * l.cp > 1 && l.zero == 3;
    const bool merged = l.zero == 0;  // all ranks are replicas
    draft.put("/layout/dp_replicate", merged ? data_ranks(p) : replicas(p));
    draft.put("/layout/dp_shard", merged ? std::int64_t{1} : l.dp_shard);
    if (shards)
        draft.put("/layout/reshard", std::string(reshard_of(p) == Reshard::never ? "never" : "always"));
    lose_reduction(draft, usual_reduction(p, Software::torchtitan));
    draft.put("/layout/tp", l.tp);
    if (l.tp > 1) draft.put("/layout/sequence_parallel", l.sequence_parallel);
    draft.put("/layout/cp", l.cp);
    if (l.cp > 1 && l.cp_comm != CpComm::allgather)
        draft.note("cp_comm ", l.cp_comm,
                   ": torchtitan gathers keys and values (allgather); its attention backend decides");
    draft.put("/layout/pp", l.pp);
    if (p.model.moe) draft.put("/layout/ep", l.ep);
    lose_lacks(draft, Software::torchtitan);
    refuse_by_rules(draft, Rule::torchtitan, Software::torchtitan);
}

void titan_training(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Training& t = p.training;
    draft.put("/training/sequence_length", t.sequence_length);
    draft.put("/training/micro_batch", t.micro_batch * t.sequence_length);
    draft.put("/training/global_batch", t.global_batch * t.sequence_length);
    if (t.compute == Dtype::fp32 || t.compute == Dtype::tf32)
        draft.put("/training/compute", std::string("float32"));
    else if (t.compute != Dtype::bf16 && t.compute != Dtype::fp8)
        draft.lose("/training/compute", "compute ", t.compute,
                   ": torchtitan has bfloat16, float32 and float8");
    if (t.compute == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::rowwise && t.fp8_recipe != Fp8Recipe::mxfp8)
        draft.lose("/training/fp8_recipe", "fp8_recipe ", t.fp8_recipe,
                   ": torchtitan scales rows (rowwise) or blocks of 32 (mxfp8)");
    // config/configs.py: weights, gradients and moments are kept in training.dtype, float32 if not said.
    const Dtype half = Dtype::bf16;
    if (t.parameters == half && t.gradients == half && t.optimizer_state == half
        && t.master_weights == MasterWeights::none)
        draft.say("training.dtype", std::string("bfloat16"));
    const Offload& o = t.offload;
    if (o.parameters == 1 && o.optimizer == 1)
        draft.put("/training/offload/parameters", true);
    else if (o.any())
        draft.lose("/training/offload",
                   "offload: torchtitan moves parameters and optimizer whole, or nothing");
    // From trainer.py: graphs need fixed shapes.
    if (p.layout.pp > 1 || p.layout.ep > 1) draft.say("training.disable_cuda_graphs", true);
    if (t.overlap.tp && p.layout.tp > 1) {
        draft.say("compile.enable", true);
        draft.say("compile.enable_async_tensor_parallel", true);
    }
}

std::string titan_group(const ExportDraft& draft, std::string_view prefix, const std::string& call) {
    std::string out = call + "(\n";
    for (const WrittenSetting& s : draft.settings)
        if (s.name.starts_with(prefix))
            out += "            " + s.name.substr(prefix.size()) + "=" + python_text(s.value) + ",\n";
    return out + "        )";
}

// Returns true if the experts' exchange uses kernels that model_registry takes.
bool titan_kernel(const Plan& p) {
    return p.model.moe && p.layout.ep > 1
           && (p.layout.ep_comm == EpComm::deepep || p.layout.ep_comm == EpComm::hybridep);
}

// models/deepseek_v3/__init__.py builds prediction layers where num_mtp_layers asks for them. The pipeline's
// lists of modules (distributed/pipeline_parallel.py) do not name them, so no stage keeps them.
bool titan_predicts(ExportDraft& draft, std::string_view family) {
    const std::int64_t layers = draft.plan.model.mtp_layers;
    if (layers == 0) return false;
    const bool builds = family == "deepseek_v3" && draft.plan.layout.pp == 1;
    if (builds)
        draft.note("mtp_layers: their loss is MTPLoss, yours to set");
    else
        draft.lose("/model/mtp_layers", "mtp_layers ", layers,
                   ": torchtitan builds prediction layers of DeepSeek's models, without a pipeline");
    return builds;
}

std::string identifier(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        // "2,048 H800": a number's comma goes, all else between words is one "_".
        if (letter)
            out.push_back(c);
        else if (c != ',' && !out.empty() && out.back() != '_')
            out.push_back('_');
    }
    if (out.ends_with('_')) out.pop_back();
    return out.empty() || (out[0] >= '0' && out[0] <= '9') ? "plan_" + out : out;
}

}  // namespace

void export_torchtitan(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Training& t = p.training;
    const auto* const flavour = flavour_of(p);
    titan_degrees(draft);
    titan_pipeline(draft);
    titan_training(draft);
    lose_dropout(draft, "torchtitan");
    lose_recompute(draft, "torchtitan", true);
    lose_finer_choices(draft, titan_kernel(p));
    note_training(draft, true);
    if (!flavour)
        draft.note("model: torchtitan ships no flavour of ", p.model.name, "; put yours into model_registry");
    const bool predicts = flavour && titan_predicts(draft, (*flavour)[0].get<std::string>());
    const bool full = t.recompute.whole_layers(), selective = t.recompute.any() && !full;
    const bool compiled = t.overlap.tp && p.layout.tp > 1, small = t.compute == Dtype::fp8;
    std::string text = as_comment(head_lines(draft));
    if (flavour)
        text += "# Stands in torchtitan/models/" + (*flavour)[0].get<std::string>() + "/config_registry.py\n";
    text += "from torchtitan.config import " + std::string(compiled ? "CompileConfig, " : "")
            + "ParallelismConfig, TrainingConfig\n";
    const std::string converter =
        t.fp8_recipe == Fp8Recipe::mxfp8 ? "MXFP8LinearConverter" : "Float8LinearConverter";
    if (small) text += "from torchtitan.components.quantization import " + converter + "\n";
    if (full || selective)
        text += "from torchtitan.distributed.activation_checkpoint import "
                + std::string(full ? "FullAC" : "SelectiveAC") + "\n";
    text += "from torchtitan.trainer import Trainer\n\nfrom . import model_registry\n\n\n";
    text += "def " + identifier(p.name) + "() -> Trainer.Config:\n    return Trainer.Config(\n";
    const std::string name = flavour ? (*flavour)[1].get<std::string>() : p.model.name;
    text += "        model_spec=model_registry(" + python_text(Value(name));
    if (small) text += ", converters=[" + converter + ".Config()]";
    if (titan_kernel(p))
        text += ", moe_comm_backend=" + python_text(Value(std::string(pentamesh::name_of(p.layout.ep_comm))));
    if (predicts) text += ", num_mtp_layers=" + number_text(p.model.mtp_layers);
    text += "),\n";
    if (flavour)
        text += "        hf_assets_path="
                + python_text(Value("./assets/hf/" + hub_name(draft).substr(hub_name(draft).find('/') + 1)))
                + ",\n";
    text += "        training=" + titan_group(draft, "training.", "TrainingConfig") + ",\n";
    text += "        parallelism=" + titan_group(draft, "parallelism.", "ParallelismConfig") + ",\n";
    if (compiled) text += "        compile=" + titan_group(draft, "compile.", "CompileConfig") + ",\n";
    // Left out, it would be SelectiveAC (torchtitan/trainer.py).
    text += std::string("        activation_checkpoint=")
            + (full        ? "FullAC.Config()"
               : selective ? "SelectiveAC.Config()"
                           : "None")
            + ",\n";
    draft.out.text = text + "    )\n";
}

}  // namespace pentamesh::interop
