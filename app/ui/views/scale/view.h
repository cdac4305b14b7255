// Shows how far the plan scales: the step and its parts over the number of GPUs, the batch, the sequence or a
// factor, what sets the limit, and the plan's other numbers below it.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/beside.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace pentamesh {
struct ScaleRequest;
}

namespace pentamesh::ui {

struct ScalePicture;  // scale_chart.h

// Names what is shown, in saved files and lessons.
inline constexpr std::array<std::string_view, 8> kScalePages{"strong", "weak", "batch", "sequence",
                                                             "tp",     "cp",   "ep",    "pp"};

struct ScaleViewState {
    using Key = std::pair<std::uint64_t, int>;  // the plan's revision, the page
    int page = 0;
    WorkedOut<std::shared_ptr<const ScalePicture>, Key> of;
    std::shared_ptr<const ScalePicture> last;  // is shown while the next one is worked out
};
[[nodiscard]] ScaleRequest scale_request(int page);

// A click on a value is an edit.
[[nodiscard]] std::optional<PlanEdit> draw_scale(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                 ScaleViewState& state, std::uint64_t revision);
// `part` is 0 for the points, 1 for what turns.
[[nodiscard]] Table scale_data(const ScaleViewState& state, int part);

}  // namespace pentamesh::ui
