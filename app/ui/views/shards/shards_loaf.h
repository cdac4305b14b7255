// The page `loaf` of Shards: the whole loaf with its knives, the slices of the GPUs, and what each cut sends.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/loaf_solid.h"
#include "core/teach/map.h"

#include <optional>
#include <tuple>
#include <vector>

namespace pentamesh::ui {

struct LoafShown {
    Loaf loaf;
    std::vector<MapRow> rows;  // of the axes that talk
};
struct LoafPageState {
    // By revision, the kind of groups and the first rank of the group.
    Kept<LoafShown, std::tuple<std::uint64_t, GroupKind, std::int64_t>> shown;
};
[[nodiscard]] std::optional<PlanEdit> draw_loaf(Ui& ui, Rect room, Scene& scene, LoafPageState& state,
                                                std::uint64_t revision);
[[nodiscard]] Table loaf_data(const Scene& scene);

// Draws the loaf uncut, with a knife for each axis: a click on its chip cuts further, a right click less.
[[nodiscard]] std::optional<PlanEdit> draw_whole_loaf(Ui& ui, Rect room, Scene& scene, const Loaf& loaf);

}  // namespace pentamesh::ui
