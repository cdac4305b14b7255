// Describes one GPU in the inspector.
#pragma once

#include "app/ui/scene/scene.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct CardLine {
    std::string_view name;
    std::string value;
};
// Returns its place, its place in each group with the others of it, its share of the compute and of the
// state, and who keeps the same. `rank` is one of the mesh's.
[[nodiscard]] std::vector<CardLine> rank_lines(const Plan& plan, const Evaluation& evaluation,
                                               std::int64_t rank);

}  // namespace pentamesh::ui
