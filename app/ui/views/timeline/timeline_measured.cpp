// Rows of a real run below those of the plan, on the same axis of time.
#include "app/ui/kit/format.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/views/timeline/timeline_parts.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

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

}  // namespace pentamesh::ui
