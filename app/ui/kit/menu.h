// A menu is a list that drops from an anchor: menus of the bar, choices of a box.
#pragma once

#include "app/ui/kit/data_table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct MenuItem {
    std::string label;
    std::string right{};   // shortcut or remark
    std::string detail{};  // a second, smaller line
    bool enabled = true;
    bool checked = false;
    bool separator = false;                                                   // a line before it
    enum class Fold : std::uint8_t { none, closed, open } fold = Fold::none;  // it opens a group of items
    bool inner = false;                                                       // of such a group
    bool stays = false;  // stands below the list, where it is always seen, for any length of the list and any
                         // typed text
};

struct MenuResult {
    int picked = -1;  // index into the items
    bool closed = false;
    int beside = 0;  // -1, 1: Left, Right was pressed: the menu of that side is wanted
};
struct MenuState {
    std::string filter;
    int cursor = -1;  // row of the shown items, moved by the arrow keys; -1: none
    ScrollState scroll{};
    bool fresh = true;  // set when the menu opens
};
// With `with_filter`, a text field on top narrows the list. Of a longer list than `most_rows` of one line the
// rest scrolls; 0: it is as high as the window has room.
MenuResult draw_menu(Ui& ui, std::string_view name, Rect anchor, const std::vector<MenuItem>& items,
                     MenuState& state, bool with_filter, float min_width = 200, int most_rows = 0);
// Draws a list with a text field on top, whose items `find` returns for the typed text, in their order. It is
// called whenever the text has changed: `picked` is an index into the last items that it returned.
using FindItems = std::function<std::vector<MenuItem>(const std::string& typed)>;
MenuResult draw_found_menu(Ui& ui, std::string_view name, Rect anchor, const FindItems& find,
                           MenuState& state, float width, int most_rows);
// Returns the items that a filter leaves (match.h), best match first, those that match equally in their
// order; all where it is empty. Where one of them has the typed text together, items with only scattered
// letters are dropped.
[[nodiscard]] std::vector<std::size_t> matching(const std::vector<MenuItem>& items, std::string_view filter);

// The best match is the typed text as it is at the start of a word, then anywhere; then its words, each at
// the start of one, then anywhere; then pieces of it, each the start of a word ("thli": theme light); then
// letters that merely come in that order. Returns a higher number for a better match, -1 for no match.
// Capitals count as small letters.
[[nodiscard]] int match_score(std::string_view typed, std::string_view text);
// From this score on the typed text stands together somewhere; lower scores are scattered letters.
inline constexpr int kTogether = 40000;

}  // namespace pentamesh::ui
