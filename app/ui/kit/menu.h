// A list that drops from an anchor: menus of the bar, choices of a box.
#pragma once

#include "app/ui/kit/ui.h"

#include <string>
#include <vector>

namespace pentamesh::ui {

struct MenuItem {
    std::string label;
    std::string right{};   // shortcut or remark
    std::string detail{};  // a second, quieter line
    bool enabled = true;
    bool checked = false;
    bool separator = false;  // a line before it
};

struct MenuResult {
    int picked = -1;  // index into the items
    bool closed = false;
};
// `filter` non-null: a text field on top narrows the list. `selected`: moved by the arrow keys.
struct MenuState {
    std::string filter;
    int cursor = -1;
    float scroll = 0;
    bool fresh = true;  // set when the menu opens
};
MenuResult draw_menu(Ui& ui, std::string_view name, Rect anchor, const std::vector<MenuItem>& items,
                     MenuState& state, bool with_filter, float min_width = 200);

// Fuzzy match of a typed word sequence: every letter in order. Higher is better, -1: no match.
[[nodiscard]] int fuzzy_score(std::string_view pattern, std::string_view text);

}  // namespace pentamesh::ui
