// The names of the rows, the curve of what a stage holds, the rows of a real run, and what is said of a
// block.
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/scene/scene.h"
#include "core/mesh/places.h"
#include "core/pipeline/stage_names.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace pentamesh::ui {

namespace {

auto step_after(const std::vector<InFlightStep>& steps, double time) {
    return std::ranges::upper_bound(steps, time, {}, &InFlightStep::time);
}

double held_at(const std::vector<InFlightStep>& steps, double time) {
    const auto after = step_after(steps, time);
    return after == steps.begin() ? 0 : (after - 1)->held;
}

using runs::PartSpan;
using runs::RunFile;
using runs::RunPart;

constexpr std::size_t kMostMeasured = 4;  // rows

// Returns what a row shows of a log: its sums one after another, in no order of time.
std::vector<PartSpan> sums_of(const RunFile& file) {
    std::vector<PartSpan> out;
    double at = 0;
    for (const RunPart p : all_of<RunPart>())
        if (file.parts[p] && file.parts[p]->measured_s > 0 && p != RunPart::idle) {
            out.push_back({at, at + file.parts[p]->measured_s, p});
            at = out.back().end_s;
        }
    if (out.empty()) out.push_back({0, file.step_s, RunPart::rest});
    return out;
}

std::string span_tooltip(const RunFile& file, const PartSpan& s) {
    const std::string name(pentamesh::name_of(s.part));
    if (file.spans.empty())
        return name + "\n" + time_text(s.end_s - s.begin_s) + " of a step, the sum; not when";
    return name + "\n" + time_text(s.begin_s) + " to " + time_text(s.end_s) + " of its step";
}

// Parts other than the one that is selected fade.
void draw_spans(Ui& ui, Rect row, const std::vector<PartSpan>& spans, const TimeScale& scale,
                std::optional<RunPart> lit) {
    Canvas& c = ui.canvas();
    const float pixel = 1 / c.scale();
    float column = -1, most = 0;
    RunPart part = RunPart::idle;
    const auto color = [&](RunPart of) {
        const Color own = color_of(ui.theme(), of);
        return lit && of != *lit ? mix(own, ui.theme().window, 0.65f) : own;
    };
    const auto flush = [&] {
        if (column >= 0) c.rect({column * pixel, row.y, pixel, row.h}, color(part));
        column = -1, most = 0;
    };
    const auto first = std::lower_bound(spans.begin(), spans.end(), scale.from_s,
                                        [](const PartSpan& s, double t) { return s.end_s < t; });
    for (auto it = first; it != spans.end() && it->begin_s < scale.to_s; ++it) {
        const float x0 = std::max(row.x, scale.x(it->begin_s)),
                    x1 = std::min(row.right(), scale.x(it->end_s));
        if (x1 - x0 >= pixel) {
            flush();
            c.rect({x0, row.y, x1 - x0, row.h}, color(it->part));
            continue;
        }
        const float at = std::floor(x0 / pixel);
        if (at != column) flush();
        if (x1 - x0 > most) part = it->part, most = x1 - x0;
        column = at;
    }
    flush();
}

// Returns "hidden behind it: cp 1.2 ms, ep 3 ms"; empty where nothing is hidden.
std::string hidden_text(const ShownTimeline& shown, int device, int chunks, const Op& op) {
    const OpHalves halves = halves_of(op, device, chunks);
    if (!halves.in(shown.hidden.size())) return {};
    std::string text;
    for (const GroupKind axis : all_of<GroupKind>()) {
        if (const double s = halves.hidden_s(shown.hidden, axis); s > 0)
            text += (text.empty() ? "\nhidden behind it: " : ", ") + axis_label(axis) + " " + time_text(s);
    }
    return text;
}

}  // namespace

void draw_labels(Ui& ui, Rect labels, const RowPlace& rows, Scene& scene, TimelineViewState& state) {
    Canvas& c = ui.canvas();
    const auto devices = static_cast<int>(state.shown->places.size());
    const int every = std::max(1, static_cast<int>(std::ceil(20.0f / rows.row_h)));
    const int nice = every <= 1 ? 1 : every <= 2 ? 2 : every <= 5 ? 5 : (every + 9) / 10 * 10;
    const std::string_view domain = domain_name(scene.plan.cluster);
    const Canvas::Clip clip = c.clip(labels);
    const int first = std::max(0, static_cast<int>(rows.scroll / rows.row_h));
    for (int d = first; d < devices; ++d) {
        const Rect row{labels.x, rows.row(d).y, labels.w, rows.row(d).h};
        if (row.y > labels.bottom()) break;
        const StagePlace& place = state.shown->places[d];
        const Hit hit = ui.area("timeline.row", row, static_cast<std::uint64_t>(d), true, d % nice == 0);
        const bool slow = state.shown->choice.slow.device == d;
        if (hit.hovered) {
            scene.next_hover.stage = d;
            ui.tooltip(stage_text(d, place, domain));
        }
        if (hit.focused) ui.focus_ring(row, 3);
        if (hit.clicked) {
            scene.selection.stage = scene.selection.stage == d && !slow ? -1 : d;
            if (state.choice.slow.any()) state.choice.slow.device = d;
        }
        if (slow) c.rect({row.right() - 5, row.y, 3, row.h}, ui.theme().bad);
        if (d % nice != 0 && !slow) continue;
        const int lines = labels.w <= 64 ? 1 : row.h >= 46 ? 3 : row.h >= 30 ? 2 : 1;
        float y = row.center().y - 8.0f * static_cast<float>(lines);
        if (lines == 1) y = std::clamp(y, labels.y, std::max(labels.y, labels.bottom() - 16));
        const auto line = [&](const std::string& text, const TextStyle& s) {
            c.text_in({row.x, y, row.w - 8, 16}, text, s);
            y += 16;
        };
        TextStyle name = ui.style(11, chosen_stage(scene) == d || slow ? Tone::text : Tone::secondary);
        if (slow) name.color = ui.theme().bad;
        line((devices > 1 ? "stage " + std::to_string(d) : std::string("all GPUs"))
                 + (slow ? " × " + trimmed(state.shown->choice.slow.factor) : ""),
             name);
        if (lines > 1) line(place.layers, ui.style(11, Tone::secondary));
        if (lines > 2) line(nodes_text(place, domain), ui.style(11, Tone::secondary));
    }
}

float labels_width(Ui& ui, Rect room, bool tall, const ShownTimeline& shown) {
    if (!tall || room.w < 640) return 64;
    float w = 80;
    for (std::size_t d = 0; d < shown.places.size() && d < 64; ++d)
        w = std::max(w, ui.canvas().text_width(shown.places[d].layers, ui.style(11)) + 16);
    return std::min(w, 160.0f);
}

void draw_memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale,
                       TimelineViewState& state, bool labelled) {
    Canvas& c = ui.canvas();
    const std::vector<InFlightStep>& steps =
        state.curve.get({state.shown->version, device}, [&] { return in_flight(t, device); });
    const double most = std::max(1e-9, t.device[device].peak_in_flight);
    Rect plot = room;
    const Rect head = plot.cut_top(18);
    const auto height = [&](double held) { return static_cast<float>(held / most) * (plot.h - 2); };
    {
        const Canvas::Clip clip = c.clip(plot);
        // Steps within a pixel are one, the highest of them; those left of the view are skipped.
        auto at = step_after(steps, scale.from_s);
        double held = at == steps.begin() ? 0 : (at - 1)->held, highest = held;
        float from = plot.x;
        for (; at != steps.end() && at->time <= scale.to_s; ++at) {
            const float x = scale.x(at->time);
            if (x - from >= 1) {
                c.rect({from, plot.bottom() - height(highest), x - from, height(highest)},
                       ui.theme().memory[3]);
                from = x;
                highest = at->held;
            }
            held = at->held;
            highest = std::max(highest, held);
        }
        if (held > 0 && from < plot.right())
            c.rect({from, plot.bottom() - height(held), plot.right() - from, height(held)},
                   ui.theme().memory[3]);
    }
    c.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, ui.theme().hairline);
    std::string label = "activations held by "
                        + (t.shape.devices > 1 ? "stage " + std::to_string(device) : std::string("each GPU"))
                        + ": at most " + significant(most) + " micro-batches";
    if (state.cursor_s >= 0) {
        const double now = held_at(steps, state.cursor_s);
        label += ", " + significant(now) + " at the cursor";
        if (state.cursor_s >= scale.from_s && state.cursor_s <= scale.to_s)
            c.circle({scale.x(state.cursor_s), plot.bottom() - height(now)}, 3.5f, ui.theme().text);
    }
    if (labelled) c.text({head.x, head.y + 1}, label, ui.style(11, Tone::secondary));
}

FadedParts faded_parts(const Scene& scene) {
    FadedParts out;
    const auto lit = selected_part(scene);
    if (!lit) return out;
    const auto fades = [&](StepPart part) { return run_part_of(*scene.run, part, GroupKind::tp) != lit; };
    out.work = fades(StepPart::compute);
    out.optimizer = fades(StepPart::optimizer);
    out.stragglers = fades(StepPart::straggler);
    for (const GroupKind k : all_of<GroupKind>())
        out.axis[k] = run_part_of(*scene.run, StepPart::exposed, k) != lit;
    return out;
}

std::vector<const RunFile*> measured_files(const Scene& scene) {
    std::vector<const RunFile*> out;
    if (scene.run == nullptr) return out;
    for (const RunFile& f : scene.run->files)
        if (f.step_s > 0 && out.size() < kMostMeasured) out.push_back(&f);
    return out;
}

void draw_measured_rows(Ui& ui, Rect labels, Rect rows, const std::vector<const RunFile*>& files,
                        const TimeScale& scale, Scene& scene) {
    Canvas& c = ui.canvas();
    const auto lit = selected_part(scene);
    std::uint64_t index = 0;
    const Canvas::Clip clip = c.clip({labels.x, rows.y, rows.right() - labels.x, rows.h});
    for (const RunFile* file : files) {
        const Rect row = rows.cut_top(kMeasuredRow), bar = row.inset(0, 3);
        ui.label({labels.x, row.y, labels.w - 6, row.h},
                 file->rank >= 0 ? "rank " + thousands(file->rank) : std::string("measured"),
                 ui.style(11, Tone::secondary));
        const float end = std::clamp(scale.x(file->step_s), row.x, row.right());
        c.frame({row.x, bar.y, std::max(0.0f, end - row.x), bar.h}, ui.theme().hairline, 1);
        const std::vector<PartSpan> sums = file->spans.empty() ? sums_of(*file) : std::vector<PartSpan>{};
        const std::vector<PartSpan>& spans = file->spans.empty() ? sums : file->spans;
        draw_spans(ui, bar, spans, scale, lit);
        const Hit hit = ui.area("timeline.measured", row, index++, true, false);
        if (!hit.hovered) continue;
        const double at = scale.time(ui.frame().mouse.x);
        const auto s = std::lower_bound(spans.begin(), spans.end(), at,
                                        [](const PartSpan& x, double t) { return x.end_s < t; });
        const std::string step = "measured, " + file->file + ": a step of " + time_text(file->step_s);
        const bool over = s != spans.end() && s->begin_s <= at;
        ui.tooltip(over ? span_tooltip(*file, *s) + "\n" + step : step);
        if (hit.clicked && at < file->step_s) select_part(scene, over ? s->part : RunPart::idle);
    }
}

std::string op_tooltip(const Timeline& t, const ShownTimeline& shown, std::size_t i) {
    const TimelineCosts& costs = shown.costs;
    const Op& op = t.order.ops[i];
    const int device = device_of_op(t, i), m = t.shape.microbatches;
    std::string s = std::string(name_of(op.kind)) + ", micro-batch " + std::to_string(op.microbatch % m);
    if (t.iterations > 1) s += " of step " + std::to_string(op.microbatch / m + 1);
    if (t.shape.devices > 1) s += "\nstage " + std::to_string(device);
    if (chunks_of(t.shape) > 1) s += ", chunk " + std::to_string(op.chunk);
    if (op.kind == OpKind::FB)
        s += "\nwith the backward of micro-batch " + std::to_string(op.backward_microbatch % m) + ", chunk "
             + std::to_string(op.backward_chunk);
    s += "\nstarts " + time_text(t.start[i]) + ", takes " + time_text(t.end[i] - t.start[i]);
    s += hidden_text(shown, device, chunks_of(t.shape), op);
    const bool first = i == t.order.begin[device];
    const double idle = t.start[i] - (first ? 0 : t.end[i - 1]);
    const std::ptrdiff_t last = waited_for(t, costs, i);
    if (idle > 0 && last >= 0) {
        const auto from = static_cast<std::size_t>(last);
        s += "\nthe stage idled " + time_text(idle) + " for the "
             + std::string(name_of(t.order.ops[from].kind)) + " of stage "
             + std::to_string(device_of_op(t, from));
    }
    return s;
}

std::string run_tooltip(const Block& b) {
    const double all = std::max(b.work.all(), 1e-300);
    std::string s = plural(static_cast<std::int64_t>(b.last - b.first + 1), "op", "ops")
                    + " too narrow to draw: zoom in\nbusy " + percent(std::min(1.0, b.density()));
    s += "\nforward " + percent(b.work.forward / all) + ", backward " + percent(b.work.backward / all);
    if (b.work.weight > 0) s += ", weight gradients " + percent(b.work.weight / all);
    return s;
}

}  // namespace pentamesh::ui
