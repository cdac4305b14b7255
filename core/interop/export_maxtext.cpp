// Writes a configuration of MaxText: a YAML file over its base.yml. Names, defaults and what it refuses are
// from AI-Hypercomputer/maxtext e591f30c (2026-08-22), src/maxtext/configs/base.yml and types.py.
#include "core/interop/export.h"
#include "core/interop/script/settings.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace pentamesh::interop {
namespace {

// base.yml, mesh_axes, from the innermost: tensor, context, fsdp, stage, data. `expert` is inside of them.
constexpr AxisOrder kMaxtextOrder{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::pp, Axis::dp_replicate};

bool on_tpu(const Plan& plan) {
    return plan.cluster.gpu.name.find("TPU") != std::string::npos;
}

// Returns MaxText's name of the plan's model (types.py, ModelName); empty where it ships no such shape.
std::string maxtext_model(const Plan& plan) {
    const auto& all = words("maxtext_models");
    const auto it = all.find(plan.model_source.preset);
    return it == all.end() || !plan.model_source.overrides.empty() ? "" : it->get<std::string>();
}

// Returns why the sizes in base.yml do not make the model of its Llama, Qwen 2 and Qwen 3 blocks; empty where
// they do.
std::string unlike_block(const Model& m) {
    if (m.moe) return "experts whose shape it does not ship";
    if (!m.pattern.empty() || m.linear || m.mamba) return "layers of several kinds";
    if (m.attention == AttentionKind::mla) return "multi-head latent attention of another shape";
    if (m.attention == AttentionKind::compressed) return "attention over compressed keys";
    if (m.hyper_streams > 0) return "hyper-connections";
    if (m.norm != NormKind::rmsnorm) return "its norm";
    if (m.ffn_kind != FfnKind::swiglu) return "its MLP (" + std::string(pentamesh::name_of(m.ffn_kind)) + ")";
    if (m.positions != Positions::rope) return "learned positions";
    if (m.attention_bias || m.mlp_bias) return "biases";
    if (m.qk_norm == QkNorm::full || m.post_norms || m.shared_norm) return "its norms";
    if (m.qk_norm == QkNorm::head && m.qkv_bias) return "norms and biases of queries and keys together";
    if (m.attention_sinks || m.attention_gate != AttentionGate::none || m.sliding_window > 0)
        return "its attention";
    if (m.value_head_dim > 0 && m.value_head_dim != m.head_dim) return "the dimension of its values";
    if (m.head_bias) return "a bias of the head";
    if (m.mtp_layers > 0) return "prediction layers";
    return "";
}

void put_model(ExportDraft& draft) {
    const Model& m = draft.plan.model;
    if (const std::string name = maxtext_model(draft.plan); !name.empty()) {
        draft.say("model_name", name);
        if (m.mtp_layers > 0) draft.say("mtp_num_layers", m.mtp_layers);
        return;
    }
    if (const std::string why = unlike_block(m); !why.empty())
        draft.lose("/model", "model: MaxText's blocks without a name of their own have no field for ", why);
    const bool qwen3 = m.qk_norm == QkNorm::head;
    draft.say("decoder_block", std::string(qwen3 ? "qwen3" : m.qkv_bias ? "qwen2" : "llama2"));
    draft.put("/model/layers", m.layers);
    draft.put("/model/hidden", m.hidden);
    draft.put("/model/heads", m.heads);
    draft.put("/model/kv_heads", m.kv_heads);
    draft.put("/model/head_dim", m.head_dim);
    draft.put("/model/ffn", m.ffn);
    draft.put("/model/vocab", m.vocab);
    draft.put("/model/tied_embeddings", m.tied_embeddings);
    draft.say("mlp_activations", std::vector<std::string>{"silu", "linear"});
    if (qwen3) draft.put("/model/qk_norm", true);
    if (m.qkv_bias) draft.put("/model/qkv_bias", true);
}

// ---- the mesh: each axis is a factor inside a slice (ici) times one between slices (dcn) -----------------

struct MeshPart {
    const char* name;
    std::int64_t size = 1, inside = 1;
};

// Returns the axes from the innermost, as the text will say them.
std::array<MeshPart, 6> mesh_parts(const Plan& p) {
    const Layout& l = p.layout;
    const bool sharded = l.zero > 0, sequence = l.tp > 1 && l.sequence_parallel;
    const std::int64_t ep = p.model.moe ? l.ep : 1;
    const std::int64_t shards = sharded ? l.dp_shard / std::gcd(l.dp_shard, ep) : 1;
    return {{{sequence ? "tensor_sequence" : "tensor", l.tp},
             {"context", l.cp},
             {"expert", ep},
             {"fsdp", shards},
             {"pipeline", l.pp},
             {"data", p.cluster.gpus / std::max<std::int64_t>(l.tp * l.cp * ep * shards * l.pp, 1)}}};
}

// Fills a slice of `slice` devices from the innermost axis. Returns false where its edge falls inside of a
// factor.
bool fill_slice(std::array<MeshPart, 6>& parts, std::int64_t slice) {
    std::int64_t left = slice;
    for (MeshPart& part : parts) {
        part.inside = std::gcd(part.size, left);
        left /= part.inside;
        if (part.inside < part.size && left > 1) return false;
    }
    return left == 1;
}

void put_mesh(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const std::int64_t gpus = p.cluster.gpus;
    const std::int64_t domain = p.cluster.tiers.empty() ? gpus : domain_of(p.cluster, 0);
    const std::int64_t slice = std::clamp<std::int64_t>(domain, 1, gpus);
    std::array<MeshPart, 6> parts = mesh_parts(p);
    if (!fill_slice(parts, slice))
        draft.lose("/layout/order", "order: MaxText cuts each axis into a part inside a slice of ", slice,
                   " devices and a part between slices, which these degrees do not allow");
    for (const MeshPart& part : parts)
        draft.say("ici_" + std::string(part.name) + "_parallelism", part.inside);
    for (const MeshPart& part : parts)
        draft.say("dcn_" + std::string(part.name) + "_parallelism", part.size / part.inside);
    if (gpus > slice) draft.note("slices: ", gpus / slice, " of ", slice, " devices, as the machines are");
}

void lose_layout(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const bool experts = p.model.moe && l.ep > 1;
    const std::int64_t shards = l.dp_shard * l.cp;
    // base.yml, logical_axis_rules: weights are cut over fsdp, context and expert where these are above 1.
    if (zero_in_force(p) != 3 && (zero_in_force(p) > 0 || shards > 1) && (l.zero > 0 || l.cp > 1 || experts))
        draft.lose("/layout/zero", "zero ", l.zero,
                   ": MaxText cuts weights, gradients and states over fsdp, context and expert (zero 3)");
    if (l.zero == 3 && reshard_of(p) == Reshard::never)
        draft.lose("/layout/reshard", "reshard never: MaxText gathers weights for each pass");
    if (experts && l.dp_shard % l.ep != 0)
        draft.lose("/layout/ep", "ep ", l.ep, ": MaxText's experts lie on a part of the ", l.dp_shard,
                   " ranks that weights are cut over");
    if (p.model.moe && l.etp.value_or(l.tp) != l.tp)
        draft.lose("/layout/etp", "etp: MaxText cuts experts as the rest, by tensor");
    if (experts && (l.tp > 1 || l.cp > 1))
        draft.lose("/layout/order", "order: MaxText lays the ranks of experts inside those of tp and cp");
    // Copies are `data` there, outside the pipeline, by one name or the other in the plan.
    const auto place = [&](Axis a) { return std::find(l.order.begin(), l.order.end(), a); };
    const auto inside_pp = [&](Axis a, std::int64_t n) {
        return n > 1 && l.pp > 1 && place(a) < place(Axis::pp);
    };
    if (inside_pp(Axis::dp_replicate, replicas_in_force(p))
        || (l.zero == 0 && inside_pp(Axis::dp_shard, l.dp_shard)))
        draft.lose("/layout/order", "order: MaxText lays copies outside the pipeline");
    else
        lose_order(draft, kMaxtextOrder, "MaxText lays ranks as tp-cp-dp_shard-pp-dp_replicate");
    lose_reduction(draft, usual_reduction(p, Software::maxtext));
    lose_lacks(draft, Software::maxtext);
    lose_finer_choices(draft);
}

// types.py refuses what TPUs and GPUs do not run.
void put_context(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    if (l.cp == 1) return;
    if (l.cp_comm == CpComm::ulysses_ring)
        draft.lose("/layout/cp_comm", "cp by ulysses+ring: MaxText's usp has two axes of its own, on TPUs");
    const bool ring = l.cp_comm == CpComm::ring, ulysses = l.cp_comm == CpComm::ulysses;
    draft.put("/layout/cp_comm", std::string(ring ? "ring" : ulysses ? "ulysses" : "all_gather"));
    if (ulysses && !on_tpu(p)) draft.refuse("MaxText refuses context_parallel_strategy ulysses on GPUs");
    if (ulysses) draft.say("context_parallel_load_balance", false);
    if (!on_tpu(p) || !(ring || ulysses)) return;
    draft.say("attention", std::string("flash"));
    draft.say("use_tokamax_splash", true);
    const std::int64_t parts = ring ? l.cp * l.cp : l.cp;
    if (p.training.sequence_length % parts != 0)
        draft.refuse("MaxText refuses a sequence of ", p.training.sequence_length, " tokens: on TPUs ",
                     l.cp_comm, " wants a multiple of ", parts);
}

void put_pipeline(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    if (l.pp == 1) return;
    // layers/pipeline.py runs all forwards, stage by stage and round by round, and then all backwards.
    if (l.schedule != Schedule::gpipe && l.schedule != Schedule::looped_bfs)
        draft.lose("/layout/schedule", "schedule ", l.schedule,
                   ": MaxText runs all forwards before all backwards (gpipe, looped-bfs)");
    const std::vector<std::int64_t> layers = chunk_layers(p);
    if (!is_even(layers))
        draft.lose("/layout/stage_layers", "stage_layers: MaxText gives each stage as many layers");
    // types.py: of DeepSeek's blocks only the layers of experts are pipelined, the dense ones lie before
    // them.
    if (p.model.moe && p.model.moe->first_dense_layers > 0)
        draft.lose("/layout/stage_layers",
                   "stage_layers: MaxText keeps the dense layers of this model out of the pipeline");
    draft.say("num_layers_per_pipeline_stage", layers.empty() ? std::int64_t{1} : layers.front());
    draft.put("/layout/virtual_stages", l.virtual_stages);
    draft.say("num_pipeline_microbatches", microbatches_of(p));
    if (microbatches_of(p) % l.pp != 0)
        draft.refuse("MaxText refuses ", microbatches_of(p), " micro-batches over ", l.pp,
                     " stages: num_pipeline_microbatches must be a multiple of them");
}

// ---- training --------------------------------------------------------------------------------------------

// It counts devices of all axes, and takes the whole part of devices x this.
double per_device(std::int64_t samples, std::int64_t devices) {
    double out = static_cast<double>(samples) / static_cast<double>(devices);
    while (static_cast<std::int64_t>(static_cast<double>(devices) * out) < samples)
        out = std::nextafter(out, out + 1);
    return out;
}

void put_batch(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const std::int64_t calls = p.layout.pp > 1 ? 1 : microbatches_of(p);
    draft.put("/training/sequence_length", p.training.sequence_length);
    draft.put("/training/global_batch", per_device(p.training.global_batch / calls, p.cluster.gpus));
    draft.say("gradient_accumulation_steps", calls);
}

std::string jax_type(Dtype t) {
    return t == Dtype::fp32 || t == Dtype::tf32 ? "float32" : "bfloat16";
}

void put_quantization(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Training& t = p.training;
    if (t.compute == Dtype::fp16) draft.lose("/training/compute", "compute fp16: MaxText has bfloat16");
    if (t.compute == Dtype::tf32) draft.note("tf32: a switch of JAX, fp32 here");
    if (t.compute != Dtype::fp8 && t.compute != Dtype::fp4) return;
    const bool mx = t.fp8_recipe == Fp8Recipe::mxfp8, tpu = on_tpu(p);
    if (t.compute == Dtype::fp4 && tpu) draft.lose("/training/compute", "compute fp4: on GPUs only");
    if (t.compute == Dtype::fp8 && (t.fp8_recipe != Fp8Recipe::tensorwise && (!mx || tpu)))
        draft.lose("/training/fp8_recipe", "fp8_recipe ", t.fp8_recipe,
                   ": MaxText scales tensors, on GPUs also blocks of 32 (te_mxfp8)");
    draft.say("quantization", std::string(t.compute == Dtype::fp4 ? "te_nvfp4"
                                          : tpu                   ? "fp8_full"
                                          : mx                    ? "te_mxfp8"
                                                                  : "te_fp8_currentscaling"));
}

// types.py: Muon is refused for blocks whose matrices it was not tried on.
bool runs_muon(const Plan& plan) {
    const Model& m = plan.model;
    const std::string name = maxtext_model(plan);
    if (name.empty()) return m.qk_norm == QkNorm::head || !m.qkv_bias;  // qwen3, llama2; not qwen2
    for (const char* family : {"deepseek", "kimi", "llama2", "llama3"})
        if (name.starts_with(family)) return true;
    return name.starts_with("qwen3-") && !m.moe;
}

// Parameters are stored in one type; the second moment is kept in it, and there is no other copy. Types that
// come out otherwise than the plan's are named once, by export_plan.
void put_states(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    const bool copy = t.master_weights != MasterWeights::none;
    const Dtype stored = copy ? Dtype::fp32 : t.parameters;
    draft.say("weight_dtype", jax_type(stored));
    draft.put("/training/gradients", jax_type(t.gradients));
    draft.put("/training/optimizer_state", jax_type(t.optimizer_state));
    if (t.optimizer == Optimizer::muon && !runs_muon(draft.plan))
        draft.refuse("MaxText refuses opt_type muon for the blocks of ", draft.plan.model.name,
                     ": it tried those of DeepSeek, Llama 2 and 3, Gemma 3 and the dense Qwen 3");
    else if (t.optimizer == Optimizer::muon)
        draft.say("opt_type", std::string("muon"));
    else if (t.optimizer != Optimizer::adamw)
        draft.lose("/training/optimizer", "optimizer ", t.optimizer,
                   ": MaxText has AdamW, Muon and SGD without momentum");
}

void put_remat(ExportDraft& draft) {
    const RecomputeChoice& r = draft.plan.training.recompute;
    const bool whole = r == RecomputeChoice(Recompute::full);
    draft.put("/training/recompute", std::string(whole ? "full" : "minimal_with_context"));
    if (!whole && r.any() && r != RecomputeChoice(Recompute::selective))
        draft.lose("/training/recompute", "recompute ", words_of(r),
                   ": MaxText's policies name tensors of all layers");
    else if (!whole)
        draft.note("recompute ", words_of(r),
                   ": MaxText keeps products and attention, and recomputes what "
                   "is element-wise (minimal_with_context)");
}

void put_offload(ExportDraft& draft) {
    const Offload& o = draft.plan.training.offload;
    if (o.optimizer == 1) draft.say("optimizer_memory_host_offload", true);
    if (o.parameters == 1) draft.say("parameter_memory_host_offload", true);
    if ((o.optimizer > 0 && o.optimizer < 1) || (o.parameters > 0 && o.parameters < 1))
        draft.lose("/training/offload", "offload: MaxText moves states and parameters whole, or nothing");
    if (o.activations_layers > 0)
        draft.lose("/training/offload/activations_layers",
                   "offload of activations: MaxText's policies name tensors of all layers");
}

}  // namespace

void export_maxtext(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Training& t = p.training;
    draft.say("base_config", std::string("base.yml"));
    draft.say("run_name", std::string("pentamesh"));
    draft.say("hardware", std::string(on_tpu(p) ? "tpu" : "gpu"));
    put_model(draft);
    lose_layout(draft);
    put_mesh(draft);
    put_context(draft);
    put_pipeline(draft);
    put_batch(draft);
    draft.put("/training/compute", jax_type(t.compute));
    put_quantization(draft);
    put_states(draft);
    put_remat(draft);
    put_offload(draft);
    if (t.dropout) draft.say("dropout_rate", 0.1);
    if (t.attention == AttentionImpl::math) draft.say("attention", std::string("dot_product"));
    draft.say("dataset_type", std::string("synthetic"));
    draft.note("data, learning rate, steps, output folder: yours to set");
    note_training(draft, false);
    draft.out.text = as_comment(head_lines(draft)) + yaml_text(draft.settings);
}

}  // namespace pentamesh::interop
