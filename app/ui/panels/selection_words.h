// Describes what is selected: a GPU, a block of the timeline, how a figure came about.
#pragma once

#include "app/ui/scene/scene.h"
#include "core/base/explain.h"
#include "core/pipeline/timeline.h"
#include "core/sharding/sharding.h"

#include <cstddef>
#include <cstdint>
#include <optional>
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

// `t` is the evaluation's own timeline, or the same order with other times.
[[nodiscard]] std::vector<CardLine> block_lines(const Plan& plan, const Evaluation& e, const Timeline& t,
                                                std::size_t i);

[[nodiscard]] Explanation explain_selection(const Scene& scene);

// Returns the placement of the selected tensor or activation; nullopt where nothing is selected, or it no
// longer exists.
[[nodiscard]] std::optional<Placement> selected_tensor(const Scene& scene, Moment moment);

}  // namespace pentamesh::ui
