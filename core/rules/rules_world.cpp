// Checks that the factors fill the cluster, and that the same ranks fold into the expert mesh.
#include "core/plan/factors.h"
#include "core/rules/rules.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace pentamesh {
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

}  // namespace pentamesh
