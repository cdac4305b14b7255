#include "app/ui/views/shards/shards_sheets.h"

#include "app/ui/kit/format.h"
#include "core/sharding/placement_words.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

// More pieces than this look the same on a screen.
constexpr std::int64_t kMostPieces = 256;

bool is_mlps_norm(TensorId id) {
    switch (id) {
    case TensorId::norm_mlp:
    case TensorId::norm_mlp_bias:
    case TensorId::norm_mlp_input:
    case TensorId::norm_after_mlp:
    case TensorId::norm_after_mlp_bias:
    case TensorId::norm_after_mlp_input:
    case TensorId::norm_after_dense_mlp:
    case TensorId::norm_after_dense_mlp_bias:
    case TensorId::norm_after_dense_mlp_input: return true;
    default: return false;
    }
}

bool of_attention(const Placement& p) {
    return p.kind == TensorKind::attention || p.kind == TensorKind::mixer
           || (p.kind == TensorKind::norm && !is_mlps_norm(p.id));
}

bool in_block(const Placement& p, const SheetRequest& r) {
    const bool end = p.place == Place::embedding || p.place == Place::head || p.place == Place::mtp;
    if (r.block == Block::ends) return end;
    if (end || p.place == (r.moe ? Place::dense_layer : Place::moe_layer)) return false;
    if (r.block == Block::layer) return true;
    return of_attention(p) == (r.block == Block::attention);
}

// Matrices come before vectors, attention before the MLP; else as listed. Activations are in the order of the
// pass.
int drawing_order(const Sheet& s) {
    const Placement& p = s.placement;
    if (p.state == TensorState::activations) return 0;
    const int block = p.place == Place::mtp             ? 3
                      : p.kind == TensorKind::head      ? 2
                      : p.kind == TensorKind::embedding ? 0
                      : of_attention(p)                 ? 0
                                                        : 1;
    return block * 2 + (s.lying ? 1 : 0);
}

}  // namespace

void make_sheets(const Plan& plan, const Mesh& mesh, const SheetRequest& request, std::vector<Sheet>& out) {
    out.clear();
    if (mesh.world < 1) return;
    const std::vector<Placement> all = list_placements(plan, mesh, request.state, request.moment);
    const bool activations = request.state == TensorState::activations;
    const std::vector<Placement> computing =
        activations ? list_placements(plan, mesh, request.state, Moment::computing)
                    : std::vector<Placement>();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Placement& p = all[i];
        if (p.layers < 1 || !in_block(p, request)) continue;
        if (p.expert && !mesh.has_experts) continue;
        Sheet s;
        s.placement = p;
        if (activations) {
            const auto same = std::find_if(computing.begin(), computing.end(), [&](const Placement& c) {
                return c.id == p.id && c.place == p.place;
            });
            if (same != computing.end()) s.activation = static_cast<int>(same - computing.begin());
        } else {
            s.tensor = static_cast<int>(i);
        }
        s.lying = !activations && p.shape[2] == 1;
        s.expert = p.expert ? std::clamp<std::int64_t>(request.expert, 0, p.shape[0] - 1) : 0;
        s.cuts = cuts_within_layer(mesh, p);
        pieces_of(plan, mesh, p, request.rank, s.expert, true, kMostPieces, s.coarse);
        pieces_of(plan, mesh, p, request.rank, s.expert, false, kMostPieces, s.fine);
        out.push_back(std::move(s));
    }
    light_sheets(plan, mesh, request.rank, out);
    std::stable_sort(out.begin(), out.end(),
                     [](const Sheet& a, const Sheet& b) { return drawing_order(a) < drawing_order(b); });
}

void light_sheets(const Plan& plan, const Mesh& mesh, std::int64_t rank, std::vector<Sheet>& sheets) {
    for (Sheet& s : sheets) {
        s.part = part_of(plan, mesh, s.placement, rank);
        s.lit.clear();
        boxes_of(s.placement, s.part, s.expert, s.lit);
    }
}

SheetTotals totals_of(const std::vector<Sheet>& sheets) {
    SheetTotals t;
    for (const Sheet& s : sheets) {
        double numbers = 1;
        for (const std::int64_t n : s.placement.shape) numbers *= static_cast<double>(n);
        t.numbers += numbers;
        t.bytes += s.placement.bytes_whole;
        t.numbers_here += static_cast<double>(s.part.numbers);
        t.bytes_here += s.part.bytes;
    }
    return t;
}

std::string sheet_tooltip(const Sheet& s, std::int64_t rank) {
    const Placement& p = s.placement;
    const auto exact = [](double bytes) {
        return memory_text(bytes) + " (" + thousands(static_cast<std::int64_t>(std::llround(bytes)))
               + " bytes)";
    };
    std::string t = std::string(name_of(p.id)) + "  " + shape_words(p);
    for (const Axis a : {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp})
        if (p.on(a).size > 1) t += "\n" + std::string(axis_name(p, a)) + ": " + spread_words(p.on(a));
    t += "\nrank " + thousands(rank) + ": " + part_words(p, s.part);
    t += "\nhere " + exact(s.part.bytes) + "\nwhole " + exact(p.bytes_whole) + ", "
         + trimmed(p.bytes_per_number) + (p.bytes_per_number == 1 ? " byte a number" : " bytes a number");
    if (p.layers > 1) t += "\nin each of " + thousands(p.layers) + " layers";
    return t;
}

}  // namespace pentamesh::ui
