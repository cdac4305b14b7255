// The page of Step that sets a real run next to the plan, part by part.
#include "app/tables/measured.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/views/step/view.h"
#include "core/base/text.h"

#include <algorithm>

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
