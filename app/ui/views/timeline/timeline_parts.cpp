// The names of the rows, the rows of a real run, and what is said of a block.
#include "app/ui/views/timeline/timeline_parts.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/view.h"
#include "core/mesh/places.h"
#include "core/pipeline/stages.h"
#include "core/pipeline/timeline.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace pentamesh::ui {

namespace {

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
                std::optional<RunPart> highlighted) {
    Canvas& c = ui.canvas();
    const float pixel = 1 / c.scale();
    float column = -1, most = 0;
    RunPart part = RunPart::idle;
    const auto color = [&](RunPart of) {
        const Color own = color_of(ui.theme(), of);
        return highlighted && of != *highlighted ? mix(own, ui.theme().window, 0.65f) : own;
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
        if (lines == 1) y = held_between(y, labels.y, labels.bottom() - 16);
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

FadedParts faded_parts(const Scene& scene) {
    FadedParts out;
    const auto highlighted = selected_part(scene);
    if (!highlighted) return out;
    const auto fades = [&](StepPart part) {
        return run_part_of(*scene.run, part, GroupKind::tp) != highlighted;
    };
    out.work = fades(StepPart::compute);
    out.optimizer = fades(StepPart::optimizer);
    out.stragglers = fades(StepPart::straggler);
    for (const GroupKind k : all_of<GroupKind>())
        out.axis[k] = run_part_of(*scene.run, StepPart::exposed, k) != highlighted;
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
    const auto highlighted = selected_part(scene);
    std::uint64_t index = 0;
    const Canvas::Clip clip = c.clip({labels.x, rows.y, rows.right() - labels.x, rows.h});
    for (const RunFile* file : files) {
        const Rect row = rows.cut_top(kMeasuredRow), bar = row.inset(0, 3);
        ui.label({labels.x, row.y, labels.w - 6, row.h},
                 file->rank >= 0 ? "rank " + thousands(file->rank) : std::string("measured"),
                 ui.style(11, Tone::secondary));
        const float end = held_between(scale.x(file->step_s), row.x, row.right());
        c.frame({row.x, bar.y, std::max(0.0f, end - row.x), bar.h}, ui.theme().hairline, 1);
        const std::vector<PartSpan> sums = file->spans.empty() ? sums_of(*file) : std::vector<PartSpan>{};
        const std::vector<PartSpan>& spans = file->spans.empty() ? sums : file->spans;
        draw_spans(ui, bar, spans, scale, highlighted);
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

namespace {

constexpr float kLowNumber_px = 8;  // a lower block has no number

}  // namespace

Color shade_of(const Theme& theme, const Op& op, int chunks) {
    const Color c = color_of(theme, op.kind);
    if (chunks <= 1) return c;
    // Later chunks are mixed with the window's colour: lighter on light ground, darker on dark.
    return mix(c, theme.window, static_cast<float>(op.chunk) / static_cast<float>(chunks) * 0.45f);
}

Color recompute_color(const Theme& theme) {
    return mix(theme.forward, theme.backward, 0.4f);
}

void texture(Canvas& canvas, const Theme& theme, OpKind kind, Rect r) {
    if (kind == OpKind::W) canvas.pattern(r, Pattern::dotted, theme.forward.alpha(0.5f));
    if (kind == OpKind::I) canvas.pattern(r, Pattern::hatched, theme.forward.alpha(0.45f));
}

RowPainter::RowPainter(Ui& ui, const Evaluation& evaluation, const ShownTimeline& shown,
                       const TimeScale& scale, SeenBlocks& blocks)
    : ui_(ui), t_(shown.timeline(evaluation)), before_(shown.before(evaluation)), shown_(shown),
      scale_(scale), blocks_(blocks), chunks_(chunks_of(t_.shape)),
      widest_number_(ui.canvas().text_width(std::to_string(t_.shape.microbatches - 1), ui.style(11))) {}

float RowPainter::x(double time_s) const {
    constexpr float kBeyond = 64;
    const double at = (time_s - scale_.from_s) / (scale_.to_s - scale_.from_s);
    const double width = scale_.plot.w;
    return scale_.plot.x + static_cast<float>(std::clamp(at * width, -double{kBeyond}, width + kBeyond));
}

bool RowPainter::mine(const Op& op) const {
    return highlighted_microbatch < 0 || op.microbatch == highlighted_microbatch
           || (op.kind == OpKind::FB && op.backward_microbatch == highlighted_microbatch);
}

void RowPainter::expect_rows(int rows) {
    constexpr float kMostBlocks = 8000, kMostNumbers = 2000;
    const float pixels = static_cast<float>(rows) * scale_.plot.w;
    const float least_px = std::clamp(pixels / kMostBlocks, 1.5f, 16.0f);
    least_numbered_px_ = std::max(widest_number_ + 2, pixels / kMostNumbers);
    const float scale = ui_.canvas().scale();
    blocks_.look(shown_.version, scale_.from_s, scale_.to_s, static_cast<double>(scale_.plot.w * scale),
                 {.least_px = static_cast<double>(least_px * scale)});
}

float lane_height(const ShownTimeline& shown, int devices, float row_height) {
    if (shown.costs.send <= 0 || devices < 2 || row_height < 19) return 0;
    return std::clamp(std::round(row_height * 0.14f), 4.0f, 6.0f);
}

float RowPainter::lane_of(float row_height) const {
    return lane_height(shown_, static_cast<int>(t_.device.size()), row_height);
}

HiddenLanes hidden_lanes(const ShownTimeline& shown, float row_height) {
    if (row_height < 20) return {};
    const float h = std::clamp(std::round(row_height * 0.1f), 3.0f, 6.0f);
    return {shown.hides ? h : 0, shown.hides_once ? h : 0};
}

Rect RowPainter::cut_lanes(Rect& row) const {
    const HiddenLanes h = hidden_lanes(shown_, row.h);
    row.cut_bottom(h.once);
    return row.cut_bottom(h.each);
}

// Each call is as long as its time, axis after axis: from the block's start on, but for the reduction of
// gradients, which ends with the block, because no layer has one before its backward.
void RowPainter::hidden(Rect lane, int device, const Op& op, float x0, float x1, bool own) {
    const OpHalves halves = halves_of(op, device, chunks_);
    if (lane.h <= 0 || !halves.in(shown_.hidden.size())) return;
    const float per_s = scale_.plot.w / static_cast<float>(scale_.to_s - scale_.from_s);
    const auto piece = [&](float from, float to, GroupKind axis) {
        if (to - from < 0.5f) return false;
        ui_.canvas().rect({from, lane.y + 1, to - from, lane.h - 1},
                          faded(color_of(ui_.theme(), axis), own && !fades.axis[axis]).alpha(0.75f));
        return true;
    };
    float from = x0, until = x1;
    for (const GroupKind axis : all_of<GroupKind>()) {
        const double late_s = halves.backward ? shown_.hidden[halves.b].reduced[axis] : 0;
        const double s = halves.hidden_s(shown_.hidden, axis) - late_s;
        if (const float to = std::min(until, from + static_cast<float>(s) * per_s); piece(from, to, axis))
            from = to;
        if (const float at = std::max(from, until - static_cast<float>(late_s) * per_s);
            piece(at, until, axis))
            until = at;
    }
}

// Parameters are gathered from the first forward on, gradients reduced up to the end of the last backward.
void RowPainter::hidden_once(Rect row, int device) {
    const HiddenLanes h = hidden_lanes(shown_, row.h - lane_of(row.h));
    if (h.once <= 0) return;
    row.cut_bottom(lane_of(row.h));
    const Rect lane = row.cut_bottom(h.once);
    const std::size_t begin = t_.order.begin[static_cast<std::size_t>(device)],
                      end = t_.order.begin[static_cast<std::size_t>(device) + 1];
    if (begin >= end) return;
    double first = t_.start[begin], last = t_.end[end - 1];
    const auto piece = [&](double from, double to, GroupKind axis) {
        const float x0 = x(from), x1 = x(to);
        if (x1 - x0 >= 0.5f)
            ui_.canvas().rect(
                {x0, lane.y + 1, x1 - x0, lane.h - 1},
                faded(color_of(ui_.theme(), axis), highlighted_microbatch < 0 && !fades.axis[axis])
                    .alpha(0.75f));
    };
    for (const GroupKind axis : all_of<GroupKind>()) {
        if (const double s = shown_.hidden_once.forward[axis]; s > 0)
            piece(first, first + s, axis), first += s;
        if (const double s = shown_.hidden_once.backward[axis]; s > 0) piece(last - s, last, axis), last -= s;
    }
}

RowPainter::Shares RowPainter::shares(int device, const Op& op) const {
    Shares s;
    const OpHalves halves = halves_of(op, device, chunks_);
    if (!halves.in(shown_.exposed.size()) || !halves.in(shown_.costs.chunk.size())) return s;
    const auto [forward, backward, f, b] = halves;
    double takes = 0;
    if (forward) takes += shown_.costs.chunk[f].forward;
    if (backward) takes += shown_.costs.chunk[b].input_grad;
    if (backward && op.kind != OpKind::I) takes += shown_.costs.chunk[b].weight_grad;
    if (takes <= 0) return s;
    for (std::size_t a = 0; a < UnitComm::kAxes; ++a) {
        const double exposed = (forward ? shown_.exposed[f].comm.forward[a] : 0)
                               + (backward ? shown_.exposed[b].comm.backward[a] : 0);
        s.axis[kUnitAxes[a]] = static_cast<float>(exposed / takes);
    }
    for (const GroupKind k : all_of<GroupKind>()) {
        const double exposed = (forward ? shown_.exposed[f].state_forward[k] : 0)
                               + (backward ? shown_.exposed[b].state_backward[k] : 0);
        s.axis[k] += static_cast<float>(exposed / takes);
    }
    s.slowed = static_cast<float>(((forward ? shown_.exposed[f].slowed.forward : 0)
                                   + (backward ? shown_.exposed[b].slowed.backward : 0))
                                  / takes);
    if (backward) s.recomputed = static_cast<float>(shown_.exposed[b].recompute / takes);
    return s;
}

// Strips are stacked from the bottom up: each as high as the part's share of the block's time.
void RowPainter::strips(Rect r, const Shares& s, bool own) {
    if (r.h < kLowRow_px) return;
    const float whole = r.h;
    for (const GroupKind k : all_of<GroupKind>()) {
        const float h = whole * s.axis[k];
        if (h < 0.75f) continue;
        const Rect strip = r.cut_bottom(h);
        const Color color = faded(color_of(ui_.theme(), k), own && !fades.axis[k]);
        ui_.canvas().rect(strip, color);
        if (strip.w > 6 && strip.h >= 4)
            ui_.canvas().pattern(strip, Pattern::cross_hatched, ui_.theme().window.alpha(0.35f));
    }
    const float slowed = whole * s.slowed;
    if (slowed >= 0.75f)
        ui_.canvas().rect(r.cut_bottom(slowed),
                          faded(color_of_part(ui_.theme(), kSlowed), own && !fades.work));
    const float recomputed = whole * s.recomputed;
    if (recomputed >= 0.75f)
        ui_.canvas().rect(r.cut_bottom(recomputed), faded(recompute_color(ui_.theme()), own && !fades.work));
}

void RowPainter::number(Rect r, std::int32_t microbatch, Color ground) {
    if (r.h < kLowNumber_px || r.w < least_numbered_px_) return;
    ui_.canvas().text_in(r, std::to_string(microbatch % t_.shape.microbatches),
                         ui_.style(r.h < 11 ? 9.0f : 11.0f).in(ink_on(ground)), Align::center);
}

// If a pair's halves are too low for a number each, both are in one line, on a ground of their own.
void RowPainter::both_numbers(Rect r, const Op& op) {
    if (r.h < 16 || r.w < std::max(2 * widest_number_, least_numbered_px_)) return;
    const int m = t_.shape.microbatches;
    const std::string text =
        std::to_string(op.microbatch % m) + " " + std::to_string(op.backward_microbatch % m);
    const TextStyle s = ui_.style(11, mine(op) ? Tone::text : Tone::secondary);
    const float w = ui_.canvas().text_width(text, s) + 6;
    if (w > r.w) return;
    write_plate(ui_, {r.center().x - w / 2, r.center().y - 7, w, 14}, text, s,
                ui_.theme().window.alpha(0.8f));
}

void RowPainter::block(Rect row, int device, std::size_t i, float x0, float x1) {
    Canvas& c = ui_.canvas();
    const Op& op = t_.order.ops[i];
    const Rect lane = row.cut_bottom(lane_of(row.h));
    const Rect behind = cut_lanes(row);
    const float gap = x1 - x0 > 4 ? 1.0f : 0.0f;
    const Rect r{x0, row.y, std::max(1.0f, x1 - x0 - gap), row.h};
    const bool own = mine(op);
    const Shares exposed = shares(device, op);
    Rect compute = r;
    compute.h *= std::max(0.0f, 1 - exposed.sum());
    if (op.kind == OpKind::FB) {  // both run at once: one above the other, in one frame
        Rect lower = compute, upper = lower.cut_top(compute.h / 2);
        Op back = op;
        back.kind = OpKind::B, back.chunk = op.backward_chunk;
        Op forth = op;
        forth.kind = OpKind::F;
        const Color f = faded(shade_of(ui_.theme(), forth, chunks_), own && !fades.work);
        const Color b = faded(shade_of(ui_.theme(), back, chunks_), own && !fades.work);
        c.rect(upper, f);
        c.rect(lower, b);
        strips(r, exposed, own);
        if (upper.h >= kLowNumber_px) {
            number(upper, op.microbatch, f);
            number(lower, op.backward_microbatch, b);
        } else {
            both_numbers(r, op);
        }
        if (r.w > 5) c.frame(r, ui_.theme().text.alpha(own ? 0.9f : 0.3f), 1);
    } else {
        const Color color = faded(shade_of(ui_.theme(), op, chunks_), own && !fades.work);
        c.rect(r, color);
        if (r.w > 5) texture(c, ui_.theme(), op.kind, compute);
        strips(r, exposed, own);
        number(compute, op.microbatch, color);
    }
    hidden(behind, device, op, x0, std::max(x0 + 1, x1 - gap), own);
    if (lane.h > 0) send(lane, device, i);
    if (ui_.hovers({x0, row.y, std::max(1.0f, x1 - x0), row.h})) hovered = static_cast<std::ptrdiff_t>(i);
    if (selected >= 0 && selected == static_cast<std::ptrdiff_t>(own_op(t_, i)))
        c.frame(r, ui_.theme().text, 1.5f);
}

// Draws one colour for the work, as strong as the device was busy; neighbours of the same colour become one
// rectangle.
void RowPainter::low_run(Rect r, const Block& b) {
    const double all = std::max(b.work.all(), 1e-300);
    const auto part = [&](double work) { return static_cast<float>(work / all); };
    const Theme& theme = ui_.theme();
    const Color back = mix(theme.backward, theme.weight_grad,
                           part(b.work.weight) / std::max(1e-6f, 1 - part(b.work.forward)));
    const Color color =
        faded(mix(back, theme.forward, part(b.work.forward)), highlighted_microbatch < 0 && !fades.work);
    const Color now = mix(theme.window, color, static_cast<float>(std::clamp(b.density(), 0.0, 1.0)));
    const auto near = [](int a, int c) { return std::abs(a - c) <= 3; };
    const bool goes_on = low_.w > 0 && low_.y == r.y && r.x - low_.right() < 0.5f && near(now.r, low_color_.r)
                         && near(now.g, low_color_.g) && near(now.b, low_color_.b);
    if (goes_on) {
        low_.w = r.right() - low_.x;
        return;
    }
    end_low_run();
    low_ = r;
    low_color_ = now;
}

void RowPainter::end_low_run() {
    if (low_.w > 0) ui_.canvas().rect(low_, low_color_);
    low_ = {};
}

// Shares the height by the kinds of work; the strength says how busy the device was.
void RowPainter::run(Rect row, int device, const Block& b, float x0, float x1) {
    const double all = std::max(b.work.all(), 1e-300);
    const auto strength = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
    const bool own = highlighted_microbatch < 0;
    const float width = std::max(0.5f, x1 - x0);
    if (ui_.hovers({x0, row.y, width, row.h})) {
        over_run = true;
        hovered_run = b;
    }
    if (row.h < kLowRow_px) {
        low_run({x0, row.y, width, row.h}, b);
        return;
    }
    const Rect lane = row.cut_bottom(lane_of(row.h));
    (void)cut_lanes(row);
    float y = row.y;
    const auto part = [&](float h, Color color, bool fades_too) {
        if (h > 0)
            ui_.canvas().rect({x0, y, width, h},
                              mix(ui_.theme().window, faded(color, own && !fades_too), strength));
        y += std::max(0.0f, h);
    };
    // Shows exposed collectives: the shares of the run's first forward and backward chunk stand for all of
    // it.
    Op sample = t_.order.ops[b.first];
    sample.kind = OpKind::F;
    const Shares forth = shares(device, sample);
    sample.kind = shown_.has[static_cast<std::size_t>(OpKind::I)] ? OpKind::I : OpKind::B;
    const Shares back = shares(device, sample);
    const auto share = [&](double work) { return row.h * static_cast<float>(work / all); };
    part(share(b.work.forward) * (1 - forth.sum()), ui_.theme().forward, fades.work);
    part(share(b.work.backward) * (1 - back.sum()), ui_.theme().backward, fades.work);
    part(share(b.work.weight), ui_.theme().weight_grad, fades.work);
    if (const float h = share(b.work.backward) * back.recomputed; h > 0.5f)
        part(h, recompute_color(ui_.theme()), fades.work);
    for (const GroupKind k : all_of<GroupKind>()) {
        const float h = share(b.work.forward) * forth.axis[k] + share(b.work.backward) * back.axis[k];
        if (h > 0.5f) part(h, color_of(ui_.theme(), k), fades.axis[k]);
    }
    const float slowed = share(b.work.forward) * forth.slowed + share(b.work.backward) * back.slowed;
    if (slowed > 0.5f) part(slowed, color_of_part(ui_.theme(), kSlowed), fades.work);
    if (lane.h > 0)
        ui_.canvas().rect({x0, lane.y + 1, width, lane.h - 1},
                          color_of(ui_.theme(), GroupKind::pp).alpha(0.3f * strength));
}

// Draws below the op that makes it: a send to the next stage is solid, one back is dashed.
void RowPainter::send(Rect lane, int device, std::size_t i) {
    const Op& op = t_.order.ops[i];
    const SentTo to = sent_to(t_, device, op);
    const float x0 = x(t_.end[i]), x1 = std::max(x0 + 1.0f, x(t_.end[i] + shown_.costs.send));
    const Color color = faded(color_of(ui_.theme(), GroupKind::pp), mine(op) && !fades.axis[GroupKind::pp]);
    const float half = (lane.h - 1) / 2;
    if (to.forward >= 0) ui_.canvas().rect({x0, lane.y + 1, x1 - x0, half}, color);
    if (to.backward < 0) return;
    const float y = lane.y + 1 + half;
    if (x1 - x0 <= 4) {
        ui_.canvas().rect({x0, y, x1 - x0, half}, color);
        return;
    }
    for (float at = x0; at < x1; at += 4) ui_.canvas().rect({at, y, std::min(2.5f, x1 - at), half}, color);
}

// Shows how much longer the device waits before a block than without the slow one.
void RowPainter::waiting(Rect row, int device, const Block& b) {
    if (before_ == nullptr || b.last >= before_->start.size()) return;
    const std::size_t begin = t_.order.begin[device];
    const auto gap = [&](const Timeline& t) {
        return t.start[b.first] - (b.first > begin ? t.end[b.first - 1] : 0.0);
    };
    const double longer = gap(t_) - gap(*before_);
    if (longer <= 0) return;
    const float x1 = x(t_.start[b.first]), x0 = x(t_.start[b.first] - longer);
    if (x1 - x0 < 1) return;
    const Rect r{x0, row.y + row.h * 0.2f, x1 - x0 - 1, row.h * 0.6f};
    ui_.canvas().pattern(r, Pattern::hatched, ui_.theme().bad.alpha(0.9f), ui_.theme().bad.alpha(0.18f));
}

// If the highlighted micro-batch's ops are too narrow to be drawn by themselves, they are drawn over the
// runs.
void RowPainter::highlighted_ops(Rect row, int device) {
    const std::int64_t each = std::int64_t{t_.shape.microbatches} * t_.iterations;
    row.cut_bottom(lane_of(row.h));
    (void)cut_lanes(row);
    for (int c = 0; c < chunks_; ++c) {
        const auto at =
            static_cast<std::size_t>((std::int64_t{device} * chunks_ + c) * each + highlighted_microbatch);
        for (const auto* table : {&t_.sequence.forward_op, &t_.sequence.backward_op}) {
            if (at >= table->size() || (*table)[at] < 0) continue;
            const auto i = static_cast<std::size_t>((*table)[at]);
            const float x0 = x(t_.start[i]), x1 = x(t_.end[i]);
            if (x1 < scale_.plot.x || x0 > scale_.plot.right() || x1 - x0 > 3) continue;
            ui_.canvas().rect({x0, row.y, std::max(1.5f, x1 - x0), row.h}, ui_.theme().text);
        }
    }
}

// Time in which the device does nothing is hatched, from the pipeline's first block to its last.
void RowPainter::idle(Rect bar) {
    if (t_.shape.devices < 2) return;
    const float x0 = std::max(x(0), scale_.plot.x), x1 = std::min(x(t_.makespan), scale_.plot.right());
    if (x1 > x0)
        ui_.canvas().pattern({x0, bar.y, x1 - x0, bar.h}, Pattern::hatched, ui_.theme().bad.alpha(0.55f));
}

void RowPainter::find_gap(Rect bar, double from_s, double to_s) {
    const float x0 = std::max(x(from_s), scale_.plot.x), x1 = std::min(x(to_s), scale_.plot.right());
    if (x1 - x0 > gap_.w + 0.5f) gap_ = {x0, bar.y, x1 - x0, bar.h};
}

void RowPainter::name_gap() {
    constexpr std::string_view kName = "bubble";
    const TextStyle style = ui_.style(12, Tone::text, Face::semibold);
    const float w = ui_.canvas().text_width(kName, style) + 12, h = 18;
    if (t_.shape.devices < 2 || gap_.w < w + 12 || gap_.h < h) return;
    write_plate(ui_, {gap_.center().x - w / 2, gap_.center().y - h / 2, w, h}, kName, style,
                ui_.theme().window.alpha(0.8f), 4);
}

void RowPainter::row(Rect r, int device) {
    Rect bar = r;
    bar.cut_bottom(lane_of(r.h));
    (void)cut_lanes(bar);
    idle(bar);
    double done_s = 0;
    for (const Block& b : blocks_.row(t_, shown_.index, device)) {
        const float x0 = x(b.from), x1 = x(b.to);
        find_gap(bar, done_s, b.from);
        done_s = b.to;
        waiting(r, device, b);
        if (b.merged() || x1 - x0 < 1)
            run(r, device, b, x0, x1);
        else
            block(r, device, b.first, x0, x1);
    }
    find_gap(bar, done_s, t_.makespan);
    end_low_run();
    hidden_once(r, device);
    if (highlighted_microbatch >= 0) highlighted_ops(r, device);
}

namespace {

// Replays the chosen timeline; does nothing where it is the evaluation's own.
void replay(const Evaluation& e, ShownTimeline& out) {
    const ScheduleShape& shape = e.timeline.shape;
    const Timeline* one = &e.timeline;
    if (out.choice.slow.any()) {
        run_timeline(shape, out.costs, out.slowed);
        one = &out.slowed;
    }
    const bool twice = out.choice.steps > 1;
    if (twice) run_iterations(shape, out.costs, 2, out.two);
    if (twice && out.choice.slow.any()) run_iterations(shape, e.costs, 2, out.before_two);
    out.bubble = measure_bubble(*one, out.costs, twice ? &out.two : nullptr);
    out.step_before_s = e.step ? e.step->time_s : 0;
    out.step_s = e.step ? step_with_makespan(*e.step, e.timeline.makespan, one->makespan) : 0;
    out.tail = {};
    if (!twice && e.step) {
        out.tail = step_tail(*e.step, e.comm);
        out.tail.straggler_s *= out.step_s / e.step->time_s;
    }
}

void make_shown(const Plan& plan, const Evaluation& e, const TimelineChoice& choice, ShownTimeline& out) {
    out.choice = choice;
    ++out.version;
    out.costs = e.costs;
    apply_slow(choice.slow, e.timeline.shape.devices, out.costs);
    replay(e, out);
    const Timeline& t = out.timeline(e);
    build_work_index(t, out.index);
    exposed_in_chunks(e.comm, e.work, out.exposed);
    hidden_in_chunks(e.comm, out.hidden);
    out.hidden_once = e.step && out.choice.steps == 1 ? hidden_in_step(e.comm) : HiddenComm{};
    out.hides = out.hides_once = false;
    for (const GroupKind axis : all_of<GroupKind>()) {
        out.hides_once = out.hides_once || out.hidden_once.all(axis) > 0;
        for (const HiddenComm& h : out.hidden) out.hides = out.hides || h.all(axis) > 0;
    }
    out.places = stage_places(plan, e.mesh, t.shape, e.comm.stages);
    out.has.fill(false);
    for (const Op& op : t.order.ops) out.has[static_cast<std::size_t>(op.kind)] = true;
}

}  // namespace

void keep_shown(const Plan& plan, const Evaluation& e, std::uint64_t revision, int schedule,
                const TimelineChoice& choice, KeptTimeline& kept) {
    TimelineChoice wanted = choice;
    if (wanted.slow.device >= e.timeline.shape.devices || !wanted.slow.any()) wanted.slow = {};
    kept.update({revision, schedule, wanted}, [&](ShownTimeline& out) { make_shown(plan, e, wanted, out); });
}

std::string words_of(const SlowDevice& slow) {
    return "stage " + std::to_string(slow.device) + " × " + trimmed(slow.factor);
}

std::optional<InjectedStage> TimelineViewState::injected(const Plan& plan, const Evaluation& e,
                                                         std::uint64_t revision) {
    if (!choice.slow.any() || e.timeline.empty() || !e.step) return std::nullopt;
    keep_shown(plan, e, revision, -1, choice, shown);
    if (!shown->choice.slow.any()) return std::nullopt;
    return InjectedStage{words_of(shown->choice.slow), shown->step_s};
}

OpHalves halves_of(const Op& op, int device, int chunks) {
    const bool both = op.kind == OpKind::FB;
    const auto at = [&](int chunk) { return static_cast<std::size_t>(device * chunks + chunk); };
    return {both || op.kind == OpKind::F, both || op.kind == OpKind::B || op.kind == OpKind::I, at(op.chunk),
            at(both ? op.backward_chunk : op.chunk)};
}

std::size_t own_op(const Timeline& t, std::size_t op) {
    if (t.iterations <= 1) return op;
    const auto d = static_cast<std::size_t>(device_of_op(t, op));
    const std::size_t begin = t.order.begin[d];
    const std::size_t each = (t.order.begin[d + 1] - begin) / static_cast<std::size_t>(t.iterations);
    return begin / static_cast<std::size_t>(t.iterations) + (op - begin) % each;
}

}  // namespace pentamesh::ui
