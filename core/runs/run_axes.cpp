#include "core/runs/run_axes.h"

#include "core/runs/run_layout.h"

#include <algorithm>

namespace pentamesh::runs {
namespace {

RunPart part_of_axes(AxisSet axes) {
    constexpr AxisSet kData =
        bit_of(RunAxis::gtp) | bit_of(RunAxis::shard) | bit_of(RunAxis::replicate) | bit_of(RunAxis::edp);
    constexpr AxisSet kExperts = bit_of(RunAxis::ep) | bit_of(RunAxis::etp);
    if ((axes & kData) != 0) return RunPart::dp;
    if (axes == bit_of(RunAxis::tp) || axes == bit_of(RunAxis::etp)) return RunPart::tp;
    if (axes == bit_of(RunAxis::cp)) return RunPart::cp;
    if (axes == bit_of(RunAxis::pp)) return RunPart::pp;
    if ((axes & ~kExperts) == 0) return RunPart::ep;
    return RunPart::unnamed;
}

// Groups that are a part of an axis name it in their description.
RunPart part_of_words(std::string_view description) {
    const auto has = [&](std::string_view word) { return description.find(word) != std::string_view::npos; };
    if (has("DATA_PARALLEL")) return RunPart::dp;
    if (has("CONTEXT_PARALLEL")) return RunPart::cp;
    if (has("EMBEDDING")) return RunPart::pp;
    return RunPart::unnamed;
}

std::optional<RunPart> part_in_mesh(const Mesh& mesh, const RunGroup& group) {
    for (const GroupKind k :
         {GroupKind::tp, GroupKind::cp, GroupKind::pp, GroupKind::ep, GroupKind::dp_shard,
          GroupKind::dp_replicate, GroupKind::dp, GroupKind::dp_cp, GroupKind::fsdp, GroupKind::gtp_remat,
          GroupKind::dp_without_gtp_remat, GroupKind::dp_cp_without_gtp_remat, GroupKind::etp, GroupKind::edp,
          GroupKind::etp_ep}) {
        if (is_expert(k) && !mesh.has_experts) continue;
        if (group.ranks.size() < 2 || group.ranks.front() >= mesh.world) continue;
        const std::vector<std::int64_t> members = group_members(mesh, k, group.ranks.front());
        // Only the first ranks of a long group may be known.
        if (members.size() > 1 && static_cast<std::int64_t>(members.size()) == group.size
            && group.ranks.size() <= members.size()
            && std::equal(group.ranks.begin(), group.ranks.end(), members.begin()))
            return part_of_kind(k);
    }
    return std::nullopt;
}

}  // namespace

RunPart part_of_kind(GroupKind kind) {
    if (is_data_parallel(kind)) return RunPart::dp;
    switch (kind) {
    case GroupKind::tp:
    case GroupKind::etp:
    case GroupKind::tp_cp: return RunPart::tp;
    case GroupKind::cp: return RunPart::cp;
    case GroupKind::pp: return RunPart::pp;
    case GroupKind::ep:
    case GroupKind::etp_ep: return RunPart::ep;
    default: return RunPart::unnamed;
    }
}

PartOfGroup parts_by(const Mesh* mesh) {
    return [mesh](const RunGroup& group, std::string_view collective, const RunFile& file) {
        if (group.size <= 0 && group.name.empty()) return RunPart::unnamed;
        const GroupMeaning meaning = meaning_of(group.name);
        if (meaning.kind == GroupMeaning::Kind::axes) return part_of_axes(meaning.axes);
        if (meaning.kind == GroupMeaning::Kind::part) return part_of_words(group.name);
        if (mesh)
            if (const std::optional<RunPart> part = part_in_mesh(*mesh, group)) return *part;
        const bool whole = group.size > 1
                           && std::all_of(file.groups.begin(), file.groups.end(),
                                          [&](const RunGroup& g) { return g.size == group.size; })
                           && (file.world < 0 || file.world == group.size);
        if (collective == "Send" || collective == "Recv") return RunPart::pp;
        if (collective == "AllToAll" || collective == "Dispatch" || collective == "Combine")
            return RunPart::ep;
        // Replicas of the whole job reduce and gather over all of its ranks.
        return whole ? RunPart::dp : RunPart::unnamed;
    };
}

std::optional<Collective> collective_called(std::string_view name) {
    if (name == "AllReduce") return Collective::all_reduce;
    if (name == "AllGather") return Collective::all_gather;
    if (name == "ReduceScatter") return Collective::reduce_scatter;
    if (name == "AllToAll" || name == "Dispatch" || name == "Combine") return Collective::all_to_all;
    if (name == "SendRecv" || name == "Send" || name == "Recv") return Collective::send_recv;
    return std::nullopt;
}

}  // namespace pentamesh::runs
