// Draws the buttons that play something and go a step back or on.
#pragma once

#include "app/ui/kit/ui.h"

#include <cstdint>
#include <string_view>

namespace pentamesh::ui {

enum class PlayerMark : std::uint8_t { back, play, pause, forward };

// Draws a quiet button with a drawn mark, so that no font needs it. Returns true if it was clicked; `what` is
// its tooltip.
[[nodiscard]] bool player_button(Ui& ui, std::string_view name, Rect r, PlayerMark mark,
                                 std::string_view what);

}  // namespace pentamesh::ui
