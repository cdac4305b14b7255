// Draws where a plan runs, for the pages that decide: its strip with what each axis costs, or the strips of
// two plans, one below the other, next to the memory of each.
#include "app/ui/kit/format.h"
#include "app/ui/panels/signs.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/mesh_strip.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

void draw_costs(ReviewSheet& sheet, const Scene& scene) {
    const std::vector<MeshAxis> axes = axes_that_send(sheet.theme(), scene);
    const float line = sheet.paper().line(), apart = sheet.paper().body, sample = sheet.paper().body * 1.6f;
    constexpr std::size_t kColumns = 3;
    for (std::size_t i = 0; i < axes.size(); i += kColumns) {
        Rect row = sheet.take(2 * line);
        sheet.link(row, kCommunicationPage);
        const float w = (row.w - (kColumns - 1) * apart) / kColumns;
        for (std::size_t k = i; k < std::min(axes.size(), i + kColumns); ++k) {
            const MeshAxis& a = axes[k];
            const AxisCost cost = cost_of(scene.evaluation, a);
            Rect cell = row.cut_left(w);
            row.cut_left(apart);
            Rect head = cell.cut_top(line);
            const Rect mark = head.cut_left(sample);
            sheet.canvas().line({mark.x, mark.center().y}, {mark.right() - 6, mark.center().y}, a.color, 3,
                                a.mark.dash);
            const std::string name = axis_label(a.kind) + " " + with_commas(a.degree);
            sheet.label(head.cut_left(sheet.canvas().text_width(name, sheet.strong()) + 8), name,
                        sheet.strong());
            const std::string tier(scene.plan.cluster.tiers[static_cast<std::size_t>(a.tier)].name);
            sheet.label(head, tier, sheet.faint());
            cell.cut_left(sample);
            if (cost.bytes > 0)
                sheet.label(cell,
                            traffic_text(cost.bytes) + " in " + time_text(cost.time_s) + ", "
                                + percent(cost.share()) + " waits",
                            sheet.plain());
        }
    }
}

}  // namespace

void draw_where(ReviewSheet& sheet, const Reviewed& of) {
    if (axes_in_use(of.evaluation).empty()) return;
    const PrintedScene printed(of);
    const Scene& scene = printed.scene;
    const Period period = period_of(scene, 0);
    const float type = sheet.paper().small, tile = 36;
    if (period.nodes > 1)
        draw_strip(sheet.canvas(), sheet.theme(), type, sheet.take(strip_height(tile) + type), tile, scene,
                   period);
    else
        draw_mesh_figure(sheet, sheet.take(sheet.paper().line() * 5), of,
                         of.evaluation.mesh.world > kMostCards
                             ? std::nullopt
                             : std::optional(axes_in_use(of.evaluation).front()));
    sheet.gap(0.3f);
    draw_costs(sheet, scene);
    sheet.gap(kBetweenParts);
}

void draw_verdict(ReviewSheet& sheet, MemoryFit fit, const std::string& reason) {
    const Theme& t = sheet.theme();
    const float body = sheet.paper().body, line = sheet.paper().line(), indent = body * 1.4f;
    const Rect row =
        sheet.take(sheet.canvas().paragraph_height(sheet.width() - indent, reason, sheet.plain(), line));
    draw_sign(sheet.canvas(), {row.x + body * 0.4f, row.y + line / 2},
              fit == MemoryFit::yes        ? Sign::disc
              : fit == MemoryFit::if_small ? Sign::triangle
                                           : Sign::square,
              fit == MemoryFit::yes        ? t.good
              : fit == MemoryFit::if_small ? t.amber
                                           : t.bad,
              body * 0.36f);
    sheet.canvas().paragraph({row.x + indent, row.y, row.w - indent, row.h}, reason, sheet.plain(), line);
    sheet.gap(0.6f);
}

}  // namespace pentamesh::ui
