// The view Communication shows time and bytes by axis and by link as bars, who sends to whom, one call step
// by step, every collective of a step as a table.
#include "app/ui/views/comm/view.h"
#include "app/tables/comm.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/difference.h"
#include "app/ui/scene/view_head.h"
#include "core/base/number.h"
#include "core/comm/comm_count.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

std::string exposed_text(double time_s) {
    return time_s > 0 ? time_text(time_s) : "none";
}

constexpr float kTall = 400, kWide = 1050, kMiddle = 620;

// Writes four figures in columns: payload, wire, time, exposed.
void figures(Ui& ui, Rect row, float width, const std::array<std::string, 4>& values) {
    for (std::size_t i = values.size(); i-- > 0;)
        ui.canvas().text_in(row.cut_right(width), values[i], ui.small(), Align::right);
}

std::string axis_tooltip(const std::string& name, const AxisTraffic& t) {
    return name + "\n" + plural(std::llround(t.count), "call", "calls") + " a step\n"
           + traffic_text(t.payload_bytes) + " of buffers, " + traffic_text(t.sent_bytes_per_rank)
           + " leave the GPU\n" + time_text(t.time_s) + " on the wire, " + exposed_text(t.exposed_s)
           + " exposed (solid), the rest hidden behind work (hatched)";
}

// Draws the exposed part solid, the hidden part hatched.
void bar(Ui& ui, Rect track, const AxisTraffic& t, double longest, Color color) {
    const auto x = [&](double time) {
        return static_cast<float>(longest > 0 ? time / longest : 0) * track.w;
    };
    const float exposed = x(t.exposed_s), full = x(t.time_s);
    if (full > exposed)
        ui.canvas().pattern({track.x + exposed, track.y, full - exposed, track.h}, Pattern::hatched, color);
    ui.canvas().rect({track.x, track.y, std::max(exposed, t.exposed_s > 0 ? 1.0f : 0.0f), track.h}, color);
}

struct BarRow {
    std::string name, tier;
    AxisTraffic traffic;
    Color color;
    int axis = -1;  // GroupKind; -1: a tier
};

std::vector<BarRow> bar_rows(const Ui& ui, const Scene& scene) {
    const Comm& comm = scene.evaluation.comm;
    std::vector<BarRow> rows;
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const AxisTraffic& t = comm.by_axis[k];
        const int tier = scene.evaluation.groups[k].slowest_tier;
        if (t.count > 0)
            rows.push_back(
                {axis_label(kind), tier_label(scene.plan.cluster, tier), t, color_of(ui.theme(), kind), k});
    }
    const std::array<AxisTraffic, kMaxTiers> by_tier = traffic_by_tier(comm);
    for (std::size_t i = 0; i < scene.plan.cluster.tiers.size() && i < by_tier.size(); ++i)
        if (by_tier[i].count > 0)
            rows.push_back({tier_label(scene.plan.cluster, static_cast<int>(i)), "", by_tier[i],
                            mark_of_tier(ui.theme(), scene.plan.cluster, static_cast<int>(i)).color, -1});
    return rows;
}

// Draws one bar per axis, then one per tier; the table has those that do not fit. Returns the height used.
float bars(Ui& ui, Rect room, Scene& scene) {
    const std::vector<BarRow> rows = bar_rows(ui, scene);
    double longest = 0;
    for (const BarRow& r : rows) longest = std::max(longest, r.traffic.time_s);
    Canvas& c = ui.canvas();
    const float top = room.y;
    const bool narrow = room.w < 620;  // names above the bars
    const float figure = std::clamp((room.w - 120) / 4, 54.0f, 70.0f);
    Rect head = room.cut_top(18);
    figures(ui, head, figure, {"payload", "wire", "time", "exposed"});
    c.text_in(head.cut_left(std::max(0.0f, head.w - 4 * figure)),
              narrow ? "by axis" : "by axis and its slowest link", ui.small());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const BarRow& r = rows[i];
        const float h = narrow ? 32.0f : 22.0f;
        const bool first_tier = r.axis < 0 && (i == 0 || rows[i - 1].axis >= 0);
        if (room.h < h + (first_tier ? 22 : 0)) break;
        if (first_tier) c.text_in(room.cut_top(22), "by link", ui.small());
        Rect row = room.cut_top(h);
        const Hit hit =
            ui.area("comm.axis", row,
                    static_cast<std::uint64_t>(r.axis < 0 ? 64 + i : static_cast<std::size_t>(r.axis)), true,
                    r.axis >= 0);
        if (hit.hovered) {
            c.rect(row, ui.theme().raised.alpha(0.5f), 3);
            ui.tooltip(axis_tooltip(r.name, r.traffic));
        }
        if (hit.focused) ui.focus_ring(row, 3);
        if (hit.clicked && r.axis >= 0) {
            scene.selection.choose(static_cast<GroupKind>(r.axis));
        }
        const bool selected = r.axis == static_cast<int>(scene.selection.group);
        Rect line = narrow ? row.cut_top(18) : row;
        figures(ui, line, figure,
                {traffic_text(r.traffic.payload_bytes), traffic_text(r.traffic.sent_bytes_per_rank),
                 time_text(r.traffic.time_s), exposed_text(r.traffic.exposed_s)});
        line.cut_right(4 * figure + 8);
        ui.swatch({line.x, line.center().y - 5}, r.color);
        line.cut_left(18);
        Rect label = narrow ? line : line.cut_left(150);
        const TextStyle s =
            ui.style(12, selected ? Tone::text : Tone::secondary, selected ? Face::semibold : Face::regular);
        c.text_in(label, r.name, s);
        label.cut_left(std::min(label.w, c.text_width(r.name, s) + 8));
        if (label.w > 40) c.text_in(label, r.tier, ui.small());
        bar(ui, narrow ? Rect{row.x + 18, row.y + 2, row.w - 18, 8} : line.inset(0, 5), r.traffic, longest,
            r.color);
    }
    return room.y - top;
}

// The sums are of the busiest stage's bytes and time; the words say where a row is of another stage.
std::string what_and_where(const Operation& op) {
    std::string s(words_of(op.what));
    if (op.on_other_stage) s += op.scope == Scope::head ? " (last stage)" : " (first stage)";
    return s;
}

// The heat map's table has at most so many blocks: its rows are the pairs that talk.
constexpr int kMostTableBlocks = 64;

Table call_rows(const Scene& scene, CallColumns columns) {
    Table t;
    if (columns == CallColumns::all)
        t.columns = {{"axis"},
                     {"what"},
                     {"collective"},
                     {"over", Shown::plain},
                     {"link"},
                     {"calls", Shown::plain},
                     {"buffer", Shown::plain},
                     {"sent", Shown::plain},
                     {"time", Shown::plain},
                     {"exposed", Shown::plain}};
    else if (columns == CallColumns::narrow)
        t.columns = {{"axis"},
                     {"what, by which collective"},
                     {"calls", Shown::plain},
                     {"sent", Shown::plain},
                     {"time", Shown::plain},
                     {"exposed", Shown::plain}};
    else
        t.columns = {{"axis, what"}, {"sent", Shown::plain}, {"time", Shown::plain}};
    for (const Operation& op : scene.evaluation.comm.operations) {
        const std::string axis = axis_label(op.group), what = what_and_where(op),
                          collective = std::string(words_of(op.collective)),
                          calls = thousands(static_cast<std::int64_t>(std::llround(op.count_per_step))),
                          sent = traffic_text(op.sent_bytes_per_rank), time = time_text(op.time_s),
                          exposed = exposed_text(op.exposed_s);
        if (columns == CallColumns::all)
            t.rows.push_back({axis, what, collective, std::to_string(op.group_size),
                              tier_label(scene.plan.cluster, op.tier), calls, traffic_text(op.message_bytes),
                              sent, time, exposed});
        else if (columns == CallColumns::narrow)
            t.rows.push_back({axis, what + "\n" + collective, calls, sent, time, exposed});
        else
            t.rows.push_back({what + "\n" + axis + ", " + collective, sent, time});
    }
    return t;
}

}  // namespace

namespace {

std::string caption(const Scene& scene) {
    double sent = 0, time = 0, exposed = 0;
    for (const AxisTraffic& t : scene.evaluation.comm.by_axis) {
        sent += t.sent_bytes_per_rank;
        time += t.time_s;
        exposed += t.exposed_s;
    }
    std::string s = traffic_text(sent) + " leave " + rows_device_text(scene.evaluation.comm) + " a step, "
                    + exposed_text(exposed) + " of " + time_text(time) + " exposed";
    if (scene.pinned != nullptr) {
        double was = 0;
        for (const AxisTraffic& t : scene.pinned->comm.by_axis) was += t.exposed_s;
        if (const std::string by = difference_text(difference(exposed, was), time_text); !by.empty())
            s += " (" + by + " to A)";
    }
    const double points = scene.evaluation.comm.sync_points_per_microbatch;
    if (points > 0)
        s += "; " + plural(std::llround(points), "sync point", "sync points") + " with "
             + sync_peers_text(scene.evaluation.comm) + " per micro-batch";
    if (const std::string who = chosen_name(scene); !who.empty() && scene.evaluation.comm.stages.devices > 1)
        s += "; faint: calls that " + who + " does not make";
    return s;
}

// Returns 1 for each row where the picked stage, picked by itself or with a GPU of it, makes no such call.
std::vector<std::uint8_t> not_made(const Scene& scene, int stage) {
    Comm comm = scene.evaluation.comm;
    std::vector<std::uint8_t> out;
    if (stage < 0 || stage >= comm.stages.devices || comm.stages.devices < 2) return out;
    count_calls(scene.plan, stage, comm);
    for (const Operation& op : comm.operations)
        out.push_back(op.on_other_stage || op.count_per_step <= 0 ? 1 : 0);
    return out;
}

void calls(Ui& ui, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision) {
    const CallColumns columns = room.w >= 800   ? CallColumns::all
                                : room.w >= 430 ? CallColumns::narrow
                                                : CallColumns::slender;
    const Table& rows = state.rows.get({revision, columns}, [&] { return call_rows(scene, columns); });
    const int stage = chosen_stage(scene);
    const auto& faint = state.faint.get({revision, stage}, [&] { return not_made(scene, stage); });
    const int row = draw_table(ui, "comm.table", room, rows, state.table, scene.selection.operation, faint);
    if (row < 0) return;
    scene.selection.operation = row;
    scene.selection.choose(scene.evaluation.comm.operations[row].group);
    scene.selection.topic = Selection::Topic::operation;
}

// Draws all where there is room: bars, heat map and one call side by side, the calls below.
void draw_all(Ui& ui, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision, bool wide) {
    Rect top = room.cut_top(std::max(room.h * 0.56f, 230.0f));
    room.cut_top(12);
    Rect left = top.cut_left(wide ? std::max(400.0f, top.w * 0.4f) : top.w * 0.52f);
    top.cut_left(24);
    bars(ui, left, scene);
    if (wide) {
        const Rect heat = top.cut_left(top.w / 2 - 12);
        top.cut_left(24);
        draw_heat(ui, heat, scene, state.heat, revision);
        draw_ring(ui, top, scene, state.ring, revision);
    } else if (state.part == CommViewState::kRing) {
        draw_ring(ui, top, scene, state.ring, revision);
    } else {
        draw_heat(ui, top, scene, state.heat, revision);
    }
    calls(ui, room, scene, state, revision);
}

}  // namespace

void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision) {
    Canvas& c = ui.canvas();
    if (scene.evaluation.comm.operations.empty()) {
        c.text_in(room, "Nobody talks: every axis is off, or the plan has errors.", ui.small(),
                  Align::center);
        return;
    }
    const bool tall = room.h >= kTall && room.w >= kMiddle, wide = tall && room.w >= kWide;
    static constexpr std::string_view kParts[] = {"calls", "who to whom", "one call"};
    if (!tall) {
        const Rect place = head_place(head_row, room, std::max(250.0f, segments_width(ui, kParts)));
        state.part = ui.segments("comm.part", place, kParts, state.part);
    } else if (!wide) {
        const int shown = std::max(state.part, static_cast<int>(CommViewState::kHeat));
        const auto parts = std::span(kParts).subspan(1);
        const Rect place = head_place(head_row, room, std::max(180.0f, segments_width(ui, parts)));
        const int picked = ui.segments("comm.part", place, parts, shown - 1) + 1;
        if (picked != shown) state.part = picked;
    }
    const std::string words = caption(scene);
    if (c.text_width(words, ui.style(13)) <= head_row.w)
        c.text_in(head_row, words, ui.style(13, Tone::secondary));
    else if (tall || room.h > 340)
        room.cut_top(c.paragraph(room, words, ui.style(13, Tone::secondary), 18) + 6);
    else if (head_row.w > 160 && c.text_in(head_row, words, ui.style(13, Tone::secondary))
             && ui.hovers(head_row))
        ui.tooltip(words);
    if (tall) {
        draw_all(ui, room, scene, state, revision, wide);
        return;
    }
    switch (state.part) {
    case CommViewState::kHeat: draw_heat(ui, room, scene, state.heat, revision); break;
    case CommViewState::kRing: draw_ring(ui, room, scene, state.ring, revision); break;
    default: {
        const Rect left = room.cut_left(room.w >= 900 ? room.w * 0.42f : 0);
        if (left.w > 0) {
            bars(ui, left, scene);
            room.cut_left(20);
        } else {
            Rect top = room;
            top.h = room.h * 0.55f;
            room.cut_top(bars(ui, top, scene) + 6);
        }
        calls(ui, room, scene, state, revision);
    }
    }
}

Table comm_data(const Scene& scene, int part) {
    const Plan& plan = scene.plan;
    const Evaluation& e = scene.evaluation;
    if (part == CommViewState::kHeat)
        return traffic_table(traffic_matrix(plan, e, scene.selection.group, kMostTableBlocks));
    if (part == CommViewState::kRing) return phases_table(plan, e, std::max(scene.selection.operation, 0));
    return comm_table(plan, e);
}

}  // namespace pentamesh::ui
