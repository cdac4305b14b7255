#include "app/ui/shell/menu_bar.h"

#include "app/ui/shell/sheets.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/table.h"
#include "core/plan/stand_in.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

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
        if (hit.clicked) this->search("");
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
            group_.clear();
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
    ++opened_;
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

namespace {

// Returns a command's name under its group's heading: "Map", for "Map in the whole window" of "In the whole
// window".
std::string name_in_group(const Command& of, std::string name) {
    if (!of.group.starts_with("In ")) return name;
    std::string end = " " + of.group;
    end[1] = static_cast<char>(std::tolower(static_cast<unsigned char>(end[1])));
    if (name.ends_with(end)) name.resize(name.size() - end.size());
    return name;
}

}  // namespace

// Lists the commands of the open menu. Those of a group stand together where its first one does, behind one
// item that opens it; a group of which nothing can run now is not listed.
MenuBar::Listed MenuBar::list_menu() const {
    Listed out;
    const auto item_of = [](const Command& x, std::string label) {
        return MenuItem{.label = std::move(label),
                        .right = x.chord.key == Key::none ? "" : chord_text(x.chord),
                        .enabled = x.can_run(),
                        .checked = x.checked && x.checked(),
                        .separator = x.separator};
    };
    std::vector<std::string_view> groups;  // that were listed
    for (const Command& x : commands_) {
        std::string label = x.menu == menu_ ? x.text() : "";
        if (label.empty()) continue;
        if (x.group.empty()) {
            out.items.push_back(item_of(x, std::move(label)));
            out.commands.push_back(&x);
            continue;
        }
        if (std::ranges::find(groups, x.group) != groups.end()) continue;
        groups.push_back(x.group);
        std::vector<MenuItem> inner;
        std::vector<const Command*> shown;
        for (const Command& y : commands_) {
            std::string text = y.menu == menu_ && y.group == x.group ? y.text() : "";
            if (text.empty()) continue;
            inner.push_back(item_of(y, name_in_group(y, std::move(text))));
            inner.back().inner = true;
            shown.push_back(&y);
        }
        if (std::ranges::none_of(inner, [](const MenuItem& i) { return i.enabled; })) continue;
        const bool open = group_ == x.group;
        out.items.push_back({.label = x.group,
                             .checked = !open && std::ranges::any_of(inner, &MenuItem::checked),
                             .separator = inner.front().separator,
                             .fold = open ? MenuItem::Fold::open : MenuItem::Fold::closed});
        out.commands.push_back(nullptr);
        inner.front().separator = false;
        if (!open) continue;
        out.items.insert(out.items.end(), inner.begin(), inner.end());
        out.commands.insert(out.commands.end(), shown.begin(), shown.end());
    }
    return out;
}

void MenuBar::draw_menus(Ui& ui) {
    const Listed listed = list_menu();
    const MenuResult r = draw_menu(ui, "bar", menu_anchor_, listed.items, menu_state_, false, 220);
    menu_turn_ = r.beside;
    if (r.beside != 0) window_.dirty = true;
    if (r.picked >= 0 && listed.commands[static_cast<std::size_t>(r.picked)] == nullptr) {
        const std::string& group = listed.items[static_cast<std::size_t>(r.picked)].label;
        group_ = group_ == group ? std::string() : group;
        window_.dirty = true;
        return;
    }
    if (r.picked >= 0 || r.closed) menu_.clear();
    if (r.picked >= 0) run(*listed.commands[static_cast<std::size_t>(r.picked)]);
}

// Finds the rows anew where the text, the plan or what can be run is another.
const MenuBar::Found& MenuBar::find_rows(const std::string& typed) {
    FoundOf of{.typed = typed,
               .revision = window_.document.revision(),
               .opened = opened_,
               .shows_values =
                   !window_.hidden_answer.covers(kPlanPlace) && !is_stand_in(window_.document.plan())};
    listed_.clear();
    for (const Command& x : commands_) {
        std::string label = x.text();
        if (label.empty() || !x.searched) continue;
        of.commands.push_back({.id = x.id,
                               .label = std::move(label),
                               .menu = x.menu,
                               .chord = x.chord.key == Key::none ? "" : chord_text(x.chord),
                               .enabled = x.can_run()});
        listed_.push_back(&x);
    }
    return found_.get(of, [&] {
        Found out{.rows = find_in_palette({.plan = window_.document.plan(),
                                           .presets = window_.presets,
                                           .glossary = window_.glossary,
                                           .commands = of.commands,
                                           .shows_values = of.shows_values},
                                          typed),
                  .items = {}};
        for (const PaletteRow& row : out.rows)
            out.items.push_back({.label = row.label,
                                 .right = row.right,
                                 .detail = row.detail,
                                 .enabled = row.enabled,
                                 .checked = row.checked});
        return out;
    });
}

void MenuBar::draw_palette(Ui& ui) {
    const auto find = [&](const std::string& typed) { return find_rows(typed).items; };
    const float w = std::min(560.0f, ui.frame().size.x - 32);
    const Rect anchor{(ui.frame().size.x - w) / 2, 40, w, 8};
    constexpr int kMostRows = 12;
    const MenuResult r = draw_found_menu(ui, "palette", anchor, find, palette_state_, w, kMostRows);
    if (r.picked >= 0 || r.closed) palette_ = false;
    if (r.picked < 0) return;
    const PaletteRow& row = found_->rows[static_cast<std::size_t>(r.picked)];
    if (row.does == PaletteRow::Does::command) return run(*listed_[row.command]);
    do_row(row);
}

void MenuBar::do_row(const PaletteRow& row) {
    window_.later(row.label, [this, row] {
        const Plan& plan = window_.document.plan();
        switch (row.does) {
        case PaletteRow::Does::typed:
            if (const auto edits = typed_edits(plan, row.value, window_.presets);
                edits && edits->refused.empty())
                window_.edit_plan(edits->plan, edits->words);
            break;
        case PaletteRow::Does::value:
            window_.edit_plan(with_value(plan, row.field, row.value, window_.presets), row.label);
            break;
        case PaletteRow::Does::field:
            if (window_.parts.sheets != nullptr) window_.parts.sheets->open_fields(row.topic, row.field);
            break;
        case PaletteRow::Does::rank: window_.selection.pick_rank(row.rank); break;
        case PaletteRow::Does::command: break;
        }
        window_.dirty = true;
    });
}

namespace {

using KeyLine = std::pair<std::string, std::string>;  // keys, and what they do
struct KeyGroup {
    std::string title;
    std::vector<KeyLine> lines;
};

// Lists all keys by where they work: in the whole window, by menu, then by view.
std::vector<KeyGroup> key_groups(const std::vector<Command>& commands) {
    std::vector<KeyGroup> out;
    out.push_back({"Everywhere",
                   {{"Tab, Shift+Tab", "next, previous control"},
                    {"F6, Ctrl+Tab", "next part of the window; with Shift the one before"},
                    {"Enter, Space", "press it"},
                    {"arrows", "step a factor"},
                    {"Alt+Left, Alt+Right", "move an axis in the order"},
                    {"wheel", "zoom about the cursor; step a factor"},
                    {"drag", "pan the mesh or the timeline"},
                    {"Home, double-click", "fit everything again"},
                    {"Shift+click on − +", "change only this factor"},
                    {"Esc", "clear the selection, leave the full view"}}});
    const auto group = [&](std::string_view title) -> KeyGroup& {
        const auto at = std::ranges::find(out, title, &KeyGroup::title);
        return at != out.end() ? *at : out.emplace_back(KeyGroup{std::string(title), {}});
    };
    for (const Command& x : commands)
        if (x.chord.key != Key::none)
            group(x.group.empty() ? x.menu : x.group)
                .lines.emplace_back(chord_text(x.chord), name_in_group(x, x.title));
    const auto add_keys = [&](std::string_view title, std::span<const KeyHelp> keys) {
        for (const KeyHelp& help : keys) group(title).lines.emplace_back(help.keys, help.what);
    };
    for (const ViewEntry& view : view_table()) add_keys(view.title, view.keys);
    for (const NamedPage& page : named_pages()) add_keys(page.title, page.keys);
    return out;
}

// Places the lines of a sheet in columns that are about as high as each other; a heading stays with its first
// line.
class KeySheet {
  public:
    KeySheet(Ui& ui, std::vector<KeyGroup> groups, float width) : ui_(ui), groups_(std::move(groups)) {
        columns_ = static_cast<std::size_t>(std::max(1.0f, width / kColumn));
        column_ = width / static_cast<float>(columns_);
        float all = 0;
        walk([&](Rect line, const KeyGroup*, const KeyLine*) { all += line.h; }, kEndless);
        for (most_ = all / static_cast<float>(columns_); columns_at(most_) > columns_;) most_ += kRow;
    }
    [[nodiscard]] float height() const {
        float h = 0;
        walk([&](Rect line, const KeyGroup*, const KeyLine*) { h = std::max(h, line.bottom()); }, most_);
        return h;
    }
    void draw(Vec2 at) const {
        Canvas& c = ui_.canvas();
        walk(
            [&](Rect line, const KeyGroup* heading, const KeyLine* keys) {
                line.x += at.x, line.y += at.y;
                if (heading != nullptr) {
                    c.text_in({line.x, line.bottom() - kRow, line.w, kRow}, heading->title,
                              ui_.style(13, Tone::text, Face::semibold));
                } else {
                    ui_.label({line.x, line.y, kKeys - 4, kRow}, keys->first, ui_.style(12, Tone::secondary));
                    c.paragraph({line.x + kKeys, line.y + 3, line.w - kKeys, line.h}, keys->second,
                                ui_.style(12), kLine);
                }
            },
            most_);
    }

  private:
    static constexpr float kColumn = 380, kKeys = 138, kRow = 22, kLine = 17, kGap = 14, kEndless = 1e9f;
    Ui& ui_;
    std::vector<KeyGroup> groups_;
    std::size_t columns_ = 1;
    float column_ = kColumn, most_ = kEndless;  // width of a column, its height at most

    [[nodiscard]] float height_of(const std::string& what) const {
        const float text = ui_.canvas().paragraph_height(column_ - kGap - kKeys, what, ui_.style(12), kLine);
        return std::max(kRow, text + kRow - kLine);
    }
    // Calls `place` for each heading and line with its rectangle, from the sheet's corner.
    template <typename Place>
    void walk(Place place, float most) const {
        Vec2 at;
        for (const KeyGroup& g : groups_) {
            const float heading = kRow + (at.y > 0 ? kGap : 0);
            if (at.y > 0 && at.y + heading + height_of(g.lines.front().second) > most)
                at = {at.x + column_, 0};
            const float own = at.y > 0 ? heading : kRow;
            place(Rect{at.x, at.y, column_ - kGap, own}, &g, nullptr);
            at.y += own;
            for (const KeyLine& line : g.lines) {
                const float h = height_of(line.second);
                if (at.y + h > most) at = {at.x + column_, 0};
                place(Rect{at.x, at.y, column_ - kGap, h}, nullptr, &line);
                at.y += h;
            }
        }
    }
    [[nodiscard]] std::size_t columns_at(float most) const {
        float right = 0;
        walk([&](Rect line, const KeyGroup*, const KeyLine*) { right = std::max(right, line.right()); },
             most);
        return static_cast<std::size_t>(right / column_) + 1;
    }
};

}  // namespace

void MenuBar::draw_keys(Ui& ui) {
    constexpr float kWidest = 1200, kAround = 72;
    const KeySheet sheet(ui, key_groups(commands_), std::min(kWidest, ui.frame().size.x - 32) - 48);
    const Rect box = centred(ui.frame(), kWidest, sheet.height() + kAround);
    const auto layer = ui.open_layer("keys", box);
    const bool open = layer.stays();
    Rect room = box.inset(24, 20);
    ui.canvas().text_in(room.cut_top(20), "Keys", ui.title());
    room.cut_top(12);
    {
        ScrollArea area(ui, "keys.scroll", room, keys_scroll_);
        sheet.draw(area.room.cut_top(sheet.height()).min());
    }
    if (!open || pressed({Key::f1})) keys_ = false;
}

}  // namespace pentamesh::ui
