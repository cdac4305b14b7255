// Draws where a step's sending goes: axis, link, and whether the step waits for it.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"

#include <string>

namespace pentamesh::ui {

enum class FlowWidth : std::uint8_t { time, bytes };
// Draws bands from each axis over its links to "the step waits" and "hidden behind compute". A band is as
// wide as its time, or its bytes. A click on an axis selects it.
void draw_comm_flow(Ui& ui, Rect room, Scene& scene, FlowWidth width);

// Returns what an axis' traffic is, in lines.
[[nodiscard]] std::string traffic_words(const std::string& name, const AxisTraffic& t);

}  // namespace pentamesh::ui
