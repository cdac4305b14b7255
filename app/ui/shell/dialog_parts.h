// All dialogs share these: their measures, the buttons of their last row, the text of an error.
#pragma once

#include "app/ui/kit/ui.h"

#include <string>
#include <string_view>

namespace pentamesh::ui {

inline constexpr float kDialogButton = 104, kDialogGap = 8, kDialogField = 30;
inline constexpr Vec2 kDialogPad{24, 20};
inline constexpr float kDialogHead = 28, kAboveButtons = 14, kButtonHeight = 30;

// Draws a button of a dialog's last row, from the right. Returns true if it was clicked.
[[nodiscard]] bool dialog_button(Ui& ui, Rect& row, std::string_view name, std::string_view label,
                                 bool enabled = true, float width = kDialogButton);
void dialog_error_text(Ui& ui, Rect room, const std::string& error);

}  // namespace pentamesh::ui
