// Communication: time and bytes by axis as bars, every collective of a step as a table.
#include "app/ui/comm_view.h"
#include "app/ui/format.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

std::string spaced(std::string_view name) {
    std::string s(name);
    std::replace(s.begin(), s.end(), '_', '-');
    return s;
}

// One bar per axis: hidden part faint, exposed part solid, bytes at the end.
void axis_bars(Ui& ui, Rect room, Scene& scene) {
    const Comm& comm = scene.evaluation.comm;
    double longest = 0;
    for (const AxisTraffic& t : comm.by_axis) longest = std::max(longest, t.time_s > 0 ? t.time_s : 0);
    Canvas& c = ui.canvas();
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const AxisTraffic& t = comm.by_axis[static_cast<std::size_t>(k)];
        if (t.count <= 0 || room.h < 20) continue;
        Rect row = room.cut_top(22);
        const Hit hit = ui.area("comm.axis", row, static_cast<std::uint64_t>(k));
        if (hit.hovered) c.rect(row, ui.theme().raised.alpha(0.5f), 3);
        if (hit.clicked) scene.selection.axis = kind, scene.selection.expert = is_expert(kind);
        ui.swatch({row.x, row.center().y - 5}, color_of(ui.theme(), kind));
        row.cut_left(18);
        c.text_in(row.cut_left(92), axis_label(kind),
                  ui.style(12, scene.selection.axis == kind ? Tone::text : Tone::secondary));
        const Rect figure = row.cut_right(230);
        const Rect track = row.inset(0, 5);
        const auto full = static_cast<float>(longest > 0 ? t.time_s / longest : 0) * track.w;
        const auto exposed = static_cast<float>(longest > 0 ? t.exposed_s / longest : 0) * track.w;
        c.pattern({track.x, track.y, full, track.h}, Pattern::hatched,
                  color_of(ui.theme(), kind).alpha(0.8f));
        c.rect({track.x, track.y, exposed, track.h}, color_of(ui.theme(), kind));
        c.text_in(figure,
                  traffic_text(t.sent_bytes_per_rank) + " · " + time_text(t.time_s) + ", "
                      + time_text(t.exposed_s) + " exposed",
                  ui.small(), Align::right);
        if (hit.hovered)
            ui.tooltip(axis_label(kind) + "\n" + thousands(static_cast<std::int64_t>(std::llround(t.count)))
                       + " calls a step\n" + traffic_text(t.sent_bytes_per_rank) + " leave each GPU\n"
                       + time_text(t.time_s) + " on the wire, " + time_text(t.exposed_s)
                       + " exposed (solid), the rest hidden behind work (hatched)");
    }
}

}  // namespace

void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state) {
    const Comm& comm = scene.evaluation.comm;
    Canvas& c = ui.canvas();
    if (comm.operations.empty()) {
        c.text_in(room, "Nobody talks: every axis is off, or the plan has errors.", ui.small(),
                  Align::center);
        return;
    }
    double sent = 0, time = 0, exposed = 0;
    int axes = 0;
    for (const AxisTraffic& t : comm.by_axis) {
        sent += t.sent_bytes_per_rank;
        time += t.time_s;
        exposed += t.exposed_s;
        axes += t.count > 0 ? 1 : 0;
    }
    c.text_in(head_row,
              traffic_text(sent) + " leave the busiest GPU each step, " + time_text(exposed) + " of "
                  + time_text(time) + " exposed",
              ui.style(13, Tone::secondary));
    axis_bars(ui, room.cut_top(std::min(room.h * 0.5f, static_cast<float>(axes) * 22 + 6)), scene);
    room.cut_top(6);
    DataTable t;
    t.columns = {{"axis"},        {"what"},         {"collective"}, {"over", true}, {"link"},
                 {"calls", true}, {"buffer", true}, {"sent", true}, {"time", true}, {"exposed", true}};
    for (const Operation& op : comm.operations)
        t.rows.push_back({axis_label(op.axis), std::string(op.what), spaced(name_of(op.collective)),
                          std::to_string(op.group_size), tier_label(scene.plan.cluster, op.tier),
                          thousands(static_cast<std::int64_t>(std::llround(op.count_per_step))),
                          traffic_text(op.message_bytes), traffic_text(op.sent_bytes_per_rank),
                          time_text(op.time_s), time_text(op.exposed_s)});
    const int row = draw_table(ui, "comm.table", room, t, state.table, scene.selection.operation);
    if (row >= 0) {
        scene.selection.operation = row;
        scene.selection.axis = comm.operations[static_cast<std::size_t>(row)].axis;
        scene.selection.expert = is_expert(scene.selection.axis);
        scene.selection.topic = Selection::Topic::operation;
    }
}

DataTable comm_data(const Scene& scene) {
    DataTable t;
    t.columns = {{"axis"},
                 {"scope"},
                 {"what"},
                 {"collective"},
                 {"group_size", true},
                 {"tier"},
                 {"phase"},
                 {"per"},
                 {"count_per_step", true},
                 {"message_bytes", true},
                 {"sent_bytes_per_rank", true},
                 {"time_s", true},
                 {"exposed_s", true}};
    const auto integer = [](double v) { return std::to_string(static_cast<std::int64_t>(std::llround(v))); };
    const auto seconds = [](double v) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.6g", v);
        return std::string(text.data());
    };
    for (const Operation& op : scene.evaluation.comm.operations)
        t.rows.push_back({std::string(name_of(op.axis)), std::string(name_of(op.scope)), std::string(op.what),
                          std::string(name_of(op.collective)), std::to_string(op.group_size),
                          tier_label(scene.plan.cluster, op.tier), std::string(name_of(op.phase)),
                          std::string(op.per), integer(op.count_per_step), integer(op.message_bytes),
                          integer(op.sent_bytes_per_rank), seconds(op.time_s), seconds(op.exposed_s)});
    return t;
}

}  // namespace pentamesh::ui
