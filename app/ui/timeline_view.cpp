// Timeline: devices downwards, time to the right; work below a pixel is merged before it is drawn.
#include "app/ui/timeline_view.h"
#include "app/ui/format.h"
#include "app/ui/timeline_scale.h"
#include "core/names.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kLabels = 64;

Color chunk_shade(const Theme& theme, const Op& op, int chunks) {
    Color c = color_of(theme, op.kind);
    if (chunks > 1) {
        // Later chunks lean towards the window: lighter on light ground, darker on dark.
        const float k = static_cast<float>(op.chunk) / static_cast<float>(chunks);
        c = mix(c, theme.window, k * 0.45f);
    }
    return c;
}

std::string op_name(OpKind k) {
    switch (k) {
    case OpKind::F: return "forward";
    case OpKind::B: return "backward";
    case OpKind::I: return "input gradient";
    case OpKind::W: return "weight gradient";
    case OpKind::FB: return "forward and backward, overlapped";
    }
    return "";
}

std::string op_tooltip(const Timeline& t, int device, std::size_t i) {
    const Op& op = t.order.ops[i];
    std::string s = op_name(op.kind) + ", micro-batch " + std::to_string(op.microbatch);
    s += "\nstage " + std::to_string(device);
    if (chunks_of(t.shape) > 1) s += ", chunk " + std::to_string(op.chunk);
    if (op.kind == OpKind::FB)
        s += "\nwith the backward of micro-batch " + std::to_string(op.backward_microbatch) + ", chunk "
             + std::to_string(op.backward_chunk);
    s += "\nstarts " + time_text(t.start[i]) + ", takes " + time_text(t.end[i] - t.start[i]);
    return s;
}

// One row of a device: blocks a pixel wide or more one by one, the rest as shares of busy pixels.
struct RowPainter {
    Ui& ui;
    const Timeline& t;
    const TimeScale& scale;
    const Scene& scene;
    const WorkIndex& index;
    std::vector<Block>& blocks;
    std::ptrdiff_t hovered = -1;
    int lit_microbatch = -1;

    void block(Rect row, std::size_t i, float x0, float x1) {
        Canvas& c = ui.canvas();
        const Op& op = t.order.ops[i];
        const float gap = x1 - x0 > 4 ? 1.0f : 0.0f;
        const Rect r{x0, row.y, std::max(1.0f, x1 - x0 - gap), row.h};
        Color color = chunk_shade(ui.theme(), op, chunks_of(t.shape));
        const bool mine = lit_microbatch < 0 || op.microbatch == lit_microbatch
                          || (op.kind == OpKind::FB && op.backward_microbatch == lit_microbatch);
        if (!mine) color = mix(color, ui.theme().window, 0.6f);
        if (op.kind == OpKind::FB && r.w > 6 && r.h > 6) {  // both halves, side by side
            Rect rest = r;
            c.rect(rest.cut_left(r.w / 2), mix(ui.theme().forward, ui.theme().window, mine ? 0.0f : 0.6f));
            c.rect(rest, mix(ui.theme().backward, ui.theme().window, mine ? 0.0f : 0.6f));
        } else {
            c.rect(r, color);
        }
        if (op.kind == OpKind::W && r.w > 5) c.pattern(r, Pattern::dotted, ui.theme().forward.alpha(0.35f));
        if (op.kind == OpKind::I && r.w > 5) c.pattern(r, Pattern::hatched, ui.theme().forward.alpha(0.25f));
        if (r.h >= 11) {
            TextStyle s = ui.style(11);
            s.color = ink_on(color);
            std::string number = std::to_string(op.microbatch);
            if (op.kind == OpKind::FB) number += " " + std::to_string(op.backward_microbatch);
            if (c.text_width(number, s) + 2 <= r.w) c.text_in(r, number, s, Align::center);
        }
        if (ui.hovers({x0, row.y, std::max(1.0f, x1 - x0), row.h})) hovered = static_cast<std::ptrdiff_t>(i);
        if (scene.selection.op == static_cast<std::ptrdiff_t>(i)) c.frame(r, ui.theme().text, 1.5f);
    }

    void row(Rect r, int device) {
        visible_blocks(t, index, device, scale.from_s, scale.to_s,
                       static_cast<double>(scale.plot.w) * ui.canvas().scale(), blocks);
        for (const Block& b : blocks) {
            const float x0 = scale.x(b.from), x1 = scale.x(b.to);
            if (!b.merged()) {
                block(r, b.first, x0, x1);
                continue;
            }
            // Its height shared by what was done, its strength by how busy the device was.
            const double all = std::max(b.work.all(), 1e-300);
            const auto strength = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
            float y = r.y;
            const auto part = [&](double work, Color color) {
                const float h = r.h * static_cast<float>(work / all);
                if (h > 0)
                    ui.canvas().rect({x0, y, std::max(0.5f, x1 - x0), h},
                                     mix(ui.theme().window, color, strength));
                y += h;
            };
            part(b.work.forward, ui.theme().forward);
            part(b.work.backward, ui.theme().backward);
            part(b.work.weight, ui.theme().weight_grad);
        }
    }
};

// The micro-batches' activations that a device holds, over time, below the rows.
void memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale, double cursor_s) {
    Canvas& c = ui.canvas();
    const std::vector<InFlightStep> steps = in_flight(t, device);
    double most = 1, now = 0;
    for (const InFlightStep& s : steps) {
        most = std::max(most, s.held);
        if (s.time <= cursor_s) now = s.held;
    }
    c.push_clip(room);
    double held = 0, highest = 0;
    float from = scale.x(0);
    for (const InFlightStep& s : steps) {  // steps within a pixel are one: the highest of them
        const float x = scale.x(s.time);
        highest = std::max(highest, held);
        if (x - from >= 1) {
            const auto h = static_cast<float>(highest / most) * (room.h - 18);
            if (x > room.x && from < room.right())
                c.rect({from, room.bottom() - h, x - from, h}, ui.theme().memory[3].alpha(0.8f));
            from = x;
            highest = 0;
        }
        held = s.held;
    }
    c.pop_clip();
    std::string label = "activations in flight on stage " + std::to_string(device) + ", at most "
                        + significant(most) + " micro-batches";
    if (cursor_s >= 0) label += "; " + significant(now) + " at the cursor";
    c.text({room.x + 4, room.y}, label, ui.style(11, Tone::secondary));
}

void navigate(Ui& ui, Rect plot, const Timeline& t, TimelineViewState& s, const TimeScale& scale) {
    const Hit hit = ui.area("timeline.plot", plot, 0, true, false);
    const double whole = t.makespan;
    if (ui.hovers(plot) && ui.frame().wheel != 0) {
        const double at = scale.time(ui.frame().mouse.x);
        const double k = std::pow(0.8, ui.frame().wheel);
        const double span = std::clamp((scale.to_s - scale.from_s) * k, 1e-9, whole);
        const double share = (at - scale.from_s) / (scale.to_s - scale.from_s);
        s.from_s = std::clamp(at - span * share, 0.0, whole - span);
        s.to_s = s.from_s + span;
    }
    if (hit.held && (std::abs(hit.drag.x) > 3 || s.panning)) {
        if (!s.panning) s.pan_from_s = scale.from_s;
        s.panning = true;
        const double span = scale.to_s - scale.from_s;
        s.from_s = std::clamp(s.pan_from_s - hit.drag.x / plot.w * span, 0.0, whole - span);
        s.to_s = s.from_s + span;
    } else if (hit.clicked && !s.panning) {
        s.cursor_s = scale.time(ui.frame().mouse.x);
    }
    if (!hit.held) s.panning = false;
    if (hit.double_clicked) s.from_s = s.to_s = 0;
    if (hit.right_clicked) s.cursor_s = -1;
    if (s.to_s - s.from_s >= whole) s.from_s = s.to_s = 0;
}

void sentence(Ui& ui, Rect row, const Scene& scene) {
    const Timeline& t = scene.evaluation.timeline;
    Canvas& c = ui.canvas();
    const ScheduleShape& shape = t.shape;
    const double fraction = t.bubble_fraction();
    Rect rest = row;
    const auto put = [&](const std::string& text, const TextStyle& s) {
        if (rest.w < 20) return;
        const float w = c.text_width(text, s);
        c.text_in(rest, text, s);
        rest.cut_left(std::min(rest.w, w + 4));
    };
    if (shape.devices == 1) {
        put("one stage: no bubble, " + plural(shape.microbatches, "micro-batch", "micro-batches"),
            ui.style(13, Tone::secondary));
        return;
    }
    put("bubble", ui.style(13, Tone::secondary));
    put(percent(fraction), ui.title());
    std::string more = "of the step";
    ChunkCost sum;  // of a whole stage, mean over devices
    for (const auto& k : scene.evaluation.costs.chunk) {
        sum.forward += k.forward / shape.devices;
        sum.input_grad += k.input_grad / shape.devices;
        sum.weight_grad += k.weight_grad / shape.devices;
    }
    const ClosedForm form =
        closed_form(shape, sum.forward, sum.input_grad, sum.weight_grad, scene.evaluation.costs.send);
    const double work = shape.microbatches * (sum.forward + sum.input_grad + sum.weight_grad);
    if (form.bubble > 0 && work > 0)
        more += " · " + std::string(form.formula) + " = " + percent(form.bubble / work) + " overhead";
    more += " · " + plural(shape.devices, "stage", "stages") + ", "
            + plural(shape.microbatches, "micro-batch", "micro-batches");
    if (chunks_of(shape) > 1) more += ", " + std::to_string(chunks_of(shape)) + " chunks";
    if (c.text_width(more, ui.style(13, Tone::secondary)) > rest.w && ui.hovers(row)) {
        double span = 0;
        for (const auto& d : t.device) span = std::max(span, d.idle_within_span());
        ui.tooltip("bubble " + percent(fraction) + " " + more + "\nidle within a stage's own span: at most "
                   + time_text(span) + "\nclosed form exact when " + form.exact_when);
    }
    put(more, ui.style(13, Tone::secondary));
}

void legend(Ui& ui, Rect row, const Timeline& t) {
    Canvas& c = ui.canvas();
    std::array<bool, 5> has{};
    for (std::size_t i = 0; i < t.order.ops.size() && i < 20000; ++i)
        has[static_cast<std::size_t>(t.order.ops[i].kind)] = true;
    static constexpr std::array<OpKind, 4> kKinds{OpKind::F, OpKind::B, OpKind::I, OpKind::W};
    static constexpr std::array<std::string_view, 4> kNames{"forward", "backward", "input gradient",
                                                            "weight gradient"};
    if (has[static_cast<std::size_t>(OpKind::FB)]) has[0] = true;
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (!has[static_cast<std::size_t>(kKinds[i])]) continue;
        const Rect box{row.x, row.center().y - 5, 10, 10};
        c.rect(box, color_of(ui.theme(), kKinds[i]));
        if (kKinds[i] == OpKind::I) c.pattern(box, Pattern::hatched, ui.theme().forward.alpha(0.4f));
        if (kKinds[i] == OpKind::W) c.pattern(box, Pattern::dotted, ui.theme().forward.alpha(0.5f));
        row.cut_left(15);
        row.cut_left(c.text_width(kNames[i], ui.style(11)) + 18);
        c.text({box.right() + 5, row.center().y - 7}, kNames[i], ui.style(11, Tone::secondary));
    }
    if (chunks_of(t.shape) > 1)
        c.text({row.x, row.center().y - 7}, "fainter: later chunk", ui.style(11, Tone::secondary));
}

void dependency_arrow(Ui& ui, const Timeline& t, const TimelineCosts& costs, std::size_t op, Rect plot,
                      float row_h, float scroll, const TimeScale& scale) {
    const auto device_of = [&](std::size_t i) {
        return static_cast<std::size_t>(std::upper_bound(t.order.begin.begin(), t.order.begin.end(), i)
                                        - t.order.begin.begin() - 1);
    };
    std::size_t at = op;
    for (int hop = 0; hop < 2; ++hop) {
        const std::ptrdiff_t from = waited_for(t, costs, at);
        if (from < 0) return;
        const auto f = static_cast<std::size_t>(from);
        const float y0 = plot.y + (static_cast<float>(device_of(f)) + 0.5f) * row_h - scroll;
        const float y1 = plot.y + (static_cast<float>(device_of(at)) + 0.5f) * row_h - scroll;
        const Vec2 a{scale.x(t.end[f]), y0}, b{scale.x(t.start[at]), y1};
        if (device_of(f) != device_of(at)) {
            const float bend = std::max(8.0f, std::abs(b.x - a.x) / 2);
            ui.canvas().curve(a, a + Vec2{bend, 0}, b - Vec2{bend, 0}, b, ui.theme().link, 1.5f);
            const std::array<Vec2, 3> head{b, b + Vec2{-6, -3}, b + Vec2{-6, 3}};
            ui.canvas().polygon(head, ui.theme().link);
            return;
        }
        at = f;  // on the same device: show what the one before waited for
    }
}

Rect row_rect(Rect plot, int device, float row_h, float scroll) {
    const float gap = row_h > 8 ? 1.5f : row_h > 4 ? 1.0f : 0.0f;
    return {plot.x, plot.y + static_cast<float>(device) * row_h - scroll, plot.w, row_h - gap};
}

// Draws the second schedule in its own rows, on the first one's time axis, and says what it saves.
void draw_second(Ui& ui, Rect room, const Scene& scene, TimelineViewState& state, double from_s,
                 double to_s) {
    const Timeline& other = state.second_evaluation.timeline;
    const Timeline& own = scene.evaluation.timeline;
    Canvas& c = ui.canvas();
    const std::string name(name_of(static_cast<Schedule>(state.second)));
    const Rect head = room.cut_top(20);
    if (other.empty()) {
        std::string why = name + " cannot run this plan";
        for (const Problem& p : state.second_evaluation.problems)
            if (p.severity == Severity::error) why += ": " + p.message;
        c.text_in(head, why, ui.small());
        return;
    }
    const double change = other.makespan / own.makespan - 1;
    c.text_in(head,
              name + ": " + time_text(other.makespan) + ", " + percent(std::abs(change))
                  + (change < 0 ? " shorter" : " longer") + " than "
                  + std::string(name_of(own.shape.schedule)) + "; idle " + percent(other.bubble_fraction())
                  + " against " + percent(own.bubble_fraction()),
              ui.style(12));
    room.cut_left(kLabels);
    const TimeScale scale{from_s, to_s, room};
    Selection none;
    Hover hover, next;
    const Scene plain{scene.plan, state.second_evaluation, scene.presets, none, hover, next};
    RowPainter painter{ui, other, scale, plain, state.second_index, state.blocks};
    const auto devices = static_cast<float>(other.device.size());
    const float row_h = std::clamp(room.h / devices, 3.0f, 40.0f);
    c.push_clip(room);
    for (int d = 0; d < static_cast<int>(devices); ++d) painter.row(row_rect(room, d, row_h, 0), d);
    c.pop_clip();
}

// Which schedule is set beside the plan's own: a choice that is stepped through.
void second_switch(Ui& ui, Rect box, const Scene& scene, TimelineViewState& state, std::uint64_t revision) {
    const std::string label = state.second < 0
                                  ? "compare: none"
                                  : "with " + std::string(name_of(static_cast<Schedule>(state.second)));
    const Ui::Step step = ui.stepper("timeline.second", box, label, state.second >= 0,
                                     state.second + 1 < kScheduleCount, state.second >= 0);
    if (step.by != 0 || step.edit_requested) {
        state.second = std::clamp(state.second + (step.by != 0 ? step.by : 1), -1, kScheduleCount - 1);
        state.second_of = 0;
    }
    if (state.second < 0 || state.second_of == revision) return;
    Plan p = scene.plan;
    p.layout.schedule = static_cast<Schedule>(state.second);
    const bool folds = p.layout.schedule == Schedule::zb_v || p.layout.schedule == Schedule::dualpipev;
    const bool loops =
        p.layout.schedule == Schedule::interleaved || p.layout.schedule == Schedule::looped_bfs;
    const std::int64_t chunks = folds ? 2 : loops ? std::max<std::int64_t>(2, p.layout.virtual_stages) : 1;
    if (chunks != p.layout.virtual_stages) p.layout.stage_layers.clear();
    p.layout.virtual_stages = chunks;
    evaluate(p, state.second_evaluation);
    if (!state.second_evaluation.timeline.empty())
        build_work_index(state.second_evaluation.timeline, state.second_index);
    state.second_of = revision;
}

}  // namespace

void draw_timeline(Ui& ui, Rect head_row, Rect room, Scene& scene, TimelineViewState& state,
                   std::uint64_t revision) {
    const Timeline& t = scene.evaluation.timeline;
    Canvas& c = ui.canvas();
    if (t.empty() || t.makespan <= 0) {
        c.text_in(room, "No timeline for this plan: the problems say why.", ui.small(), Align::center);
        return;
    }
    if (state.index_of != revision || state.index.before.empty()) {
        build_work_index(t, state.index);
        state.index_of = revision;
    }
    Rect foot = room.cut_bottom(18);
    const bool tall = room.h > 330;
    const Rect curve = tall ? room.cut_bottom(72) : Rect{};
    if (tall && t.device.size() > 1) {
        second_switch(ui, head_row.cut_right(176), scene, state, revision);
        head_row.cut_right(12);
    }
    const Rect second =
        tall && state.second >= 0 && t.device.size() > 1 ? room.cut_bottom(room.h / 2) : Rect{};
    {
        Rect buttons = head_row.w > 420 ? head_row.cut_right(150) : Rect{};
        if (!buttons.empty()) {
            if (ui.button("timeline.play", {buttons.right() - 56, buttons.y, 56, buttons.h},
                          state.playing ? "pause" : "play", 0, true, true))
                state.playing = !state.playing;
            if (ui.button("timeline.critical", {buttons.x, buttons.y, 90, buttons.h},
                          state.critical ? "● critical" : "critical", 0, true, true))
                state.critical = !state.critical;
        }
        head_row.cut_right(8);
    }
    sentence(ui, head_row, scene);
    Rect labels = room.cut_left(kLabels);
    const Rect plot = room;
    const auto devices = static_cast<float>(t.device.size());
    const float row_h = std::clamp(plot.h / devices, 3.0f, 40.0f);
    const float content = row_h * devices;
    if (ui.hovers(labels) && ui.frame().wheel != 0) state.scroll -= ui.frame().wheel * row_h * 3;
    state.scroll = std::clamp(state.scroll, 0.0f, std::max(0.0f, content - plot.h));
    TimeScale scale{state.from_s, state.to_s > state.from_s ? state.to_s : t.makespan, plot};
    navigate(ui, plot, t, state, scale);
    scale = {state.from_s, state.to_s > state.from_s ? state.to_s : t.makespan, plot};
    if (state.playing) {
        if (state.cursor_s < 0 || state.cursor_s >= t.makespan) state.cursor_s = 0;
        state.cursor_s += t.makespan / 12 * std::clamp(ui.frame().time_s - state.played_at, 0.0, 0.1);
        ui.state().animating = true;
    }
    state.played_at = ui.frame().time_s;

    RowPainter painter{ui, t, scale, scene, state.index, state.blocks};
    if (scene.selection.op >= 0 && static_cast<std::size_t>(scene.selection.op) < t.order.ops.size())
        painter.lit_microbatch = t.order.ops[static_cast<std::size_t>(scene.selection.op)].microbatch;
    c.push_clip(plot);
    const int first = static_cast<int>(state.scroll / row_h);
    const int last =
        std::min(static_cast<int>(devices) - 1, static_cast<int>((state.scroll + plot.h) / row_h));
    int hovered_device = -1;
    for (int d = first; d <= last; ++d) {
        const Rect row = row_rect(plot, d, row_h, state.scroll);
        if (scene.hover.stage == d || scene.selection.stage == d) c.rect(row, ui.theme().raised);
        const std::ptrdiff_t before = painter.hovered;
        painter.row(row, d);
        if (painter.hovered != before) hovered_device = d;
        if (ui.hovers(row)) scene.next_hover.stage = d;
    }
    if (state.critical) {
        if (state.critical_of != revision) {
            state.critical_path = critical_path(t, scene.evaluation.costs);
            state.critical_of = revision;
        }
        for (const std::size_t i : state.critical_path) {
            const auto d = static_cast<float>(std::upper_bound(t.order.begin.begin(), t.order.begin.end(), i)
                                              - t.order.begin.begin() - 1);
            const float x0 = scale.x(t.start[i]), x1 = scale.x(t.end[i]);
            if (x1 < plot.x || x0 > plot.right()) continue;
            const float y = plot.y + d * row_h - state.scroll;
            c.rect({x0, y + row_h - 3, std::max(1.0f, x1 - x0), 2}, ui.theme().bad);
        }
    }
    if (painter.hovered >= 0) {
        const auto i = static_cast<std::size_t>(painter.hovered);
        dependency_arrow(ui, t, scene.evaluation.costs, i, plot, row_h, state.scroll, scale);
        ui.tooltip(op_tooltip(t, hovered_device, i));
        if (ui.frame().clicked[0]) {
            scene.selection.op = scene.selection.op == painter.hovered ? -1 : painter.hovered;
            scene.selection.stage = hovered_device;
            scene.selection.topic = Selection::Topic::op;
        }
    }
    if (state.cursor_s >= 0) {
        const float x = scale.x(state.cursor_s);
        c.line({x, plot.y}, {x, plot.bottom()}, ui.theme().text, 1);
    }
    c.pop_clip();

    if (!second.empty()) draw_second(ui, second, scene, state, scale.from_s, scale.to_s);
    if (!curve.empty()) {
        const bool chosen = scene.selection.stage >= 0 && scene.selection.stage < static_cast<int>(devices);
        const Rect band{plot.x, curve.y + 6, plot.w, curve.h - 8};
        memory_curve(ui, band, t, chosen ? scene.selection.stage : 0, {scale.from_s, scale.to_s, band},
                     state.cursor_s);
    }
    const int every = std::max(1, static_cast<int>(std::ceil(16.0f / row_h)));
    const int nice = every <= 1 ? 1 : every <= 2 ? 2 : every <= 5 ? 5 : (every + 9) / 10 * 10;
    for (int d = first; d <= last; ++d)
        if (d % nice == 0)
            c.text_in({labels.x, plot.y + static_cast<float>(d) * row_h - state.scroll + row_h / 2 - 8,
                       labels.w - 8, 16},
                      "stage " + std::to_string(d), ui.style(11, Tone::secondary));
    foot.cut_left(kLabels);
    legend(ui, foot, t);
    const std::string range = state.cursor_s >= 0
                                  ? "cursor " + time_text(state.cursor_s) + " of " + time_text(t.makespan)
                                  : time_text(scale.to_s - scale.from_s);
    c.text_in(foot, range, ui.style(11, Tone::secondary), Align::right);
}

DataTable timeline_data(const Scene& scene) {
    static constexpr std::size_t kMost = 5000;
    const Timeline& t = scene.evaluation.timeline;
    DataTable table;
    table.columns = {{"stage", true},     {"op"},           {"chunk", true}, {"micro-batch", true},
                     {"start (s)", true}, {"end (s)", true}};
    static constexpr std::array<std::string_view, 5> kOps{"F", "B", "I", "W", "FB"};
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            if (table.rows.size() >= kMost) {
                table.left_out = t.order.ops.size() - kMost;
                return table;
            }
            const Op& op = t.order.ops[i];
            table.rows.push_back({std::to_string(d), std::string(kOps[static_cast<std::size_t>(op.kind)]),
                                  std::to_string(op.chunk), std::to_string(op.microbatch),
                                  significant(t.start[i], 6), significant(t.end[i], 6)});
        }
    return table;
}

}  // namespace pentamesh::ui
