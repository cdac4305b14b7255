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
#include <array>
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

// Names a stage, or the stages up to `last`: two names do not say how many are between them.
std::string name_of_stages(Ui& ui, int first, int last, float width, const TextStyle& style) {
    const std::string from = std::to_string(first), to = std::to_string(last);
    if (last <= first) return "stage " + from;
    const std::array<std::string, 3> wordings{"stages " + from + " to " + to, "stages " + from + "–" + to,
                                              from + " to " + to};
    const std::string_view words = wording(ui, width, wordings, style);
    return std::string(words.empty() ? std::string_view(wordings.back()) : words);
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
        const int last =
            nice > 1 && devices > nice && devices <= 2 * nice && !slow ? std::min(d + nice, devices) - 1 : d;
        line((devices > 1 ? name_of_stages(ui, d, last, row.w - 8, name) : std::string("all GPUs"))
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

TimelineMark mark_of(OpKind kind, bool low) {
    switch (kind) {
    case OpKind::F: return TimelineMark::forward;
    case OpKind::I: return low ? TimelineMark::backward : TimelineMark::input_gradient;
    case OpKind::W: return TimelineMark::weight_gradient;
    case OpKind::B:
    case OpKind::FB: break;
    }
    return TimelineMark::backward;
}

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
      scale_(scale), blocks_(blocks), chunks_(chunks_of(t_.shape)) {}

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

void RowPainter::expect_rows(int first, int last, float height) {
    constexpr float kMostBlocks = 8000, kMostNumbers = 4000;
    const float pixels = static_cast<float>(last - first + 1) * scale_.plot.w;
    const float least_px = std::clamp(pixels / kMostBlocks, 1.5f, 16.0f);
    least_numbered_px_ = pixels / kMostNumbers;
    const float scale = ui_.canvas().scale();
    blocks_.look(shown_.version, scale_.from_s, scale_.to_s, static_cast<double>(scale_.plot.w * scale),
                 {.least_px = static_cast<double>(least_px * scale)});
    parts_ = parts_of_row(shown_, static_cast<int>(t_.device.size()), height);
    choose_numbers(first, last);
}

// Returns the width that an op's number takes at a size of 1, and the height that it has above the block's
// foot; the two of a pair share it.
std::array<float, 2> RowPainter::number_room(int device, const Op& op) const {
    const auto digits = [&](int microbatch) {
        return static_cast<float>(std::to_string(microbatch % t_.shape.microbatches).size());
    };
    // Every digit counts as an 8, so that no kind is numbered by luck.
    constexpr float kSize = 11;
    const float digit = ui_.canvas().text_width("8", ui_.style(kSize)) / kSize;
    const bool pair = op.kind == OpKind::FB;
    const float most = std::max(digits(op.microbatch), pair ? digits(op.backward_microbatch) : 0);
    const float foot = parts_.bar >= kLowRow_px ? block_shares(shown_, chunks_, device, op).sum() : 0;
    return {most * digit, parts_.bar * (1 - foot) / (pair ? 2.0f : 1.0f)};
}

// A kind of op is numbered where four in five of those that are seen whole have room for their numbers: in
// the largest size that fits.
void RowPainter::choose_numbers(int first, int last) {
    constexpr std::array<float, 3> kSizes{11, 9.5f, 8.5f};
    constexpr float kLine = 0.85f;  // the height of digits with some air, of their size
    std::array<std::array<int, kSizes.size()>, 5> fits{};
    std::array<int, 5> all{};
    number_size_ = {};
    if (parts_.bar < kSizes.back() * kLine) return;
    for (int d = first; d <= last; ++d)
        for (const Block& b : blocks_.row(t_, shown_.index, d)) {
            if (b.from < scale_.from_s || b.to > scale_.to_s) continue;
            const Op& op = t_.order.ops[b.first];
            const auto kind = static_cast<std::size_t>(op.kind);
            ++all[kind];
            const auto [width, height] = number_room(d, op);
            const float room = b.merged() ? 0 : x(b.to) - x(b.from) - 3;
            for (std::size_t i = 0; i < kSizes.size(); ++i)
                if (kSizes[i] >= ui_.state().least_type && room >= width * kSizes[i]
                    && height >= kSizes[i] * kLine)
                    ++fits[kind][i];
        }
    for (std::size_t kind = 0; kind < all.size(); ++kind)
        for (std::size_t i = kSizes.size(); i-- > 0;)
            if (all[kind] > 0 && fits[kind][i] * 5 >= all[kind] * 4) number_size_[kind] = kSizes[i];
}

RowParts parts_of_row(const ShownTimeline& shown, int devices, float height) {
    constexpr float kLeastForSends = 22, kLeastForHidden = 20;
    const auto lane = [](float of, float share, float least) {
        return std::clamp(std::round(of * share), least, 6.0f);
    };
    RowParts out;
    if (shown.costs.send > 0 && devices > 1 && height >= kLeastForSends) out.sends = lane(height, 0.14f, 4);
    const float rest = height - out.sends;
    if (rest >= kLeastForHidden) {
        const float each = lane(rest, 0.1f, 3);
        out.hidden = {shown.hides ? each : 0, shown.hides_once ? each : 0};
    }
    out.bar = rest - out.hidden.sum();
    return out;
}

RowPainter::Lanes RowPainter::cut_lanes(Rect& row) const {
    Lanes out;
    out.sends = row.cut_bottom(parts_.sends);
    out.once = row.cut_bottom(parts_.hidden.once);
    out.each = row.cut_bottom(parts_.hidden.each);
    return out;
}

// Each call is as long as its time, axis after axis: from the block's start on, but for the reduction of
// gradients, which ends with the block, because no layer has one before its backward.
void RowPainter::hidden(Rect lane, int device, const Op& op, float x0, float x1, bool own) {
    const OpHalves halves = halves_of(op, device, chunks_);
    if (lane.h <= 0 || !halves.in(shown_.hidden.size())) return;
    const float per_s = scale_.plot.w / static_cast<float>(scale_.to_s - scale_.from_s);
    const auto piece = [&](float from, float to, GroupKind axis) {
        if (to - from < kLeastMark_px) return false;
        drawn.add(TimelineMark::hides, axis);
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
    const Rect lane = cut_lanes(row).once;
    if (lane.h <= 0) return;
    const std::size_t begin = t_.order.begin[static_cast<std::size_t>(device)],
                      end = t_.order.begin[static_cast<std::size_t>(device) + 1];
    if (begin >= end) return;
    double first = t_.start[begin], last = t_.end[end - 1];
    const auto piece = [&](double from, double to, GroupKind axis) {
        const float x0 = x(from), x1 = x(to);
        if (x1 - x0 < kLeastMark_px) return;
        drawn.add(TimelineMark::hides, axis);
        ui_.canvas().rect(
            {x0, lane.y + 1, x1 - x0, lane.h - 1},
            faded(color_of(ui_.theme(), axis), highlighted_microbatch < 0 && !fades.axis[axis]).alpha(0.75f));
    };
    for (const GroupKind axis : all_of<GroupKind>()) {
        if (const double s = shown_.hidden_once.forward[axis]; s > 0)
            piece(first, first + s, axis), first += s;
        if (const double s = shown_.hidden_once.backward[axis]; s > 0) piece(last - s, last, axis), last -= s;
    }
}

BlockShares block_shares(const ShownTimeline& shown, int chunks, int device, const Op& op) {
    BlockShares s;
    const OpHalves halves = halves_of(op, device, chunks);
    if (!halves.in(shown.exposed.size()) || !halves.in(shown.costs.chunk.size())) return s;
    const auto [forward, backward, f, b] = halves;
    double takes = 0;
    if (forward) takes += shown.costs.chunk[f].forward;
    if (backward) takes += shown.costs.chunk[b].input_grad;
    if (backward && op.kind != OpKind::I) takes += shown.costs.chunk[b].weight_grad;
    if (takes <= 0) return s;
    for (std::size_t a = 0; a < UnitComm::kAxes; ++a) {
        const double exposed = (forward ? shown.exposed[f].comm.forward[a] : 0)
                               + (backward ? shown.exposed[b].comm.backward[a] : 0);
        s.axis[kUnitAxes[a]] = static_cast<float>(exposed / takes);
    }
    for (const GroupKind k : all_of<GroupKind>()) {
        const double exposed = (forward ? shown.exposed[f].state_forward[k] : 0)
                               + (backward ? shown.exposed[b].state_backward[k] : 0);
        s.axis[k] += static_cast<float>(exposed / takes);
    }
    s.slowed = static_cast<float>(
        ((forward ? shown.exposed[f].slowed.forward : 0) + (backward ? shown.exposed[b].slowed.backward : 0))
        / takes);
    if (backward) s.recomputed = static_cast<float>(shown.exposed[b].recompute / takes);
    double host = forward ? shown.exposed[f].host.forward : 0;
    if (backward) host += shown.exposed[b].host.input_grad;
    if (backward && op.kind != OpKind::I) host += shown.exposed[b].host.weight_grad;
    s.host = static_cast<float>(host / takes);
    double link = forward ? shown.exposed[f].offload.forward : 0;
    if (backward) link += shown.exposed[b].offload.backward;
    s.offload = static_cast<float>(link / takes);
    return s;
}

// Strips are stacked from the bottom up: each as high as the part's share of the block's time.
void RowPainter::strips(Rect r, const BlockShares& s, bool own) {
    constexpr float kLeastPattern = 6;
    if (r.h < kLowRow_px) return;
    const float whole = r.h;
    for (const GroupKind k : all_of<GroupKind>()) {
        const float h = whole * s.axis[k];
        if (h < kLeastStrip_px) continue;
        drawn.add(TimelineMark::waits, k);
        const Rect strip = r.cut_bottom(h);
        const Color color = faded(color_of(ui_.theme(), k), own && !fades.axis[k]);
        ui_.canvas().rect(strip, color);
        if (strip.w > 6 && strip.h >= kLeastPattern)
            ui_.canvas().pattern(strip, Pattern::cross_hatched, ui_.theme().window.alpha(0.35f));
    }
    const auto strip = [&](float h, TimelineMark mark, Color color) {
        if (h < kLeastStrip_px) return;
        drawn.add(mark);
        ui_.canvas().rect(r.cut_bottom(h), faded(color, own && !fades.work));
    };
    strip(whole * s.slowed, TimelineMark::slowed, color_of_part(ui_.theme(), kSlowed));
    strip(whole * s.host, TimelineMark::host, color_of_part(ui_.theme(), kHostBound));
    strip(whole * s.offload, TimelineMark::offload, color_of_part(ui_.theme(), kHostMemory));
    strip(whole * s.recomputed, TimelineMark::again, recompute_color(ui_.theme()));
}

// A block that is seen in part has its number in that part.
void RowPainter::number(Rect r, OpKind kind, std::int32_t microbatch, Color ground) {
    const float size = number_size_[static_cast<std::size_t>(kind)];
    if (size <= 0 || r.w < least_numbered_px_) return;
    const std::string text = std::to_string(microbatch % t_.shape.microbatches);
    const TextStyle style = ui_.style(size).in(ink_on(ground));
    const float from = std::max(r.x, scale_.plot.x), to = std::min(r.right(), scale_.plot.right());
    const float w = ui_.canvas().text_width(text, style) + 1;
    if (w + 1 > to - from) return;
    ui_.canvas().text_in({(from + to - w) / 2, r.y, w, r.h}, text, style);
}

void RowPainter::block(Rect row, int device, std::size_t i, float x0, float x1) {
    Canvas& c = ui_.canvas();
    const Op& op = t_.order.ops[i];
    const Lanes lanes = cut_lanes(row);
    const bool low = row.h < kLowRow_px;
    const float gap = x1 - x0 > 4 ? 1.0f : 0.0f;
    const Rect r{x0, row.y, std::max(1.0f, x1 - x0 - gap), row.h};
    const bool own = mine(op);
    const BlockShares exposed = block_shares(shown_, chunks_, device, op);
    Rect compute = r;
    if (!low) compute.h *= std::max(0.0f, 1 - exposed.sum());
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
        drawn.add(TimelineMark::forward);
        drawn.add(TimelineMark::backward);
        number(upper, op.kind, op.microbatch, f);
        number(lower, op.kind, op.backward_microbatch, b);
        if (r.w > 5 && !low) {  // frames of low rows would be all that is seen
            c.frame(r, ui_.theme().text.alpha(own ? 0.9f : 0.3f), 1);
            drawn.add(TimelineMark::pair);
        }
    } else {
        const Color color = faded(shade_of(ui_.theme(), op, chunks_), own && !fades.work);
        c.rect(r, color);
        if (r.w > 5 && !low) texture(c, ui_.theme(), op.kind, compute);
        drawn.add(mark_of(op.kind, low));
        strips(r, exposed, own);
        number(compute, op.kind, op.microbatch, color);
    }
    if (op.chunk > 0 || op.backward_chunk > 0) drawn.add(TimelineMark::later_chunk);
    hidden(lanes.each, device, op, x0, std::max(x0 + 1, x1 - gap), own);
    if (lanes.sends.h > 0) send(lanes.sends, device, i);
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
        if (b.work.forward > 0) drawn.add(TimelineMark::forward);
        if (b.work.backward > 0) drawn.add(TimelineMark::backward);
        if (b.work.weight > 0) drawn.add(TimelineMark::weight_gradient);
        return;
    }
    const Rect lane = cut_lanes(row).sends;
    float y = row.y;
    const auto part = [&](float h, Color color, bool fades_too) {
        if (h <= 0) return false;
        ui_.canvas().rect({x0, y, width, h},
                          mix(ui_.theme().window, faded(color, own && !fades_too), strength));
        y += h;
        return true;
    };
    const auto work = [&](float h, Color color, TimelineMark mark) {
        if (part(h, color, fades.work)) drawn.add(mark);
    };
    // Shows exposed collectives: the shares of the run's first forward and backward chunk stand for all of
    // it.
    Op sample = t_.order.ops[b.first];
    sample.kind = OpKind::F;
    const BlockShares forth = block_shares(shown_, chunks_, device, sample);
    sample.kind = shown_.has[static_cast<std::size_t>(OpKind::I)] ? OpKind::I : OpKind::B;
    const BlockShares back = block_shares(shown_, chunks_, device, sample);
    const auto share = [&](double of) { return row.h * static_cast<float>(of / all); };
    const auto strip = [](float h) { return h >= kLeastStrip_px ? h : 0; };
    const Theme& theme = ui_.theme();
    work(share(b.work.forward) * (1 - forth.sum()), theme.forward, TimelineMark::forward);
    work(share(b.work.backward) * (1 - back.sum()), theme.backward, mark_of(sample.kind, false));
    work(share(b.work.weight), theme.weight_grad, TimelineMark::weight_gradient);
    work(strip(share(b.work.backward) * back.recomputed), recompute_color(theme), TimelineMark::again);
    for (const GroupKind k : all_of<GroupKind>()) {
        const float h = share(b.work.forward) * forth.axis[k] + share(b.work.backward) * back.axis[k];
        if (part(strip(h), color_of(theme, k), fades.axis[k])) drawn.add(TimelineMark::waits, k);
    }
    const float slowed = share(b.work.forward) * forth.slowed + share(b.work.backward) * back.slowed;
    work(strip(slowed), color_of_part(theme, kSlowed), TimelineMark::slowed);
    const float host = share(b.work.forward) * forth.host + share(b.work.backward) * back.host;
    work(strip(host), color_of_part(theme, kHostBound), TimelineMark::host);
    const float link = share(b.work.forward) * forth.offload + share(b.work.backward) * back.offload;
    work(strip(link), color_of_part(theme, kHostMemory), TimelineMark::offload);
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
    if (to.forward >= 0 || to.backward >= 0) drawn.add(TimelineMark::sends);
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
    drawn.add(TimelineMark::slow_stage);
    const Rect r{x0, row.y + row.h * 0.2f, x1 - x0 - 1, row.h * 0.6f};
    ui_.canvas().pattern(r, Pattern::hatched, ui_.theme().bad.alpha(0.9f), ui_.theme().bad.alpha(0.18f));
}

// If the highlighted micro-batch's ops are too narrow to be drawn by themselves, they are drawn over the
// runs.
void RowPainter::highlighted_ops(Rect row, int device) {
    const std::int64_t each = std::int64_t{t_.shape.microbatches} * t_.iterations;
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
    if (x1 <= x0) return;
    drawn.add(TimelineMark::idle);
    ui_.canvas().pattern({x0, bar.y, x1 - x0, bar.h}, kIdlePattern, ui_.theme().bad.alpha(kIdleStrength));
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

// Finds what a row has lanes and a legend entries for.
void find_largest(const Timeline& t, ShownTimeline& out) {
    out.hides = out.hides_once = false;
    out.most = {};
    const int chunks = chunks_of(t.shape);
    for (const GroupKind axis : all_of<GroupKind>()) {
        const double once_s = std::max(out.hidden_once.forward[axis], out.hidden_once.backward[axis]);
        double longest_s = 0;
        for (const HiddenComm& h : out.hidden)
            longest_s =
                std::max({longest_s, h.forward[axis], h.reduced[axis], h.backward[axis] - h.reduced[axis]});
        out.hides = out.hides || longest_s > 0;
        out.hides_once = out.hides_once || once_s > 0;
        out.longest_hidden_s[axis] = std::max(longest_s, once_s);
    }
    for (int d = 0; d < t.shape.devices; ++d)
        for (int c = 0; c < chunks; ++c)
            for (const OpKind kind : {OpKind::F, OpKind::B, OpKind::I}) {
                if (!out.has[static_cast<std::size_t>(kind)]
                    && !out.has[static_cast<std::size_t>(OpKind::FB)])
                    continue;
                const BlockShares s =
                    block_shares(out, chunks, d, {.kind = kind, .chunk = static_cast<std::uint8_t>(c)});
                for (const GroupKind k : all_of<GroupKind>())
                    out.most.axis[k] = std::max(out.most.axis[k], s.axis[k]);
                out.most.slowed = std::max(out.most.slowed, s.slowed);
                out.most.recomputed = std::max(out.most.recomputed, s.recomputed);
                out.most.host = std::max(out.most.host, s.host);
                out.most.offload = std::max(out.most.offload, s.offload);
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
    out.places = stage_places(plan, e.mesh, t.shape, e.comm.stages);
    out.has.fill(false);
    for (const Op& op : t.order.ops) out.has[static_cast<std::size_t>(op.kind)] = true;
    find_largest(t, out);
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
