// Says in words what the keyboard has reached, for a screen reader: of a picture it knows nothing.
#pragma once

#include "app/ui/kit/ui.h"
#include "render/surface.h"

#include <span>
#include <string>

namespace pentamesh::ui {

// Returns the texts that stand in the focused area, behind those to the left of it on its line, which name
// it: "tensor parallel, 8, +". It is empty where the keyboard was not used last or nothing has it.
[[nodiscard]] std::string focused_words(const UiState& state, std::span<const TextRun> drawn);

}  // namespace pentamesh::ui
