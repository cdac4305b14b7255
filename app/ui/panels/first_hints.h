// Three lines, one at a time, next to the control that each is about: for somebody who looks around for the
// first time.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

namespace pentamesh::ui {

inline constexpr int kFirstHints = 3;

// Draws the hint after `seen` of them. Returns how many are seen now: one is, when what it says was done. It
// waits where its control is not drawn.
[[nodiscard]] int draw_first_hint(Ui& ui, const Scene& scene, int seen);

}  // namespace pentamesh::ui
