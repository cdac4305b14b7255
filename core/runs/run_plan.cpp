#include "core/runs/run_layout.h"

#include "core/base/text.h"
#include "core/mesh/mesh.h"

#include <algorithm>

namespace pentamesh::runs {
namespace {

// Returns a plan's order: the run's axes as they lie, ep where it lies in the experts' mesh, those of size 1
// in their usual place.
std::array<Axis, kAxisCount> order_of(const RunLayout& l) {
    std::vector<Axis> order;
    const auto add = [&](Axis a) {
        if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    };
    const auto before = [&](RunAxis a, RunAxis b) {
        return l.factors[a].size > 1 && l.factors[b].size > 1 && l.factors[a].stride < l.factors[b].stride;
    };
    std::vector<RunAxis> dense = l.order;
    for (const RunAxis a : {RunAxis::tp, RunAxis::cp})  // of size 1: innermost, where that changes nothing
        if (l.factors[a].size == 1) dense.insert(dense.begin(), a);
    for (const RunAxis a : dense) {
        const bool experts = l.has_experts && l.factors[RunAxis::ep].size > 1;
        // Experts lie inside what is left of data parallelism, unless their own mesh says otherwise.
        const bool outer =
            a == RunAxis::pp ? before(RunAxis::ep, RunAxis::pp) : !before(RunAxis::edp, RunAxis::ep);
        if (experts && outer && (a == RunAxis::shard || a == RunAxis::replicate || a == RunAxis::pp))
            add(Axis::ep);
        switch (a) {
        case RunAxis::tp: add(Axis::tp); break;
        case RunAxis::gtp:  // it takes all of data parallelism, or is the innermost part of it
            if (l.factors[RunAxis::shard].size == 1) add(Axis::cp), add(Axis::ep), add(Axis::dp_shard);
            break;
        case RunAxis::cp: add(Axis::cp); break;
        case RunAxis::shard: add(Axis::dp_shard); break;
        case RunAxis::replicate: add(Axis::dp_replicate); break;
        case RunAxis::pp: add(Axis::pp); break;
        default: break;
        }
    }
    for (const Axis a : Layout{}.order) add(a);
    std::array<Axis, kAxisCount> out{};
    std::copy(order.begin(), order.end(), out.begin());
    return out;
}

}  // namespace

Plan plan_of(const RunLayout& l, Plan base, bool fill) {
    const auto size = [&](RunAxis a) { return l.factors[a].size; };
    Layout& to = base.layout;
    const Layout fresh;
    to.order = order_of(l);
    to.tp = size(RunAxis::tp), to.cp = size(RunAxis::cp), to.pp = size(RunAxis::pp);
    to.dp_shard = size(RunAxis::gtp) * size(RunAxis::shard), to.dp_replicate = size(RunAxis::replicate);
    to.ep = l.has_experts ? size(RunAxis::ep) : 1;
    to.etp = l.has_experts ? std::optional(size(RunAxis::etp)) : std::nullopt;
    to.sequence_parallel = to.sequence_parallel && to.tp > 1;
    // These go with other degrees.
    to.virtual_stages = fresh.virtual_stages, to.schedule = fresh.schedule;
    to.stage_layers.clear();
    to.microbatch_group = fresh.microbatch_group, to.cp_inner = fresh.cp_inner;
    to.mtp_chunk = fresh.mtp_chunk, to.weight_shards = fresh.weight_shards;
    if (size(RunAxis::gtp) > 1) to.weight_shards = size(RunAxis::gtp);
    if (l.device_mesh || l.sharded) to.zero = 3;
    base.cluster.gpus = l.world;
    if (!base.cluster_source.preset.empty()
        && std::find(base.cluster_source.overrides.begin(), base.cluster_source.overrides.end(), "/gpus")
               == base.cluster_source.overrides.end())
        base.cluster_source.overrides.emplace_back("/gpus");
    base.name = "A run on " + count_text(l.world, "GPU");
    base.notes.clear();
    base.review = {};
    base.scene = {};
    if (fill) {
        constexpr std::int64_t kMicrobatches = 8;
        const std::int64_t replicas = size(RunAxis::gtp) * size(RunAxis::shard) * size(RunAxis::replicate);
        base.training.global_batch =
            replicas * base.training.micro_batch * std::max(kMicrobatches, 2 * size(RunAxis::pp));
    }
    return base;
}

std::vector<std::string> differences(const RunLayout& l, const Plan& plan) {
    std::vector<std::string> out;
    const Mesh mesh = build_mesh(plan);
    if (mesh.world != l.world) {
        out.push_back(sentence("The run has ", l.world, " ranks, the plan ", mesh.world, "."));
        return out;
    }
    const auto compare = [&](std::string_view name, const Factor& run, const Factor& planned) {
        if (run.size != planned.size)
            out.push_back(sentence("The run has ", name, " ", run.size, ", the plan ", planned.size, "."));
        else if (run.size > 1 && run.stride != planned.stride)
            out.push_back(sentence("Neighbours along ", name, " are ", count_text(run.stride, "rank"),
                                   " apart in the run and ", planned.stride, " in the plan."));
    };
    compare("tp", l.factors[RunAxis::tp], mesh.dense[Axis::tp]);
    compare("cp", l.factors[RunAxis::cp], mesh.dense[Axis::cp]);
    compare("pp", l.factors[RunAxis::pp], mesh.dense[Axis::pp]);
    if (l.device_mesh) {
        compare("dp_shard", l.factors[RunAxis::shard], mesh.dense[Axis::dp_shard]);
        compare("dp_replicate", l.factors[RunAxis::replicate], mesh.dense[Axis::dp_replicate]);
    } else {  // one axis in the run: the two of the plan have to lie one behind the other
        const auto joined = [&](GroupKind kind) {
            Factor all;
            const GroupFactors factors = group_factors(mesh, kind);
            for (const Factor& f : factors.span())
                all = {all.size * f.size, all.size > 1 ? all.stride : f.stride};
            return all;
        };
        compare("gtp_remat", l.factors[RunAxis::gtp], joined(GroupKind::gtp_remat));
        compare("dp", l.factors[RunAxis::shard],
                joined(mesh.weight_shards > 1 ? GroupKind::dp_without_gtp_remat : GroupKind::dp));
    }
    if (l.has_experts && mesh.has_experts) {
        compare("ep", l.factors[RunAxis::ep], mesh.expert[Axis::ep]);
        compare("etp", l.factors[RunAxis::etp], mesh.expert[Axis::tp]);
    } else if (l.has_experts != mesh.has_experts) {
        out.emplace_back(l.has_experts ? "The run has experts, the plan's model has none."
                                       : "The plan's model has experts; no group of the run is of experts.");
    }
    return out;
}

}  // namespace pentamesh::runs
