// Finds the errors that make a plan impossible, in the order in which one would ask.
#include "core/rules/rules.h"

#include "core/model/local_shard.h"
#include "core/model/model.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
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
    Problem& p = r.error(Rule::arithmetic, ProblemCode::number_too_large, "/model");
    if (r.messages) p.message = uncounted_text(r.plan.model);
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
            Problem& p = r.error(Rule::arithmetic, ProblemCode::number_too_large, place);
            if (!r.messages) return;
            p.message =
                sentence("A GPU of stage ", s.stage, " would hold ", static_cast<std::int64_t>(kMostBytes),
                         " bytes of ", name_of(category), " or more, the most that is counted");
            if (tokens)
                p.message += sentence(": sequence_length = ", r.plan.training.sequence_length,
                                      ", micro_batch = ", r.plan.training.micro_batch);
            p.message += ".";
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
        Problem& p = r.error(Rule::arithmetic, ProblemCode::cluster_too_large, "/cluster/gpus");
        if (r.messages) {
            p.message = sentence("gpus = ", gpus, " is more than the ", kMaxWorld, " that can be laid out.");
            p.fix = {{"/cluster/gpus", kMaxWorld}};
        }
        return false;
    }
    if (world == gpus) return true;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::world_differs_from_gpus, "/cluster/gpus");
    if (!r.messages) return false;
    const std::int64_t ranks = model_ranks(r.plan.layout);
    if (world == 0)
        p.message = sentence(product_text(r.plan), " asks for more than ", kMaxWorld,
                             " GPUs; the cluster has gpus = ", gpus, ".");
    else if (ranks <= gpus && gpus % ranks != 0)
        p.message = sentence("gpus = ", gpus, " is not a multiple of tp × cp × pp = ", ranks,
                             ": no data-parallel degree fills the cluster. ", product_text(r.plan), " = ",
                             world, ".");
    else
        p.message =
            sentence(product_text(r.plan), " = ", world, " GPUs, but the cluster has gpus = ", gpus, ".");
    p.fix = fix_by(r.plan, fill_cluster);
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
        Problem& p = r.error(Rule::megatron, ProblemCode::pipeline_groups_differ, "/layout/order");
        if (!r.messages) return;
        p.message =
            sentence("With this order the pipeline groups of the dense mesh (stride ",
                     r.mesh.dense[Axis::pp].stride, ") and of the expert mesh (etp ", etp, " × ep ", l.ep,
                     ") differ: a layer's attention and experts would lie in different stages, and Megatron "
                     "refuses it. With pp outermost they always agree.");
        p.fix = fix_by(r.plan, pp_outermost);
        return;
    }
    Problem& p = r.error(Rule::arithmetic, ProblemCode::expert_mesh_does_not_fold, "/layout/ep");
    if (!r.messages) return;
    p.message = sentence("A pipeline stage has ", per_stage, " GPUs (", r.mesh.world, " / pp ", l.pp,
                         "), not a multiple of etp ", etp, l.etp ? "" : " (left out, so it is tp)", " × ep ",
                         l.ep, " = ", width, ". ep re-folds the same GPUs: it multiplies nothing.");
    p.fix = fix_by(r.plan, [&](Plan& q) {
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
    });
}

// Checks that numbers mean something at all. A plan that fails here is asked nothing else.

namespace {

void at_least_one(Rules& r, std::int64_t value, std::string_view pointer, std::int64_t instead) {
    if (value >= 1) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::below_one, pointer);
    if (!r.messages) return;
    p.message = sentence(pointer, " is ", value, "; it must be at least 1.");
    if (instead >= 1) p.fix = {{std::string(pointer), instead}};
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
    if (l.zero < 0 || l.zero > 3) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::zero_out_of_range, "/layout/zero");
        if (r.messages) {
            p.message = sentence("zero = ", l.zero, "; ZeRO has the stages 0, 1, 2 and 3.");
            p.fix = {{"/layout/zero", std::int64_t{std::clamp(l.zero, 0, 3)}}};
        }
    }
    unsigned seen = 0;
    for (const Axis a : l.order) seen |= 1U << static_cast<unsigned>(a);
    if (seen != (1U << kAxisCount) - 1) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::order_not_a_permutation, "/layout/order");
        if (r.messages) {
            p.message = "The order must name each of tp, cp, ep, dp_shard, dp_replicate and pp exactly once.";
            p.fix = fix_by(r.plan, [](Plan& q) { q.layout.order = Layout{}.order; });
        }
    }
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
    if (m.moe->top_k > m.moe->experts) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::top_k_exceeds_experts, "/model/moe/top_k");
        if (r.messages)
            p.message = sentence("A token uses top_k = ", m.moe->top_k, " experts, but the model has ",
                                 m.moe->experts, ".");
    }
}

void check_training_fields(Rules& r) {
    const Training& t = r.plan.training;
    const Training usual;
    at_least_one(r, t.sequence_length, "/training/sequence_length", usual.sequence_length);
    at_least_one(r, t.micro_batch, "/training/micro_batch", usual.micro_batch);
    at_least_one(r, t.global_batch, "/training/global_batch", usual.global_batch);
    if (!(t.router_imbalance >= 1)) {
        Problem& p =
            r.error(Rule::arithmetic, ProblemCode::imbalance_below_one, "/training/router_imbalance");
        if (r.messages) {
            p.message = sentence("router_imbalance is ", three_digits(t.router_imbalance),
                                 "; the busiest expert rank carries at least the mean, so it is 1 or more.");
            p.fix = {{"/training/router_imbalance", 1.0}};
        }
    }
    if (!(t.straggler_cv >= 0)) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::negative_variation, "/training/straggler_cv");
        if (r.messages) {
            p.message = "straggler_cv is a coefficient of variation: 0 or more.";
            p.fix = {{"/training/straggler_cv", 0.0}};
        }
    }
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
    Problem& p = r.error(Rule::arithmetic, divides ? ProblemCode::ulysses_heads : ProblemCode::cp_inner,
                         "/layout/cp_inner");
    if (!r.messages) return;
    if (inner == 0)
        p.message = sentence("cp_comm is ulysses+ring, so cp_inner must say how many of the ", l.cp,
                             " context ranks exchange heads; a ring joins these groups.");
    else if (!divides)
        p.message = sentence("cp_inner = ", inner, " does not divide cp = ", l.cp, ".");
    else
        p.message = sentence("Ulysses hands each rank whole heads: ", r.plan.model.heads,
                             " heads do not divide by tp × cp_inner = ", l.tp * inner, ".");
    p.fix = {{"/layout/cp_inner", best_inner(r.plan)}};
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
    Problem& p = r.error(Rule::arithmetic, ProblemCode::mtp_chunk, "/layout/mtp_chunk");
    if (!r.messages) return;
    p.message = at >= chunks ? sentence("mtp_chunk = ", at, ", but the chunks are 0 to ", chunks - 1, ".")
                             : sentence("mtp_chunk = ", at, ", but chunk ", last,
                                        " still holds layers: prediction layers come behind the last one.");
    p.fix = {{"/layout/mtp_chunk", at >= chunks ? chunks - 1 : last}};
}

void check_weight_shards(Rules& r) {
    const std::int64_t shards = r.plan.layout.weight_shards.value_or(1), dp = data_parallel(r.plan);
    if (shards == 1 || dp < 1 || dp % shards == 0) return;
    Problem& p = r.error(Rule::megatron, ProblemCode::weight_shards, "/layout/weight_shards");
    if (!r.messages) return;
    p.message = sentence("weight_shards = ", shards, " does not divide the ", dp,
                         " data-parallel ranks that the weights are cut over.");
    p.fix = {{"/layout/weight_shards", largest_divisor(dp, shards)}};
}

void check_offload(Rules& r) {
    if (r.plan.training.offload.parameters <= 0 || r.plan.layout.zero == 3) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::offload_needs_zero_3, "/training/offload/parameters");
    if (!r.messages) return;
    p.message = sentence("Parameters lie in host memory only where they are gathered layer by layer: ZeRO-3, "
                         "not zero = ",
                         r.plan.layout.zero, ".");
    p.fix = fix_by(r.plan, [](Plan& q) { q.training.offload.parameters = 0; });
}

// Returns what a module needs of the model and lacks, or "".
std::string_view missing_for(const Model& m, RecomputeModule module) {
    const bool dense = !m.moe || m.moe->first_dense_layers > 0 || m.moe->every > 1;
    switch (module) {
    case RecomputeModule::core_attn: return "";
    case RecomputeModule::layernorm:
        return m.moe || m.attention == AttentionKind::mla ? "" : "norms that stand alone (MLA or MoE)";
    case RecomputeModule::mla_up_proj: return m.attention == AttentionKind::mla ? "" : "latent attention";
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
    Problem& p = r.error(Rule::arithmetic, ProblemCode::gradient_reduction, "/layout/gradient_reduction");
    if (!r.messages) return;
    const std::string_view asked = name_of(l.gradient_reduction);
    if (l.zero == 1)
        p.message = sentence("ZeRO-1 reduces gradients once a step; gradient_reduction ", asked,
                             " is for zero 0, 2 and 3.");
    else if (l.zero == 0)
        p.message =
            "Without ZeRO gradients are reduced after each micro-batch or once a step; gradient_reduction "
            "run is for zero 2 and 3.";
    else
        p.message = sentence("Under ", name_of(l.schedule),
                             " a GPU's two chunks take turns after every micro-batch: there is no run of "
                             "micro-batches after which gradients could be reduced.");
    p.fix = {{"/layout/gradient_reduction", std::string(name_of(GradientReduction::step))}};
}

}  // namespace

void check_choices(Rules& r) {
    check_reduction(r);
    check_cp_inner(r);
    check_mtp_chunk(r);
    check_weight_shards(r);
    check_offload(r);
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
    Problem& p = r.add(Severity::warning, Rule::megatron, ProblemCode::recompute_module_missing,
                       "/training/recompute");
    if (!r.messages) return;
    p.message = sentence("Nothing to recompute for ", lost, ": the model has no ", needs, ".");
    if (left.empty())
        p.fix = {{"/training/recompute", std::string("none")}};
    else
        p.fix = {{"/training/recompute/modules", left}};
}

// Notices fields of a plan that the figures leave out, or that a kernel cannot do.

namespace {

// This is NUM_MAX_NVL_PEERS of deepseek-ai/DeepEP csrc/kernels/configs.cuh.
constexpr std::int64_t kDeepEpPeers = 8;

void deepep_domain(Rules& r) {
    const Plan& plan = r.plan;
    if (plan.layout.ep_comm != EpComm::deepep || !r.mesh.has_experts || plan.cluster.tiers.empty()) return;
    if (plan.layout.ep <= kDeepEpPeers || domain_of(plan.cluster, 0) <= kDeepEpPeers) return;
    Problem& p = r.add(Severity::warning, Rule::hardware, ProblemCode::deepep_domain, "/layout/ep_comm");
    if (!r.messages) return;
    p.message = sentence("DeepEP's kernels know ", kDeepEpPeers,
                         " NVLink peers and go over the network "
                         "beyond them; the figures let it use the whole domain of ",
                         domain_of(plan.cluster, 0), ". HybridEP knows larger domains.");
    p.fix = {{"/layout/ep_comm", std::string(name_of(EpComm::hybridep))}};
}

void exchange_kernels(Rules& r) {
    const EpComm how = r.plan.layout.ep_comm;
    if ((how != EpComm::deepep && how != EpComm::hybridep) || !r.mesh.has_experts || r.plan.layout.ep == 1)
        return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::ep_kernel_rate, "/layout/ep_comm");
    if (!r.messages) return;
    p.message = sentence(name_of(how),
                         " is counted by what it sends on each tier, at the rate of an "
                         "all-to-all; the multiprocessors that it takes from the products are not counted.");
}

void offload_time(Rules& r) {
    const Offload& away = r.plan.training.offload;
    if (!away.any()) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::offload_time, "/training/offload");
    if (!r.messages) return;
    p.message =
        "What lies in host memory leaves the GPU's memory; the time of its way over PCIe or C2C and of "
        "an optimizer on the CPU is not counted.";
    if (away.optimizer > 0) p.message += " Gradients are counted on the GPU.";
}

// Megatron-LM transformer_config.py, __post_init__.
void megatron_offload(Rules& r) {
    const bool pipeline = r.plan.layout.pp > 1, again = r.plan.training.recompute.any();
    if (r.plan.training.offload.activations_layers == 0 || (!pipeline && !again)) return;
    Problem& p = r.add(Severity::warning, Rule::megatron, ProblemCode::megatron_offload,
                       "/training/offload/activations_layers");
    if (!r.messages) return;
    p.message = sentence("Megatron keeps activations in host memory (--cpu-offloading-num-layers) neither "
                         "with recomputation nor with a pipeline; here ",
                         pipeline ? "pp = " : "recompute is ",
                         pipeline ? with_commas(r.plan.layout.pp) : words_of(r.plan.training.recompute), ".");
    p.fix = {{"/training/offload/activations_layers", std::int64_t{0}}};
}

void small_modules(Rules& r) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const RecomputeModules small(RecomputeModule::layernorm, RecomputeModule::moe_act,
                                 RecomputeModule::mla_up_proj);
    if (!choice.modules.any_of(small)) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::recompute_launches, "/training/recompute");
    if (!r.messages) return;
    p.message = "Modules that are recomputed are counted with their work, not with the host's time to launch "
                "their kernels again: where the host is the slower one, a step takes a few per cent more.";
}

void reshard_without_gathering(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.reshard != Reshard::never || l.zero == 3) return;
    Problem& p =
        r.add(Severity::info, Rule::arithmetic, ProblemCode::reshard_without_zero_3, "/layout/reshard");
    if (!r.messages) return;
    p.message = sentence("reshard says what ZeRO-3 does with gathered weights; with zero = ", l.zero,
                         " nothing is gathered.");
}

void weight_shards(Rules& r) {
    const std::int64_t shards = r.plan.layout.weight_shards.value_or(1);
    if (shards == 1) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::weight_shards_not_counted,
                       "/layout/weight_shards");
    if (!r.messages) return;
    p.message = sentence("Weights in ", shards,
                         " further shards, gathered for each pass, are not in the "
                         "figures yet: memory is too high by them, communication too low.");
}

// Megatron lays them next to tp in any order (parallel_state.py, _inject_gtp_remat_axis).
void weight_shards_outside(Rules& r) {
    const GroupFactors shards = group_factors(r.mesh, GroupKind::gtp_remat);
    const bool together =
        shards.count < 2 || shards.factor[1].stride == shards.factor[0].size * shards.factor[0].stride;
    if (shards.count == 0 || (together && shards.factor[0].stride == r.mesh.dense[Axis::tp].size)) return;
    Problem& p =
        r.add(Severity::warning, Rule::megatron, ProblemCode::weight_shards_outside, "/layout/weight_shards");
    if (!r.messages) return;
    p.message =
        sentence("Megatron lays the ", r.mesh.weight_shards,
                 " ranks that share a matrix (gtp_remat) next to tp, ", r.mesh.dense[Axis::tp].size,
                 " ranks apart. Here they lie among the ranks of data parallelism, the first two ",
                 shards.factor[0].stride, " ranks apart", together ? "" : ", and not next to each other",
                 ": groups of gtp_remat, cp, pp and dp have other ranks than in Megatron.");
}

void prediction_message(Rules& r) {
    const Plan& plan = r.plan;
    const std::int64_t last = pipeline_chunks(plan.layout) - 1;
    if (plan.model.mtp_layers == 0 || plan.layout.mtp_chunk.value_or(last) >= last) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::mtp_message, "/layout/mtp_chunk");
    if (!r.messages) return;
    p.message = sentence("From chunk ", *plan.layout.mtp_chunk, " on a message carries the states of ",
                         count_text(plan.model.mtp_layers, "prediction"),
                         " besides; they are not counted in the pipeline's messages.");
}

// MLA's configurations have one switch, attention_bias, and no biases only of queries, keys and values.
void bias_of_latents(Rules& r) {
    const Model& m = r.plan.model;
    if (!m.qkv_bias || m.attention != AttentionKind::mla || m.attention_bias) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::mla_qkv_bias, "/model/qkv_bias");
    if (!r.messages) return;
    p.message = "qkv_bias does nothing with attention mla: biases of its projections are attention_bias.";
    p.fix = {{"/model/qkv_bias", false}};
}

// A GPU's preset has no peak of its vector units.
void full_precision(Rules& r) {
    if (r.plan.training.compute != Dtype::fp32) return;
    Problem& p = r.add(Severity::warning, Rule::hardware, ProblemCode::fp32_as_tf32, "/training/compute");
    if (!r.messages) return;
    const bool tf32 = r.plan.cluster.gpu.flops.tf32 > 0;
    p.message = sentence("fp32 products are timed at the peak of ", tf32 ? "tf32" : "bf16",
                         ", as where a framework allows that. Without it they run on the vector units, many "
                         "times slower, which is not counted.");
    if (tf32) p.fix = {{"/training/compute", std::string(name_of(Dtype::tf32))}};
}

}  // namespace

void check_notices(Rules& r) {
    check_modules(r);
    deepep_domain(r);
    megatron_offload(r);
    exchange_kernels(r);
    offload_time(r);
    small_modules(r);
    reshard_without_gathering(r);
    weight_shards(r);
    weight_shards_outside(r);
    prediction_message(r);
    bias_of_latents(r);
    full_precision(r);
}

}  // namespace pentamesh
