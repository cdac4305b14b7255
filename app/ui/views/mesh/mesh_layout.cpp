#include "app/ui/views/mesh/mesh_layout.h"

#include "core/base/text.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kLargestCell = 160;
constexpr float kPodLabel = 18;
constexpr float kWholePeriod = 1.5f;  // how much larger a row that ends with an axis counts

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Returns columns of a box of n cells: two for a node of eight (as the drawings have it), nearly square for
// large domains.
std::int64_t domain_columns(std::int64_t n) {
    if (n <= 2) return n;
    if (n <= 8) return 2;
    return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
}

struct Shape {
    std::int64_t domain, dcols, drows, nodes_per_pod, pods, ncols, pcols;
    float unit;  // side of a cell's pitch
};

// Gaps are shares of the pitch so that a layout only scales: between cells 0.18, around a node 0.5, around a
// pod 1.
constexpr float kNodeGap = 0.55f, kPodGap = 1.3f;

Vec2 node_units(const Shape& s) {
    return {static_cast<float>(s.dcols) + kNodeGap, static_cast<float>(s.drows) + kNodeGap};
}
Vec2 pod_units(const Shape& s) {
    const Vec2 n = node_units(s);
    return {n.x * static_cast<float>(s.ncols), n.y * static_cast<float>(ceil_div(s.nodes_per_pod, s.ncols))};
}
// Returns the largest pitch at which this shape fits.
float pitch_for(const Shape& s, Vec2 room, float label) {
    const Vec2 p = pod_units(s);
    const auto rows = static_cast<float>(ceil_div(s.pods, s.pcols));
    const float gap = s.pods > 1 ? kPodGap : 0;
    const float w = static_cast<float>(s.pcols) * (p.x + gap) - gap;
    const float h = rows * (p.y + gap) - gap;
    return std::min(room.x / w, (room.y - rows * label) / h);
}

// Returns the best number of columns 1..n for `score`, trying few: all when small, else around each candidate
// ratio.
template <typename Score>
std::int64_t best_columns(std::int64_t n, Score&& score) {
    std::int64_t best = 1;
    float best_score = -1;
    const auto consider = [&](std::int64_t c) {
        if (c < 1 || c > n) return;
        const float s = score(c);
        if (s > best_score * 1.0001f) best_score = s, best = c;
    };
    if (n <= 64) {
        for (std::int64_t c = 1; c <= n; ++c) consider(c);
        return best;
    }
    for (double c = 1; c < static_cast<double>(n); c = c * 1.04 + 0.5) consider(static_cast<std::int64_t>(c));
    const std::int64_t around = best;
    for (std::int64_t c = around - around / 20 - 2; c <= around + around / 20 + 2; ++c) consider(c);
    return best;
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

std::string row_words(const Mesh& mesh, std::int64_t domain, std::int64_t row_nodes) {
    const std::int64_t gpus = row_nodes * domain;
    // A replica is all axes but the data-parallel ones.
    std::int64_t replica = 1;
    for (const Axis axis : {Axis::tp, Axis::cp, Axis::pp}) replica *= mesh.dense[axis].size;
    const Factor& pp = mesh.dense[Axis::pp];
    std::string node;
    if (pp.size > 1 && pp.stride == domain) node = ", a node a stage";
    std::int64_t covered = 1;
    bool only_replica = true, has_data = false;
    for (const Axis axis : mesh.order) {
        const Factor& f = mesh.dense[axis];
        if (f.size <= 1 || f.stride >= gpus) continue;
        const bool data = axis == Axis::dp_shard || axis == Axis::dp_replicate;
        only_replica = only_replica && (!data || f.stride >= replica);
        has_data = has_data || data;
        covered = std::min(gpus, f.stride * f.size);
    }
    if (covered != gpus) return {};
    if (gpus == replica && !has_data) return "a row is a replica" + node;
    if (only_replica && gpus % replica == 0 && gpus > replica)
        return "a row is " + with_commas(gpus / replica) + " replicas side by side" + node;
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
                        std::span<const RowPeriod> periods) {
    const auto whole = [pixel](float v) { return std::floor(v / pixel) * pixel; };
    MeshLayout out;
    gpus = std::max<std::int64_t>(gpus, 1);
    Shape s{};
    s.domain = std::clamp<std::int64_t>(domain, 1, gpus);
    const std::int64_t nodes = ceil_div(gpus, s.domain);
    out.has_pods = pod > s.domain && pod < gpus;
    s.nodes_per_pod = out.has_pods ? ceil_div(pod, s.domain) : nodes;
    s.pods = ceil_div(nodes, s.nodes_per_pod);
    s.dcols = domain_columns(s.domain);
    s.drows = ceil_div(s.domain, s.dcols);
    const float label = out.has_pods ? kPodLabel : 0;

    // The pitch that a row of so many nodes gives, and the nodes that a row should have for these pods.
    const auto pitch = [&](std::int64_t pods_in_row, std::int64_t row) {
        Shape t = s;
        t.pcols = pods_in_row, t.ncols = row;
        return pitch_for(t, room, label);
    };
    struct Row {
        std::int64_t nodes = 1;
        float mark = -1;
    };
    const auto best_row = [&](std::int64_t pods_in_row) {
        Row best;
        if (periods.empty()) {
            best.nodes =
                best_columns(s.nodes_per_pod, [&](std::int64_t row) { return pitch(pods_in_row, row); });
            best.mark = pitch(pods_in_row, best.nodes);
        }
        for (const RowPeriod& p : periods) {
            const float mark = pitch(pods_in_row, p.nodes) * (p.whole ? kWholePeriod : 1);
            if (mark > best.mark * 1.0001f) best = {p.nodes, mark};
        }
        return best;
    };
    s.pcols = best_columns(s.pods, [&](std::int64_t pc) { return best_row(pc).mark; });
    s.ncols = best_row(s.pcols).nodes;
    out.row_nodes = s.ncols;
    s.unit = std::clamp(pitch_for(s, room, label), 0.05f, kLargestCell);
    Vec2 node = node_units(s) * s.unit;
    const bool merged = s.unit < kLeastMeshCell && s.domain > 1;  // nodes are drawn in the place of cells
    const bool sharp = !merged && s.unit >= 2 * pixel;            // whole pixels: cells of one size, no moire
    if (sharp) {
        const float gap = std::max(pixel, whole(kNodeGap * s.unit));
        s.unit = whole(s.unit);
        node = {static_cast<float>(s.dcols) * s.unit + gap, static_cast<float>(s.drows) * s.unit + gap};
    } else if (merged && node.x >= 2 * pixel && node.y >= 2 * pixel) {
        node = {whole(node.x), whole(node.y)};
        s.unit = std::min(node.x / node_units(s).x, node.y / node_units(s).y);
    }
    const Vec2 podu{node.x * static_cast<float>(s.ncols),
                    node.y * static_cast<float>(ceil_div(s.nodes_per_pod, s.ncols))};
    const float pod_gap = sharp || merged ? std::max(pixel, whole(kPodGap * s.unit)) : kPodGap * s.unit;
    const float gap = s.pods > 1 ? pod_gap : 0;
    CellGrid& g = out.grid;
    g.first = 0;
    g.count = static_cast<std::int32_t>(gpus);
    g.levels = 3;
    g.level[0] = {static_cast<std::int32_t>(s.domain), static_cast<std::int32_t>(s.dcols), s.unit, s.unit};
    g.level[1] = {static_cast<std::int32_t>(s.nodes_per_pod), static_cast<std::int32_t>(s.ncols), node.x,
                  node.y};
    g.level[2] = {static_cast<std::int32_t>(s.pods), static_cast<std::int32_t>(s.pcols), podu.x + gap,
                  podu.y + gap + label};
    const float between =
        sharp ? std::clamp(whole(s.unit * 0.18f), s.unit > 2 * pixel ? pixel : 0.0f, 3.0f) : s.unit * 0.15f;
    g.cell = {s.unit - between, s.unit - between};
    const float pad = whole((node.x - static_cast<float>(s.dcols) * s.unit + between) / 2);
    g.origin = {pad, pad + label};

    out.node = {s.domain, nodes, {pad, pad}, node};
    out.pod = {s.domain * s.nodes_per_pod, s.pods, {pad, pad}, podu};
    const auto prows = static_cast<float>(ceil_div(s.pods, s.pcols));
    out.extent = {static_cast<float>(s.pcols) * (podu.x + gap) - gap, prows * (podu.y + gap + label) - gap};
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

Rect box_rect(const MeshLayout&, const MeshLayout::Boxes& boxes, std::int64_t index,
              const CellGrid& seen_grid, float zoom) {
    const Vec2 first = cell_position(seen_grid, index * boxes.size);
    const Vec2 at = first - boxes.padding * zoom;
    return {at.x, at.y, boxes.full.x * zoom, boxes.full.y * zoom};
}

}  // namespace pentamesh::ui
