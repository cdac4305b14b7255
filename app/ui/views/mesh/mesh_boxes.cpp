#include "app/ui/views/mesh/mesh_boxes.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_marks.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

void draw_boxes(Ui& ui, Rect area, const MeshLayout& layout, const MeshCamera& cam, const CellGrid& grid,
                const Scene& scene) {
    Canvas& c = ui.canvas();
    const auto& cluster = scene.plan.cluster;
    const float node_w = layout.node.full.x * cam.zoom;
    if (layout.has_pods)
        for (std::int64_t i = 0; i < layout.pod.count; ++i) {
            Rect r = box_rect(layout, layout.pod, i, grid, cam.zoom);
            const std::int64_t held = std::min(layout.pod.size, cluster.gpus - i * layout.pod.size);
            if (held < layout.pod.size) {  // as high as it is filled
                const std::int64_t cols = layout.grid.level[1].cols;
                const std::int64_t rows =
                    ((held + layout.node.size - 1) / layout.node.size + cols - 1) / cols;
                r.h = static_cast<float>(rows) * layout.node.full.y * cam.zoom;
            }
            c.frame(r, ui.theme().hairline, 1);
            std::string label = "pod " + std::to_string(i);
            if (held < layout.pod.size) label += " (" + thousands(held) + ")";
            if (r.w >= 44) c.text({r.x, r.y - 17}, label, ui.style(11, Tone::secondary));
        }
    // Node boxes are drawn when there is room to see them; only those on the screen.
    if (node_w < 14 || layout.node.count > 200000) return;
    const bool labels = node_w >= 44;
    int drawn = 0;
    for (std::int64_t i = 0; i < layout.node.count && drawn < 4000; ++i) {
        const Rect r = box_rect(layout, layout.node, i, grid, cam.zoom);
        if (r.right() < area.x || r.x > area.right() || r.bottom() < area.y || r.y > area.bottom()) continue;
        const float gap = std::min(3.0f, r.w * 0.04f);
        c.frame(r.inset(gap), ui.theme().hairline, 1, node_w > 60 ? 4.0f : 0.0f);
        ++drawn;
        if (labels && layout.node.size > 1) {
            const std::string text =
                (node_w >= 80 ? std::string(domain_name(cluster)) + " " : "") + std::to_string(i);
            const float h = layout.node.padding.y * cam.zoom;
            if (h < 12) continue;
            const TextStyle style = ui.style(11, Tone::secondary);
            // The name is kept clear of a ring about the first cell.
            const Rect place{r.x + gap + 4, r.y + gap - (h < 16 ? 2 : 0), r.w - 8,
                             std::max(12.0f, h - gap - 4)};
            if (h < 16)  // it stands in the box's line, which makes room for it
                c.rect({place.x - 2, place.y, c.text_width(text, style) + 4, place.h}, ui.theme().window);
            c.text_in(place, text, style);
        }
    }
}

namespace {

// Returns the largest size at which the longest number fits a cell; 0 where none does.
float number_size(Ui& ui, const CellGrid& grid) {
    const std::string longest(std::to_string(std::max<std::int64_t>(0, grid.count - 1)).size(), '0');
    for (const float size : {13.0f, 11.0f, 9.0f})
        if (ui.canvas().text_width(longest, ui.style(size)) + (size > 11 ? 16.0f : 3.0f) <= grid.cell.x
            && grid.cell.y >= size + 2)
            return size;
    return 0;
}

}  // namespace

void draw_rank_numbers(Ui& ui, Rect area, const MeshLayout& layout, const CellGrid& grid) {
    const float size = number_size(ui, grid);
    if (size <= 0) return;
    // The loop walks boxes on the screen, not ranks, so that the cost follows the visible cells.
    int drawn = 0;
    for (std::int64_t r = 0; r < grid.count && drawn < 3000; ++r) {
        const Vec2 at = cell_position(grid, r);
        if (at.x + grid.cell.x < area.x || at.x > area.right() || at.y + grid.cell.y < area.y
            || at.y > area.bottom()) {
            // The rest of a box that is wholly outside is skipped.
            if (r % layout.node.size == 0) {
                const Vec2 last =
                    cell_position(grid, std::min<std::int64_t>(r + layout.node.size, grid.count) - 1);
                const bool outside = (at.y > area.bottom() && last.y > area.bottom())
                                     || (last.y + grid.cell.y < area.y && at.y + grid.cell.y < area.y);
                if (outside) r += layout.node.size - 1;
            }
            continue;
        }
        const Color ground = grid.palette[cell_id(grid, r) % grid.palette_size];
        TextStyle s = ui.style(size);
        s.color = ink_on(ground);
        ui.canvas().text_in({at.x, at.y, grid.cell.x, grid.cell.y}, std::to_string(r), s, Align::center);
        ++drawn;
    }
}

}  // namespace pentamesh::ui
