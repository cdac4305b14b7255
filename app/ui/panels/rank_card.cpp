#include "app/ui/panels/selection_words.h"

#include "app/ui/kit/format.h"
#include "core/mesh/places.h"
#include "core/sharding/copies.h"

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kListed = 6;  // more are folded

// Joins a factor with the one below where it goes on where that ends.
GroupFactors joined(const GroupFactors& f) {
    GroupFactors out;
    for (const Factor& x : f.span()) {
        const auto n = static_cast<std::size_t>(out.count);
        if (n > 0 && out.factor[n - 1].size * out.factor[n - 1].stride == x.stride)
            out.factor[n - 1].size *= x.size;
        else
            out.factor[n] = x, ++out.count;
    }
    return out;
}

// Returns "0 … 7", "3, 11 … every 8th rank", "1, 4, 5", "a group of 64 from rank 2".
std::string members_text(const GroupFactors& factors, std::int64_t rank) {
    const GroupFactors f = joined(factors);
    const std::int64_t degree = degree_of(f);
    std::int64_t first = rank;
    for (const Factor& x : f.span()) first -= rank / x.stride % x.size * x.stride;
    const Factor low = f.factor[0];
    if (f.count == 1 && low.stride == 1 && degree > 2)
        return thousands(first) + " … " + thousands(first + degree - 1);
    if (degree <= kListed) {
        std::string text;
        for (const std::int64_t r : ranks_over(f, rank))
            if (r != rank) text += (text.empty() ? "" : ", ") + thousands(r);
        return text;
    }
    if (f.count == 1)
        return thousands(first) + ", " + thousands(first + low.stride) + " … every " + ordinal(low.stride)
               + " rank";
    return "a group of " + thousands(degree) + " from rank " + thousands(first);
}

// Returns "3 of 8, with 0 … 7": counted from 0, in the order of the ranks.
std::string place_in(const GroupFactors& f, std::int64_t rank) {
    std::int64_t at = 0, below = 1;
    for (const Factor& x : f.span()) {
        at += rank / x.stride % x.size * below;
        below *= x.size;
    }
    return thousands(at) + " of " + thousands(below) + ", with " + members_text(f, rank);
}

// `across` is the stage that holds the same layers, -1 where no stage does.
std::string copies_text(const GroupFactors& f, std::int64_t rank, std::int64_t across) {
    const std::int64_t n = degree_of(f);
    std::string text = n > 1 ? plural(n - 1, "other GPU", "other GPUs") + ": " + members_text(f, rank) : "";
    if (across >= 0)
        text += (n > 1 ? "; and " : "") + plural(n, "GPU", "GPUs") + " of stage " + thousands(across);
    return text.empty() ? "no other GPU" : text;
}

bool runs_experts(const Evaluation& e, std::int64_t stage) {
    const Stages& s = e.comm.stages;
    if (s.empty() || stage >= s.devices) return false;
    for (int c = 0; c < s.chunks; ++c)
        if (s.chunk(static_cast<int>(stage), c).moe > 0) return true;
    return false;
}

}  // namespace

std::vector<CardLine> rank_lines(const Plan& plan, const Evaluation& evaluation, std::int64_t rank) {
    const Mesh& mesh = evaluation.mesh;
    std::vector<CardLine> lines{{"place", place_of(plan.cluster, rank)}};
    const std::int64_t stage = dense_coordinates(mesh, rank)[Axis::pp], stages = mesh.dense[Axis::pp].size;
    for (const Axis axis : {Axis::tp, Axis::cp, Axis::dp_shard, Axis::dp_replicate, Axis::pp}) {
        const GroupKind kind = group_of(axis);
        if (mesh.dense[axis].size <= 1) continue;
        lines.push_back({name_of(kind), axis == Axis::pp
                                            ? "stage " + thousands(stage) + " of " + thousands(stages)
                                            : place_in(group_factors(mesh, kind), rank)});
    }
    if (const GroupFactors f = group_factors(mesh, GroupKind::gtp_remat); f.count > 0)
        lines.push_back({name_of(GroupKind::gtp_remat), place_in(f, rank)});
    if (mesh.has_experts)
        for (const GroupKind kind : {GroupKind::ep, GroupKind::etp, GroupKind::edp})
            if (const GroupFactors f = group_factors(mesh, kind); f.count > 0)
                lines.push_back({name_of(kind), place_in(f, rank)});
    const auto& memory = evaluation.memory.stage;
    if (static_cast<std::size_t>(stage) < memory.size()) {
        const StageMemory& s = memory[static_cast<std::size_t>(stage)];
        lines.push_back({"computes with", count_text(static_cast<double>(s.parameters_held)) + " parameters, "
                                              + plural(s.layers, "layer", "layers")});
        const bool part = s.parameters_kept < s.parameters_held;
        lines.push_back({"keeps", (part ? count_text(static_cast<double>(s.parameters_kept)) + " of them, "
                                        : std::string())
                                      + memory_text(s.total())});
    }
    const ParameterCopies copies = parameter_copies_of(plan, mesh);
    const std::int64_t across = copies.stage_across ? stages - 1 - stage : -1;
    const std::string dense = copies_text(copies.dense, rank, across);
    lines.push_back({"same weights", dense});
    if (mesh.has_experts && runs_experts(evaluation, stage)) {
        const std::string experts = copies_text(copies.experts, rank, across);
        if (experts != dense) lines.push_back({"same experts", experts});
    }
    return lines;
}

}  // namespace pentamesh::ui
