// Draws what surrounds the slices of a sample: what a GPU holds with and without the cut, and what each way
// to bring the keys makes attention wait.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/teach/token_slices.h"

#include <optional>
#include <string_view>

namespace pentamesh::ui {

// Draws the box of a panel with its title and a line below it; returns the room inside.
[[nodiscard]] Rect token_panel(Ui& ui, Rect box, std::string_view title, std::string_view sub);

void draw_token_memory(Ui& ui, Rect box, const Scene& scene, const TokenSlices& slices);

// `roomy`: with a lane for the wire and two lines of words each. Returns the way that was clicked.
[[nodiscard]] float token_lanes_height(const TokenSlices& slices, bool roomy);
[[nodiscard]] std::optional<CpComm> draw_token_lanes(Ui& ui, Rect box, const Scene& scene,
                                                     const TokenSlices& slices, bool roomy);

}  // namespace pentamesh::ui
