#include "app/ui/views/mesh/mesh_layout.h"

#include "core/base/text.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

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
    if (gpus == each) return "a row is a " + noun;
    return "a row is " + with_commas(gpus / each) + " " + noun + "s side by side";
}

}  // namespace

std::string row_words(const Mesh& mesh, std::int64_t domain, std::int64_t row_nodes, bool shards_parameters) {
    const std::int64_t gpus = row_nodes * domain;
    const DataUnit unit = data_unit_of(mesh, shards_parameters);
    const Factor &pp = mesh.dense[Axis::pp], &shard = mesh.dense[Axis::dp_shard];
    std::string node;
    if (pp.size > 1 && pp.stride == domain) node = ", a node a stage";
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
        s = best_shape(asked, l, {room, label, pixel, periods});
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

}  // namespace pentamesh::ui
