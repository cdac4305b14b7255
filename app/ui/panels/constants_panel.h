// Shows the constants of the time model: each with its meaning, its source, a stepper, and a way back.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/step/constants.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

struct ConstantsState {
    ScrollState scroll;
    std::string editing, edit_text;  // id of the constant whose value is typed
    bool edit_fresh = false;
    std::string refused, refusal;  // the constant whose last value was refused, and why; until the next edit
    Kept<std::vector<Constant>> list;  // by revision
};
[[nodiscard]] std::optional<PlanEdit> draw_constants(Ui& ui, Rect room, const Scene& scene,
                                                     ConstantsState& state, std::uint64_t revision);
[[nodiscard]] std::string constant_text(Constant::Unit unit, double value);

}  // namespace pentamesh::ui
