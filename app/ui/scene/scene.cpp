#include "app/ui/scene/scene.h"

#include "app/ui/kit/format.h"

namespace pentamesh::ui {

std::string host_of(const Scene& scene, std::int64_t rank) {
    const bool named = scene.hosts != nullptr && !scene.hosts->names.empty();
    return named && rank >= 0 && rank < scene.evaluation.mesh.world ? scene.hosts->of(rank) : "";
}

int stage_of_rank(const Mesh& mesh, std::int64_t rank) {
    const Factor& pp = mesh.dense[Axis::pp];
    if (rank < 0 || rank >= mesh.world || pp.size < 2) return -1;
    return static_cast<int>(rank / pp.stride % pp.size);
}

int chosen_stage(const Scene& scene) {
    const Selection& s = scene.selection;
    return s.stage >= 0 ? s.stage : stage_of_rank(scene.evaluation.mesh, s.rank);
}

std::int64_t chosen_rank(const Scene& scene) {
    const Mesh& mesh = scene.evaluation.mesh;
    const Selection& s = scene.selection;
    const Factor& pp = mesh.dense[Axis::pp];
    if (s.stage >= 0 && s.stage < pp.size && stage_of_rank(mesh, s.rank) != s.stage)
        return s.stage * pp.stride;
    return s.rank < mesh.world ? s.rank : -1;
}

std::string chosen_name(const Scene& scene) {
    const std::int64_t rank = chosen_rank(scene);
    if (rank < 0) return "";
    return rank == scene.selection.rank ? "rank " + thousands(rank)
                                        : "stage " + std::to_string(scene.selection.stage);
}

std::string axis_label(GroupKind kind) {
    switch (kind) {
    case GroupKind::dp_cp: return "dp × cp";
    case GroupKind::tp_cp: return "tp × cp";
    case GroupKind::mp: return "tp × pp";
    case GroupKind::fsdp: return "dp_shard × cp";
    case GroupKind::dp_without_gtp_remat: return "dp / gtp_remat";
    case GroupKind::dp_cp_without_gtp_remat: return "dp × cp / gtp_remat";
    case GroupKind::etp_ep: return "etp × ep";
    default: return std::string(name_of(kind));
    }
}

std::optional<GroupKind> axis_named(std::string_view name) {
    for (const GroupKind kind : all_of<GroupKind>())
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

}  // namespace pentamesh::ui
