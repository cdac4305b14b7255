#include "app/ui/views/mesh/mesh_marks.h"

#include "core/mesh/mesh_factors.h"
#include "core/mesh/places.h"

#include "app/ui/kit/format.h"
#include "core/mesh/failure.h"
#include "core/teach/captions.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostLinks = 8;

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

// Draws the cells of one group in one colour.
void paint_group(Canvas& c, const Mesh& mesh, GroupKind kind, std::int64_t rank, const CellGrid& grid,
                 Color color) {
    for_each_run(mesh, kind, rank, [&](std::int64_t first, std::int64_t count, std::int64_t step) {
        CellGrid run = grid;
        // If a cell is a whole node, the group lights the nodes that it has GPUs in.
        if (const std::int64_t node = grid.step; node > 1) {
            const std::int64_t last = (first + (count - 1) * step) / node;
            first = first / node * node;
            if (step < node) step = node, count = last - first / node + 1;
        }
        run.first = static_cast<std::int32_t>(first);
        run.count = static_cast<std::int32_t>(count);
        run.step = static_cast<std::int32_t>(step);
        run.digits = 0;
        run.palette[0] = color;
        run.palette_size = 1;
        run.lit_id = -1;
        c.cells(run);
    });
}

Rect cell_rect(const CellGrid& grid, std::int64_t rank) {
    const Vec2 at = cell_position(grid, rank);
    return {at.x, at.y, grid.cell.x, grid.cell.y};
}

void outline(Canvas& c, Rect cell, Color color, float width) {
    const float grow = std::max(0.0f, 5 - cell.w) / 2;  // a cell of two pixels is still found
    c.frame(cell.inset(-1.5f - grow), color, width, cell.w > 20 ? 3.0f : 0.0f);
}

// Returns the peers of a rank that are worth a line: all of a small group, ring neighbours of a large one.
std::vector<std::int64_t> linked_peers(const Mesh& mesh, GroupKind kind, std::int64_t rank) {
    const GroupFactors f = group_factors(mesh, kind);
    std::int64_t degree = 1;
    for (const Factor& x : f.span()) degree *= x.size;
    std::vector<std::int64_t> out;
    if (degree <= static_cast<std::int64_t>(kMostLinks)) {
        for (const std::int64_t r : group_members(mesh, kind, rank))
            if (r != rank) out.push_back(r);
        return out;
    }
    const Factor& x = f.factor[f.count - 1];
    const std::int64_t at = rank / x.stride % x.size;
    const std::int64_t next = rank + ((at + 1) % x.size - at) * x.stride;
    const std::int64_t previous = rank + ((at + x.size - 1) % x.size - at) * x.stride;
    return {next, previous};
}

void draw_links(Ui& ui, const Scene& scene, const CellGrid& grid) {
    const Mesh& mesh = scene.evaluation.mesh;
    const Selection& sel = scene.selection;
    static constexpr GroupKind kDense[] = {GroupKind::tp, GroupKind::cp, GroupKind::dp_shard,
                                           GroupKind::dp_replicate, GroupKind::pp};
    static constexpr GroupKind kExpert[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp};
    const std::span<const GroupKind> kinds = sel.expert() ? std::span<const GroupKind>(kExpert) : kDense;
    const Vec2 half{grid.cell.x * 0.5f, grid.cell.y * 0.12f};  // at the cell's edge: its number stays free
    for (const GroupKind kind : kinds) {
        if (summary(scene, kind).degree <= 1) continue;
        const bool chosen = kind == sel.group;
        const Color color = color_of(ui.theme(), kind).alpha(chosen ? 1.0f : 0.55f);
        for (const std::int64_t peer : linked_peers(mesh, kind, sel.rank)) {
            if (peer < 0 || peer >= mesh.world) continue;
            const Vec2 a = cell_position(grid, sel.rank) + half, b = cell_position(grid, peer) + half;
            const int tier = tier_between(scene.plan.cluster, sel.rank, peer);
            const float lift = std::min(60.0f, std::hypot(b.x - a.x, b.y - a.y) * 0.25f);
            ui.canvas().curve(a, a + Vec2{0, -lift}, b + Vec2{0, -lift}, b, color, chosen ? 2.0f : 1.25f,
                              mark_of_tier(ui.theme(), scene.plan.cluster, tier).dash);
        }
    }
}

}  // namespace

MeshCaption mesh_caption(const Scene& scene) {
    if (scene.evaluation.mesh.world <= 1) return {"One GPU: no axis cuts anything, nobody to talk to.", ""};
    const AxisCaption c = caption_of(scene.plan, scene.evaluation, scene.selection.group);
    if (c.talk.empty()) return {c.where, ""};
    MeshCaption out{c.where + ".", c.talk};
    const AxisTraffic& t = scene.evaluation.comm.by_axis[scene.selection.group];
    if (t.sent_bytes_per_rank <= 0) return out;
    const Comm& comm = scene.evaluation.comm;
    out.plain +=
        ", " + traffic_text(t.sent_bytes_per_rank)
        + (comm.stages.devices > 1 ? " a step per GPU of stage " + std::to_string(comm.busiest_device)
                                   : std::string(" sent per GPU and step"));
    return out;
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

bool lights_one_group(const Scene& scene) {
    constexpr std::int64_t kManyGpus = 512;
    return scene.evaluation.mesh.world >= kManyGpus && summary(scene, scene.selection.group).degree > 1;
}

void draw_lit_group(Canvas& c, const Theme& theme, const Scene& scene, CellGrid grid) {
    constexpr float kQuiet = 0.2f;
    const Color color = color_of(theme, scene.selection.group);
    grid.palette.fill(mix(theme.window, color, kQuiet));
    grid.lit_id = -1;
    c.cells(grid);
    std::int64_t rank = scene.hover.rank >= 0 ? scene.hover.rank : scene.selection.rank;
    if (rank < 0 || rank >= scene.evaluation.mesh.world) rank = 0;
    paint_group(c, scene.evaluation.mesh, scene.selection.group, rank, grid, color);
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
    lost.count = static_cast<std::int32_t>(std::max<std::int64_t>(0, end - node * node_size));
    lost.step = 1;
    lost.digits = 0;
    lost.palette[0] = ui.theme().bad;
    lost.palette_size = 1;
    lost.lit_id = -1;
    c.cells(lost);
}

MeshCaption failure_caption(const Scene& scene, std::int64_t node) {
    const Failure f = lose_node(scene.plan, scene.evaluation.mesh, node);
    MeshCaption out;
    out.bold =
        "Without node " + thousands(node) + " " + plural(f.waiting, "other GPU waits.", "other GPUs wait.");
    for (const AxisFailure& a : f.axes)
        if (!is_expert(a.kind) || scene.selection.expert())
            out.plain += (out.plain.empty() ? "" : " · ") + axis_label(a.kind) + " " + thousands(a.groups_hit)
                         + " of " + thousands(a.groups) + " groups";
    out.plain +=
        f.state_survives ? " · every shard survives elsewhere" : " · the run goes back to its checkpoint";
    return out;
}

void merge_small_cells(const MeshLayout& layout, CellGrid& grid) {
    if (grid.cell.x >= kLeastMeshCell || layout.node.size <= 1) return;
    grid.step = static_cast<std::int32_t>(layout.node.size);
    grid.count = static_cast<std::int32_t>((grid.count + grid.step - 1) / grid.step);
    grid.cell = {std::max(1.0f, grid.level[1].pitch_x * 0.85f),
                 std::max(1.0f, grid.level[1].pitch_y * 0.85f)};
}

void draw_marks(Ui& ui, Rect, const Scene& scene, const CellGrid& grid, bool links) {
    const Mesh& mesh = scene.evaluation.mesh;
    const Selection& sel = scene.selection;
    Canvas& c = ui.canvas();
    const std::int64_t lit = scene.hover.rank >= 0 ? scene.hover.rank : sel.rank;
    if (lit >= 0 && lit < mesh.world && summary(scene, sel.group).degree > 1
        && summary(scene, sel.group).degree <= 256)
        for (const std::int64_t r : group_members(mesh, sel.group, lit)) {
            const Rect cell = cell_rect(grid, r);
            if (cell.w >= 5)
                c.frame(cell.inset(-1), ui.theme().text.alpha(0.8f), 1, cell.w > 20 ? 3.0f : 0.0f);
        }
    if (sel.rank < 0 || sel.rank >= mesh.world) return;
    if (links) draw_links(ui, scene, grid);
    outline(c, cell_rect(grid, sel.rank), ui.theme().text, 2);
}

void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid) {
    if (selection.topic != Selection::Topic::ranks) return;
    const auto& ranks = selection.ranks;
    for (std::size_t i = 0; i < ranks.size();) {
        if (ranks[i] >= grid.count) return;
        Rect frame = cell_rect(grid, ranks[i]);
        // Neighbours in a row are one frame.
        for (++i; i < ranks.size() && ranks[i] == ranks[i - 1] + 1 && ranks[i] < grid.count; ++i) {
            const Rect next = cell_rect(grid, ranks[i]);
            if (next.y != frame.y || next.x > frame.right() + next.w) break;
            frame.w = next.right() - frame.x;
        }
        outline(c, frame, theme.text, 2);
    }
}

std::string rank_tooltip(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    std::string s = "rank " + thousands(rank);
    if (rank >= mesh.world) return s + "\nidle: the layout uses " + thousands(mesh.world) + " GPUs";
    s += "\n" + place_of(scene.plan.cluster, rank);
    if (const std::string host = host_of(scene, rank); !host.empty()) s += ", " + host;
    const Coordinates at =
        scene.selection.expert() ? expert_coordinates(mesh, rank) : dense_coordinates(mesh, rank);
    const auto& factors = scene.selection.expert() ? mesh.expert : mesh.dense;
    static constexpr std::string_view kDense[] = {"tp", "cp", "ep", "dp_shard", "dp_replicate", "pp"};
    static constexpr std::string_view kExpert[] = {"etp", "cp", "ep", "edp", "edp outer", "pp"};
    for (std::size_t i = 0; i < factors.size(); ++i)
        if (factors[i].size > 1)
            s += "\n" + std::string(scene.selection.expert() ? kExpert[i] : kDense[i]) + " "
                 + thousands(at[i]) + " of " + thousands(factors[i].size);
    return s;
}

}  // namespace pentamesh::ui
