#include "app/ui/views/mesh/mesh_layout.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kLargestCell = 160;
constexpr float kPodLabel = 18;

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

MeshLayout lay_out_mesh(Vec2 room, std::int64_t gpus, std::int64_t domain, std::int64_t pod, float pixel) {
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

    s.pcols = best_columns(s.pods, [&](std::int64_t pc) {
        Shape t = s;
        t.pcols = pc;
        t.ncols = best_columns(s.nodes_per_pod, [&](std::int64_t nc) {
            Shape u = t;
            u.ncols = nc;
            return pitch_for(u, room, label);
        });
        return pitch_for(t, room, label);
    });
    s.ncols = best_columns(s.nodes_per_pod, [&](std::int64_t nc) {
        Shape t = s;
        t.ncols = nc;
        return pitch_for(t, room, label);
    });
    s.unit = std::clamp(pitch_for(s, room, label), 0.05f, kLargestCell);
    Vec2 node = node_units(s) * s.unit;
    const bool sharp = s.unit >= 2 * pixel;  // whole pixels: cells of one size, no moire
    if (sharp) {
        const float gap = std::max(pixel, whole(kNodeGap * s.unit));
        s.unit = whole(s.unit);
        node = {static_cast<float>(s.dcols) * s.unit + gap, static_cast<float>(s.drows) * s.unit + gap};
    }
    const Vec2 podu{node.x * static_cast<float>(s.ncols),
                    node.y * static_cast<float>(ceil_div(s.nodes_per_pod, s.ncols))};
    const float pod_gap = sharp ? whole(kPodGap * s.unit) : kPodGap * s.unit;
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
