// Describes a block of the timeline under the mouse, or a run of blocks too narrow to draw.
#pragma once

#include "app/ui/views/timeline/timeline_shown.h"

#include <cstddef>
#include <string>

namespace pentamesh::ui {

[[nodiscard]] std::string op_tooltip(const Timeline& t, const ShownTimeline& shown, std::size_t i);
[[nodiscard]] std::string run_tooltip(const Block& b);

}  // namespace pentamesh::ui
