#include "app/ui/views/frame.h"

#include "app/ui/scene/view_head.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTabGap = 16, kMoreWidth = 20;

struct Tabs {
    std::vector<ViewId> shown;
    std::optional<ViewId> next;  // the first that has no room
};

// Lists the siblings in their order. Where the row has no room for all, the current one comes first and those
// after it follow, as in a ring.
Tabs tabs_in(Ui& ui, float room, ViewId current) {
    const auto all = views_in(view_of(current).pane);
    Tabs out{{all.begin(), all.end()}, std::nullopt};
    const auto width = [&](ViewId v) {
        const TextStyle s = v == current ? ui.title() : ui.style(13);
        return ui.canvas().text_width(view_of(v).title, s) + kTabGap;
    };
    float sum = 0;
    for (const ViewId v : out.shown) sum += width(v);
    if (sum - kTabGap <= room) return out;
    std::rotate(out.shown.begin(), std::find(out.shown.begin(), out.shown.end(), current), out.shown.end());
    float used = width(current) + kMoreWidth;
    std::size_t n = 1;
    while (n < out.shown.size() && used + width(out.shown[n]) <= room) used += width(out.shown[n++]);
    out.next = out.shown[n % out.shown.size()];
    out.shown.resize(n);
    return out;
}

}  // namespace

ViewHead view_head(Ui& ui, Rect& room, ViewId current, bool& as_data) {
    ViewHead head;
    Rect row = room.cut_top(24);
    room.cut_top(4);
    Canvas& c = ui.canvas();
    const Tabs tabs = tabs_in(ui, row.w, current);
    for (const ViewId v : tabs.shown) {
        const ViewEntry& entry = view_of(v);
        const bool own = v == current;
        TextStyle s = own ? ui.title() : ui.style(13, Tone::secondary);
        const float w = c.text_width(entry.title, s);
        const Rect tab = row.cut_left(w + kTabGap);
        const Rect box{tab.x - 4, tab.y, w + 8, tab.h};
        const Hit hit = ui.area("view." + std::string(entry.name), box);
        if (hit.hovered) {
            s.color = ui.theme().text;
            ui.tooltip(std::string(entry.title) + "\n" + std::string(entry.help) + "  ("
                       + chord_text(entry.key) + ")");
        }
        c.text_in({tab.x, tab.y, w + 2, tab.h}, entry.title, s);
        if (hit.focused) ui.focus_ring(box, 4);
        if (own && hit.double_clicked) head.full = true;
        if (!own && hit.clicked) head.switch_to = v;
    }
    if (tabs.next) {
        const Rect more = row.cut_left(kMoreWidth);
        const Hit hit = ui.area("view.next", more);
        if (hit.hovered) ui.tooltip("More views here; the next is " + std::string(view_of(*tabs.next).title));
        c.text_in(more, "›", ui.style(13, hit.hovered ? Tone::text : Tone::secondary), Align::center);
        if (hit.focused) ui.focus_ring(more, 4);
        if (hit.clicked) head.switch_to = tabs.next;
    }
    const std::string_view label = as_data ? "show as picture" : "show as data";
    const float w = c.text_width(label, ui.small()) + 2;
    if (row.w > w + 60) {
        const Rect link = row.cut_right(w);
        row.cut_right(16);
        const Hit hit = ui.area("view.data", link, static_cast<std::uint64_t>(current));
        c.text_in(link, label, ui.small(hit.hovered ? Tone::text : Tone::secondary), Align::right);
        if (hit.focused) ui.focus_ring(link, 3);
        if (hit.clicked) as_data = !as_data;
    }
    head.row = row;
    return head;
}

Table data_of(const Scene& scene, ViewId view, const ViewStates& states) {
    if (scene.evaluation.valid || view_of(view).data_void)
        return view_of(view).data(scene, states, states.data_part[static_cast<std::size_t>(view)]);
    Table none;
    none.columns = {{"no figures, because"}};
    none.rows = {{first_error(scene.evaluation.problems)}};
    return none;
}

namespace {

// Cuts the place of the picture off that of its table, where both have room.
Rect cut_picture(Ui& ui, Rect& room, const Table& table) {
    constexpr float kLeastPicture = 230, kGap = 12;
    const float most = room.h - kLeastPicture - kGap;
    if (ui.state().for_picture || most < 160) return {};
    const float whole = table_height(ui, room.w, table);
    return room.cut_bottom(room.h - kGap - (whole <= most ? whole : most * 0.5f));
}

// Draws one of the view's tables, and the choice of which; below it the picture, where the two mark each
// other's parts.
std::optional<PlanEdit> draw_data(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view,
                                  ViewStates& states, std::uint64_t revision) {
    const auto i = static_cast<std::size_t>(view);
    const ViewEntry& entry = view_of(view);
    int& part = states.data_part[i];
    const auto parts = entry.data_parts.first(entry.data_parts.size() - (scene.run ? 0 : entry.run_parts));
    if (part >= std::max(1, static_cast<int>(parts.size()))) part = 0;
    if (!parts.empty() && (scene.evaluation.valid || entry.data_void)) {
        const Rect place = head_place(head_row, room, segments_width(ui, parts));
        const int picked = ui.segments("data.part", place, parts, part);
        if (picked != part) part = picked, states.tables[i] = {};
    }
    const auto make = [&] { return data_of(scene, view, states); };
    const Table changing = entry.data_follows_plan ? Table{} : make();
    const Table& table =
        entry.data_follows_plan ? states.kept_tables[i].get({revision, part}, make) : changing;
    const bool valid = scene.evaluation.valid;
    const Rect below = entry.picture_below && valid ? cut_picture(ui, room, table) : Rect{};
    const auto row_of = [&](int index) {
        return ViewRow{part, index, table.rows[static_cast<std::size_t>(index)]};
    };
    RowLooks looks;
    if (valid && entry.marks_row != nullptr)
        looks.marked = [&](std::size_t r) { return entry.marks_row(scene, row_of(static_cast<int>(r))); };
    TableState& state = states.tables[i];
    const int row = draw_table(ui, "data." + std::string(entry.name), room, table, state, -1, looks);
    if (valid && entry.hover_row != nullptr && state.hovered >= 0)
        entry.hover_row(scene, row_of(state.hovered));
    if (row >= 0 && valid && entry.pick_row != nullptr) entry.pick_row(scene, row_of(row));
    states.with_picture[i] = below.h > 0;
    if (!states.with_picture[i]) return std::nullopt;
    Rect picture = below;
    const Rect switches = picture.cut_top(24);
    picture.cut_top(4);
    return entry.draw(ui, switches, picture, scene, states, revision);
}

// Returns true if the picture of a view is drawn.
bool shows_picture(ViewId view, const ViewStates& states) {
    const auto i = static_cast<std::size_t>(view);
    return !states.as_data[i] || states.with_picture[i];
}

}  // namespace

std::optional<PlanEdit> draw_view_body(Ui& ui, Rect head_row, Rect room, Scene& scene, ViewId view,
                                       ViewStates& states, std::uint64_t revision) {
    const auto i = static_cast<std::size_t>(view);
    const ViewEntry& entry = view_of(view);
    if (!states.as_data[i] && !scene.evaluation.valid && !entry.draws_void) {
        draw_void(ui, room, scene);
        return std::nullopt;
    }
    if (!states.as_data[i]) return entry.draw(ui, head_row, room, scene, states, revision);
    return draw_data(ui, head_row, room, scene, view, states, revision);
}

Rect moving_in_view(ViewId view, const ViewStates& states) {
    const ViewEntry& entry = view_of(view);
    const bool has = entry.moving != nullptr && shows_picture(view, states);
    return has ? entry.moving(states) : Rect{};
}

void draw_view_moving(Ui& ui, Scene& scene, ViewId view, ViewStates& states) {
    const ViewEntry& entry = view_of(view);
    if (entry.draw_moving != nullptr && shows_picture(view, states)) entry.draw_moving(ui, scene, states);
}

void draw_titled_view(Ui& ui, Rect room, Scene& scene, ViewId view, ViewStates& states,
                      std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const Canvas::Clip clip = c.clip(room.inset(-2));
    Rect head = room.cut_top(24);
    room.cut_top(4);
    const std::string_view title = view_of(view).title;
    const float w = c.text_width(title, ui.title());
    c.text_in(head, title, ui.title());
    head.cut_left(w + 16);
    (void)draw_view_body(ui, head, room, scene, view, states, revision);
    draw_view_moving(ui, scene, view, states);
}

}  // namespace pentamesh::ui
