// Lays one tensor out as a sheet that A and B cut, for the picture of a move.
#include "core/sharding/move.h"
#include "core/sharding/placement.h"
#include "core/sharding/weight_part.h"

#include <algorithm>
#include <utility>

namespace pentamesh {

namespace {

const Placement* placement_called(const std::vector<Placement>& all, TensorId id) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Placement& p) { return p.id == id; });
    return at == all.end() ? nullptr : &*at;
}

// Returns where the slices of the width begin, by the place on tp; equal ones are copies.
std::vector<double> slices_of(const MoveEnd& end, Placement p, std::size_t width) {
    for (const Axis a : {Axis::dp_shard, Axis::cp, Axis::ep}) p.axis[a].spread = Spread::copied;
    std::vector<double> begins;
    for (std::int64_t i = 0; i < p.on(Axis::tp).size; ++i) {
        Coordinates at{};
        at[Axis::tp] = i;
        const Range slice = weight_part(end.mesh, p, at).box[width];
        begins.push_back(static_cast<double>(slice.begin) / static_cast<double>(p.shape[width]));
    }
    return begins;
}

std::vector<double> inner_cuts(std::vector<double> begins) {
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    std::erase_if(begins, [](double at) { return at <= 0 || at >= 1; });
    return begins;
}

std::vector<std::int64_t> stage_cuts(const std::vector<std::array<int, 2>>& stages,
                                     const std::vector<std::int64_t>& layers) {
    std::vector<std::int64_t> cuts;
    for (std::size_t i = 1; i < layers.size(); ++i)
        if (stages[static_cast<std::size_t>(layers[i])] != stages[static_cast<std::size_t>(layers[i - 1])])
            cuts.push_back(static_cast<std::int64_t>(i));
    return cuts;
}

}  // namespace

std::size_t width_of(const Placement& in_a, const Placement& in_b) {
    const auto cuts_columns = [](const Placement& p) {
        return p.on(Axis::tp).spread == Spread::cut && p.on(Axis::tp).dim == Dim::columns;
    };
    return cuts_columns(in_a) || cuts_columns(in_b) ? 2 : 1;
}

MoveSheet sheet_of_move(const MoveEnd& a, const MoveEnd& b, TensorId id, TensorState state) {
    MoveSheet sheet;
    sheet.id = id, sheet.state = state;
    const std::vector<Placement> of_a = list_placements(a.plan, a.mesh, state, Moment::at_rest),
                                 of_b = list_placements(b.plan, b.mesh, state, Moment::at_rest);
    const Placement *pa = placement_called(of_a, id), *pb = placement_called(of_b, id);
    if (pa == nullptr || pb == nullptr) return sheet;
    const std::size_t width = width_of(*pa, *pb);
    sheet.columns = width == 2;
    const std::vector<double> slices = slices_of(b, *pb, width);
    sheet.width_a = inner_cuts(slices_of(a, *pa, width)), sheet.width_b = inner_cuts(slices);
    const std::vector<std::array<int, 2>> stages_a = stages_of_layers(a.plan, a.mesh),
                                          stages_b = stages_of_layers(b.plan, b.mesh);
    const LayerTypes types = layer_types(b.plan.model);
    const bool is_end = pb->place == Place::embedding || pb->place == Place::head || pb->place == Place::mtp;
    for (std::int64_t l = 0; l < b.plan.model.layers && !is_end; ++l)
        if (has(pb->types, type_of_layer(b.plan.model, types, l))) sheet.layers.push_back(l);
    sheet.stages_a = stage_cuts(stages_a, sheet.layers), sheet.stages_b = stage_cuts(stages_b, sheet.layers);

    const std::size_t rows = std::max<std::size_t>(sheet.layers.size(), 1), across = sheet.width_b.size() + 1;
    sheet.first_rank.assign(rows * across, -1);
    const auto column_of = [&](double begin) {
        return static_cast<std::size_t>(std::upper_bound(sheet.width_b.begin(), sheet.width_b.end(), begin)
                                        - sheet.width_b.begin());
    };
    for (std::int64_t rank = b.mesh.world; rank-- > 0;) {
        const Coordinates at =
            pb->expert ? expert_coordinates(b.mesh, rank) : dense_coordinates(b.mesh, rank);
        const std::size_t column = column_of(slices[static_cast<std::size_t>(at[Axis::tp])]);
        const auto stage = static_cast<int>(dense_coordinates(b.mesh, rank)[Axis::pp]);
        if (is_end) {
            if (part_of(b.plan, b.mesh, *pb, rank).held) sheet.first_rank[column] = rank;
            continue;
        }
        for (std::size_t r = 0; r < sheet.layers.size(); ++r) {
            const std::array<int, 2>& held = stages_b[static_cast<std::size_t>(sheet.layers[r])];
            if (held[0] == stage || held[1] == stage) sheet.first_rank[r * across + column] = rank;
        }
    }
    return sheet;
}

std::int64_t first_rank_at(const MoveSheet& sheet, double across, std::size_t row) {
    const std::size_t slices = sheet.width_b.size() + 1;
    const auto column = static_cast<std::size_t>(
        std::upper_bound(sheet.width_b.begin(), sheet.width_b.end(), across) - sheet.width_b.begin());
    const std::size_t at = row * slices + column;
    return at < sheet.first_rank.size() ? sheet.first_rank[at] : -1;
}

}  // namespace pentamesh
