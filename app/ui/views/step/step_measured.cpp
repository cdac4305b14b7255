// The page of Step that sets a real run next to the plan, part by part; and who of it holds the others up: a
// heat map of the workers that were timed one by one, and the step if one of them were healthy.
#include "app/tables/measured.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/views/step/view.h"
#include "core/base/text.h"
#include "core/plan/ranges.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pentamesh::ui {

namespace {

using runs::RunPart;

// Draws two bars of one scale, the predicted one hollow above the measured one.
void draw_bars(Ui& ui, Rect cell, const runs::PartRow& row, double end_s) {
    Canvas& c = ui.canvas();
    const Color color = color_of(ui.theme(), row.part);
    const float high = std::min(7.0f, cell.h * 0.34f);
    const auto bar = [&](double seconds, float y) {
        const auto share = static_cast<float>(std::clamp(seconds / end_s, 0.0, 1.0));
        return Rect{cell.x, y, std::max(1.0f, cell.w * share), high};
    };
    if (row.predicted_s) c.frame(bar(*row.predicted_s, cell.center().y - high - 1), color, 1);
    const Rect measured = bar(row.time.measured_s, cell.center().y + 1);
    if (row.part == RunPart::idle || row.part == RunPart::pipeline)
        c.pattern(measured, Pattern::hatched, color), c.frame(measured, color, 1);
    else
        c.rect(measured, color);
}

std::string notes_of(const runs::Measured& m) {
    std::string out;
    for (const runs::RunProblem& p : m.problems) out += p.message + "\n";
    for (const std::string& w : m.warnings) out += w + "\n";
    return typeset(out);
}

void draw_parts(Ui& ui, Rect room, const runs::Measured& m, Scene& scene, StepViewState& state) {
    double end_s = 0;
    for (const runs::PartRow& r : m.parts)
        end_s = std::max({end_s, r.time.measured_s, r.predicted_s.value_or(0)});
    if (end_s <= 0) return;
    Table table =
        columns_of(as_read(measured_parts_table(m)), {"part", "predicted_s", "measured_s", "difference_s",
                                                      "constant", "is", "would_be", "step_would_be_s"});
    table.columns.insert(table.columns.begin() + 1, {"predicted above, measured below"});
    for (Table::Row& row : table.rows) row.insert(row.begin() + 1, Cell(""));
    const RowLooks looks{.paint =
                             [&](Rect cell, std::size_t row, std::size_t column) {
                                 if (column == 1) draw_bars(ui, cell, m.parts[row], end_s);
                                 return column == 1;
                             },
                         .drawn_column = 1};
    const auto lit = selected_part(scene);
    const auto row = std::find_if(m.parts.begin(), m.parts.end(),
                                  [&](const runs::PartRow& r) { return lit && r.part == *lit; });
    const int selected = row == m.parts.end() ? -1 : static_cast<int>(row - m.parts.begin());
    const int clicked = draw_table(ui, "step.measured", room, table, state.measured_table, selected, looks);
    if (clicked >= 0) select_part(scene, m.parts[static_cast<std::size_t>(clicked)].part);
}

using runs::WhatIf;

constexpr float kStageNames = 56, kColumnNames = 18;

// The workers by their place: rows are stages, columns data-parallel ranks.
struct Grid {
    std::int64_t stages, replicas;
    std::vector<const runs::WorkerSlowdown*> at;
    double least = 1e300, most = 0;
};

Grid grid_of(const WhatIf& w) {
    Grid out{w.stages, w.replicas, {}};
    out.at.resize(static_cast<std::size_t>(w.stages * w.replicas));
    for (const runs::WorkerSlowdown& worker : w.workers) {
        out.at[static_cast<std::size_t>(worker.stage * w.replicas + worker.dp)] = &worker;
        out.least = std::min(out.least, worker.slowdown), out.most = std::max(out.most, worker.slowdown);
    }
    return out;
}

Color heat(const Theme& theme, const Grid& g, double slowdown) {
    const double span = std::max(0.02, g.most - g.least);
    return mix(mix(theme.panel, theme.secondary, 0.2f), theme.amber,
               static_cast<float>(std::clamp((slowdown - g.least) / span, 0.0, 1.0)));
}

std::string healthy_words(const WhatIf& w, const runs::WorkerSlowdown& worker) {
    const double won = w.measured_s - worker.healthy_s;
    std::string out = "If stage " + thousands(worker.stage) + " of data-parallel rank " + thousands(worker.dp)
                      + " were healthy, a step would take " + time_text(worker.healthy_s) + " instead of "
                      + time_text(w.measured_s);
    const double lost = w.measured_s - w.ideal_s;
    if (won > 0 && lost > 0) out += ": " + percent(won / lost) + " of what is lost";
    return out + ".";
}

void draw_map(Ui& ui, Rect room, const WhatIf& w, const Grid& g, StepViewState& state) {
    Canvas& c = ui.canvas();
    const float wide = (room.w - kStageNames) / static_cast<float>(g.replicas),
                high = std::min(std::max(34.0f, wide * 0.6f),
                                (room.h - kColumnNames) / static_cast<float>(g.stages));
    if (wide < 1 || high < 1) return;
    const auto every = [](float size, float least) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(least / size)));
    };
    const std::int64_t named_columns = every(wide, 34), named_rows = every(high, 14);
    for (std::int64_t r = 0; r < g.replicas; r += named_columns)
        c.text_in({room.x + kStageNames + wide * static_cast<float>(r), room.y,
                   wide * static_cast<float>(named_columns), kColumnNames},
                  (r == 0 ? "dp " : "") + thousands(r), ui.small());
    const float gap = wide > 8 && high > 8 ? 1.0f : 0.0f;
    for (std::int64_t s = 0; s < g.stages; ++s) {
        const float y = room.y + kColumnNames + high * static_cast<float>(s);
        if (s % named_rows == 0)
            c.text_in({room.x, y, kStageNames - 6, std::max(high, 14.0f)}, "stage " + thousands(s),
                      ui.small());
        for (std::int64_t r = 0; r < g.replicas; ++r) {
            const auto index = static_cast<std::size_t>(s * g.replicas + r);
            const runs::WorkerSlowdown* worker = g.at[index];
            if (worker == nullptr) continue;
            const Rect cell{room.x + kStageNames + wide * static_cast<float>(r), y, wide - gap, high - gap};
            const Color color = heat(ui.theme(), g, worker->slowdown);
            c.rect(cell, color, gap * 2);
            const Hit hit = ui.area("step.worker", cell, index);
            if (hit.clicked) state.worker = static_cast<std::ptrdiff_t>(index);
            if (hit.hovered) ui.tooltip(healthy_words(w, *worker));
            if (hit.focused) ui.focus_ring(cell, 2);
            if (state.worker == static_cast<std::ptrdiff_t>(index))
                c.frame(cell, ui.theme().text, 2, gap * 2);
            const std::string text = significant(worker->slowdown);
            const TextStyle style{Face::regular, 11, ink_on(color), 0};
            if (cell.h >= 14 && cell.w >= c.text_width(text, style) + 4)
                c.text_in(cell, text, style, Align::center);
        }
    }
}

// Draws the slowdown if only one kind of operation, stage or rank kept its measured times.
void draw_causes(Ui& ui, Rect room, const WhatIf& w) {
    Canvas& c = ui.canvas();
    put_head(ui, room, 4, "If only these were as measured");
    double most = std::max(1e-9, w.slowdown - 1);
    for (const auto* list : {&w.by_stage, &w.by_replica})
        for (const double slowdown : *list) most = std::max(most, slowdown - 1);
    const auto bar = [&](const std::string& name, double slowdown) {
        if (room.h < 18) return;
        const auto [label, drawn, figure] = columns(room.cut_top(18), {px(190), share(), px(52)}, 6);
        ui.label(label, name, ui.small());
        const auto part = static_cast<float>(std::clamp((slowdown - 1) / most, 0.0, 1.0));
        c.rect({drawn.x, drawn.center().y - 4, std::max(1.0f, drawn.w * part), 8}, ui.theme().amber, 1);
        c.text_in(figure, significant(slowdown), ui.small(Tone::text), Align::right);
    };
    bar("all", w.slowdown);
    const auto slowest = [](const std::vector<double>& of) {
        return static_cast<std::size_t>(std::max_element(of.begin(), of.end()) - of.begin());
    };
    if (!w.by_stage.empty()) {
        const std::size_t s = slowest(w.by_stage);
        bar("stage " + std::to_string(s), w.by_stage[s]);
    }
    if (!w.by_replica.empty()) {
        const std::size_t r = slowest(w.by_replica);
        bar("data-parallel rank " + std::to_string(r), w.by_replica[r]);
    }
    for (const auto& [kind, slowdown] : w.by_kind) bar(kind, slowdown);
}

// Offers the measured spread of the workers as the plan's.
std::optional<PlanEdit> draw_spread(Ui& ui, Rect row, const Scene& scene, const WhatIf& w) {
    const double sigma = std::round(w.spread * 1e4) / 1e4;
    const auto range = range_of("/training/straggler_cv").value_or(FieldRange{0, 1});
    Rect button = row.cut_right(150);
    row.cut_right(12);
    ui.label(row,
             "A worker's compute in a step spreads by σ = " + percent(w.spread) + " around its stage's mean",
             ui.small());
    const bool can = range.allows(sigma) && sigma != scene.plan.training.straggler_cv;
    if (ui.state().for_picture || !ui.button("step.use_spread", button, "σ into the plan", 0, can))
        return std::nullopt;
    Plan p = scene.plan;
    p.training.straggler_cv = sigma;
    return PlanEdit{p, "straggler σ " + percent(sigma), ""};
}

std::optional<PlanEdit> draw_workers(Ui& ui, Rect room, const Scene& scene, const WhatIf& w,
                                     StepViewState& state) {
    put_paragraph(ui, room, join(slowdown_words(w), " "), ui.style(12), 17, 4);
    const Grid g = grid_of(w);
    if (g.at.empty()) return std::nullopt;
    const auto at =
        static_cast<std::size_t>(state.worker >= 0 && state.worker < std::ssize(g.at)
                                     ? state.worker
                                     : w.workers.front().stage * w.replicas + w.workers.front().dp);
    if (g.at[at] != nullptr) put_paragraph(ui, room, healthy_words(w, *g.at[at]), ui.title(), 18, 4);
    std::optional<PlanEdit> edit;
    if (room.h > 120) edit = draw_spread(ui, room.cut_bottom(24), scene, w);
    room.cut_bottom(6);
    if (room.w > 620) {
        const Rect causes = room.cut_right(std::min(380.0f, room.w * 0.4f));
        room.cut_right(20);
        draw_causes(ui, causes, w);
    }
    draw_map(ui, room, w, g, state);
    return edit;
}

}  // namespace

bool has_measured(const Scene& scene) {
    return scene.run != nullptr && !scene.run->files.empty();
}

Table measured_data(const Scene& scene, bool workers) {
    const runs::Measured* const m = scene.run != nullptr ? scene.run->measured.get() : nullptr;
    if (m == nullptr) return {};
    if (!workers) return measured_parts_table(*m);
    return m->whatif ? slowdown_table(*m->whatif) : Table{};
}

std::optional<PlanEdit> draw_measured(Ui& ui, Rect room, Scene& scene, StepViewState& state) {
    const runs::Measured* const m = scene.run->measured.get();
    if (m == nullptr) {
        ui.canvas().paragraph(room, scene.run->words(), ui.style(13, Tone::secondary), 20);
        return std::nullopt;
    }
    if (!m->summary.empty()) put_paragraph(ui, room, typeset(m->summary), ui.title(), 18, 4);
    if (const std::string notes = notes_of(*m); !notes.empty() && room.h > 120)
        put_paragraph(ui, room, notes, ui.small(), 16, 4);
    std::optional<PlanEdit> edit;
    if (m->whatif) {
        const Rect workers = m->parts.empty() ? room : room.cut_bottom(room.h * 0.6f);
        edit = draw_workers(ui, workers, scene, *m->whatif, state);
    }
    if (!m->parts.empty()) draw_parts(ui, room, *m, scene, state);
    return edit;
}

}  // namespace pentamesh::ui
