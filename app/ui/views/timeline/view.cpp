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
#include "app/ui/views/timeline/timeline_windows.h"
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

constexpr float kMostRow = 176, kSentence = 260;
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

// Draws the rows of one timeline; the painter then knows what is under the mouse and which marks there are.
void draw_rows(Ui& ui, const RowPlace& rows, int devices, RowPainter& painter, Scene* scene) {
    const int first = std::max(0, static_cast<int>(rows.scroll / rows.row_h));
    const int last = std::min(devices - 1, static_cast<int>((rows.scroll + rows.plot.h) / rows.row_h));
    painter.expect_rows(first, last, row_height(rows.row_h) - rows.above);
    for (int d = first; d <= last; ++d) {
        const Rect row = rows.row(d);
        if (rows.above > 0)
            draw_track_of_a(ui, {row.x, rows.top(d), row.w, kTrackOfA}, *scene, d, painter.scale());
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
        (void)draw_tail(ui, state.second_shown->tail, t.makespan, beside, scale);
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
    state.drawn.add(draw_tail(ui, state.shown->tail, t.makespan, beside, scale, faded_parts(scene)));
    if (state.critical) {
        const auto find = [&] { return critical_path(t, state.shown->costs); };
        draw_critical(ui, t, state.critical_path.get(state.shown->version, find), rows, scale);
    }
    if (const std::ptrdiff_t op = highlighted_op(t, scene, state); op >= 0)
        draw_arrows(ui, t, state.shown->costs, static_cast<std::size_t>(op), rows, scale);
}

// Holds the places of the view's parts; those of windows are empty where there are none.
struct TimelineAreas {
    Rect labels, plot, ruler, second, curve, legend;
    Rect head, head_names, bracket;  // of the windows
    Rect same;                       // the bubble that stayed
    float row_h = 0, above = 0;      // of a device; of it, for A's track
    [[nodiscard]] RowPlace rows(Rect in, float scroll) const { return {in, row_h, scroll, above}; }
};

// Says what the room is shared among.
struct TimelineNeeds {
    int devices = 1;
    bool tall = false, second = false;
    bool tracks = false, same = false;  // A's blocks over each row; the bubble that stayed
    float labels = 0, legend = 0;
    float measured = 0;  // rows of a real run, below those of the plan
    const TimelineWindows* windows = nullptr;
};

// Rows of several stages are at most so high that what a stage holds has room below them; the memory of one
// stage is drawn in bytes, and takes the larger part of the room.
TimelineAreas divide(Rect room, const TimelineNeeds& needs) {
    constexpr float kCurve = 64, kPeriodRow = 26, kLeastOfOne = 76, kLeastWithSame = 230;
    TimelineAreas r;
    r.legend = room.cut_bottom(needs.legend);
    const bool one = needs.devices == 1;
    const float rows = std::min(kMostRow, room.h * 0.4f);
    if (needs.tall) r.curve = room.cut_bottom(one ? std::max(room.h - rows - 48, kLeastOfOne) : kCurve);
    if (needs.same && room.h >= kLeastWithSame) r.same = room.cut_bottom(kSameBubble);
    if (needs.windows != nullptr && needs.tall && needs.windows->periods() > 1)
        r.bracket = room.cut_bottom(kPeriodRow);
    if (room.h > 96) r.ruler = room.cut_bottom(20);
    if (needs.second) r.second = room.cut_bottom(room.h / 2);
    if (needs.windows != nullptr) {
        r.head = room.cut_top(needs.windows->form.head());
        r.head_names = r.head.cut_left(needs.labels);
    }
    r.labels = room.cut_left(needs.labels);
    r.plot = room;
    r.plot.cut_bottom(std::min(r.plot.h / 2, needs.measured));
    for (Rect* x : {&r.curve, &r.ruler, &r.bracket, &r.same, &r.legend})
        if (!x->empty()) x->cut_left(needs.labels);
    r.row_h = std::clamp(r.plot.h / static_cast<float>(needs.devices), 3.0f, kMostRow);
    if (needs.tracks && needs.windows == nullptr && r.row_h >= kLeastTracked) r.above = kTrackPitch;
    // The parts below the rows follow them: few stages leave the lower end free.
    const float spare = std::max(0.0f, r.plot.h - r.row_h * static_cast<float>(needs.devices));
    if (needs.tall && !one && !needs.second && needs.measured <= 0) {
        r.plot.h -= spare;
        for (Rect* x : {&r.ruler, &r.bracket, &r.same, &r.curve, &r.legend}) x->y -= spare;
    }
    return r;
}

// Returns the three windows of a timeline whose blocks would be too narrow in one; nullopt where one shows
// it. Only their left and right edges are set.
std::optional<TimelineWindows> windows_of(Ui& ui, Rect room, const TimelineNeeds& needs, double whole,
                                          const Scene& scene, TimelineViewState& state) {
    constexpr float kNumbered = 14;  // height of a row that has room for numbers
    if (needs.devices < 2 || needs.second || needs.measured > 0 || state.to_s > state.from_s)
        return std::nullopt;
    const Timeline& t = state.shown->timeline(scene.evaluation);
    state.facts.update(state.shown->version, [&] { return window_facts(t); });
    const WindowsForm& form = needs.tall ? kLargeWindows : kSmallWindows;
    const float row_h = (room.h - needs.legend - form.head()) / static_cast<float>(needs.devices);
    const float number =
        ui.canvas().text_width(std::to_string(t.shape.microbatches - 1), ui.style(needs.tall ? 11.0f : 8.5f));
    room.cut_left(needs.labels);
    return find_windows(t, *state.facts, whole, room, form, row_h < kNumbered ? 0 : number + 4,
                        state.steady_at_s);
}

// Finds where everything is. The legend takes as many lines as its words need, the rows what is left.
TimelineAreas find_areas(Ui& ui, Rect room, TimelineNeeds needs, double whole, const Scene& scene,
                         TimelineViewState& state) {
    const float least_row = needs.tall ? 5 : 4;  // of a stage in windows
    const Timeline& t = state.shown->timeline(scene.evaluation);
    needs.labels = labels_width(ui, room, needs.tall, *state.shown);
    needs.legend = kLegendRow;
    state.windows = windows_of(ui, room, needs, whole, scene, state);
    if (state.windows) {
        state.windows->strip_s = std::max(state.windows->whole_s, scene.axes.time_s);
        needs.windows = &*state.windows;
    }
    const double span = state.to_s > state.from_s ? state.to_s - state.from_s : whole;
    TimelineAreas areas;
    const auto try_with = [&](float legend) {
        needs.legend = legend;
        areas = divide(room, needs);
        const double px_per_s =
            state.windows ? state.windows->px_per_s() : static_cast<double>(areas.plot.w) / span;
        state.named = marks_of(ui.theme(), *state.shown, t, areas.row_h, px_per_s);
        return kLegendRow
               * static_cast<float>(timeline_legend(ui, {0, 0, areas.legend.w, 0}, state.named, false));
    };
    if (const float legend = try_with(kLegendRow); legend > kLegendRow) (void)try_with(legend);
    if (state.windows && areas.plot.h < least_row * static_cast<float>(needs.devices)) {
        state.windows.reset();
        needs.windows = nullptr;
        if (const float legend = try_with(kLegendRow); legend > kLegendRow) (void)try_with(legend);
    }
    if (state.windows) state.windows->place(areas.plot.y, areas.plot.h);
    return areas;
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
    const RowPlace rows = areas.rows(scale.plot, state.scroll);
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
        state.drawn.add(painter.drawn);
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

// Draws the timeline in three windows, under the strip that shows all of it.
void draw_windows(Ui& ui, const TimelineAreas& areas, const TimelineWindows& windows, double whole,
                  Scene& scene, TimelineViewState& state) {
    const Timeline& t = state.shown->timeline(scene.evaluation);
    const auto devices = static_cast<int>(t.device.size());
    draw_windows_head(ui, areas.head_names, areas.head, windows, t, *state.shown, state.overview_blocks,
                      state.steady_at_s);
    bool over = false;
    for (std::size_t i = 0; i < windows.window.size(); ++i)
        over |= draw_window(ui, areas, windows.window[i], i, whole, state.window_blocks[i], scene, state);
    if (!over) state.hovered = -1;
    Rect rows = areas.plot;
    rows.h = std::min(rows.h, areas.row_h * static_cast<float>(devices));
    draw_breaks(ui.canvas(), ui.theme(), rows, windows);
    if (!areas.bracket.empty()) draw_period(ui, areas.bracket, windows);
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

    const std::vector<const runs::RunFile*> files = measured_files(scene);
    const float measured = files.empty() ? 0 : kMeasuredRow * static_cast<float>(files.size()) + 6;
    const TimelineAreas areas =
        find_areas(ui, room,
                   {.devices = devices,
                    .tall = tall,
                    .second = second,
                    .tracks = has_track_of_a(scene) && !second && state.choice == TimelineChoice{},
                    .same = bubble_stays(scene) && !second,
                    .measured = measured},
                   whole, scene, state);
    state.scroll -= ui.take_wheel(areas.labels) * std::max(16.0f, areas.row_h * 3);
    const float content = areas.row_h * static_cast<float>(devices);
    state.scroll = held_between(state.scroll, 0.0f, content - areas.plot.h);
    play(ui, whole, state);
    const bool zoomed = state.to_s > state.from_s;
    const double end_s = std::max(ui.kept_scale("timeline.end", whole), scene.axes.time_s);
    const TimeScale all{state.from_s, zoomed ? state.to_s : end_s, areas.plot};
    std::vector<TimeScale> shown{all};
    const TimelineMarks drawn_before = std::exchange(state.drawn, {});
    if (const std::optional<TimelineWindows> windows = state.windows) {
        shown.assign(windows->window.begin(), windows->window.end());
        draw_windows(ui, areas, *windows, whole, scene, state);
    } else if (!draw_window(ui, areas, all, 0, whole, state.blocks, scene, state)) {
        state.hovered = -1;
    }
    const std::optional<double> was_s = step_before(ui, "timeline.end", scene);
    // If windows show parts of the step, its ends stand on the strip of all of it.
    if (was_s && !zoomed && state.windows)
        draw_moved_end(ui, *was_s, whole,
                       {0, state.windows->strip_s, Rect(areas.head).cut_top(state.windows->form.strip)});
    const RowPlace rows = areas.rows(areas.plot, state.scroll);
    if (was_s && !zoomed && !state.windows) draw_moved_end(ui, *was_s, whole, all, &rows);
    if (!areas.same.empty()) draw_same_bubble(ui, areas.same, scene, {0, end_s, areas.plot});
    if (second) draw_second(ui, areas.second, areas.labels.w, scene, state, all.from_s, all.to_s);
    if (!files.empty()) {
        const float y = areas.plot.y + std::min(areas.plot.h, areas.row_h * static_cast<float>(devices)) + 4;
        draw_measured_rows(ui, areas.labels,
                           {areas.plot.x, y, areas.plot.w, kMeasuredRow * static_cast<float>(files.size())},
                           files, all, scene);
    }
    draw_labels(ui, areas.labels, rows, scene, state);
    timeline_legend(ui, areas.legend, state.named, true);
    const Rect was = state.card;
    const RowPlace placed = areas.rows(areas.plot, state.scroll);
    state.card = {};
    if (tall && !second) draw_block_card(ui, room, placed, shown, scene, state);
    if (state.card != was || state.drawn != drawn_before) ui.state().wants_frame = true;
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

}  // namespace pentamesh::ui
