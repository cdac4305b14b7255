// Draws running text with **bold**, `code` and "- " bullets, wrapped at words: lessons are written in it.
#pragma once

#include "app/ui/kit/ui.h"

#include <string_view>

namespace pentamesh::ui {

struct RichStyle {
    float size = 13;
    float line = 20;         // height of a line
    float gap = 8;           // between paragraphs
    Tone tone = Tone::text;  // bold is always Tone::text
};
// Draws into the box's width from its top; with `draw` false, it only measures. Returns the height used.
float rich_text(Ui& ui, Rect box, std::string_view text, const RichStyle& style, bool draw = true);

}  // namespace pentamesh::ui
