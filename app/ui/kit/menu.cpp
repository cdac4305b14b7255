#include "app/ui/kit/menu.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace pentamesh::ui {

namespace {
constexpr float kRow = 26, kDetail = 18, kPad = 6, kField = 32, kSeparator = 9, kInner = 14;
}  // namespace

std::vector<std::size_t> matching(const std::vector<MenuItem>& items, std::string_view filter) {
    std::vector<std::pair<int, std::size_t>> scored;
    int best = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const MenuItem& item = items[i];
        int score = match_score(filter, item.label);
        if (!item.right.empty())  // a remark counts a little less than a name
            score = std::max(score, match_score(filter, item.label + " " + item.right) - 1);
        if (score < 0) continue;
        scored.emplace_back(score, i);
        best = std::max(best, score);
    }
    if (best >= kTogether)
        scored.erase(
            std::remove_if(scored.begin(), scored.end(), [](auto& s) { return s.first < kTogether; }),
            scored.end());
    std::stable_sort(scored.begin(), scored.end(), [](auto& a, auto& b) { return a.first > b.first; });
    std::vector<std::size_t> out;
    for (const auto& [score, i] : scored) out.push_back(i);
    return out;
}

namespace {

float row_height(const MenuItem& item) {
    return kRow + (item.detail.empty() ? 0 : kDetail);
}

// Items that stay follow all others; the best matches come first.
std::vector<std::size_t> shown_of(const std::vector<MenuItem>& items, std::string_view filter) {
    std::vector<std::size_t> out = matching(items, filter);
    const auto stays =
        std::stable_partition(out.begin(), out.end(), [&](std::size_t i) { return !items[i].stays; });
    const std::vector<std::size_t> listed(stays, out.end());
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].stays && std::find(listed.begin(), listed.end(), i) == listed.end()) out.push_back(i);
    return out;
}

struct Menu {
    Ui& ui;
    std::string_view name;
    std::vector<MenuItem> items;
    MenuState& state;
    std::vector<std::size_t> shown;
    bool with_filter;
    int most_rows;
    bool finds = false;  // all items are shown: they were found for the typed text

    // A line separates items only in their own order.
    [[nodiscard]] float gap_before(const MenuItem& item) const {
        return item.separator && (state.filter.empty() || item.stays) ? kSeparator : 0;
    }
    // Returns the height of the items that stay: they are at the end of `shown`.
    [[nodiscard]] float foot_height() const {
        float h = 0;
        for (const std::size_t i : shown)
            if (items[i].stays) h += row_height(items[i]) + gap_before(items[i]);
        return h;
    }

    // Returns a box as wide as the widest of all items, filtered out or not, below the anchor where there is
    // room.
    [[nodiscard]] Rect box(Rect anchor, float min_width) const {
        Canvas& c = ui.canvas();
        const Vec2 screen = ui.frame().size;
        float w = min_width, h = 2 * kPad + (with_filter ? kField : 0);
        for (const MenuItem& item : items) {
            if (finds) break;  // it keeps its width while one types
            const float right = item.right.empty() ? 0 : c.text_width(item.right, ui.small()) + 24;
            const float around = 48 + (item.inner ? kInner : 0);
            w = std::max(w, c.text_width(item.label, ui.style()) + right + around);
            if (!item.detail.empty()) w = std::max(w, c.text_width(item.detail, ui.small()) + 48);
        }
        for (const std::size_t i : shown) h += row_height(items[i]) + gap_before(items[i]);
        if (shown.empty() || items[shown.front()].stays) h += kRow;  // nothing matches
        if (most_rows > 0)
            h = std::min(h, 2 * kPad + (with_filter ? kField : 0) + kRow * static_cast<float>(most_rows));
        w = std::min(w, screen.x - 16);
        h = std::clamp(h, 60.0f, screen.y - 24);
        return {std::clamp(anchor.x, std::min(8.0f, screen.x), std::max(8.0f, screen.x - 8 - w)),
                std::min(anchor.bottom() + 4, std::max(8.0f, screen.y - 8 - h)), w, h};
    }

    // Up, Down, Home and End go from one enabled item to the next. Returns true if the cursor moved.
    bool move_cursor() {
        const int n = static_cast<int>(shown.size()), before = state.cursor;
        const auto go = [&](int from, int by) {
            for (int k = from; k >= 0 && k < n; k += by)
                if (items[shown[k]].enabled) {
                    state.cursor = k;
                    return;
                }
        };
        if (pressed({Key::down}, true)) go(state.cursor + 1, 1);
        if (pressed({Key::up}, true)) go(state.cursor < 0 ? n - 1 : state.cursor - 1, -1);
        if (pressed({Key::home})) go(0, 1);
        if (pressed({Key::end})) go(n - 1, -1);
        return state.cursor != before;
    }

    // A group's mark points right while it is closed, down while it is open.
    void draw_fold(Rect end, bool open) const {
        const Vec2 m = end.center();
        using Corners = std::array<Vec2, 3>;
        const Corners mark = open ? Corners{Vec2{m.x - 4, m.y - 2}, {m.x, m.y + 2}, {m.x + 4, m.y - 2}}
                                  : Corners{Vec2{m.x - 2, m.y - 4}, {m.x + 2, m.y}, {m.x - 2, m.y + 4}};
        ui.canvas().polyline(mark, ui.theme().secondary, 1.3f);
    }

    void draw_item(Rect row, const MenuItem& item, bool highlighted) const {
        Canvas& c = ui.canvas();
        if (highlighted && item.enabled) c.rect(row, ui.theme().raised, 4);
        TextStyle label = ui.style();
        if (!item.enabled) label.color = label.color.alpha(0.45f);
        Rect text = row.inset(10, 0);
        if (item.checked) c.circle({text.x + 3, row.y + kRow / 2}, 3, ui.theme().text);
        text.cut_left(14);
        if (item.inner) text.cut_left(kInner);
        Rect first = text.cut_top(kRow);
        if (item.fold != MenuItem::Fold::none) {
            draw_fold(first.cut_right(10), item.fold == MenuItem::Fold::open);
            first.cut_right(8);
        }
        if (!item.right.empty()) {
            c.text_in(first.cut_right(c.text_width(item.right, ui.small()) + 1), item.right, ui.small(),
                      Align::right);
            first.cut_right(8);
        }
        ui.label(first, item.label, label);
        if (!item.detail.empty()) ui.label({text.x, text.y - 4, text.w, kDetail}, item.detail, ui.small());
    }

    // Right opens the group under the cursor, Left closes it. Returns its item's index, or -1.
    [[nodiscard]] int turned_fold(bool right, bool left) const {
        if (state.cursor < 0 || state.cursor >= std::ssize(shown)) return -1;
        const std::size_t i = shown[static_cast<std::size_t>(state.cursor)];
        const MenuItem::Fold fold = items[i].fold;
        const bool turns =
            (right && fold == MenuItem::Fold::closed) || (left && fold == MenuItem::Fold::open);
        return turns ? static_cast<int>(i) : -1;
    }

    // Returns the room of the next item, under its line where it has one.
    Rect next_row(Rect& room, const MenuItem& item) const {
        const float gap = gap_before(item);
        if (gap > 0) {
            const float y = room.y + 4;
            ui.canvas().line({room.x + 8, y}, {room.right() - 8, y}, ui.theme().hairline);
            room.cut_top(gap);
        }
        return room.cut_top(row_height(item));
    }
    // Returns true if the row was clicked.
    bool pick_row(Rect row, std::size_t k) {
        // A mouse that rests where a row comes to lie chooses nothing.
        const bool mouse_moved = !(ui.frame().mouse == ui.state().last_mouse) && ui.frame().wheel == 0;
        const MenuItem& item = items[shown[k]];
        const Hit hit = ui.area(name, row, shown[k], item.enabled, false);
        if (hit.hovered && mouse_moved) state.cursor = static_cast<int>(k);
        draw_item(row, item, static_cast<int>(k) == state.cursor);
        return hit.clicked;
    }

    // Returns the index of the item that was clicked, or -1.
    int draw_list(Rect room, bool cursor_moved) {
        int picked = -1;
        Rect foot = room.cut_bottom(foot_height());
        std::size_t k = 0;
        {
            ScrollArea area(ui, name, room, state.scroll, {.wheel_step = 2 * kRow, .keys = false});
            for (; k < shown.size() && !items[shown[k]].stays; ++k) {
                const Rect row = next_row(area.room, items[shown[k]]);
                if (static_cast<int>(k) == state.cursor && cursor_moved) area.show(row);
                if (area.sees(row) && pick_row(row, k)) picked = static_cast<int>(shown[k]);
            }
            if (k == 0)
                ui.canvas().text_in({room.x + 10, room.y, room.w - 20, kRow}, "nothing matches", ui.small());
        }
        for (; k < shown.size(); ++k)
            if (pick_row(next_row(foot, items[shown[k]]), k)) picked = static_cast<int>(shown[k]);
        return picked;
    }

    // Draws all of it; `refill` finds the items again once the typed text has changed.
    MenuResult draw(Rect anchor, float min_width, const std::function<void()>& refill) {
        const Rect place = box(anchor, min_width);
        const auto layer = ui.open_layer(name, place);
        MenuResult result;
        result.closed = !layer.stays();
        Rect room = place.inset(kPad);
        bool entered = false;
        if (with_filter) {
            bool changed = false;
            entered = ui.text_field(std::string(name) + ".filter", room.cut_top(26), state.filter,
                                    "type to narrow", state.fresh, &changed);
            room.cut_top(6);
            if (changed) state.cursor = 0, state.scroll = {};
            if (changed) refill();  // fast typing has Enter in the same frame
        }
        // The key that opened the menu chooses nothing in it.
        const bool fresh = std::exchange(state.fresh, false);
        const bool moved = !fresh && move_cursor();
        if (!with_filter && !fresh && pressed({Key::enter})) entered = true;
        if (entered && has_match()) {
            const int last = static_cast<int>(shown.size()) - 1;
            const std::size_t i = shown[static_cast<std::size_t>(std::clamp(state.cursor, 0, last))];
            if (items[i].enabled) result.picked = static_cast<int>(i);
        }
        if (!with_filter && !fresh) {
            const bool right = pressed({Key::right}, true), left = pressed({Key::left}, true);
            const int turned = turned_fold(right, left);
            if (turned >= 0)
                result.picked = turned;
            else
                result.beside = right ? 1 : left ? -1 : 0;
        }
        if (const int picked = draw_list(room, moved); picked >= 0) result.picked = picked;
        return result;
    }
    // Returns false where only items that stay are left, and none of them was chosen or typed.
    [[nodiscard]] bool has_match() const {
        if (shown.empty()) return false;
        return finds || !items[shown.front()].stays || state.cursor > 0
               || !matching(items, state.filter).empty();
    }
};

}  // namespace

MenuResult draw_menu(Ui& ui, std::string_view name, Rect anchor, const std::vector<MenuItem>& items,
                     MenuState& state, bool with_filter, float min_width, int most_rows) {
    Menu menu{ui, name, items, state, shown_of(items, state.filter), with_filter, most_rows};
    return menu.draw(anchor, min_width, [&] { menu.shown = shown_of(items, state.filter); });
}

MenuResult draw_found_menu(Ui& ui, std::string_view name, Rect anchor, const FindItems& find,
                           MenuState& state, float width, int most_rows) {
    Menu menu{ui, name, {}, state, {}, true, most_rows, true};
    const auto refill = [&] {
        menu.items = find(state.filter);
        menu.shown.resize(menu.items.size());
        std::iota(menu.shown.begin(), menu.shown.end(), std::size_t{0});
    };
    refill();
    return menu.draw(anchor, width, refill);
}

}  // namespace pentamesh::ui
