// The view Timeline draws devices downwards, time to the right; work below a pixel is merged before it is
// drawn.
#include "app/ui/views/timeline/view.h"

#include "app/tables/decide_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/timeline.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kMostRow = 128, kSentence = 260;
constexpr double kLeastSpan_s = 1e-9;

// The wheel zooms about the mouse, a drag pans, Home and a double-click fit, arrows do the same by keyboard.
// Returns true if it was clicked, and not at the end of a pan.
bool navigate(Ui& ui, std::uint64_t window, double whole, TimelineViewState& s, const TimeScale& scale,
              const ViewKeys& keys) {
    const Rect plot = scale.plot;
    const Hit hit = ui.area("timeline.plot", plot, window);
    const double span = scale.to_s - scale.from_s;
    const auto show = [&](double from, double length) {
        length = std::clamp(length, std::min(kLeastSpan_s, whole), whole);
        s.from_s = std::clamp(from, 0.0, whole - length);
        s.to_s = s.from_s + length;
    };
    const auto zoom = [&](double k, double about) { show(about - (about - scale.from_s) * k, span * k); };
    const bool over = ui.hovers(plot);
    if (const float by = ui.take_wheel(plot); by != 0)
        zoom(std::pow(0.8, by), scale.time(ui.frame().mouse.x));
    bool clicked = false;
    if (hit.held && (std::abs(hit.drag.x) > 3 || s.panning)) {
        if (!s.panning) s.pan_from_s = scale.from_s;
        s.panning = true;
        show(s.pan_from_s - static_cast<double>(hit.drag.x / plot.w) * span, span);
    } else {
        clicked = hit.clicked && over && !s.panning;
    }
    if (!hit.held) s.panning = false;
    if (hit.focused && ui.state().focus_visible) {
        ui.focus_ring(plot, 3);
        if (keys.pressed({Key::left}, true)) show(scale.from_s - span * 0.1, span);
        if (keys.pressed({Key::right}, true)) show(scale.from_s + span * 0.1, span);
        const double about = s.cursor_s >= 0 ? s.cursor_s : (scale.from_s + scale.to_s) / 2;
        if (keys.pressed({Key::up}, true)) zoom(0.8, about);
        if (keys.pressed({Key::down}, true)) zoom(1.25, about);
    }
    if (hit.double_clicked || keys.pressed({Key::home})) s.from_s = s.to_s = 0, s.steady_at_s = -1;
    if (hit.right_clicked) s.cursor_s = -1, s.playing = false;
    if (s.to_s - s.from_s >= whole) s.from_s = s.to_s = 0;
    return clicked;
}

// The ruler and the memory curve set the cursor where the mouse is pressed, and drag it.
void scrub(Ui& ui, std::string_view name, std::uint64_t window, Rect r, double whole, TimelineViewState& s,
           const TimeScale& scale) {
    if (r.empty()) return;
    const Hit hit = ui.area(name, r, window, true, false);
    if (hit.held) s.cursor_s = std::clamp(scale.time(ui.frame().mouse.x), 0.0, whole), s.playing = false;
    if (hit.right_clicked) s.cursor_s = -1, s.playing = false;
}

// Draws the rows of one timeline; the painter then knows what is under the mouse.
void draw_rows(Ui& ui, const RowPlace& rows, int devices, RowPainter& painter, Scene* scene) {
    const int first = std::max(0, static_cast<int>(rows.scroll / rows.row_h));
    const int last = std::min(devices - 1, static_cast<int>((rows.scroll + rows.plot.h) / rows.row_h));
    painter.expect_rows(last - first + 1);
    for (int d = first; d <= last; ++d) {
        const Rect row = rows.row(d);
        if (scene != nullptr && is_highlighted(*scene, d)) ui.canvas().rect(row, ui.theme().raised);
        painter.row(row, d);
        if (scene != nullptr && ui.hovers(row)) scene->next_hover.stage = d;
    }
}

// Draws the second schedule in rows of its own, on the same time axis, under the sentence that compares them.
void draw_second(Ui& ui, Rect room, float labels_w, const Scene& scene, TimelineViewState& state,
                 double from_s, double to_s) {
    Canvas& c = ui.canvas();
    const Evaluation& e = state.other->evaluation;
    const Rect head = room.cut_top(22);
    if (e.timeline.empty()) {
        std::string why = std::string(name_of(static_cast<Schedule>(state.second))) + " cannot run this plan";
        for (const Problem& p : e.problems)
            if (p.severity == Severity::error) why += ": " + p.message;
        c.text_in(head, why, ui.small());
        return;
    }
    const Timeline& t = state.second_shown->timeline(e);
    const std::string text = comparison_text(state.shown->timeline(scene.evaluation), t);
    if (c.text_in(head, text, ui.style(13)) && ui.hovers(head)) ui.tooltip(text);
    const Rect labels = room.cut_left(labels_w);
    const RowPlace rows{room, std::clamp(room.h / static_cast<float>(t.device.size()), 3.0f, kMostRow), 0};
    c.text_in({labels.x, room.y, labels.w - 8, 16}, std::string(name_of(t.shape.schedule)),
              ui.style(11, Tone::secondary));
    const TimeScale scale{from_s, to_s, room};
    RowPainter painter(ui, e, *state.second_shown, scale, state.second_blocks);
    {
        const Canvas::Clip clip = c.clip(room);
        draw_rows(ui, rows, static_cast<int>(t.device.size()), painter, nullptr);
        if (t.iterations > 1) draw_step_end(ui, t, rows, scale);
        Rect beside = room;
        beside.h = std::min(beside.h, static_cast<float>(t.device.size()) * rows.row_h);
        draw_tail(ui, state.second_shown->tail, t.makespan, beside, scale);
        if (state.cursor_s >= 0) draw_cursor(ui, state.cursor_s, room, {}, scale);
    }
    if (painter.hovered >= 0)
        ui.tooltip(op_tooltip(t, *state.second_shown, static_cast<std::size_t>(painter.hovered)));
}

void play(Ui& ui, double whole, TimelineViewState& s) {
    if (s.playing) {
        constexpr double kPlay_s = 12;    // a whole timeline takes this long
        constexpr double kJump_s = 0.75;  // from jump to jump with reduced motion
        const double passed_s = ui.frame().time_s - s.played_at;
        ui.state().wants_frame = true;
        if (s.cursor_s < 0 || s.cursor_s >= whole) s.cursor_s = 0;
        if (ui.state().reduced_motion && passed_s < kJump_s) return;
        s.cursor_s +=
            whole / kPlay_s * (ui.state().reduced_motion ? kJump_s : std::clamp(passed_s, 0.0, 0.1));
    }
    s.played_at = ui.frame().time_s;
}

// Shows the block under the mouse; a click selects it, or sets the cursor where there is no block.
void answer_mouse(Ui& ui, const Timeline& t, const RowPainter& painter, bool clicked, const TimeScale& scale,
                  Scene& scene, TimelineViewState& state) {
    if (state.hovered != painter.hovered)
        ui.state().wants_frame = true;  // the micro-batch lights in the next
    state.hovered = painter.hovered;
    const bool has_card = !state.card.empty() && painter.hovered >= 0
                          && static_cast<std::ptrdiff_t>(own_op(t, static_cast<std::size_t>(painter.hovered)))
                                 == scene.selection.op;
    if (painter.hovered >= 0 && !has_card)  // a card says it
        ui.tooltip(op_tooltip(t, *state.shown, static_cast<std::size_t>(painter.hovered)));
    else if (painter.over_run)
        ui.tooltip(run_tooltip(painter.hovered_run));
    if (!clicked) return;
    if (painter.hovered < 0) {
        state.cursor_s = scale.time(ui.frame().mouse.x);
        return;
    }
    const auto op = static_cast<std::size_t>(painter.hovered);
    const auto own = static_cast<std::ptrdiff_t>(own_op(t, op));
    scene.selection.op = scene.selection.op == own ? -1 : own;
    scene.selection.stage = device_of_op(t, op);
    scene.selection.topic = Selection::Topic::op;
}

// Returns the op whose micro-batch is highlighted and whose arrows are drawn: the hovered one, else the
// selected.
std::ptrdiff_t highlighted_op(const Timeline& t, const Scene& scene, const TimelineViewState& state) {
    if (state.hovered >= 0 && static_cast<std::size_t>(state.hovered) < t.order.ops.size())
        return state.hovered;
    const std::ptrdiff_t own = scene.selection.op;
    if (own < 0 || static_cast<std::size_t>(own) >= scene.evaluation.timeline.order.ops.size()) return -1;
    if (t.iterations <= 1) return own;
    const auto d =
        static_cast<std::size_t>(device_of_op(scene.evaluation.timeline, static_cast<std::size_t>(own)));
    const auto begin = static_cast<std::ptrdiff_t>(scene.evaluation.timeline.order.begin[d]);
    return static_cast<std::ptrdiff_t>(t.order.begin[d]) + own - begin;
}

void draw_over_rows(Ui& ui, const Scene& scene, TimelineViewState& state, const RowPlace& rows,
                    const TimeScale& scale) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    if (t.iterations > 1) draw_step_end(ui, t, rows, scale);
    Rect beside = rows.plot;
    beside.h = std::min(beside.h, static_cast<float>(t.device.size()) * rows.row_h - rows.scroll);
    draw_tail(ui, state.shown->tail, t.makespan, beside, scale, faded_parts(scene));
    if (state.critical) {
        const auto find = [&] { return critical_path(t, state.shown->costs); };
        draw_critical(ui, t, state.critical_path.get(state.shown->version, find), rows, scale);
    }
    if (const std::ptrdiff_t op = highlighted_op(t, scene, state); op >= 0)
        draw_arrows(ui, t, state.shown->costs, static_cast<std::size_t>(op), rows, scale);
}

// Holds the places of the view's parts.
struct TimelineAreas {
    Rect labels, plot, ruler, second, curve, legend;
    float row_h = 0;  // of a device
};

// The memory curve takes the room that few stages leave free.
TimelineAreas divide(Rect room, float labels, float legend, bool tall, bool second, int devices) {
    TimelineAreas r;
    r.legend = room.cut_bottom(legend);
    // The memory of one stage is drawn in bytes: it takes the larger part of the room.
    const bool one = devices == 1;
    const float rows = one ? std::min(kMostRow, room.h * 0.4f)
                           : static_cast<float>(devices) * kMostRow * (second ? 2.0f : 1.0f);
    const float most = one ? std::max(240.0f, room.h) : 240.0f;
    if (tall) r.curve = room.cut_bottom(std::clamp(room.h - rows - 48, 76.0f, most));
    if (room.h > 96) r.ruler = room.cut_bottom(20);
    if (second) r.second = room.cut_bottom(room.h / 2);
    r.labels = room.cut_left(labels);
    r.plot = room;
    for (Rect* x : {&r.curve, &r.ruler})
        if (!x->empty()) x->cut_left(r.labels.w);
    r.row_h = std::clamp(r.plot.h / static_cast<float>(devices), 3.0f, kMostRow);
    return r;
}

// The legend takes as many lines as its words need.
TimelineAreas find_areas(Ui& ui, Rect room, bool tall, bool second, const Scene& scene,
                         const TimelineViewState& state) {
    const auto devices = static_cast<int>(state.shown->timeline(scene.evaluation).device.size());
    const float labels = labels_width(ui, room, tall, *state.shown);
    const TimelineAreas one = divide(room, labels, kLegendRow, tall, second, devices);
    const int lines = timeline_legend(ui, {0, 0, room.w - labels, 0}, scene, state, one.row_h, false);
    if (lines <= 1 || room.h <= 150) return one;
    return divide(room, labels, kLegendRow * static_cast<float>(std::min(lines, 4)), tall, second, devices);
}

// Draws the controls above the plot where it is tall, in the head where there is room, else in a row of their
// own.
void draw_head(Ui& ui, Rect head_row, Rect& room, bool tall, Scene& scene, TimelineViewState& state,
               std::uint64_t revision) {
    const Evaluation& e = scene.evaluation;
    const bool for_picture = ui.state().for_picture;
    const bool own_row = !for_picture && (tall || (head_row.w <= 360 && room.h > 200));
    Rect row = room.cut_top(own_row ? 28.0f : 0.0f);
    row.h = 24;
    if (own_row && tall) {
        draw_controls(ui, row, scene, state, revision);
    } else if (own_row) {
        draw_transport(ui, row.cut_left(84), e.timeline, state, scene.selection.stage);
        row.cut_left(8);
        draw_critical_switch(ui, row.cut_left(94), state);
    } else if (head_row.w > 360 && !for_picture && !tall) {
        draw_transport(ui, head_row.cut_right(78), e.timeline, state, scene.selection.stage);
        head_row.cut_right(4);
        draw_critical_switch(ui, head_row.cut_right(94), state);
        head_row.cut_right(8);
    }
    draw_sentence(ui, head_words(head_row, room, kSentence), scene, state);
}

// Returns the end of the longest shown timeline, in seconds.
double update_shown_lines(const Scene& scene, bool second, TimelineViewState& state, std::uint64_t revision) {
    keep_shown(scene.plan, scene.evaluation, revision, -1, state.choice, state.shown);
    double whole = state.shown->whole_s(scene.evaluation);
    if (second && !state.other->evaluation.timeline.empty()) {
        keep_shown(state.other->plan, state.other->evaluation, revision, state.second, state.choice,
                   state.second_shown);
        whole = std::max(whole, state.second_shown->whole_s(state.other->evaluation));
    }
    for (const runs::RunFile* file : measured_files(scene)) whole = std::max(whole, file->step_s);
    if (state.to_s > whole) state.from_s = state.to_s = 0;
    if (state.cursor_s > whole) state.cursor_s = -1;
    return whole;
}

// Returns the part of a wide strip that lies above or below a window.
Rect below(Rect strip, const TimeScale& window) {
    return strip.empty() ? strip : Rect{window.plot.x, strip.y, window.plot.w, strip.h};
}

// Draws the rows of one window and all that lies over them, and handles the mouse there. Returns true if the
// mouse is over it.
bool draw_window(Ui& ui, const TimelineAreas& areas, const TimeScale& scale, std::uint64_t window,
                 double whole, SeenBlocks& blocks, Scene& scene, TimelineViewState& state) {
    const bool on_card = state.card.contains(ui.frame().mouse);
    const bool clicked = navigate(ui, window, whole, state, scale, scene.keys) && !on_card;
    const Rect ruler = below(areas.ruler, scale), curve = below(areas.curve, scale);
    scrub(ui, "timeline.ruler", window, ruler, whole, state, scale);
    scrub(ui, "timeline.curve", window, curve, whole, state, scale);
    const Timeline& t = state.shown->timeline(scene.evaluation);
    const auto devices = static_cast<int>(t.device.size());
    const RowPlace rows{scale.plot, areas.row_h, state.scroll};
    Canvas& c = ui.canvas();
    RowPainter painter(ui, scene.evaluation, *state.shown, scale, blocks);
    painter.selected = scene.selection.op;
    if (const std::ptrdiff_t op = highlighted_op(t, scene, state); op >= 0)
        painter.highlighted_microbatch = t.order.ops[op].microbatch;
    painter.fades = faded_parts(scene);
    {
        const Canvas::Clip clip = c.clip(scale.plot);
        draw_rows(ui, rows, devices, painter, &scene);
        if (window == 0) painter.name_gap();
        draw_over_rows(ui, scene, state, rows, scale);
    }
    const bool over = ui.hovers(scale.plot);
    if (over && !on_card) answer_mouse(ui, t, painter, clicked, scale, scene, state);
    if (!ruler.empty()) draw_ruler(ui, ruler, scale);
    if (!curve.empty()) {
        const int stage = chosen_stage(scene);
        const bool chosen = stage >= 0 && stage < devices;
        Rect band = curve;
        band.cut_bottom(6);
        if (state.memory->empty())
            draw_memory_curve(ui, band, t, chosen ? stage : 0, scale, state, window == 0);
        else
            draw_memory_through(ui, band, {areas.labels.x, band.y, areas.labels.w, band.h}, scene, t, scale,
                                state);
    }
    if (state.cursor_s >= scale.from_s && state.cursor_s <= scale.to_s) {
        const Canvas::Clip clip = c.clip({scale.plot.x, scale.plot.y, scale.plot.w, scale.plot.h + ruler.h});
        draw_cursor(ui, state.cursor_s, scale.plot, ruler, scale);
    }
    return over;
}

constexpr float kPeriodRow = 26;  // below the ruler: the bracket under one period

// Gives the windows' head and the bracket their places in areas that were divided without them.
void make_room(TimelineAreas& areas, int devices) {
    areas.plot.cut_top(kWindowsHead);
    areas.plot.cut_bottom(kPeriodRow);
    areas.labels.cut_top(kWindowsHead);
    areas.ruler.y -= kPeriodRow;
    areas.row_h = std::clamp(areas.plot.h / static_cast<float>(devices), 3.0f, kMostRow);
}

// Returns the three windows of a timeline whose blocks would have no room for their numbers; nullptr where
// one window shows it.
const TimelineWindows* windows_of(Ui& ui, const TimelineAreas& areas, double whole, bool wanted,
                                  const Scene& scene, TimelineViewState& state) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    if (!wanted || state.to_s > state.from_s || areas.ruler.empty()) return nullptr;
    const auto devices = static_cast<int>(t.device.size());
    TimelineAreas cut = areas;
    make_room(cut, devices);
    if (cut.plot.h < 5.0f * static_cast<float>(devices)) return nullptr;
    const float number = ui.canvas().text_width(std::to_string(t.shape.microbatches - 1), ui.style(11));
    const auto& kept = state.windows.get({state.shown->version, cut.plot, state.steady_at_s}, [&] {
        return find_windows(t, whole, cut.plot, std::max(8.0f, number + 4), state.steady_at_s);
    });
    return kept ? &*kept : nullptr;
}

// Draws the timeline in three windows, under the strip that shows all of it.
void draw_windows(Ui& ui, TimelineAreas& areas, const TimelineWindows& windows, double whole, Scene& scene,
                  TimelineViewState& state) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    const auto devices = static_cast<int>(t.device.size());
    const Rect head{areas.plot.x, areas.plot.y, areas.plot.w, kWindowsHead};
    make_room(areas, devices);
    draw_windows_head(ui, head, windows, t, *state.shown, state.overview_blocks, state.steady_at_s);
    bool over = false;
    for (std::size_t i = 0; i < windows.window.size(); ++i)
        over |= draw_window(ui, areas, windows.window[i], i, whole, state.window_blocks[i], scene, state);
    if (!over) state.hovered = -1;
    Rect rows = areas.plot;
    rows.h = std::min(rows.h, areas.row_h * static_cast<float>(devices));
    draw_breaks(ui.canvas(), ui.theme(), rows, windows);
    draw_period(ui, {areas.plot.x, areas.ruler.bottom(), areas.plot.w, kPeriodRow}, windows);
}

}  // namespace

void step_cursor(const Timeline& t, TimelineViewState& s, int by, int stage) {
    s.playing = false;
    const int device = stage < static_cast<int>(t.device.size()) ? stage : -1;
    const auto at = by > 0 ? next_boundary(t, s.cursor_s, device)
                           : previous_boundary(t, std::max(0.0, s.cursor_s), device);
    if (!at) return;
    s.cursor_s = *at;
    if (s.to_s <= s.from_s || (*at >= s.from_s && *at <= s.to_s)) return;
    const double span = s.to_s - s.from_s;
    s.from_s = std::max(0.0, *at - span / 2);
    s.to_s = s.from_s + span;
}

Effects draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                      std::uint64_t revision) {
    const Evaluation& e = scene.evaluation;
    if (e.timeline.empty() || e.timeline.makespan <= 0) {
        ui.canvas().text_in(room, "No timeline for this plan: the problems say why.", ui.small(),
                            Align::center);
        return {};
    }
    const bool lanes = take_card(ui, scene, state);
    const std::array before{state.cursor_s, state.from_s, state.to_s, state.steady_at_s};
    keep_shown(scene.plan, e, revision, -1, state.choice, state.shown);
    state.memory.update(state.shown->version,
                        [&] { return memory_curve(scene.plan, e.mesh, e.memory, e.work); });
    const bool piped = e.timeline.device.size() > 1, tall = room.h > (piped ? 330.0f : 240.0f);
    draw_head(ui, head_row, room, tall, scene, state, revision);
    const bool second = tall && state.second >= 0 && piped;
    const double whole =
        update_shown_lines(scene, second, state, revision);  // a control may have chosen anew
    const Timeline& t = state.shown->timeline(e);
    const auto devices = static_cast<int>(t.device.size());

    TimelineAreas areas = find_areas(ui, room, tall, second, scene, state);
    const std::vector<const runs::RunFile*> files = measured_files(scene);
    if (!files.empty()) {
        areas.plot.cut_bottom(
            std::min(areas.plot.h / 2, kMeasuredRow * static_cast<float>(files.size()) + 6));
        areas.row_h = std::clamp(areas.plot.h / static_cast<float>(devices), 3.0f, kMostRow);
    }
    state.scroll -= ui.take_wheel(areas.labels) * std::max(16.0f, areas.row_h * 3);
    const float content = areas.row_h * static_cast<float>(devices);
    state.scroll = held_between(state.scroll, 0.0f, content - areas.plot.h);
    play(ui, whole, state);
    const bool zoomed = state.to_s > state.from_s;
    const TimeScale all{state.from_s, zoomed ? state.to_s : ui.kept_scale("timeline.end", whole), areas.plot};
    std::vector<TimeScale> shown{all};
    if (const TimelineWindows* windows =
            windows_of(ui, areas, whole, tall && piped && !second && files.empty(), scene, state)) {
        shown.assign(windows->window.begin(), windows->window.end());
        draw_windows(ui, areas, TimelineWindows(*windows), whole, scene, state);
    } else if (!draw_window(ui, areas, all, 0, whole, state.blocks, scene, state)) {
        state.hovered = -1;
    }
    if (const auto was = zoomed ? std::nullopt : ui.before("timeline.end"))
        draw_moved_end(ui, *was, whole, all);
    if (second) draw_second(ui, areas.second, areas.labels.w, scene, state, all.from_s, all.to_s);
    const RowPlace rows{areas.plot, areas.row_h, state.scroll};
    if (!files.empty()) {
        const float y = areas.plot.y + std::min(areas.plot.h, areas.row_h * static_cast<float>(devices)) + 4;
        draw_measured_rows(ui, areas.labels,
                           {areas.plot.x, y, areas.plot.w, kMeasuredRow * static_cast<float>(files.size())},
                           files, all, scene);
    }
    draw_labels(ui, areas.labels, rows, scene, state);
    areas.legend.cut_left(areas.labels.w);
    timeline_legend(ui, areas.legend, scene, state, areas.row_h, true);
    const Rect was = state.card;
    const RowPlace placed{areas.plot, areas.row_h, state.scroll};
    state.card = {};
    if (tall && !second) draw_block_card(ui, room, placed, shown, scene, state);
    if (state.card != was) ui.state().wants_frame = true;
    // The mesh answers to the cursor in the next frame, and what was moved is drawn there.
    if (std::array{state.cursor_s, state.from_s, state.to_s, state.steady_at_s} != before)
        ui.state().wants_frame = true;
    return lanes ? Effects(Effects::Opens::lanes) : Effects();
}

Table timeline_data(const Scene& scene, int part) {
    static constexpr std::size_t kMost = 200000;
    const Timeline& t = scene.evaluation.timeline;
    return part == 1 ? devices_table(t) : operations_table(t, kMost);
}

namespace {

constexpr std::array<double, 6> kSlowFactors{1.1, 1.25, 1.5, 2, 3, 5};

// Returns the stage to use where no stage is picked: the selected one, or the selected GPU's.
int meant_stage(const Scene& scene) {
    return std::max(0, chosen_stage(scene));
}

void slow_switch(Ui& ui, Rect box, const Scene& scene, TimelineViewState& state) {
    const SlowDevice& slow = state.choice.slow;
    const std::string label = !slow.any() ? "slow stage: none" : words_of(slow);
    const bool can_up = slow.factor < kSlowFactors.back() || !slow.any();
    const Ui::Step step = ui.stepper("timeline.slow", box, label, slow.any(), can_up, slow.any(), false);
    const int devices = scene.evaluation.timeline.shape.devices;
    if (step.by != 0)
        inject(state, slow.any() ? slow.device : std::min(meant_stage(scene), devices - 1), step.by);
    else if (step.edit_requested)
        inject(state, slow.any() ? (slow.device + 1) % devices : std::min(meant_stage(scene), devices - 1),
               slow.any() ? 0 : 1);
    if (ui.hovers(box))
        ui.tooltip("inject a slow stage\nOne GPU that is slower holds up its tensor and context peers in "
                   "every layer, so its whole stage runs at its pace.\n+ and − set the factor; a click on "
                   "the middle or on a stage's name moves it. It is not part of the plan.");
}

// Chooses the schedule that is set next to the plan's own: it is stepped through.
void second_switch(Ui& ui, Rect box, const Scene& scene, TimelineViewState& state, std::uint64_t revision) {
    const std::string label = state.second < 0
                                  ? "compare: none"
                                  : "with " + std::string(name_of(static_cast<Schedule>(state.second)));
    step_choice(ui, "timeline.second", box, label, kScheduleCount, state.second);
    if (state.second < 0) return;
    state.other.update({revision, state.second}, [&](OtherPlan& other) {
        const auto schedule = static_cast<Schedule>(state.second);
        const Layout& l = scene.plan.layout;
        other.plan = schedule == l.schedule
                         ? scene.plan
                         : with_schedule(scene.plan, schedule, chunks_for(schedule, l.virtual_stages));
        evaluate(other.plan, other.evaluation);
    });
}

// Writes text piece by piece in one row, until there is no room.
struct Line {
    Ui& ui;
    Rect rest;
    bool cut = false;
    void put(const std::string& text, const TextStyle& s) {
        cut = cut || rest.w < 20;
        if (cut) return;
        cut = ui.canvas().text_in(rest, text, s);
        rest.cut_left(std::min(rest.w, ui.canvas().text_width(text, s) + 4));
    }
};

std::string form_text(const Bubble& b) {
    // The first figure is the share of the time, as the figure before it: the overhead is only of the work
    // and larger.
    const std::string figures = percent(b.form_fraction())
                                + (b.form.span_measure ? " of a stage's span (" : " of it (")
                                + percent(b.form_overhead) + " of the work)";
    if (b.form_holds()) return std::string(b.form.formula) + " = " + figures + ", as measured";
    std::string needs;
    if (!b.equal_stages) needs = "stages were equal";
    if (!b.form.exact) needs += (needs.empty() ? "" : " and ") + std::string(b.form.exact_when);
    return std::string(b.form.formula) + " would be " + figures + " if " + needs;
}

std::string measures_text(const Bubble& b) {
    std::string s = "makespan bubble " + time_text(b.makespan) + ": fraction " + percent(b.fraction)
                    + " of the makespan, overhead " + percent(b.overhead) + " of the work · span bubble "
                    + time_text(b.span);
    if (b.steady) s += " · back to back " + time_text(*b.steady) + " a step";
    return s;
}

std::string measures_explained(const Bubble& b) {
    std::string s = measures_text(b) + "\n" + form_text(b);
    s += "\nwork: what a stage is busy on average, m(F + B) where stages are equal, " + time_text(b.work);
    s += "\nmakespan bubble: first start to last end, less the work";
    s += "\nspan bubble: the longest of the stages' own spans, less the work: what is lost where the next "
         "step may slide into the slanted end of this one";
    if (b.steady)
        s += "\nback to back: what one more step adds, less the work. Where it is zero the schedule is a "
             "zero-bubble one, whatever its makespan says";
    else
        s += "\n\"2 steps\" shows them back to back";
    return s;
}

// An entry has the texture of its pass, or the pattern of an axis.
struct Legend : LegendLines {
    Ui& ui;
    using LegendLines::item;
    void item(std::string_view name, Color color, OpKind kind, Pattern pattern = Pattern::solid) {
        item(name, [&](Rect box) {
            ui.canvas().rect(box, color);
            texture(ui.canvas(), ui.theme(), kind, box);
            if (pattern != Pattern::solid) ui.canvas().pattern(box, pattern, ui.theme().window.alpha(0.35f));
        });
    }
};

}  // namespace

void inject(TimelineViewState& state, int device, int by) {
    SlowDevice& slow = state.choice.slow;
    int at = -1;  // place of the factor in force
    if (slow.any())
        for (std::size_t i = 0; i < kSlowFactors.size(); ++i)
            if (kSlowFactors[i] <= slow.factor + 1e-9) at = static_cast<int>(i);
    if (by > 0 && at < 0) at = 1;  // the first is hardly seen: begin with the second
    if (by < 0 || (by > 0 && slow.any())) at += by < 0 ? -1 : 1;
    at = std::min(at, static_cast<int>(kSlowFactors.size()) - 1);
    if (at < 0)
        slow = {};
    else
        slow = {device, kSlowFactors[at]};
}

std::string comparison_text(const Timeline& own, const Timeline& other) {
    const auto idle = [](const Timeline& t) { return t.makespan * t.bubble_fraction(); };
    const double before = idle(own), after = idle(other);
    const std::string name(name_of(other.shape.schedule)), mine(name_of(own.shape.schedule));
    std::string s = name + " over " + mine + ": ";
    const double less = before > 0 ? 1 - after / before : 0;
    if (std::abs(less) < 5e-4)
        s += "as much idle";
    else
        s += percent(std::abs(less)) + (less > 0 ? " less idle" : " more idle");
    s += " (" + time_text(before) + " to " + time_text(after) + " a stage)";
    const double change = other.makespan / own.makespan - 1;
    if (std::abs(change) < 5e-4)
        s += ", as long";
    else
        s += ", " + percent(std::abs(change)) + (change < 0 ? " shorter" : " longer");
    const auto peak = [](const Timeline& t) {
        double most = 0;
        for (const DeviceTime& d : t.device) most = std::max(most, d.peak_in_flight);
        return most;
    };
    const std::string held = trimmed(peak(other)), held_before = trimmed(peak(own));
    s += "; holds up to " + held + (held == "1" ? " micro-batch" : " micro-batches");
    return s + (held == held_before ? ", as before" : " instead of " + held_before);
}

void draw_transport(Ui& ui, Rect row, const Timeline& t, TimelineViewState& state, int stage) {
    const PlayerClick clicked = player_buttons(
        ui, row, "timeline", state.playing,
        {"back to the last start or end  (,)", "P", "on to the next start or end  (.)"}, row.w / 3);
    if (clicked == PlayerClick::play) state.playing = !state.playing;
    if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
        step_cursor(t, state, clicked == PlayerClick::back ? -1 : 1, stage);
}

void draw_critical_switch(Ui& ui, Rect box, TimelineViewState& state) {
    if (ui.button("timeline.critical", box, "critical path", 0, true, !state.critical))
        state.critical = !state.critical;
    if (ui.hovers(box))
        ui.tooltip("critical path\nThe chain of ops, each starting the moment the one before it is there, "
                   "that the makespan hangs on: red, at the top of its rows.");
}

void draw_controls(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state, std::uint64_t revision) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    draw_transport(ui, row.cut_left(84), t, state, scene.selection.stage);
    row.cut_left(8);
    draw_critical_switch(ui, row.cut_left(92), state);
    row.cut_left(8);
    static constexpr std::string_view kSteps[] = {"1 step", "2 steps"};
    const Rect steps = row.cut_left(116);
    state.choice.steps = ui.segments("timeline.steps", steps, kSteps, state.choice.steps - 1) + 1;
    if (ui.hovers(steps))
        ui.tooltip("two steps back to back\nWithout a barrier between them the next step slides into the "
                   "slanted end of the last, as zero-bubble schedules do by checking the optimizer step "
                   "afterwards.");
    row.cut_left(8);
    const float wide = std::clamp((row.w - 8) / 2, 144.0f, 176.0f);
    if (row.w >= wide) slow_switch(ui, row.cut_left(wide), scene, state);
    row.cut_left(8);
    if (row.w >= wide) second_switch(ui, row.cut_left(wide), scene, state, revision);
}

namespace {

// Says which stage is slow and what it costs; a link takes it away.
void slow_sentence(Line& line, TimelineViewState& state) {
    Ui& ui = line.ui;
    const ShownTimeline& shown = *state.shown;
    const SlowDevice& slow = shown.choice.slow;
    const TextStyle plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width("remove", ui.style(12)) + 8;
    if (line.rest.w > w + 120) {
        const Rect at = line.rest.cut_right(w);
        if (ui.link("timeline.slow.remove", {at.x + 4, at.center().y - 9}, "remove")) state.choice.slow = {};
    }
    const TextStyle strong = ui.title().in(ui.theme().bad);
    line.put("injected:", strong);
    line.put(words_of(slow), plain);
    if (shown.step_before_s <= 0) return;
    line.put("· step", plain);
    line.put("+" + percent(shown.step_s / shown.step_before_s - 1), ui.title());
    line.put("(" + time_text(shown.step_before_s) + " to " + time_text(shown.step_s)
                 + "), idle on the average stage " + percent(shown.bubble.fraction),
             plain);
}

// Says what the bubble is a share of, its formula, and how many stages and micro-batches there are: as much
// as has room. A part without room is left out whole: the tooltip has it.
void bubble_rest(Line& line, const ShownTimeline& shown, const ScheduleShape& shape, std::string more,
                 const std::string& whole) {
    const TextStyle plain = line.ui.style(13, Tone::secondary);
    std::string sizes = plural(shape.devices, "stage", "stages") + ", "
                        + plural(shape.microbatches, "micro-batch", "micro-batches");
    if (chunks_of(shape) > 1) sizes += ", " + std::to_string(chunks_of(shape)) + " chunks";
    const std::string dot = more.empty() ? "· " : " · ";
    const auto fits = [&](const std::string& text) {
        return line.ui.canvas().text_width(text, plain) <= line.rest.w;
    };
    if (const std::string all = more + dot + form_text(shown.bubble) + " · " + sizes; fits(all))
        more = all;
    else if (fits(more + dot + sizes))
        more += dot + sizes;
    else if (!fits(more))
        more = fits(whole) ? whole : "";
    if (!more.empty()) line.put(more, plain);
}

void bubble_sentence(Line& line, const Scene& scene, const ShownTimeline& shown) {
    Ui& ui = line.ui;
    const Timeline& t = shown.timeline(scene.evaluation);
    const TextStyle plain = ui.style(13, Tone::secondary);
    const bool own = &t == &scene.evaluation.timeline;
    const Step* step = scene.evaluation.step ? &*scene.evaluation.step : nullptr;
    const bool of_step = step != nullptr && step->time_s > 0 && own;
    const auto share = [](const Step& of) { return schedule_bubble_s(of) / of.time_s; };
    line.put("bubble", plain);
    line.put(percent(of_step ? share(*step) : shown.bubble.fraction), ui.title());
    const Evaluation* a =
        scene.pinned == nullptr || scene.pinned->timeline.empty() || !own ? nullptr : scene.pinned;
    const auto against = [&](double by, std::string (*text)(double)) {
        const TextStyle s = ui.style(12).in(by < 0 ? ui.theme().good : ui.theme().bad);
        if (by != 0) line.put(difference_text(by, text), s);
    };
    if (a != nullptr && of_step && a->step && a->step->time_s > 0)
        against(difference(share(*step), share(*a->step)), points_text);
    const std::string whole = of_step ? "of the step" : "of the pipeline's time";
    std::string more = whole
                       + (of_step ? ", " + time_text(schedule_bubble_s(*step)) : " on the average stage")
                       + "; hatched: idle";
    if (const double by = a == nullptr ? 0 : difference(t.makespan, a->timeline.makespan); by != 0) {
        line.put(std::exchange(more, ""), plain);
        against(by, time_text);
    }
    bubble_rest(line, shown, t.shape, std::move(more), whole);
}

// Says that micro-batches follow one another, and what becomes of their gradients.
void one_stage_sentence(Line& line, const Scene& scene, const ScheduleShape& shape) {
    const TextStyle plain = line.ui.style(13, Tone::secondary);
    if (shape.microbatches <= 1) return line.put("one micro-batch: no bubble", plain);
    line.put(std::to_string(shape.microbatches) + " micro-batches one after another, no bubble", plain);
    std::string sums;
    switch (gradient_reduction_of(scene.plan)) {
    case GradientReduction::micro_batch:
        sums = "· each one's gradients are reduced, and add up in the shards";
        break;
    case GradientReduction::run:
    case GradientReduction::step:
    case GradientReduction::by_software: sums = "· their gradients add up, and are reduced once"; break;
    }
    if (scene.evaluation.mesh.world > 1 && line.ui.canvas().text_width(sums, plain) <= line.rest.w)
        line.put(sums, plain);
}

}  // namespace

void draw_sentence(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state) {
    const ShownTimeline& shown = *state.shown;
    const ScheduleShape& shape = shown.timeline(scene.evaluation).shape;
    Line line{ui, row};
    if (shown.choice.slow.any()) {
        slow_sentence(line, state);
    } else if (shape.devices == 1) {
        one_stage_sentence(line, scene, shape);
        return;
    } else {
        bubble_sentence(line, scene, shown);
    }
    if (ui.hovers(row)) ui.tooltip(measures_explained(shown.bubble));
}

namespace {

// Names what is drawn for the axes and for what follows the last micro-batch.
void axes_legend(Legend& legend, const Theme& theme, const ShownTimeline& shown, const Timeline& t,
                 float row_height) {
    EnumArray<GroupKind, double> waits{};
    double slowed = 0;
    for (const ChunkExposed& x : shown.exposed) {
        for (std::size_t a = 0; a < UnitComm::kAxes; ++a)
            waits[kUnitAxes[a]] += x.comm.forward[a] + x.comm.backward[a];
        for (const GroupKind k : all_of<GroupKind>()) waits[k] += x.state_forward[k] + x.state_backward[k];
        slowed += x.slowed.forward + x.slowed.backward;
    }
    for (const GroupKind k : all_of<GroupKind>())
        if (waits[k] > 0 && row_height >= kLowRow_px)
            legend.item("exposed " + axis_label(k), color_of(theme, k), OpKind::F, Pattern::cross_hatched);
    if (slowed > 0 && row_height >= kLowRow_px)
        legend.item(std::string(name_of(kSlowed.part)), color_of_part(theme, kSlowed), OpKind::F,
                    Pattern::solid);
    for (const TailPart& part : tail_parts(theme, shown.tail))
        legend.item((t.shape.devices > 1 ? "after the pipeline: " : "after the backward: ") + part.name,
                    part.color, OpKind::F, part.hatched ? Pattern::cross_hatched : Pattern::solid);
    const float lane = lane_height(shown, static_cast<int>(t.device.size()), row_height);
    const HiddenLanes lanes = hidden_lanes(shown, row_height - lane);
    for (int k = 0; k < kGroupKindCount && lanes.sum() > 0; ++k) {
        const auto axis = static_cast<GroupKind>(k);
        const bool each = std::any_of(shown.hidden.begin(), shown.hidden.end(),
                                      [&](const HiddenComm& h) { return h.all(axis) > 0; });
        if (each || shown.hidden_once.all(axis) > 0)
            legend.item("hidden " + axis_label(axis), color_of(theme, axis).alpha(0.75f), OpKind::F,
                        Pattern::solid);
    }
    if (lane > 0)
        legend.item("sends: on solid, back dashed", color_of(theme, GroupKind::pp), OpKind::F,
                    Pattern::solid);
}

}  // namespace

int timeline_legend(Ui& ui, Rect room, const Scene& scene, const TimelineViewState& state, float row_height,
                    bool draw) {
    const ShownTimeline& shown = *state.shown;
    const Timeline& t = shown.timeline(scene.evaluation);
    const auto has = [&](OpKind k) { return shown.has[static_cast<std::size_t>(k)]; };
    const Theme& theme = ui.theme();
    const bool pairs = has(OpKind::FB);
    Ink ink = ink_of(ui);
    ink.faint = ui.style(11, Tone::secondary), ink.line = kLegendRow;
    Legend legend{{.ink = ink, .room = room, .draw = draw}, ui};
    const auto plain = [&](OpKind kind, Color color) { legend.item(name_of(kind), color, kind); };
    if (has(OpKind::F) || pairs) plain(OpKind::F, theme.forward);
    if (has(OpKind::B) || pairs) plain(OpKind::B, theme.backward);
    if (has(OpKind::I)) plain(OpKind::I, theme.backward);
    if (has(OpKind::W)) plain(OpKind::W, theme.weight_grad);
    if (pairs)
        legend.item("pair: both at once", [&](Rect box) {
            ui.canvas().rect(box, theme.forward);
            ui.canvas().rect({box.x, box.y + 5, 10, 5}, theme.backward);
            ui.canvas().frame(box, theme.text, 1);
        });
    const bool recomputes = std::any_of(shown.exposed.begin(), shown.exposed.end(),
                                        [](const auto& x) { return x.recompute > 0; });
    if (recomputes && row_height >= kLowRow_px)
        legend.item("forward again", recompute_color(theme), OpKind::F);
    axes_legend(legend, theme, shown, t, row_height);
    if (t.shape.devices > 1) legend.item("idle", theme.bad.alpha(0.55f), OpKind::F, Pattern::hatched);
    if (shown.choice.slow.any())
        legend.item("waits because of the slow stage", theme.bad.alpha(0.5f), OpKind::F, Pattern::hatched);
    if (chunks_of(t.shape) > 1) {
        const std::string_view words = "fainter: later chunk";
        if (const auto at = legend.next(ui.canvas().text_width(words, ink.faint) + 2))
            ui.canvas().text_in(*at, words, ink.faint);
    }
    return legend.lines;
}

}  // namespace pentamesh::ui
