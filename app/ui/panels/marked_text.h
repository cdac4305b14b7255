// Shows a text as it was written, its lines numbered and marked; it scrolls. The text that an import reads
// and the text that an export writes are shown in one.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "core/base/enum_array.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

enum class LineMark : std::uint8_t { mapped, ignored, cannot_hold, not_known };

}  // namespace pentamesh::ui

template <>
inline constexpr std::size_t pentamesh::kEnumCount<pentamesh::ui::LineMark> = 4;

namespace pentamesh::ui {

// Returns "->", "·", "!", "?", so that colour is never the only mark.
[[nodiscard]] std::string_view sign_of(LineMark mark);
[[nodiscard]] Color color_of(const Theme& theme, LineMark mark);
[[nodiscard]] std::string_view words_of(LineMark mark);  // "mapped", "cannot hold"

struct MarkedText {
    std::vector<std::string_view> lines;  // of a text that outlives them
    std::vector<std::uint8_t> marks;      // a bit a LineMark, by line; may be empty
    void set_text(std::string_view text);
    void mark(int line, LineMark mark);  // from 1; 0: in no line
};

struct MarkedTextState {
    ScrollState scroll{};
    int lit = 0;      // line to light, from 1; 0: none
    int show = 0;     // line to scroll to in this frame
    int hovered = 0;  // under the mouse, as of this frame
};
void draw_marked_text(Ui& ui, std::string_view name, Rect room, const MarkedText& text,
                      MarkedTextState& state);

}  // namespace pentamesh::ui
