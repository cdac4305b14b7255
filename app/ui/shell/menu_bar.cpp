#include "app/ui/shell/menu_bar.h"

#include "app/ui/shell/commands.h"
#include "core/plan/title.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, 6> kMenus{"File", "Edit", "View", "Export", "Learn", "Help"};

Rect centred(const FrameInfo& info, float w, float h) {
    w = std::min(w, info.size.x - 32);
    h = std::min(h, info.size.y - 32);
    return {(info.size.x - w) / 2, (info.size.y - h) / 2, w, h};
}

constexpr float kWithName = 480;  // a narrower menu bar has only the mark

void draw_mark(Canvas& c, Vec2 at, const Theme& theme) {
    // The pentagon: five axes around one mesh.
    std::array<Vec2, 5> corner{};
    for (std::size_t i = 0; i < corner.size(); ++i) {
        const float a = -1.5707963f + static_cast<float>(i) * 1.2566371f;
        corner[i] = Vec2{at.x + 8 * std::cos(a), at.y + 8 * std::sin(a)};
    }
    c.polyline(corner, theme.text, 1.5f, true);
    c.circle(at, 2.5f, theme.axis[0]);
}

}  // namespace

std::optional<PlanEdit> MenuBar::draw(Ui& ui, Rect bar) {
    Canvas& c = ui.canvas();
    Rect row = bar.inset(16, 0);
    draw_mark(c, {row.x + 8, row.center().y}, ui.theme());
    row.cut_left(26);
    const TextStyle name{Face::semibold, 14, ui.theme().text, 0};
    const float name_w = c.text_width("Pentamesh", name);
    if (bar.w >= kWithName) c.text_in(row.cut_left(name_w + 20), "Pentamesh", name);
    draw_names(ui, row);
    const Rect search = row.cut_right(std::min(168.0f, std::max(0.0f, row.w)));
    if (search.w > 90) {
        const Rect box = search.inset(0, 8);
        const Hit hit = ui.area("palette.open", box);
        c.rect(box, ui.theme().raised, 6);
        c.frame(box, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
        Rect text = box.inset(10, 0);
        c.text_in(text.cut_right(40), "Ctrl P", ui.small(), Align::right);
        c.text_in(text, "Search commands", ui.small());
        if (hit.focused) ui.focus_ring(box, 6);
        if (hit.clicked) palette_ = true, palette_state_ = {};
    }
    return draw_title(ui, bar, row);
}

// Draws the names of the menus from the left of `row`, and opens the one that is clicked.
void MenuBar::draw_names(Ui& ui, Rect& row) {
    const bool open = !menu_.empty();
    std::vector<std::string_view> menus;
    for (const auto menu : kMenus)
        if (std::any_of(commands_.begin(), commands_.end(), [&](const Command& x) { return x.menu == menu; }))
            menus.push_back(menu);
    // Left and Right go along the bar, with a menu open or a name focused; Down opens the focused one.
    const auto beside = [&](std::string_view menu, int by) -> std::string_view {
        const auto n = static_cast<std::ptrdiff_t>(menus.size());
        const auto at = std::find(menus.begin(), menus.end(), menu) - menus.begin();
        return by == 0 || at == n ? "" : menus[(at + by + n) % n];
    };
    const std::string_view turned = beside(menu_, std::exchange(menu_turn_, 0));
    std::string_view focus_to = turned;
    for (const auto menu : menus) {
        const TextStyle s = ui.style(13, Tone::secondary);
        const Rect item = row.cut_left(ui.canvas().text_width(menu, s) + 16);
        const Hit hit = ui.area("menu." + std::string(menu), item);
        TextStyle shown = s;
        if (hit.hovered || menu_ == menu) shown.color = ui.theme().text;
        ui.canvas().text_in(item, menu, shown, Align::center);
        if (hit.focused) ui.focus_ring(item.inset(2, 8), 4);
        // With one menu open, moving over another opens that.
        const bool mouse_moved = !(ui.frame().mouse == ui.state().last_mouse);
        const bool slides = open && mouse_moved && menu_ != menu && item.contains(ui.frame().mouse);
        bool down = false;
        if (hit.focused && !open) {
            focus_to = beside(menu, pressed({Key::right}, true) ? 1 : pressed({Key::left}, true) ? -1 : 0);
            down = pressed({Key::down});
        }
        if (hit.clicked || slides || down || turned == menu) {
            menu_ = menu;
            menu_anchor_ = {item.x, item.y, item.w, item.h - 6};
            menu_state_ = {};
        }
    }
    if (!focus_to.empty()) {
        window_.state.focus = id_of("menu." + std::string(focus_to));
        window_.state.focus_visible = true;
        window_.dirty = true;
    }
}

// The plan's title stands in the middle of the window, where `row` leaves room. A click edits it in place.
std::optional<PlanEdit> MenuBar::draw_title(Ui& ui, Rect bar, Rect row) {
    Canvas& c = ui.canvas();
    const float room = row.w - 24;
    if (room <= 60) {
        title_edit_.reset();
        return std::nullopt;
    }
    std::string text = title_of(window_.document.plan());
    if (window_.document.modified()) text += " *";
    const float w = title_edit_ ? std::min(420.0f, room) : std::min(c.text_width(text, ui.title()), room);
    const float left = row.x + 12, right = std::max(left, row.right() - w - 12);
    const Rect box{std::clamp(bar.w / 2 - w / 2, left, right), bar.y, w + 1, bar.h};
    if (title_edit_) {
        const Ui::Typing typing =
            ui.typed_value("edit.title", box.inset(0, 7), title_edit_->text, title_edit_->fresh);
        if (ui.state().edit == ui.id("edit.title")) title_edit_->fresh = false;
        if (typing == Ui::Typing::goes_on) return std::nullopt;
        std::optional<PlanEdit> edit;
        if (typing == Ui::Typing::taken && title_edit_->text != title_of(window_.document.plan())) {
            edit = PlanEdit{window_.document.plan(), "Title", ""};
            edit->plan.name = title_edit_->text;  // an empty one is made from the plan
        }
        title_edit_.reset();
        window_.dirty = true;
        return edit;
    }
    const Hit hit = ui.value_area("title", box);
    const bool cut = c.text_in(box, text, ui.title());
    if (hit.hovered) ui.tooltip(cut ? text + "\nClick to change the title" : "Click to change the title");
    if (hit.focused) ui.focus_ring(box.inset(-4, 10), 4);
    if (hit.clicked) edit_title();
    return std::nullopt;
}

void MenuBar::edit_title() {
    title_edit_ = TitleEdit{title_of(window_.document.plan()), true};
    window_.dirty = true;
}

void MenuBar::search(std::string filter) {
    palette_ = true;
    palette_state_ = {.filter = std::move(filter)};
}

void MenuBar::close() {
    menu_.clear();
    palette_ = keys_ = false;
}

void MenuBar::draw_open(Ui& ui) {
    if (!menu_.empty()) draw_menus(ui);
    if (palette_) draw_palette(ui);
    if (keys_) draw_keys(ui);
}

void MenuBar::draw_menus(Ui& ui) {
    std::vector<MenuItem> items;
    std::vector<const Command*> shown;
    for (const Command& x : commands_) {
        std::string label = x.menu == menu_ ? x.text() : "";
        if (label.empty()) continue;
        items.push_back({.label = std::move(label),
                         .right = x.chord.key == Key::none ? "" : chord_text(x.chord),
                         .enabled = x.can_run(),
                         .checked = x.checked && x.checked(),
                         .separator = x.separator});
        shown.push_back(&x);
    }
    const MenuResult r = draw_menu(ui, "bar", menu_anchor_, items, menu_state_, false, 220);
    menu_turn_ = r.beside;
    if (r.beside != 0) window_.dirty = true;
    if (r.picked >= 0 || r.closed) menu_.clear();
    if (r.picked >= 0) run(*shown[r.picked]);
}

void MenuBar::draw_palette(Ui& ui) {
    std::vector<MenuItem> items;
    std::vector<const Command*> shown;
    // The typed text may be an edit of the plan. Its label has the typed text, so that no command comes
    // before.
    const std::string& typed = palette_state_.filter;
    const std::optional<TypedEdits> edits = typed_edits(window_.document.plan(), typed, window_.presets);
    if (edits) {
        const bool can = edits->refused.empty();
        items.push_back({.label = "Set " + typed,
                         .detail = can ? edits->words + ", in this plan" : edits->refused,
                         .enabled = can});
        shown.push_back(nullptr);
    }
    for (const Command& x : commands_) {
        const std::string label = x.text();
        if (label.empty()) continue;
        items.push_back({.label = (x.menu.empty() ? "" : x.menu + ": ") + label,
                         .right = x.chord.key == Key::none ? "" : chord_text(x.chord),
                         .enabled = x.can_run()});
        shown.push_back(&x);
    }
    const float w = std::min(520.0f, ui.frame().size.x - 32);
    const Rect anchor{(ui.frame().size.x - w) / 2, 40, w, 8};
    const MenuResult r = draw_menu(ui, "palette", anchor, items, palette_state_, true, w);
    if (r.picked >= 0 || r.closed) palette_ = false;
    if (r.picked < 0) return;
    if (shown[r.picked] != nullptr) return run(*shown[r.picked]);
    window_.later("Set " + edits->words, [this, edits = *edits] {
        window_.document.edit(edits.plan, edits.words);
        window_.dirty = true;
    });
}

void MenuBar::draw_keys(Ui& ui) {
    struct Line {
        std::string keys, what;
        bool operator==(const Line&) const = default;
    };
    std::vector<Line> lines;
    for (const Command& x : commands_)
        if (x.chord.key != Key::none) lines.push_back({chord_text(x.chord), x.title});
    for (const auto& [k, w] : std::initializer_list<std::pair<const char*, const char*>>{
             {"Tab, Shift+Tab", "next, previous control"},
             {"F6, Ctrl+Tab", "next part of the window; with Shift the one before"},
             {"Enter, Space", "press it"},
             {"arrows", "step a factor"},
             {"Alt+Left, Alt+Right", "move an axis in the order"},
             {"wheel", "zoom about the cursor; step a factor"},
             {"drag", "pan the mesh or the timeline"},
             {"Home, double-click", "fit everything again"},
             {"Shift+click on − +", "change this factor alone"},
             {"Esc", "clear the selection, leave the full view"}})
        lines.push_back({k, w});
    for (const ViewEntry& view : view_table())
        for (const KeyHelp& help : view.keys) {
            const Line line{std::string(help.keys), std::string(help.what)};
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
        }
    constexpr float kColumn = 400, kKeys = 142, kRow = 22;
    const float widest = std::min(3 * kColumn, ui.frame().size.x - 32);
    const auto columns = static_cast<std::size_t>(std::max(1.0f, widest / kColumn));
    const std::size_t per_column = (lines.size() + columns - 1) / columns;
    const Rect box = centred(ui.frame(), widest, static_cast<float>(per_column) * kRow + 72);
    const auto layer = ui.open_layer("keys", box);
    const bool open = layer.stays();
    Rect room = box.inset(24, 20);
    ui.canvas().text_in(room.cut_top(20), "Keys", {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(12);
    {
        ScrollArea area(ui, "keys.scroll", room, keys_scroll_);
        const Rect all = area.room.cut_top(static_cast<float>(per_column) * kRow);
        const float column = all.w / static_cast<float>(columns);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::size_t before = i / per_column;  // columns to the left
            const Rect cell{all.x + static_cast<float>(before) * column,
                            all.y + static_cast<float>(i % per_column) * kRow, column - 14, kRow};
            ui.canvas().text_in({cell.x, cell.y, kKeys - 4, kRow}, lines[i].keys,
                                ui.style(12, Tone::secondary));
            ui.label({cell.x + kKeys, cell.y, cell.w - kKeys, kRow}, lines[i].what, ui.style(12));
        }
    }
    if (!open || pressed({Key::f1})) keys_ = false;
}

}  // namespace pentamesh::ui
