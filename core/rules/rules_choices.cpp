// Checks that the finer choices go together: groups inside context parallelism, the chunk of the prediction
// layers, weights cut further, recomputation and offload to host memory.
#include "core/rules/rules.h"

#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/stages.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh {
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

}  // namespace pentamesh
