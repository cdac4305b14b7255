#include "app/ui/views/mesh/mesh_layout.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr GroupKind kDenseAxes[] = {GroupKind::tp, GroupKind::cp, GroupKind::dp_shard,
                                    GroupKind::dp_replicate, GroupKind::pp};
// Megatron's axes where weights are cut further than by tp: data parallelism is cut in two.
constexpr GroupKind kShardAxes[] = {GroupKind::tp, GroupKind::gtp_remat, GroupKind::cp,
                                    GroupKind::dp_without_gtp_remat, GroupKind::pp};
constexpr GroupKind kExpertAxes[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp};
constexpr GroupKind kExpertParts[] = {GroupKind::etp, GroupKind::ep, GroupKind::edp_shard,
                                      GroupKind::edp_replicate, GroupKind::pp};

std::span<const GroupKind> axis_kinds(const Mesh& mesh, bool expert) {
    if (expert && has_kind(mesh, GroupKind::edp_shard)) return kExpertParts;
    if (expert) return kExpertAxes;
    return mesh.weight_shards > 1 ? std::span<const GroupKind>(kShardAxes) : kDenseAxes;
}

// Returns true if the groups of the kind are those of the axis, in the same mesh.
bool has_groups_of(const Mesh& mesh, GroupKind kind, const MeshAxis& axis) {
    const GroupFactors kept = group_factors(mesh, kind);
    const auto f = kept.span(), of_axis = axis.factors.span();
    // The bytes of weight shards are not counted; those of another axis among the same ranks are not theirs.
    if (is_of_weight_shards(axis.kind)) return kind == axis.kind;
    return is_expert(kind) == is_expert(axis.kind)
           && std::equal(f.begin(), f.end(), of_axis.begin(), of_axis.end());
}

}  // namespace

MeshAxis mesh_axis(const Theme& theme, const Plan& plan, const Evaluation& evaluation, GroupKind kind) {
    const GroupSummary& s = evaluation.groups[kind];
    return {.kind = kind,
            .degree = s.degree,
            .factors = group_factors(evaluation.mesh, kind),
            .tier = s.slowest_tier,
            .color = color_of(theme, kind),
            .mark = mark_of_tier(theme, plan.cluster, s.slowest_tier)};
}

MeshAxes axes_of(const Theme& theme, const Plan& plan, const Evaluation& evaluation, bool expert) {
    MeshAxes out;
    for (const GroupKind kind : axis_kinds(evaluation.mesh, expert)) {
        const MeshAxis axis = mesh_axis(theme, plan, evaluation, kind);
        if (axis.degree <= 1 || axis.factors.count == 0) continue;
        // It goes behind those with smaller strides.
        std::size_t at = out.count++;
        for (; at > 0 && out.axis[at - 1].stride() > axis.stride(); --at) out.axis[at] = out.axis[at - 1];
        out.axis[at] = axis;
    }
    return out;
}

std::int64_t tile_of(const Plan& plan, const Evaluation& evaluation, bool expert) {
    if (plan.cluster.tiers.empty()) return 1;
    const std::int64_t domain = domain_of(plan.cluster, 0);
    for (const GroupKind kind : axis_kinds(evaluation.mesh, expert)) {
        const GroupSummary& s = evaluation.groups[kind];
        const GroupFactors f = group_factors(evaluation.mesh, kind);
        if (s.degree > 1 && s.slowest_tier == 0 && f.count == 1 && f.factor[0].stride == 1
            && domain % s.degree == 0)
            return s.degree;
    }
    return 1;
}

const MeshAxis* tile_axis(const MeshAxes& axes, std::int64_t tile) {
    return tile > 1 && axes.count > 0 && axes.axis[0].degree == tile ? &axes.axis[0] : nullptr;
}

AxisCost cost_of(const Evaluation& evaluation, GroupKind kind) {
    const AxisTraffic& t = evaluation.comm.by_axis[kind];
    if (!evaluation.step) return {};
    return {.bytes = t.sent_bytes_per_rank,
            .time_s = t.time_s,
            .waits_s = evaluation.step->exposed_comm_s[kind],
            .step_s = evaluation.step->time_s};
}

AxisCost cost_of(const Evaluation& evaluation, const MeshAxis& axis) {
    AxisCost sum;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (!has_groups_of(evaluation.mesh, kind, axis)) continue;
        const AxisCost c = cost_of(evaluation, kind);
        sum.bytes += c.bytes, sum.time_s += c.time_s, sum.waits_s += c.waits_s, sum.step_s = c.step_s;
    }
    return sum;
}

std::string_view words_without_bytes(GroupKind kind) {
    if (kind == GroupKind::gtp_remat) return "gathers weights: not counted";
    return is_of_weight_shards(kind) ? "counted with all of dp" : "sends nothing";
}

std::vector<MeshAxis> axes_that_send(const Theme& theme, const Scene& scene) {
    const MeshAxes axes = axes_of(theme, scene);
    std::vector<MeshAxis> out(axes.span().begin(), axes.span().end());
    for (const GroupKind kind : all_of<GroupKind>()) {
        const auto known = [&](const MeshAxis& a) { return has_groups_of(scene.evaluation.mesh, kind, a); };
        if (cost_of(scene.evaluation, kind).bytes <= 0 || std::any_of(out.begin(), out.end(), known))
            continue;
        out.push_back(mesh_axis(theme, scene.plan, scene.evaluation, kind));
        out.back().elsewhere = true;
    }
    return out;
}

namespace {

constexpr float kPodLabel = 18;
constexpr float kWholePeriod = 1.5f;  // how much larger a row that ends with an axis, or fills all, counts
constexpr std::int64_t kMostBeside = 48;  // pods in a row

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// One level of detail: the least and the largest cell, its longest side over the shorter one, and the room
// around cells, tiles, nodes and pods.
struct Level {
    Vec2 least, most;
    float stretch;
    Vec2 cell_gap;
    float tile_pad, tile_head, tile_gap;
    float node_pad, node_head;
    Vec2 node_gap;
    float pod_gap;
    bool merged = false;   // a cell is a node
    float height = 1.15f;  // how much a cell's height counts against its width
};
constexpr Level kLevels[] = {
    {{120, 92}, {360, 270}, 1.7f, {26, 20}, 12, 18, 30, 20, 28, {150, 48}, 24},
    {kCard, {360, 270}, 1.7f, {26, 20}, 12, 18, 30, 20, 28, {56, 48}, 24},
    {kSmallCard, {95, 79}, 2, {12, 10}, 8, 0, 14, 18, 18, {34, 30}, 20},
    {kNumberedCell, {64, 64}, 2.2f, {4, 4}, 6, 0, 8, 6, 0, {26, 26}, 20},
    {{11, 11}, {22, 22}, 1.6f, {2, 2}, 3, 0, 4, 4, 0, {13, 13}, 16},
    {{kLeastGpuCell, kLeastGpuCell}, {14, 14}, 1.6f, {1, 1}, 2, 0, 2, 2, 0, {6, 6}, 14},
    {{10, 6}, {60, 30}, 3.4f, {}, 0, 0, 0, 0, 0, {2, 2}, 14, true},
    {kLeastNodeCell, {10, 10}, 1.8f, {}, 0, 0, 0, 0, 0, {1, 1}, 16, true},
    // A pod is a tile: its rows stand joined, so that its columns may be much wider than a node is high.
    {{}, {12, 10}, 8, {}, 0, 0, 0, 0, 0, {1, 0.25f}, 16, true, 3},
};

// One arrangement of the boxes: columns of each level, and the cell that fits it.
struct Shape {
    std::int64_t tile = 1, tile_cols = 1;   // cells of a tile, in a row of it
    std::int64_t tiles = 1, node_cols = 1;  // tiles of a node, in a row of it
    std::int64_t nodes = 1, pod_cols = 1;   // nodes of a pod, in a row of it
    std::int64_t pods = 1, cols = 1;        // pods, in a row
    Vec2 cell{};
    float mark = -1;
};

// The length of `n` boxes with gaps between them.
float row_of(std::int64_t n, float box, float gap) {
    return static_cast<float>(n) * (box + gap) - gap;
}
// The sizes of the boxes about cells of this size.
struct Sizes {
    Vec2 tile, node, pod, all;
};
Sizes sizes_of(const Shape& s, const Level& l, Vec2 cell, float label) {
    const bool tiled = s.tile > 1 && s.tiles > 1;
    const float pad = tiled ? 2 * l.tile_pad : 0, head = tiled ? l.tile_head : 0;
    const float pod_gap = s.pods > 1 ? l.pod_gap : 0;
    Sizes z;
    z.tile = {row_of(s.tile_cols, cell.x, l.cell_gap.x) + pad,
              row_of(ceil_div(s.tile, s.tile_cols), cell.y, l.cell_gap.y) + pad + head};
    // Cells without tiles stand as close as those of one.
    const Vec2 gap = s.tile > 1 ? Vec2{l.tile_gap, l.tile_gap} : l.cell_gap;
    z.node = {row_of(s.node_cols, z.tile.x, gap.x) + 2 * l.node_pad,
              row_of(ceil_div(s.tiles, s.node_cols), z.tile.y, gap.y) + 2 * l.node_pad + l.node_head};
    z.pod = {row_of(s.pod_cols, z.node.x, l.node_gap.x),
             row_of(ceil_div(s.nodes, s.pod_cols), z.node.y, l.node_gap.y)};
    z.all = {row_of(s.cols, z.pod.x, pod_gap), row_of(ceil_div(s.pods, s.cols), z.pod.y + label, pod_gap)};
    return z;
}

// Sets the largest cell with which the arrangement fits, and its mark.
void fit(Shape& s, const Level& l, Vec2 room, float label, float pixel) {
    const Sizes none = sizes_of(s, l, {0, 0}, label), one = sizes_of(s, l, {1, 1}, label);
    const Vec2 left = room - none.all, per = one.all - none.all;
    Vec2 c{std::min(left.x / per.x, l.most.x), std::min(left.y / per.y, l.most.y)};
    c = {std::min(c.x, c.y * l.stretch), std::min(c.y, c.x * l.stretch)};
    const auto whole = [pixel](float v) { return v >= 2 * pixel ? std::floor(v / pixel) * pixel : v; };
    s.cell = {whole(c.x), whole(c.y)};
    s.mark = std::min(s.cell.x, s.cell.y * l.height);
}

// Calls f with the numbers of columns worth trying for n boxes, longest rows first: those that fill their
// rows, else all.
template <typename F>
void try_columns(std::int64_t n, F&& f) {
    constexpr std::int64_t kEach = 16;  // of longer rows only some are tried
    for (std::int64_t c = n; c > kEach; c -= 1 + c / 24)
        if (n % c == 0 || c > 2 * kEach) f(c);
    for (std::int64_t c = std::min(n, kEach); c >= 1; --c)
        if (n % c == 0 || n > kEach) f(c);
}

struct Asked {
    Vec2 room;
    float label, pixel;
    std::span<const RowPeriod> periods;
};

// The best arrangement of one level of detail.
Shape best_shape(Shape s, const Level& l, const Asked& a) {
    Shape best = s;
    const auto consider = [&](float counts) {
        fit(s, l, a.room, a.label, a.pixel);
        s.mark *= counts;
        if (s.mark > best.mark * 1.0001f) best = s;
    };
    const auto rows = [&] {
        for (s.cols = 1; s.cols <= std::min(s.pods, kMostBeside); ++s.cols) {
            for (const RowPeriod& p : a.periods)
                s.pod_cols = std::min(p.nodes, s.nodes), consider(p.whole ? kWholePeriod : 1);
        }
    };
    if (l.merged) {  // a node is one cell
        s.tile = s.tiles = s.tile_cols = s.node_cols = 1;
        rows();
        return best;
    }
    try_columns(s.tile, [&](std::int64_t tile_cols) {
        s.tile_cols = tile_cols;
        try_columns(s.tiles, [&](std::int64_t node_cols) {
            s.node_cols = node_cols;
            rows();
        });
    });
    return best;
}

// Sets the cells inside a node that is drawn as one, and its tiles, where each is a part of a row or whole
// rows.
void subdivide(MeshLayout& out, std::int64_t domain, Vec2 node) {
    auto cols = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(domain))));
    for (std::int64_t c = cols; c <= 2 * cols; ++c)
        if (domain % c == 0) {  // rows are full
            cols = c;
            break;
        }
    const std::int64_t rows = ceil_div(domain, cols);
    const Vec2 pitch{node.x / static_cast<float>(cols), node.y / static_cast<float>(rows)};
    out.grid.levels = 3;
    out.grid.level[0] = {static_cast<std::int32_t>(domain), static_cast<std::int32_t>(cols), pitch.x,
                         pitch.y};
    out.grid.cell = out.joined() ? pitch : pitch * 0.85f;
    const std::int64_t tile = out.tile.size;
    if (tile == domain) return;
    if (cols % tile != 0 && tile % cols != 0) {
        out.tile = {1, out.grid.count, {}, pitch};
        return;
    }
    out.tile.padding = (pitch - out.grid.cell) * 0.5f;
    out.tile.full = {pitch.x * static_cast<float>(std::min(tile, cols)),
                     pitch.y * static_cast<float>(ceil_div(tile, cols))};
}

}  // namespace

std::vector<RowPeriod> row_periods(const Mesh& mesh, std::int64_t domain, std::int64_t pod) {
    std::vector<RowPeriod> out;
    const std::int64_t most = pod > 0 ? std::min(pod, mesh.world) : mesh.world;
    for (const Axis axis : mesh.order) {
        const Factor& f = mesh.dense[axis];
        for (std::int64_t k = 2; k <= f.size; ++k) {
            const std::int64_t gpus = f.stride * k;
            if (f.size % k != 0 || gpus <= domain || gpus % domain != 0 || gpus > most) continue;
            out.push_back({gpus / domain, k == f.size});
        }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.nodes < b.nodes; });
    return out;
}

DataUnit data_unit_of(const Mesh& mesh, bool shards_parameters) {
    DataUnit out;
    for (const Axis axis : {Axis::tp, Axis::cp, Axis::pp}) out.rank *= mesh.dense[axis].size;
    const Factor& shard = mesh.dense[Axis::dp_shard];
    out.cut = shards_parameters && shard.size > 1;
    out.replica = out.rank * (out.cut ? shard.size : 1);
    return out;
}

namespace {

// Counts the replicas, or the data-parallel ranks, of a row of `gpus` GPUs that holds whole ones.
std::string data_words(const DataUnit& unit, std::int64_t gpus, bool whole_replicas) {
    const std::int64_t each = whole_replicas ? unit.replica : unit.rank;
    const std::string noun = whole_replicas || !unit.cut ? "replica" : "data-parallel rank";
    // Not everybody knows the word.
    const std::string holds = whole_replicas ? ", all of the model" : "";
    if (gpus == each) return "a row is a " + noun + holds;
    return "a row is " + with_commas(gpus / each) + " " + noun + "s"
           + (holds.empty() ? "" : ", each" + holds.substr(1));
}

}  // namespace

std::string row_words(const Mesh& mesh, std::int64_t domain, std::int64_t row_nodes, bool shards_parameters) {
    const std::int64_t gpus = row_nodes * domain;
    const DataUnit unit = data_unit_of(mesh, shards_parameters);
    const Factor &pp = mesh.dense[Axis::pp], &shard = mesh.dense[Axis::dp_shard];
    std::string node;
    if (pp.size > 1 && pp.stride == domain) node = ", a column a stage";
    std::int64_t covered = 1;
    bool data_outside = true;  // each rank of the model's axes lies inside those of the data's
    for (const Axis axis : mesh.order) {
        const Factor& f = mesh.dense[axis];
        if (f.size <= 1 || f.stride >= gpus) continue;
        const bool data = axis == Axis::dp_shard || axis == Axis::dp_replicate;
        data_outside = data_outside && (!data || f.stride >= unit.rank);
        covered = std::min(gpus, f.stride * f.size);
    }
    if (covered != gpus) return {};
    if (unit.rank == 1 && gpus == mesh.world) return {};  // every GPU is one: there is nothing to tell apart
    if (data_outside && gpus % unit.rank == 0) {
        const bool whole = !unit.cut || (gpus % unit.replica == 0 && shard.stride == unit.rank);
        return data_words(unit, gpus, whole) + node;
    }
    if (pp.size > 1 && gpus == pp.stride) return "a row is a stage";
    if (pp.size > 1 && pp.stride > gpus && pp.stride % gpus == 0)
        return with_commas(pp.stride / gpus) + " rows are a stage";
    if (pp.size > 1 && pp.stride > domain && gpus % pp.stride == 0 && gpus < pp.stride * pp.size)
        return "a row is " + with_commas(gpus / pp.stride) + " stages side by side";
    for (const Axis axis : mesh.order) {
        const Factor& f = mesh.dense[axis];
        if (f.size > 1 && f.stride < gpus && f.stride * f.size > gpus && f.stride * f.size % gpus == 0)
            return with_commas(f.stride * f.size / gpus) + " rows are one " + std::string(name_of(axis))
                   + " group" + node;
    }
    return {};
}

namespace {

constexpr std::int64_t kSteadyUpTo = 16;  // GPUs: so few keep one arrangement in rooms of different shape
constexpr Vec2 kSteadyRoom{1100, 560};    // for which it is made

// Returns the best arrangement of a level in the room; of few GPUs that of the steady room, unless a room of
// another shape makes its cells less than half as large as they could be.
Shape shape_in(const Shape& asked, const Level& l, const Asked& a, std::int64_t gpus) {
    const Shape best = best_shape(asked, l, a);
    if (gpus > kSteadyUpTo || l.merged) return best;
    Shape steady = best_shape(asked, kLevels[0], {kSteadyRoom, a.label, a.pixel, a.periods});
    fit(steady, l, a.room, a.label, a.pixel);
    return steady.mark * 2 >= best.mark ? steady : best;
}

}  // namespace

MeshLayout lay_out_mesh(Vec2 room, std::int64_t gpus, std::int64_t domain, std::int64_t pod, float pixel,
                        std::span<const RowPeriod> periods, std::int64_t tile) {
    MeshLayout out;
    gpus = std::max<std::int64_t>(gpus, 1);
    domain = std::clamp<std::int64_t>(domain, 1, gpus);
    if (tile < 1 || domain % tile != 0) tile = 1;
    const std::int64_t nodes = ceil_div(gpus, domain);
    out.has_pods = pod > domain && pod < gpus;
    Shape asked;
    asked.tile = tile, asked.tiles = domain / tile;
    asked.nodes = out.has_pods ? ceil_div(pod, domain) : nodes;
    asked.pods = ceil_div(nodes, asked.nodes);
    const float label = out.has_pods ? kPodLabel : 0;
    std::vector<RowPeriod> any;  // where the layout has no period
    if (periods.empty()) {
        try_columns(asked.nodes, [&](std::int64_t c) { any.push_back({c, asked.nodes % c == 0}); });
        periods = any;
    }
    Shape s;
    const Level* level = nullptr;
    for (const Level& l : kLevels) {  // the first with cells that are large enough, else the last
        if (l.most.x > kNumberedCell.x * 3 && gpus > kMostCards && !l.merged) continue;
        level = &l;
        s = shape_in(asked, l, {room, label, pixel, periods}, gpus);
        if (s.cell.x >= l.least.x && s.cell.y >= l.least.y) break;
    }
    const Level& l = *level;
    s.cell = {std::max(s.cell.x, 0.05f), std::max(s.cell.y, 0.05f)};
    const Sizes z = sizes_of(s, l, s.cell, label);
    const bool tiled = s.tile > 1 && s.tiles > 1;
    const Vec2 tile_pad{tiled ? l.tile_pad : 0, tiled ? l.tile_pad + l.tile_head : 0};
    const Vec2 node_pad = tile_pad + Vec2{l.node_pad, l.node_pad + l.node_head};
    const Vec2 tile_gap = s.tile > 1 ? Vec2{l.tile_gap, l.tile_gap} : l.cell_gap;
    CellGrid& g = out.grid;
    g.count = static_cast<std::int32_t>(gpus);
    g.levels = 0;
    const auto set = [&g](std::int64_t size, std::int64_t cols, Vec2 pitch) {
        g.level[static_cast<std::size_t>(g.levels++)] = {static_cast<std::int32_t>(size),
                                                         static_cast<std::int32_t>(cols), pitch.x, pitch.y};
    };
    g.cell = s.cell;
    set(s.tile, s.tile_cols, s.cell + l.cell_gap);
    if (!l.merged) set(s.tiles, s.node_cols, z.tile + tile_gap);
    set(s.nodes, s.pod_cols, z.node + l.node_gap);
    const float gap = s.pods > 1 ? l.pod_gap : 0;
    set(s.pods, s.cols, z.pod + Vec2{gap, gap + label});
    g.origin = node_pad + Vec2{0, label};
    out.merged = l.merged && domain > 1;
    out.row_nodes = s.pod_cols;
    out.node_gap = l.node_gap;
    out.tile_head = tiled ? l.tile_head : 0;
    out.tile = {tile, ceil_div(gpus, tile), tile_pad, z.tile};
    out.node = {domain, nodes, node_pad, z.node};
    out.pod = {domain * s.nodes, s.pods, node_pad, z.pod};
    out.extent = z.all;
    if (l.merged) subdivide(out, domain, z.node);
    return out;
}

CellGrid seen(const MeshLayout& layout, const MeshCamera& camera, Rect area) {
    CellGrid g = layout.grid;
    const float z = camera.zoom;
    for (auto& l : g.level) l.pitch_x *= z, l.pitch_y *= z;
    g.cell = g.cell * z;
    g.origin = area.min() + camera.pan + g.origin * z;
    return g;
}

Rect box_rect(const MeshLayout::Boxes& boxes, std::int64_t index, const CellGrid& seen_grid, float zoom) {
    const Vec2 at = cell_position(seen_grid, index * boxes.size) - boxes.padding * zoom;
    return {at.x, at.y, boxes.full.x * zoom, boxes.full.y * zoom};
}

std::int64_t rank_step_down(const CellGrid& grid) {
    std::int64_t step = 1;
    for (int i = 0; i < grid.levels; ++i) {
        const CellGrid::Level& l = grid.level[static_cast<std::size_t>(i)];
        if (l.cols < l.size || i + 1 == grid.levels) return step * l.cols;
        step *= l.size;
    }
    return step;
}

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

Color HighlightedGroups::color_of(std::int64_t other) const {
    if (own_highlighted && other == rank) return own;
    for (const MeshAxis& axis : axes.span())
        if (axis.first_of(other) == axis.first_of(rank)) return axis.color;
    return quiet;
}

HighlightedGroups highlighted_groups(const Theme& theme, const Scene& scene) {
    HighlightedGroups out;
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
    out.own_highlighted = scene.selection.all_axes;
    out.quiet =
        theme.id == ThemeId::high_contrast ? theme.window : mix(theme.window, out.axes.axis[0].color, kQuiet);
    return out;
}

void draw_quiet_cells(Canvas& c, const Theme& theme, const HighlightedGroups& highlighted, CellGrid cells) {
    constexpr float kLeastOutlined = 4;
    if (theme.id != ThemeId::high_contrast) {
        color_plainly(highlighted.quiet, cells);
        return c.cells(cells);
    }
    color_plainly(mix(theme.window, theme.hairline, 0.6f), cells);
    c.cells(cells);
    if (std::min(cells.cell.x, cells.cell.y) < kLeastOutlined) return;
    cells.origin = cells.origin + Vec2{1, 1};
    cells.cell = cells.cell - Vec2{2, 2};
    color_plainly(highlighted.quiet, cells);
    c.cells(cells);
}

void draw_highlighted_cells(Canvas& c, const Mesh& mesh, const HighlightedGroups& highlighted,
                            const CellGrid& grid, RankRange ranks) {
    for (std::size_t i = highlighted.axes.count; i-- > 0;)  // the innermost last: it is the smallest
        paint_group(c, mesh, highlighted.axes.axis[i].kind, highlighted.rank, grid,
                    highlighted.axes.axis[i].color, ranks);
    if (!highlighted.own_highlighted || highlighted.rank < ranks.begin || highlighted.rank >= ranks.end)
        return;
    CellGrid own = grid;
    own.first = static_cast<std::int32_t>((highlighted.rank - ranks.begin) / grid.step * grid.step);
    own.count = 1;
    color_plainly(highlighted.own, own);
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
    const std::int64_t highlighted = scene.hover.rank >= 0 ? scene.hover.rank : scene.selection.rank;
    if (highlighted >= 0 && highlighted < mesh.world && summary(scene, kind).degree > 1)
        grid.highlighted_id = static_cast<std::int32_t>(cell_id(grid, highlighted));
    grid.dim = scene.hover.rank >= 0 ? 0.45f : 0.3f;
}

void color_plainly(Color color, CellGrid& grid) {
    grid.palette[0] = color;
    grid.palette_size = 1;
    grid.digits = 0;
    grid.highlighted_id = -1;
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

void merge_small_cells(const MeshLayout& layout, CellGrid& grid, float scale) {
    if (layout.node.size <= 1 || (grid.cell.x >= kLeastGpuCell && grid.cell.y >= kLeastGpuCell)) return;
    const float zoom = grid.cell.x / layout.grid.cell.x;
    grid.step = static_cast<std::int32_t>(layout.node.size);
    grid.count = static_cast<std::int32_t>((grid.count + grid.step - 1) / grid.step);
    grid.origin = grid.origin - layout.node.padding * zoom;
    grid.cell = layout.node.full * zoom;
    // Nodes too small to be seen one by one are drawn without gaps: first the rows, then the columns.
    // An edge in the middle of a pixel would leave that pixel to neither of two cells.
    constexpr float kOffMiddle = 1.0f / 64;
    // Larger ones have a gap of at least a pixel, which no place of its edges can lose.
    const auto part = [&](float& cell, float& origin, float gap, float least) {
        if (cell < least)
            cell += gap, origin -= kOffMiddle;
        else
            cell -= std::max(0.0f, (1 + kOffMiddle) / scale - gap);
    };
    part(grid.cell.y, grid.origin.y, layout.node_gap.y * zoom, kLeastNodeCell.y);
    part(grid.cell.x, grid.origin.x, layout.node_gap.x * zoom, kLeastNodeCell.x);
}

namespace {

constexpr float kHeadWithLines = 40;  // of a node: words, and the lines between its tiles

constexpr float kLeastRounded = 34;  // a box less wide has no round corners: all are drawn at once
constexpr float kLeastBox = 14;      // one less wide has no frame
constexpr float kContour = 2, kRadius = 8;

struct BoxPaint {
    Color line, fill;
    float width = 1;
};

// Draws every box of a level in two draws, for any number of boxes.
void draw_small_boxes(Canvas& c, const MeshPlace& m, const MeshLayout::Boxes& boxes, std::int64_t count,
                      const BoxPaint& paint) {
    CellGrid all = m.grid;
    all.step = static_cast<std::int32_t>(boxes.size);
    all.count = static_cast<std::int32_t>(std::min(count, boxes.count));
    all.digits = 0, all.palette_size = 1, all.highlighted_id = -1;
    const auto draw = [&](float inset, Color color) {
        all.origin = m.grid.origin - boxes.padding * m.zoom + Vec2{inset, inset};
        all.cell = boxes.full * m.zoom - Vec2{2 * inset, 2 * inset};
        all.palette[0] = color;
        c.cells(all);
    };
    draw(0, paint.line);
    draw(1, paint.fill);
}

void draw_box(Canvas& c, Rect r, const BoxPaint& paint, float radius) {
    c.box(r, paint.fill, paint.line, paint.width, radius);
}

float radius_of(const MeshPlace& m, const MeshLayout::Boxes& boxes) {
    return std::min(kRadius, boxes.full.x * m.zoom * 0.12f);
}

BoxPaint tile_paint(const Theme& theme, const MeshAxis& axis, float line, float fill) {
    return {mix(theme.window, axis.color, line), mix(theme.window, axis.color, fill), kContour};
}

}  // namespace

bool MeshPlace::merged() const {
    return layout.node.size > 1 && (grid.cell.x < kLeastGpuCell || grid.cell.y < kLeastGpuCell);
}

void draw_boxes(Canvas& c, const Theme& theme, const MeshPlace& m, bool quiet) {
    const float width = m.layout.node.full.x * m.zoom;
    if (m.merged() || width < kLeastBox) return;
    const bool node_is_tile = m.tile != nullptr && m.layout.tile.size == m.layout.node.size;
    const BoxPaint idle{theme.hairline, mix(theme.window, theme.panel, 0.7f), 1};
    BoxPaint node = idle, tile;
    const bool outlines = theme.id == ThemeId::high_contrast;  // nothing dark has a fill
    if (m.tile != nullptr)
        tile = tile_paint(theme, *m.tile,
                          !quiet     ? 1.0f
                          : outlines ? 0.8f
                                     : 0.5f,
                          !quiet     ? 0.1f
                          : outlines ? 0.0f
                                     : 0.06f);
    if (node_is_tile) node = tile;
    const bool tiles = m.tile != nullptr && !node_is_tile;
    if (width < kLeastRounded) {
        if (node_is_tile) draw_small_boxes(c, m, m.layout.node, m.layout.node.count, idle);
        draw_small_boxes(c, m, m.layout.node, node_is_tile ? m.used(m.layout.node) : m.layout.node.count,
                         node);
        if (tiles) draw_small_boxes(c, m, m.layout.tile, m.used(m.layout.tile), tile);
        return;
    }
    const std::int64_t in_node = m.layout.node.size / m.layout.tile.size;
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t i) {
        draw_box(c, m.node(i), i < m.used(m.layout.node) ? node : idle, radius_of(m, m.layout.node));
        for (std::int64_t t = i * in_node; tiles && t < std::min((i + 1) * in_node, m.used(m.layout.tile));
             ++t)
            draw_box(c, box_rect(m.layout.tile, t, m.grid, m.zoom), tile, radius_of(m, m.layout.tile));
    });
}

void draw_highlighted_tile(Canvas& c, const MeshPlace& m, const HighlightedGroups& highlighted) {
    if (m.tile == nullptr || m.merged() || highlighted.axes.count == 0
        || highlighted.axes.axis[0].kind != m.tile->kind)
        return;
    const Rect r = m.tile_at(highlighted.rank);
    if (r.w < kLeastBox) return;
    const auto& boxes = m.layout.tile.size == m.layout.node.size ? m.layout.node : m.layout.tile;
    c.frame(r, m.tile->color, kContour, r.w < kLeastRounded ? 0 : radius_of(m, boxes));
}

void draw_gliding_tile(Ui& ui, const MeshPlace& m, std::int64_t rank) {
    if (m.merged() || m.zoom != 1 || rank < 0 || rank >= m.ranks) return;
    const Rect r = m.tile != nullptr ? m.tile_at(rank) : m.cell(rank);
    const auto side = [&](std::string_view name, float value) {
        return std::pair{static_cast<float>(ui.glide(name, value)),
                         static_cast<float>(ui.before(name).value_or(value))};
    };
    const auto [x, old_x] = side("mesh.tile.x", r.x);
    const auto [y, old_y] = side("mesh.tile.y", r.y);
    const auto [w, old_w] = side("mesh.tile.w", r.w);
    const auto [h, old_h] = side("mesh.tile.h", r.h);
    ui.outline({old_x, old_y, old_w, old_h}, r);
    if (x == r.x && y == r.y && w == r.w && h == r.h) return;
    const Color color = m.tile != nullptr ? m.tile->color : ui.theme().secondary;
    ui.canvas().frame({x, y, w, h}, color, kContour, w < kLeastRounded ? 0 : std::min(kRadius, w * 0.12f));
}

void name_boxes(Ui& ui, const MeshPlace& m, const Scene& scene) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    const float head = (m.layout.node.padding.y - m.layout.tile.padding.y) * m.zoom;
    if (m.merged() || head < 16 || m.layout.node.full.x * m.zoom < 44) return;
    const std::string fast(tier_name(cluster, 0));
    const bool node_is_tile = m.tile != nullptr && m.layout.tile.size == m.layout.node.size;
    const std::string tile = m.tile == nullptr ? "" : axis_label(m.tile->kind) + " · " + fast;
    const TextStyle plain = ui.style(11, Tone::secondary);
    TextStyle axis = ui.style(11, Tone::text, Face::semibold);
    const float tile_head = m.layout.tile_head * m.zoom;
    const std::int64_t in_node = m.layout.node.size / m.layout.tile.size;
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t i) {
        const Rect box = m.node(i);
        Rect row{box.x + 12, box.y + 5, box.w - 24, 16};
        const std::string name = std::string(domain_name(cluster)) + " " + thousands(i);
        write_left(ui, row, name, ui.style(12), 8);
        const std::string held = node_is_tile ? tile
                                 : m.layout.node.size > 1
                                     ? plural(m.layout.node.size, "GPU on ", "GPUs on ") + fast
                                     : "";
        // In a low head lines run where these words would stand.
        if (head >= kHeadWithLines && c.text_width(held, plain) <= row.w) c.text_in(row, held, plain);
        if (node_is_tile || tile_head < 14) return;
        for (std::int64_t t = i * in_node; t < std::min((i + 1) * in_node, m.layout.tile.count); ++t) {
            const Rect r = box_rect(m.layout.tile, t, m.grid, m.zoom);
            if (c.text_width(tile, axis) + 24 <= r.w)
                c.text_in({r.x + 12, r.y + 5, r.w - 24, 16}, tile, axis);
        }
    });
}

const MeshAxis* names_rows(const MeshAxes& axes, const MeshLayout& layout) {
    const std::int64_t row = layout.row_nodes * layout.node.size;
    if (layout.has_pods || layout.grid.count <= kMostCards) return nullptr;
    for (const MeshAxis& a : axes.span())
        if (a.stride() == row && a.factors.count == 1) return &a;
    return nullptr;
}

void name_rows(Ui& ui, const MeshPlace& m, const Scene& scene) {
    const MeshAxis* axis = names_rows(m.axes, m.layout);
    const Rect first = m.node(0);
    if (axis == nullptr || m.zoom != 1 || first.x - m.area.x < kRowNames - 4) return;
    const std::string name = axis->kind == GroupKind::pp             ? "stage"
                             : axis->kind == GroupKind::dp_replicate ? "replica"
                             : axis->kind == GroupKind::dp_shard     ? "shard"
                                                                     : axis_label(axis->kind);
    const std::int64_t rows = m.layout.node.count / m.layout.row_nodes;
    const std::int64_t own =
        scene.selection.rank < 0 ? 0 : scene.selection.rank / (m.layout.row_nodes * m.layout.node.size);
    constexpr std::int64_t kEvery = 5;
    constexpr float kLine = 15;
    const bool all = first.h + m.layout.node_gap.y >= kLine;
    float below = m.area.y;
    for (std::int64_t row = 0; row < rows; ++row) {
        const Rect r = m.node(row * m.layout.row_nodes);
        const float top = r.center().y - kLine / 2;
        if (top < below || (!all && row % kEvery != 0 && row + 1 != rows && row != own)) continue;
        const std::string words = name + " " + thousands(row % axis->degree);
        const TextStyle style =
            row == own ? ui.style(11, Tone::text, Face::semibold) : ui.style(11, Tone::secondary);
        ui.canvas().text_in({m.area.x, top, r.x - m.area.x - 8, kLine}, words, style, Align::right);
        below = top + kLine;
    }
}

Rect pod_rect(const MeshPlace& m, std::int64_t pod) {
    return box_rect(m.layout.pod, pod, m.grid, m.zoom).inset(-std::min(4.0f, m.layout.node_gap.x + 2));
}

std::string pod_name(const Canvas& c, const MeshPlace& m, std::int64_t pod, std::int64_t gpus, float type) {
    const MeshLayout::Boxes& pods = m.layout.pod;
    const float room = pods.full.x * m.zoom;
    const TextStyle style{Face::regular, type, {}, 0};
    const std::int64_t held = std::min(pods.size, gpus - pod * pods.size);
    std::string name = "pod " + std::to_string(pod);
    if (held < pods.size) {
        std::string part = name + " (" + thousands(held) + " of " + thousands(pods.size) + ")";
        if (c.text_width(part, style) <= room) return part;
    }
    if (c.text_width(name, style) > room) name = std::to_string(pod);
    return c.text_width(name, style) <= room + 6 ? name : "";
}

void draw_pods(Canvas& c, const Theme& theme, const MeshPlace& m, std::int64_t gpus, float type) {
    if (!m.layout.has_pods) return;
    for (std::int64_t i = 0; i < m.layout.pod.count; ++i) {
        const Rect r = pod_rect(m, i);
        c.frame(r, theme.hairline, 1, 2);
        c.text({r.x, r.y - type - 5}, pod_name(c, m, i, gpus, type),
               {Face::regular, type, theme.secondary, 0});
    }
}

}  // namespace pentamesh::ui
