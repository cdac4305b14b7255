#include "app/ui/views/mesh/mesh_axes.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr GroupKind kDenseAxes[] = {GroupKind::tp, GroupKind::cp, GroupKind::dp_shard,
                                    GroupKind::dp_replicate, GroupKind::pp};
// Megatron's axes where weights are cut further than by tp: data parallelism is cut in two.
constexpr GroupKind kShardAxes[] = {GroupKind::tp, GroupKind::gtp_remat, GroupKind::cp,
                                    GroupKind::dp_without_gtp_remat, GroupKind::pp};
constexpr GroupKind kExpertAxes[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp};

std::span<const GroupKind> axis_kinds(const Mesh& mesh, bool expert) {
    if (expert) return kExpertAxes;
    return mesh.weight_shards > 1 ? std::span<const GroupKind>(kShardAxes) : kDenseAxes;
}

// Returns true if the groups of the kind are those of the axis, in the same mesh.
bool has_groups_of(const Mesh& mesh, GroupKind kind, const MeshAxis& axis) {
    const GroupFactors kept = group_factors(mesh, kind);
    const auto f = kept.span(), of_axis = axis.factors.span();
    // The bytes of weight shards are not counted; those of another axis among the same ranks are not theirs.
    if (is_of_weight_shards(axis.kind)) return kind == axis.kind;
    return is_expert(kind) == is_expert(axis.kind)
           && std::equal(f.begin(), f.end(), of_axis.begin(), of_axis.end());
}

}  // namespace

MeshAxis mesh_axis(const Theme& theme, const Plan& plan, const Evaluation& evaluation, GroupKind kind) {
    const GroupSummary& s = evaluation.groups[kind];
    return {.kind = kind,
            .degree = s.degree,
            .factors = group_factors(evaluation.mesh, kind),
            .tier = s.slowest_tier,
            .color = color_of(theme, kind),
            .mark = mark_of_tier(theme, plan.cluster, s.slowest_tier)};
}

MeshAxes axes_of(const Theme& theme, const Plan& plan, const Evaluation& evaluation, bool expert) {
    MeshAxes out;
    for (const GroupKind kind : axis_kinds(evaluation.mesh, expert)) {
        const MeshAxis axis = mesh_axis(theme, plan, evaluation, kind);
        if (axis.degree <= 1 || axis.factors.count == 0) continue;
        // It goes behind those with smaller strides.
        std::size_t at = out.count++;
        for (; at > 0 && out.axis[at - 1].stride() > axis.stride(); --at) out.axis[at] = out.axis[at - 1];
        out.axis[at] = axis;
    }
    return out;
}

std::int64_t tile_of(const Plan& plan, const Evaluation& evaluation, bool expert) {
    if (plan.cluster.tiers.empty()) return 1;
    const std::int64_t domain = domain_of(plan.cluster, 0);
    for (const GroupKind kind : axis_kinds(evaluation.mesh, expert)) {
        const GroupSummary& s = evaluation.groups[kind];
        const GroupFactors f = group_factors(evaluation.mesh, kind);
        if (s.degree > 1 && s.slowest_tier == 0 && f.count == 1 && f.factor[0].stride == 1
            && domain % s.degree == 0)
            return s.degree;
    }
    return 1;
}

const MeshAxis* tile_axis(const MeshAxes& axes, std::int64_t tile) {
    return tile > 1 && axes.count > 0 && axes.axis[0].degree == tile ? &axes.axis[0] : nullptr;
}

AxisCost cost_of(const Evaluation& evaluation, GroupKind kind) {
    const AxisTraffic& t = evaluation.comm.by_axis[kind];
    if (!evaluation.step) return {};
    return {.bytes = t.sent_bytes_per_rank,
            .time_s = t.time_s,
            .waits_s = evaluation.step->exposed_comm_s[kind],
            .step_s = evaluation.step->time_s};
}

AxisCost cost_of(const Evaluation& evaluation, const MeshAxis& axis) {
    AxisCost sum;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (!has_groups_of(evaluation.mesh, kind, axis)) continue;
        const AxisCost c = cost_of(evaluation, kind);
        sum.bytes += c.bytes, sum.time_s += c.time_s, sum.waits_s += c.waits_s, sum.step_s = c.step_s;
    }
    return sum;
}

std::string_view words_without_bytes(GroupKind kind) {
    if (kind == GroupKind::gtp_remat) return "gathers weights: not counted";
    return is_of_weight_shards(kind) ? "counted with all of dp" : "sends nothing";
}

std::vector<MeshAxis> axes_that_send(const Theme& theme, const Scene& scene) {
    const MeshAxes axes = axes_of(theme, scene);
    std::vector<MeshAxis> out(axes.span().begin(), axes.span().end());
    for (const GroupKind kind : all_of<GroupKind>()) {
        const auto known = [&](const MeshAxis& a) { return has_groups_of(scene.evaluation.mesh, kind, a); };
        if (cost_of(scene.evaluation, kind).bytes <= 0 || std::any_of(out.begin(), out.end(), known))
            continue;
        out.push_back(mesh_axis(theme, scene.plan, scene.evaluation, kind));
    }
    return out;
}

}  // namespace pentamesh::ui
