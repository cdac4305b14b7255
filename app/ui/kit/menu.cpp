#include "app/ui/kit/menu.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pentamesh::ui {

namespace {
constexpr float kRow = 26, kDetail = 18, kPad = 6, kField = 32;
char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
}  // namespace

int fuzzy_score(std::string_view pattern, std::string_view text) {
    int score = 0;
    std::size_t at = 0;
    bool run = false;
    for (const char raw : pattern) {
        if (raw == ' ') {
            run = false;
            continue;
        }
        const char c = lower(raw);
        std::size_t i = at;
        while (i < text.size() && lower(text[i]) != c) ++i;
        if (i == text.size()) return -1;
        const bool word_start = i == 0 || text[i - 1] == ' ' || text[i - 1] == '-' || text[i - 1] == '_';
        score += 1 + (run && i == at ? 4 : 0) + (word_start ? 3 : 0);
        run = true;
        at = i + 1;
    }
    // What was typed as it stands in the text comes before letters picked from all over it, in the menu's
    // order.
    const auto whole = std::search(text.begin(), text.end(), pattern.begin(), pattern.end(),
                                   [](char a, char b) { return lower(a) == lower(b); });
    if (pattern.size() > 1 && whole != text.end()) {
        const bool word = whole == text.begin() || *(whole - 1) == ' ';
        return word ? 200000 : 100000;
    }
    return score * 100 - static_cast<int>(std::min<std::size_t>(text.size(), 99));
}

MenuResult draw_menu(Ui& ui, std::string_view name, Rect anchor, const std::vector<MenuItem>& items,
                     MenuState& state, bool with_filter, float min_width) {
    MenuResult result;
    Canvas& base = ui.canvas();
    std::vector<int> shown;
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
        const auto& item = items[static_cast<std::size_t>(i)];
        if (state.filter.empty() || fuzzy_score(state.filter, item.label + " " + item.right) >= 0)
            shown.push_back(i);
    }
    if (!state.filter.empty())
        std::stable_sort(shown.begin(), shown.end(), [&](int a, int b) {
            return fuzzy_score(state.filter, items[static_cast<std::size_t>(a)].label)
                   > fuzzy_score(state.filter, items[static_cast<std::size_t>(b)].label);
        });
    float width = min_width, height = 2 * kPad + (with_filter ? kField : 0);
    const auto row_height = [&](const MenuItem& i) {
        return kRow + (i.detail.empty() ? 0 : kDetail) + (i.separator ? 9 : 0);
    };
    for (const auto& item : items) {
        const float right = item.right.empty() ? 0 : base.text_width(item.right, ui.small()) + 24;
        width = std::max(width, base.text_width(item.label, ui.style()) + right + 48);
        if (!item.detail.empty()) width = std::max(width, base.text_width(item.detail, ui.small()) + 48);
    }
    for (const int i : shown) height += row_height(items[static_cast<std::size_t>(i)]);
    const Vec2 screen = ui.frame().size;
    width = std::min(width, screen.x - 16);
    height = std::clamp(height, 60.0f, screen.y - 24);
    Rect box{anchor.x, anchor.bottom() + 4, width, height};
    if (box.bottom() > screen.y - 8) box.y = std::max(8.0f, screen.y - 8 - height);
    if (box.right() > screen.x - 8) box.x = std::max(8.0f, screen.x - 8 - width);

    result.closed = !ui.begin_layer(name, box);
    Rect room = box.inset(kPad);
    bool entered = false;
    if (with_filter) {
        bool changed = false;
        entered = ui.text_field(std::string(name) + ".filter", room.cut_top(26), state.filter,
                                "type to narrow", state.fresh, &changed);
        room.cut_top(6);
        if (changed) state.cursor = 0, state.scroll = 0;
    }
    // The Enter that opened the menu chooses nothing in it.
    const bool fresh = std::exchange(state.fresh, false);
    const int n = static_cast<int>(shown.size());
    if (pressed({Key::down}, true)) state.cursor = std::min(n - 1, state.cursor + 1);
    if (pressed({Key::up}, true)) state.cursor = std::max(0, state.cursor - 1);
    if (!with_filter && !fresh && pressed({Key::enter})) entered = true;
    if (entered && n > 0) {
        const int i = shown[static_cast<std::size_t>(std::clamp(state.cursor, 0, n - 1))];
        if (items[static_cast<std::size_t>(i)].enabled) result.picked = i;
    }
    float content = 0;
    for (const int i : shown) content += row_height(items[static_cast<std::size_t>(i)]);
    if (ui.hovers(room) && ui.frame().wheel != 0) state.scroll -= ui.frame().wheel * kRow * 2;
    Canvas& c = ui.canvas();
    c.push_clip(room);
    float y = room.y - state.scroll;
    for (int k = 0; k < n; ++k) {
        const int i = shown[static_cast<std::size_t>(k)];
        const MenuItem& item = items[static_cast<std::size_t>(i)];
        if (item.separator && state.filter.empty())
            c.line({room.x + 8, y + 4}, {room.right() - 8, y + 4}, ui.theme().hairline);
        if (item.separator) y += 9;
        const float h = row_height(item) - (item.separator ? 9 : 0);
        const Rect row{room.x, y, room.w, h};
        if (k == state.cursor) {  // kept in sight
            if (row.bottom() > room.bottom()) state.scroll += row.bottom() - room.bottom();
            if (row.y < room.y) state.scroll -= room.y - row.y;
        }
        if (row.bottom() > room.y && row.y < room.bottom()) {
            const Hit hit = ui.area(name, row, static_cast<std::uint64_t>(i), item.enabled, false);
            // A mouse that lies where a row happens to come chooses nothing.
            const bool moved = !(ui.frame().mouse == ui.state().last_mouse);
            if (hit.hovered && moved && ui.frame().wheel == 0) state.cursor = k;
            if (k == state.cursor && item.enabled) c.rect(row, ui.theme().raised, 4);
            TextStyle label = ui.style(), right = ui.small(), detail = ui.small();
            if (!item.enabled) label.color = label.color.alpha(0.45f);
            Rect text = row.inset(10, 0);
            if (item.checked) c.circle({text.x + 3, row.y + kRow / 2}, 3, ui.theme().text);
            text.cut_left(14);
            Rect first = text.cut_top(kRow);
            if (!item.right.empty()) {
                const float w = c.text_width(item.right, right) + 1;
                c.text_in(first.cut_right(w), item.right, right, Align::right);
                first.cut_right(8);
            }
            c.text_in(first, item.label, label);
            if (!item.detail.empty()) c.text_in({text.x, text.y - 4, text.w, kDetail}, item.detail, detail);
            if (hit.clicked) result.picked = i;
        }
        y += h;
    }
    state.scroll = std::clamp(state.scroll, 0.0f, std::max(0.0f, content - room.h));
    if (n == 0) c.text_in({room.x + 10, room.y, room.w - 20, kRow}, "nothing matches", ui.small());
    c.pop_clip();
    ui.end_layer();
    return result;
}

}  // namespace pentamesh::ui
