#include "app/ui/views/mesh/mesh_draw.h"

#include "core/mesh/mesh_factors.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kQuiet = 0.2f;  // of the axis' colour in cells that are not highlighted

const GroupSummary& summary(const Scene& scene, GroupKind kind) {
    return scene.evaluation.groups[kind];
}

// Calls `draw` for the cells of one group, once for each run of equally spaced ranks.
template <typename Draw>
void for_each_run(const Mesh& mesh, GroupKind kind, std::int64_t rank, Draw&& draw) {
    const std::int64_t first = first_rank_of_group(mesh, kind, rank);
    const GroupFactors f = group_factors(mesh, kind);
    if (f.count == 0) return;
    // The longest factor becomes the run, the others the loop around it.
    const auto factors = f.span();
    const auto longest = std::max_element(factors.begin(), factors.end(),
                                          [](const Factor& a, const Factor& b) { return a.size < b.size; });
    std::int64_t runs = 1;
    for (auto it = factors.begin(); it != factors.end(); ++it)
        if (it != longest) runs *= it->size;
    for (std::int64_t i = 0; i < runs; ++i) {
        std::int64_t offset = 0, rest = i;
        for (auto it = factors.begin(); it != factors.end(); ++it) {
            if (it == longest) continue;
            offset += rest % it->size * it->stride;
            rest /= it->size;
        }
        draw(first + offset, longest->size, longest->stride);
    }
}

// Draws cells at least kLeastNodeCell.y wide and high. A cell ends where the next one begins, however large
// it is asked for: a smaller one is drawn again next to itself.
void draw_large_enough(Canvas& c, CellGrid grid) {
    const auto times = [](float size) {
        const float least = kLeastNodeCell.y;
        return size >= least ? 0 : static_cast<int>(std::ceil(least / std::max(size, 0.5f))) - 1;
    };
    const int right = times(grid.cell.x), down = times(grid.cell.y);
    const Vec2 origin = grid.origin;
    for (int x = 0; x <= right; ++x)
        for (int y = 0; y <= down; ++y) {
            const auto part = [](int i, int n, float size) {
                return n == 0 ? 0 : (kLeastNodeCell.y - size) * static_cast<float>(i) / static_cast<float>(n);
            };
            grid.origin = origin + Vec2{part(x, right, grid.cell.x), part(y, down, grid.cell.y)};
            c.cells(grid);
        }
}

// Draws the cells of one group in one colour: those of `ranks`, where the grid's first cell is the first of
// them.
void paint_group(Canvas& c, const Mesh& mesh, GroupKind kind, std::int64_t rank, const CellGrid& grid,
                 Color color, RankRange ranks = {}) {
    for_each_run(mesh, kind, rank, [&](std::int64_t first, std::int64_t count, std::int64_t step) {
        CellGrid run = grid;
        const std::int64_t skipped =
            first < ranks.begin ? std::min(count, (ranks.begin - first + step - 1) / step) : 0;
        first += skipped * step, count -= skipped;
        count = std::min(count, (ranks.end - first + step - 1) / step);
        if (count <= 0) return;
        first -= ranks.begin;
        // If a cell is a whole node, the group lights the nodes that it has GPUs in.
        if (const std::int64_t node = grid.step; node > 1) {
            const std::int64_t last = (first + (count - 1) * step) / node;
            first = first / node * node;
            if (step < node) step = node, count = last - first / node + 1;
        }
        run.first = static_cast<std::int32_t>(first);
        run.count = static_cast<std::int32_t>(count);
        run.step = static_cast<std::int32_t>(step);
        color_plainly(color, run);
        draw_large_enough(c, run);
    });
}

}  // namespace

Color LitGroups::color_of(std::int64_t other) const {
    if (own_lit && other == rank) return own;
    for (const MeshAxis& axis : axes.span())
        if (axis.first_of(other) == axis.first_of(rank)) return axis.color;
    return quiet;
}

LitGroups lit_groups(const Theme& theme, const Scene& scene) {
    LitGroups out;
    const Mesh& mesh = scene.evaluation.mesh;
    const GroupKind kind = scene.selection.group;
    if (scene.selection.all_axes) {
        out.axes = axes_of(theme, scene);
    } else if (summary(scene, kind).degree > 1) {
        out.axes.count = 1;
        out.axes.axis[0] = mesh_axis(theme, scene.plan, scene.evaluation, kind);
    }
    out.shown = mesh.world > kMostCards && out.axes.count > 0;
    if (!out.shown) return out;
    out.rank = scene.hover.rank >= 0 ? scene.hover.rank : scene.selection.rank;
    if (out.rank < 0 || out.rank >= mesh.world) out.rank = 0;
    out.own = theme.text;
    out.own_lit = scene.selection.all_axes;
    out.quiet = mix(theme.window, out.axes.axis[0].color, kQuiet);
    return out;
}

void draw_lit_cells(Canvas& c, const Mesh& mesh, const LitGroups& lit, const CellGrid& grid,
                    RankRange ranks) {
    for (std::size_t i = lit.axes.count; i-- > 0;)  // the innermost last: it is the smallest
        paint_group(c, mesh, lit.axes.axis[i].kind, lit.rank, grid, lit.axes.axis[i].color, ranks);
    if (!lit.own_lit || lit.rank < ranks.begin || lit.rank >= ranks.end) return;
    CellGrid own = grid;
    own.first = static_cast<std::int32_t>((lit.rank - ranks.begin) / grid.step * grid.step);
    own.count = 1;
    color_plainly(lit.own, own);
    draw_large_enough(c, own);
}

void color_by_groups(const Theme& theme, const Scene& scene, CellGrid& grid) {
    const Mesh& mesh = scene.evaluation.mesh;
    const GroupKind kind = scene.selection.group;
    grid.count = static_cast<std::int32_t>(std::min<std::int64_t>(mesh.world, grid.count));
    const auto ramp = shades(theme, color_of(theme, kind));
    std::copy(ramp.begin(), ramp.end(), grid.palette.begin());
    grid.palette_size = kShadeCount;
    grid.ground = theme.window;
    // A group's index is the mixed-radix number of the coordinates that its members share.
    const Factors rest = split_factors(mesh, kind).rest;
    std::int64_t weight = 1;
    grid.digits = 0;
    for (const Factor& f : rest.span()) {
        grid.digit[grid.digits++] = {static_cast<std::int32_t>(f.stride), static_cast<std::int32_t>(f.size),
                                     static_cast<std::int32_t>(weight)};
        weight *= f.size;
    }
    const std::int64_t lit = scene.hover.rank >= 0 ? scene.hover.rank : scene.selection.rank;
    if (lit >= 0 && lit < mesh.world && summary(scene, kind).degree > 1)
        grid.lit_id = static_cast<std::int32_t>(cell_id(grid, lit));
    grid.dim = scene.hover.rank >= 0 ? 0.45f : 0.3f;
}

void color_by_groups_on_page(const Theme& theme, const Scene& scene, CellGrid& grid) {
    color_by_groups(theme, scene, grid);
    if (summary(scene, scene.selection.group).degree <= 1)
        color_plainly(mix(theme.window, theme.secondary, 0.3f), grid);
}

void color_plainly(Color color, CellGrid& grid) {
    grid.palette[0] = color;
    grid.palette_size = 1;
    grid.digits = 0;
    grid.lit_id = -1;
}

void draw_failure(Ui& ui, const Scene& scene, std::int64_t node, std::int64_t node_size,
                  const CellGrid& grid) {
    Canvas& c = ui.canvas();
    const Mesh& mesh = scene.evaluation.mesh;
    const std::int64_t end = std::min(mesh.world, (node + 1) * node_size);
    std::vector<std::int64_t> seen;
    for (std::int64_t r = node * node_size; r < end; ++r) {
        const std::int64_t first = first_rank_of_group(mesh, scene.selection.group, r);
        if (std::find(seen.begin(), seen.end(), first) != seen.end()) continue;
        seen.push_back(first);
        paint_group(c, mesh, scene.selection.group, r, grid, ui.theme().amber);
    }
    CellGrid lost = grid;
    lost.first = static_cast<std::int32_t>(node * node_size);
    lost.count = static_cast<std::int32_t>((std::max<std::int64_t>(0, end - node * node_size) + grid.step - 1)
                                           / grid.step);
    color_plainly(ui.theme().bad, lost);
    draw_large_enough(c, lost);
}

void merge_small_cells(const MeshLayout& layout, CellGrid& grid) {
    if (layout.node.size <= 1 || (grid.cell.x >= kLeastGpuCell && grid.cell.y >= kLeastGpuCell)) return;
    const float zoom = grid.cell.x / layout.grid.cell.x;
    grid.step = static_cast<std::int32_t>(layout.node.size);
    grid.count = static_cast<std::int32_t>((grid.count + grid.step - 1) / grid.step);
    grid.origin = grid.origin - layout.node.padding * zoom;
    grid.cell = layout.node.full * zoom;
    // Nodes too small to be seen one by one are drawn without gaps: first the rows, then the columns.
    // An edge in the middle of a pixel would leave that pixel to neither of two cells.
    constexpr float kOffMiddle = 1.0f / 64;
    if (grid.cell.y < kLeastNodeCell.y) grid.cell.y += layout.node_gap.y * zoom, grid.origin.y -= kOffMiddle;
    if (grid.cell.x < kLeastNodeCell.x) grid.cell.x += layout.node_gap.x * zoom, grid.origin.x -= kOffMiddle;
}

}  // namespace pentamesh::ui
