#include "app/ui/views/timeline/timeline_parts.h"

#include "app/ui/kit/format.h"
#include "core/mesh/places.h"
#include "core/pipeline/stage_names.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
