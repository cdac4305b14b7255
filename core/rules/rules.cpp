// Finds the errors that make a plan impossible, in the order in which one would ask.
#include "core/rules/rules.h"

#include "core/model/local_shard.h"
#include "core/model/model.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace pentamesh {

void find_errors(const ResolvedPlan& resolved, bool messages, std::vector<Problem>& out) {
    out.clear();
    Rules r{resolved, messages, out};
    if (!check_fields(r)) return;
    check_model_cuts(r);
    if (!check_world(r)) return;
    check_expert_mesh(r);
    check_choices(r);
    check_sequence(r);
    check_batch(r);
    check_precision(r);
}

namespace {

// False where each rank's share is so small that all ranks together are far from the limit: most plans pay
// for no count.
bool may_pass(const Mesh& mesh, const Memory& memory) {
    double held = 0;  // a rank's, by stage at most
    for (const StageMemory& s : memory.stage) held = std::max(held, static_cast<double>(s.parameters_held));
    return held * static_cast<double>(mesh.world) >= static_cast<double>(kMostParameters) / 2;
}

void parameters(Rules& r) {
    if (counts_all(count_parameters(r.plan.model))) return;
    const std::string words = r.messages ? uncounted_text(r.plan.model) : "";
    r.find(ProblemCode::number_too_large, {{"field", "/model"}, {"model", words}});
}

void bytes(Rules& r, const Memory& memory) {
    for (const StageMemory& s : memory.stage)
        for (int i = 0; i < kMemoryCategoryCount && s.total() >= kMostBytes; ++i) {
            const auto category = static_cast<MemoryCategory>(i);
            if (bytes_of(s, category) < kMostBytes) continue;
            const bool tokens = category == MemoryCategory::activations;
            const std::string_view place = tokens                                ? "/training/sequence_length"
                                           : category == MemoryCategory::buffers ? "/training"
                                                                                 : "/model";
            r.find(ProblemCode::number_too_large, {{"field", place},
                                                   {"stage", s.stage},
                                                   {"most", static_cast<std::int64_t>(kMostBytes)},
                                                   {"category", name_of(category)},
                                                   {"tokens", tokens},
                                                   {"sequence", r.plan.training.sequence_length},
                                                   {"micro", r.plan.training.micro_batch}});
            return;
        }
}

}  // namespace

void find_uncounted(const ResolvedPlan& resolved, const Memory& memory, bool messages,
                    std::vector<Problem>& out) {
    Rules r{resolved, messages, out};
    const std::size_t before = out.size();
    if (may_pass(r.mesh, memory)) parameters(r);
    if (out.size() == before) bytes(r, memory);
}

// Checks that the factors fill the cluster, and that the same ranks fold into the expert mesh.

namespace {

// Returns a * b, or kMaxWorld + 1 beyond kMaxWorld.
std::int64_t saturating(std::int64_t a, std::int64_t b) {
    return a > kMaxWorld / b ? kMaxWorld + 1 : a * b;
}

// Returns the ranks of one model replica.
std::int64_t model_ranks(const Layout& l) {
    return saturating(saturating(l.tp, l.cp), l.pp);
}

// Lowers pp, then cp, then tp until one replica of the model fits the cluster.
void shrink_replica(Layout& l, std::int64_t gpus) {
    l.stage_layers.clear();
    const std::int64_t tp_cp = saturating(l.tp, l.cp);
    if (tp_cp <= gpus) {
        l.pp = gpus % tp_cp == 0 ? largest_divisor(gpus / tp_cp, l.pp) : std::min(l.pp, gpus / tp_cp);
        return;
    }
    l.pp = 1;
    if (l.tp <= gpus) {
        l.cp = gpus % l.tp == 0 ? largest_divisor(gpus / l.tp, l.cp) : std::min(l.cp, gpus / l.tp);
        return;
    }
    l.cp = 1;
    l.tp = std::gcd(l.tp, gpus);
}

// Fills the cluster with data parallelism: by one of its factors where that divides, else by whole replicas,
// leaving the rest of the GPUs out.
void fill_cluster(Plan& q) {
    Layout& l = q.layout;
    std::int64_t& gpus = q.cluster.gpus;
    if (model_ranks(l) > gpus) shrink_replica(l, gpus);
    const std::int64_t ranks = model_ranks(l), replicas = gpus / ranks;
    const std::int64_t replicate = l.dp_replicate.value_or(1);
    if (gpus % ranks == 0 && replicas % l.dp_shard == 0) {
        if (l.dp_replicate || l.dp_shard != replicas) l.dp_replicate = replicas / l.dp_shard;
    } else if (gpus % ranks == 0 && replicas % replicate == 0) {
        l.dp_shard = replicas / replicate;
    } else if (replicas >= l.dp_shard) {
        l.dp_replicate = replicas / l.dp_shard;
        gpus = ranks * l.dp_shard * *l.dp_replicate;
    } else {
        l.dp_shard = replicas;
        if (l.dp_replicate) l.dp_replicate = 1;
        gpus = ranks * replicas;
    }
}

std::string product_text(const Plan& plan) {
    const Layout& l = plan.layout;
    const std::int64_t replicas = replicas_in_force(plan);
    return sentence("tp ", l.tp, " × cp ", l.cp, " × dp_shard ", l.dp_shard,
                    replicas > 0 ? sentence(" × dp_replicate ", replicas) : "", " × pp ", l.pp);
}

}  // namespace

bool check_world(Rules& r) {
    const std::int64_t gpus = r.plan.cluster.gpus, world = r.mesh.world;
    if (gpus > kMaxWorld) {
        r.find(ProblemCode::cluster_too_large, {{"gpus", gpus}, {"most", kMaxWorld}},
               {{"/cluster/gpus", kMaxWorld}});
        return false;
    }
    if (world == gpus) return true;
    const std::int64_t ranks = model_ranks(r.plan.layout);
    const int which = world == 0 ? 0 : ranks <= gpus && gpus % ranks != 0 ? 1 : 2;
    const std::string product = r.messages ? product_text(r.plan) : "";
    r.find(ProblemCode::world_differs_from_gpus,
           {{"which", which},
            {"product", product},
            {"most", kMaxWorld},
            {"gpus", gpus},
            {"ranks", ranks},
            {"world", world}},
           fill_cluster);
    return false;
}

void pp_outermost(Plan& plan) {
    std::stable_partition(plan.layout.order.begin(), plan.layout.order.end(),
                          [](Axis a) { return a != Axis::pp; });
}

void check_expert_mesh(Rules& r) {
    if (!r.plan.model.moe || r.mesh.has_experts) return;
    const Layout& l = r.plan.layout;
    const std::int64_t per_stage = r.mesh.world / l.pp, etp = l.etp.value_or(l.tp);
    const std::int64_t width = saturating(etp, l.ep);
    if (per_stage % width == 0) {
        r.find(ProblemCode::pipeline_groups_differ,
               {{"stride", r.mesh.dense[Axis::pp].stride}, {"etp", etp}, {"ep", l.ep}}, pp_outermost);
        return;
    }
    const auto fold = [&](Plan& q) {
        if (per_stage % l.ep == 0) {
            q.layout.etp = 1;
            return;
        }
        const auto fits = [&](std::int64_t ep, std::int64_t e) {
            return q.model.moe->experts % ep == 0 && per_stage % saturating(e, ep) == 0;
        };
        std::int64_t ep = std::min(l.ep - 1, per_stage);
        while (ep > 1 && !fits(ep, etp)) --ep;
        if (ep <= 1) {
            q.layout.etp = 1;
            ep = std::min(l.ep - 1, per_stage);
            while (ep > 1 && !fits(ep, 1)) --ep;
        }
        q.layout.ep = std::max<std::int64_t>(ep, 1);
    };
    r.find(ProblemCode::expert_mesh_does_not_fold,
           {{"ranks", per_stage},
            {"world", r.mesh.world},
            {"pp", l.pp},
            {"etp", etp},
            {"as_tp", !l.etp},
            {"ep", l.ep},
            {"width", width}},
           fold);
}

// Checks that numbers mean something at all. A plan that fails here is asked nothing else.

namespace {

void at_least_one(Rules& r, std::int64_t value, std::string_view pointer, std::int64_t instead) {
    if (value >= 1) return;
    Problem& p = r.find(ProblemCode::below_one, {{"field", pointer}, {"value", value}});
    if (r.messages && instead >= 1) p.fix = {{p.pointer, instead}};
}

void check_layout_fields(Rules& r) {
    const Layout& l = r.plan.layout;
    at_least_one(r, l.tp, "/layout/tp", 1);
    at_least_one(r, l.cp, "/layout/cp", 1);
    at_least_one(r, l.pp, "/layout/pp", 1);
    at_least_one(r, l.ep, "/layout/ep", 1);
    at_least_one(r, l.etp.value_or(1), "/layout/etp", 1);
    at_least_one(r, l.dp_shard, "/layout/dp_shard", 1);
    at_least_one(r, l.dp_replicate.value_or(1), "/layout/dp_replicate", 1);
    at_least_one(r, l.virtual_stages, "/layout/virtual_stages", 1);
    if (l.zero < 0 || l.zero > 3)
        r.find(ProblemCode::zero_out_of_range, {{"zero", l.zero}},
               {{"/layout/zero", std::clamp(l.zero, 0, 3)}});
    unsigned seen = 0;
    for (const Axis a : l.order) seen |= 1U << static_cast<unsigned>(a);
    if (seen != (1U << kAxisCount) - 1)
        r.find(ProblemCode::order_not_a_permutation, {}, [](Plan& q) { q.layout.order = Layout{}.order; });
}

void check_model_fields(Rules& r) {
    const Model& m = r.plan.model;
    at_least_one(r, m.layers, "/model/layers", 0);
    at_least_one(r, m.hidden, "/model/hidden", 0);
    at_least_one(r, m.heads, "/model/heads", 0);
    at_least_one(r, m.kv_heads, "/model/kv_heads", m.heads);
    at_least_one(r, m.vocab, "/model/vocab", 0);
    check_pattern(r);
    if (!m.moe) return;
    at_least_one(r, m.moe->experts, "/model/moe/experts", 0);
    at_least_one(r, m.moe->top_k, "/model/moe/top_k", 0);
    if (m.moe->top_k > m.moe->experts)
        r.find(ProblemCode::top_k_exceeds_experts, {{"top_k", m.moe->top_k}, {"experts", m.moe->experts}});
}

void check_training_fields(Rules& r) {
    const Training& t = r.plan.training;
    const Training usual;
    at_least_one(r, t.sequence_length, "/training/sequence_length", usual.sequence_length);
    at_least_one(r, t.micro_batch, "/training/micro_batch", usual.micro_batch);
    at_least_one(r, t.global_batch, "/training/global_batch", usual.global_batch);
    if (!(t.router_imbalance >= 1))
        r.find(ProblemCode::imbalance_below_one,
               {{"value", r.messages ? three_digits(t.router_imbalance) : std::string()}},
               {{"/training/router_imbalance", 1.0}});
    if (!(t.straggler_cv >= 0))
        r.find(ProblemCode::negative_variation, {}, {{"/training/straggler_cv", 0.0}});
}

}  // namespace

bool check_fields(Rules& r) {
    const std::size_t before = r.out.size();
    at_least_one(r, r.plan.cluster.gpus, "/cluster/gpus", std::max<std::int64_t>(r.mesh.world, 1));
    check_layout_fields(r);
    check_model_fields(r);
    check_training_fields(r);
    return r.out.size() == before;
}

// Checks that the finer choices go together: groups inside context parallelism, the chunk of the prediction
// layers, weights cut further, recomputation and offload to host memory.

namespace {

bool heads_for(const Plan& plan, std::int64_t inner) {
    return plan.model.heads % (plan.layout.tp * inner) == 0;
}

// Returns the largest group inside cp whose ranks get whole heads and stay in the fast domain.
std::int64_t best_inner(const Plan& plan) {
    const Layout& l = plan.layout;
    const std::int64_t domain = plan.cluster.tiers.empty() ? l.cp * l.tp : domain_of(plan.cluster, 0);
    std::int64_t best = 1;
    for (std::int64_t n = 1; n <= l.cp; ++n)
        if (l.cp % n == 0 && heads_for(plan, n) && n * l.tp <= std::max<std::int64_t>(domain, 1)) best = n;
    return best;
}

void check_cp_inner(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.cp == 1 || l.cp_comm != CpComm::ulysses_ring) return;
    const std::int64_t inner = l.cp_inner.value_or(0);
    const bool divides = inner >= 1 && l.cp % inner == 0;
    if (divides && heads_for(r.plan, inner)) return;
    Problem& p =
        divides ? r.find(ProblemCode::ulysses_heads,
                         {{"inner", true}, {"heads", r.plan.model.heads}, {"ranks", l.tp * inner}})
                : r.find(ProblemCode::cp_inner, {{"missing", inner == 0}, {"inner", inner}, {"cp", l.cp}});
    if (r.messages) p.fix = {{"/layout/cp_inner", best_inner(r.plan)}};
}

// Prediction layers read the last layer's output, so no chunk after theirs may hold a layer.
void check_mtp_chunk(Rules& r) {
    const Layout& l = r.plan.layout;
    if (!l.mtp_chunk || r.plan.model.mtp_layers == 0) return;
    std::vector<std::int64_t> layers;
    layers_of_chunks(r.plan, layers);
    const auto chunks = static_cast<std::int64_t>(layers.size());
    std::int64_t last = chunks - 1;  // with a layer
    while (last > 0 && layers[last] == 0) --last;
    const std::int64_t at = *l.mtp_chunk;
    if (chunks == 0 || (at >= last && at < chunks)) return;
    const bool beyond = at >= chunks;
    if (beyond) last = chunks - 1;
    r.find(ProblemCode::mtp_chunk, {{"chunk", at}, {"beyond", beyond}, {"last", last}},
           {{"/layout/mtp_chunk", last}});
}

void check_weight_shards(Rules& r) {
    const std::int64_t shards = r.plan.layout.weight_shards.value_or(1), dp = data_parallel(r.plan);
    if (shards == 1 || dp < 1 || dp % shards == 0) return;
    r.find(ProblemCode::weight_shards, {{"shards", shards}, {"dp", dp}},
           {{"/layout/weight_shards", largest_divisor(dp, shards)}});
}

void check_offload(Rules& r) {
    if (r.plan.training.offload.parameters <= 0 || r.plan.layout.zero == 3) return;
    r.find(ProblemCode::offload_needs_zero_3, {{"zero", r.plan.layout.zero}},
           [](Plan& q) { q.training.offload.parameters = 0; });
}

// Returns what a module needs of the model and lacks, or "".
std::string_view missing_for(const Model& m, RecomputeModule module) {
    const bool dense = !m.moe || m.moe->first_dense_layers > 0 || m.moe->every > 1;
    switch (module) {
    case RecomputeModule::core_attn: return "";
    case RecomputeModule::layernorm:
        return m.moe || m.attention != AttentionKind::mha_gqa
                   ? ""
                   : "norms that stand by themselves (MLA or MoE), all are fused with the product behind";
    case RecomputeModule::mla_up_proj: return m.attention != AttentionKind::mha_gqa ? "" : "latent attention";
    case RecomputeModule::mlp: return dense ? "" : "layers with a dense MLP";
    case RecomputeModule::moe:
    case RecomputeModule::moe_act: return m.moe ? "" : "experts";
    case RecomputeModule::shared_experts: return m.moe && m.moe->shared_experts > 0 ? "" : "shared experts";
    }
    return "";
}

void check_reduction(Rules& r) {
    const Layout& l = r.plan.layout;
    if (can_reduce(l.gradient_reduction, l)) return;
    r.find(ProblemCode::gradient_reduction,
           {{"zero", std::min(l.zero, 2)},
            {"asked", name_of(l.gradient_reduction)},
            {"run", l.gradient_reduction == GradientReduction::run},
            {"schedule", name_of(l.schedule)}},
           {{"/layout/gradient_reduction", name_of(GradientReduction::step)}});
}

}  // namespace

void check_choices(Rules& r) {
    check_reduction(r);
    check_cp_inner(r);
    check_mtp_chunk(r);
    check_weight_shards(r);
    check_offload(r);
}

bool has_module(const Model& model, RecomputeModule module) {
    return missing_for(model, module).empty();
}

void check_modules(Rules& r) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    std::vector<std::string> left;
    std::string lost, needs;
    for (const RecomputeModule module : all_of<RecomputeModule>()) {
        if (!choice.modules.has(module)) continue;
        const std::string_view missing = missing_for(r.plan.model, module);
        if (missing.empty()) {
            left.emplace_back(name_of(module));
            continue;
        }
        lost += (lost.empty() ? "" : ", ") + std::string(name_of(module));
        needs += (needs.empty() ? "" : ", ") + std::string(missing);
    }
    if (lost.empty()) return;
    Problem& p = r.find(ProblemCode::recompute_module_missing, {{"lost", lost}, {"needs", needs}});
    if (!r.messages) return;
    if (left.empty())
        p.fix = {{"/training/recompute", std::string("none")}};
    else
        p.fix = {{"/training/recompute/modules", left}};
}

// Notices fields of a plan that the figures leave out, or that a kernel cannot do.

namespace {

// Their kernels run once more, and each is launched by the host.
constexpr std::array kLaunching{RecomputeModule::layernorm, RecomputeModule::moe_act,
                                RecomputeModule::mla_up_proj};

// This is NUM_MAX_NVL_PEERS of deepseek-ai/DeepEP csrc/kernels/configs.cuh.
constexpr std::int64_t kDeepEpPeers = 8;

void deepep_domain(Rules& r) {
    const Plan& plan = r.plan;
    if (plan.layout.ep_comm != EpComm::deepep || !r.mesh.has_experts || plan.cluster.tiers.empty()) return;
    if (plan.layout.ep <= kDeepEpPeers || domain_of(plan.cluster, 0) <= kDeepEpPeers) return;
    r.find(ProblemCode::deepep_domain, {{"peers", kDeepEpPeers}, {"domain", domain_of(plan.cluster, 0)}},
           {{"/layout/ep_comm", name_of(EpComm::hybridep)}});
}

// Megatron-LM transformer_config.py, __post_init__.
void megatron_offload(Rules& r) {
    const Training& t = r.plan.training;
    const std::int64_t pp = r.plan.layout.pp;
    if (t.offload.activations_layers == 0 || (pp == 1 && !t.recompute.any())) return;
    const std::string recompute = r.messages ? words_of(t.recompute) : "";
    r.find(ProblemCode::megatron_offload, {{"pipeline", pp > 1}, {"pp", pp}, {"recompute", recompute}},
           {{"/training/offload/activations_layers", 0}});
}

// If the link is known, only the CPU's own time for an optimizer is left out.
void offload_time(Rules& r) {
    const Offload& away = r.plan.training.offload;
    const bool counted = r.plan.cluster.gpu.host_bytes_per_s > 0;
    if (away.optimizer > 0 || (away.any() && !counted))
        r.find(ProblemCode::offload_time, {{"counted", counted}, {"optimizer", away.optimizer > 0}});
}

// Megatron lays them next to tp in any order (parallel_state.py, _inject_gtp_remat_axis).
void weight_shards_outside(Rules& r) {
    const GroupFactors shards = group_factors(r.mesh, GroupKind::gtp_remat);
    const bool together =
        shards.count < 2 || shards.factor[1].stride == shards.factor[0].size * shards.factor[0].stride;
    const std::int64_t tp = r.mesh.dense[Axis::tp].size;
    if (shards.count == 0 || (together && shards.factor[0].stride == tp)) return;
    r.find(ProblemCode::weight_shards_outside, {{"shards", r.mesh.weight_shards},
                                                {"tp", tp},
                                                {"apart", shards.factor[0].stride},
                                                {"scattered", !together}});
}

void prediction_message(Rules& r) {
    const Plan& plan = r.plan;
    const std::int64_t last = pipeline_chunks(plan.layout) - 1;
    if (plan.model.mtp_layers == 0 || plan.layout.mtp_chunk.value_or(last) >= last) return;
    const std::string predictions = r.messages ? count_text(plan.model.mtp_layers, "prediction") : "";
    r.find(ProblemCode::mtp_message, {{"chunk", *plan.layout.mtp_chunk}, {"predictions", predictions}});
}

}  // namespace

void check_notices(Rules& r) {
    const Layout& l = r.plan.layout;
    const Training& t = r.plan.training;
    const Model& m = r.plan.model;
    check_modules(r);
    deepep_domain(r);
    megatron_offload(r);
    if ((l.ep_comm == EpComm::deepep || l.ep_comm == EpComm::hybridep) && r.mesh.has_experts && l.ep != 1)
        r.find(ProblemCode::ep_kernel_rate, {{"how", name_of(l.ep_comm)}});
    offload_time(r);
    if (std::any_of(kLaunching.begin(), kLaunching.end(), [&](RecomputeModule module) {
            return t.recompute.modules.has(module) && missing_for(m, module).empty();
        }))
        r.find(ProblemCode::recompute_launches);
    if (l.reshard == Reshard::never && l.zero != 3)
        r.find(ProblemCode::reshard_without_zero_3, {{"zero", l.zero}});
    if (const std::int64_t shards = l.weight_shards.value_or(1); shards != 1)
        r.find(ProblemCode::weight_shards_not_counted, {{"shards", shards}});
    weight_shards_outside(r);
    prediction_message(r);
    // MLA's configurations have one switch, attention_bias, and no biases only of queries, keys and values.
    if (m.qkv_bias && m.attention == AttentionKind::mla && !m.attention_bias)
        r.find(ProblemCode::mla_qkv_bias, {}, {{"/model/qkv_bias", false}});
    if (t.compute != Dtype::fp32) return;
    // A GPU's preset has no peak of its vector units.
    const bool tf32 = r.plan.cluster.gpu.flops.tf32 > 0;
    Problem& p = r.find(ProblemCode::fp32_as_tf32, {{"tf32", tf32}});
    if (tf32 && r.messages) p.fix = {{"/training/compute", std::string(name_of(Dtype::tf32))}};
}

// ---- rules of one software ----------------------------------------------------------------------------
// These warn by rules that only one framework enforces, and name it. Sources are Megatron-LM arguments.py and
// parallel_state.py; torchtitan distributed/parallel_dims.py and models/*/infra/parallelize.py.
namespace {

void uneven_stages(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t chunks = pipeline_chunks(l), layers = r.plan.model.layers;
    if (!l.stage_layers.empty() || chunks > layers || layers % chunks == 0) return;
    r.find(ProblemCode::uneven_stages, {{"layers", layers},
                                        {"chunks", chunks},
                                        {"fuller", layers % chunks},
                                        {"more", layers / chunks + 1},
                                        {"fewer", layers / chunks}});
}

// The vocabulary is padded, by the model's own multiple or by the software's.
void padded_vocabulary(Rules& r) {
    const std::int64_t multiple = vocab_multiple_of(r.plan), tp = r.plan.layout.tp;
    const std::int64_t unit = multiple * tp, vocab = r.plan.model.vocab;
    if (multiple == 1 || vocab % unit == 0) return;
    const std::int64_t padded = (vocab + unit - 1) / unit * unit;
    r.find(ProblemCode::vocab_padded, {{"software", facts_of(r.plan.training.software).name},
                                       {"vocab", vocab},
                                       {"padded", padded},
                                       {"multiple", multiple},
                                       {"tp", tp},
                                       {"more", padded - vocab}});
}

// torchtitan parallel_dims.py: ep is taken out of dp_shard, cp and tp.
void torchtitan_expert_degree(Rules& r) {
    if (!lacks(Lack::expert_width, r.plan, r.plan.training.software)) return;
    const Layout& l = r.plan.layout;
    const auto folds = [&](const Plan& q) {
        const std::int64_t ranks = q.layout.dp_shard * l.cp * l.tp;
        return ranks % q.layout.ep == 0 && q.model.moe->experts % q.layout.ep == 0
               && build_mesh(q).has_experts;
    };
    r.find(ProblemCode::torchtitan_ep, {{"width", l.dp_shard * l.cp * l.tp}, {"ep", l.ep}}, [&](Plan& q) {
        q.layout.dp_shard *= replicas_in_force(q);
        q.layout.dp_replicate = 1;
        if (folds(q)) return;
        q.layout = l;
        while (q.layout.ep > 1 && !folds(q)) --q.layout.ep;
    });
}

Rule rule_of(Software software) {
    if (is_torchtitan(software)) return Rule::torchtitan;
    const bool megatron = is_megatron(software);
    return megatron ? Rule::megatron : Rule::schedule;
}

// Names what the plan's software lacks or refuses, where no rule of its own warns of it.
void lacking_software(Rules& r) {
    const Software software = r.plan.training.software;
    const Lacks lacks = lacks_of(r.plan, software);
    // The rule of gradient_reduction names what Megatron lacks there first.
    const bool zero_is_told =
        rule_of(software) == Rule::megatron
            ? reduction_support(r.plan) != ReductionSupport::runs
            : zero_support(software, r.plan.layout.zero, r.plan.layout.pp) != ReductionSupport::runs;
    for (const Lack l : all_of<Lack>()) {
        if (!lacks.has(l) || kind_of(l) == LackKind::warned || l == Lack::expert_width) continue;
        if (l == Lack::zero && zero_is_told) continue;
        const bool refused = kind_of(l) == LackKind::refused;
        Problem& p = r.add(refused ? Severity::warning : Severity::info, rule_of(software), code_of(l),
                           std::string(pointer_of(l)));
        if (!r.messages) continue;
        p.message = words_of(l, r.plan, software) + (refused ? "." : "; it is laid out all the same.");
        if (l == Lack::exchange_ranks) p.fix = {{"/layout/ep_comm", std::string(name_of(EpComm::alltoall))}};
    }
}

// Warns of a reduction that can be laid out but not be run with the plan's software (sequence.cpp
// has the places in code).
void reduction_of_software(Rules& r) {
    const Plan& plan = r.plan;
    const Layout& l = plan.layout;
    const Software software = plan.training.software;
    const ReductionSupport support = reduction_support(plan);
    if (support == ReductionSupport::runs) return;
    const bool zero = zero_support(software, l.zero, l.pp) != ReductionSupport::runs;
    const bool refuses = support == ReductionSupport::refuses;
    const Rule rule = rule_of(software);
    Problem& p = r.find(
        refuses ? ProblemCode::zero_refused : ProblemCode::no_such_reduction,
        {{"stage", zero},
         {"zero", l.zero},
         {"pp", l.pp},
         {"software", rule == Rule::megatron ? std::string_view("Megatron-FSDP") : facts_of(software).name},
         {"asked", name_of(l.gradient_reduction)},
         {"pipeline", l.pp > 1}});
    p.rule = rule;
    if (zero) p.severity = Severity::warning;
    if (!r.messages) return;
    if (zero)
        p.fix = {{"/layout/zero", std::int64_t{1}}};
    else
        p.fix = {{"/layout/gradient_reduction", std::string(name_of(GradientReduction::by_software))}};
    if (zero && l.gradient_reduction != GradientReduction::by_software)
        p.fix.push_back({"/layout/gradient_reduction", std::string(name_of(GradientReduction::by_software))});
}

void leftover_replicas(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t replicas = replicas_in_force(r.plan);
    if (l.dp_replicate || replicas == 1) return;
    r.find(ProblemCode::leftover_replicas, {{"tp", l.tp},
                                            {"cp", l.cp},
                                            {"shard", l.dp_shard},
                                            {"pp", l.pp},
                                            {"ranks", r.mesh.world / replicas},
                                            {"gpus", r.plan.cluster.gpus},
                                            {"replicas", replicas}});
}

}  // namespace

void check_frameworks(Rules& r) {
    leftover_replicas(r);
    reduction_of_software(r);
    if (lacks(Lack::no_sequence_parallel, r.plan, r.plan.training.software))
        r.find(ProblemCode::megatron_moe_needs_sp, {{"tp", r.plan.layout.tp}},
               {{"/layout/sequence_parallel", true}});
    torchtitan_expert_degree(r);
    lacking_software(r);
    uneven_stages(r);
    padded_vocabulary(r);
    check_megatron(r);
    check_mixers(r);
}

// Warns of Megatron-LM's own refusals of a plan that could be laid out, where the plan's software is
// Megatron's. An order whose pipelines differ for experts is an error (rules.cpp).
void check_megatron(Rules& r) {
    const Software s = r.plan.training.software;
    if (!is_megatron(s)) return;
    // software_runs.cpp has the sources.
    const auto refuses = [&](Lack what) { return lacks(what, r.plan, Software::megatron); };
    const Layout& l = r.plan.layout;
    const Model& m = r.plan.model;
    const std::int64_t ranks = r.mesh.world / l.pp, tokens = r.plan.training.sequence_length;
    if (refuses(Lack::expert_order)) {
        const std::int64_t width = l.etp.value_or(l.tp) * (m.moe ? l.ep : 1);
        r.find(ProblemCode::megatron_expert_order,
               {{"moe", m.moe.has_value()}, {"experts", ranks / width}, {"dense", ranks / (l.tp * l.cp)}},
               pp_outermost);
    }
    if (refuses(Lack::message_overlap))
        r.find(ProblemCode::megatron_p2p_overlap, {}, {{"/training/overlap/pp", true}});
    if (refuses(Lack::tensor_overlap))
        r.find(ProblemCode::megatron_tp_overlap, {}, {{"/layout/sequence_parallel", true}});
    if (const std::string_view wants = expert_overlap_wants(r.plan); !wants.empty())
        r.find(ProblemCode::megatron_ep_overlap, {{"wants", wants}}, {{"/training/overlap/ep", false}});
    if (refuses(Lack::optimizer))
        r.find(ProblemCode::megatron_fsdp_optimizer, {{"zero", l.zero}}, {{"/layout/zero", 1}});
    // arguments.py: max_position_embeddings >= seq_length.
    if (m.positions == Positions::learned && m.max_positions != 0 && m.max_positions < tokens)
        r.find(ProblemCode::megatron_positions, {{"tokens", tokens}, {"positions", m.max_positions}},
               {{"/training/sequence_length", m.max_positions}});
}

}  // namespace pentamesh
