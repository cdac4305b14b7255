// The axes of the mesh that is shown, and what their groups are like: where they lie, what they cost.
#pragma once

#include "app/ui/scene/scene.h"
#include "core/mesh/mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct MeshAxis {
    GroupKind kind = GroupKind::tp;
    std::int64_t degree = 1;
    GroupFactors factors{};
    int tier = 0;  // the slowest that its groups cross
    Color color{};
    TierMark mark{};  // of that tier
    [[nodiscard]] bool inside() const { return tier == 0; }
    [[nodiscard]] std::int64_t stride() const { return factors.factor[0].stride; }
    // Returns the i-th member of the group that begins with `first`, ascending.
    [[nodiscard]] std::int64_t member(std::int64_t first, std::int64_t i) const {
        for (const Factor& f : factors.span()) first += i % f.size * f.stride, i /= f.size;
        return first;
    }
    // Returns the first rank of a rank's group.
    [[nodiscard]] std::int64_t first_of(std::int64_t rank) const {
        std::int64_t first = rank;
        for (const Factor& f : factors.span()) first -= rank / f.stride % f.size * f.stride;
        return first;
    }
    // Returns the place of a rank in its group.
    [[nodiscard]] std::int64_t place_of(std::int64_t rank) const {
        std::int64_t at = 0, of = 1;
        for (const Factor& f : factors.span()) at += rank / f.stride % f.size * of, of *= f.size;
        return at;
    }
};

// Returns the axis whose groups are of this kind.
[[nodiscard]] MeshAxis mesh_axis(const Theme& theme, const Plan& plan, const Evaluation& evaluation,
                                 GroupKind kind);

// The axes with more than one rank, innermost first. It holds no list on the heap: a frame asks for it.
struct MeshAxes {
    std::array<MeshAxis, 5> axis{};
    std::size_t count = 0;
    [[nodiscard]] std::span<const MeshAxis> span() const& { return {axis.data(), count}; }
    void span() const&& = delete;
};
[[nodiscard]] MeshAxes axes_of(const Theme& theme, const Plan& plan, const Evaluation& evaluation,
                               bool expert);
[[nodiscard]] inline MeshAxes axes_of(const Theme& theme, const Scene& scene) {
    return axes_of(theme, scene.plan, scene.evaluation, scene.selection.expert());
}
// Returns how many GPUs with neighbouring ranks form one closed group inside a fast domain; 1 where none do.
// It is a property of the mesh, not of the axis that is highlighted.
[[nodiscard]] std::int64_t tile_of(const Plan& plan, const Evaluation& evaluation, bool expert);
// The axis of those groups: the first of `axes`, or null.
[[nodiscard]] const MeshAxis* tile_axis(const MeshAxes& axes, std::int64_t tile);

// Holds the costs of one kind of groups, for a GPU and a step.
struct AxisCost {
    double bytes = 0, time_s = 0, waits_s = 0, step_s = 0;
    [[nodiscard]] double share() const { return step_s > 0 ? waits_s / step_s : 0; }
};
[[nodiscard]] AxisCost cost_of(const Evaluation& evaluation, GroupKind kind);
// Sums all kinds that have the groups of the axis: dp is dp_replicate where nothing is sharded.
[[nodiscard]] AxisCost cost_of(const Evaluation& evaluation, const MeshAxis& axis);
// Says why an axis has no bytes. What weight shards send is not counted; other calls are those of all of dp.
[[nodiscard]] std::string_view words_without_bytes(GroupKind kind);

// Returns the axes of the shown mesh, and all other groups that send something.
[[nodiscard]] std::vector<MeshAxis> axes_that_send(const Theme& theme, const Scene& scene);

}  // namespace pentamesh::ui
