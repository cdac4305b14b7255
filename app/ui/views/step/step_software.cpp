#include "app/ui/views/step/view.h"

#include "app/tables/constants.h"
#include "core/plan/software.h"

namespace pentamesh::ui {

void draw_software(Ui& ui, Rect room, const Scene& scene, SoftwareState& state, std::uint64_t revision) {
    const Software software = scene.plan.training.software;
    const Table& figures =
        state.figures.get(revision, [&] { return without(software_table(software), {"key"}); });
    const std::string words =
        facts_of(software).name
        + ": what it keeps, reserves and reaches besides what the plan says. Fit: fitted to "
          "measured runs; else read at the source.";
    Canvas& c = ui.canvas();
    const float h = c.paragraph_height(room.w, words, ui.small(), 18);
    if (h + 90 < room.h) room.cut_top(c.paragraph(room, words, ui.small(), 18) + 6);
    draw_table(ui, "step.software_figure", room, figures, state.rows);
}

}  // namespace pentamesh::ui
