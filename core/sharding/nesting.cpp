#include "core/sharding/nesting.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh {
namespace {

// A slice is never so thin that it cannot be seen or met.
constexpr double kLeastShare = 0.14;
// Room above children for the parent's name, and around and between them; shares of the parent or the child.
constexpr double kHead = 0.1, kClusterHead = 0.07, kPad = 0.02, kGap = 0.07;
constexpr double kBestAspect = 1.5;

NestKind kind_of(Axis axis, const Nest& nest, bool inner_dp) {
    const Plan& plan = nest.plan;
    const Fold fold = nest.fold;
    if (fold == Fold::experts && axis == Axis::dp_shard) return NestKind::edp;
    if (fold == Fold::experts && axis == Axis::dp_replicate) {  // alone, it is all of edp
        const bool shards = nest.mesh.expert[Axis::dp_shard].size > 1;
        return shards ? NestKind::edp_replica : NestKind::edp;
    }
    switch (axis) {
    case Axis::dp_replicate: return NestKind::replica;
    case Axis::dp_shard: return plan.layout.zero == 3 || inner_dp ? NestKind::shard : NestKind::replica;
    case Axis::pp: return NestKind::stage;
    case Axis::cp: return NestKind::cp;
    case Axis::ep: return NestKind::ep;
    case Axis::tp: break;
    }
    return fold == Fold::experts ? NestKind::etp : NestKind::tp;
}

GroupKind group_of(Axis axis, Fold fold) {
    if (fold == Fold::experts && (axis == Axis::dp_replicate || axis == Axis::dp_shard))
        return GroupKind::edp;
    if (fold == Fold::experts && axis == Axis::tp) return GroupKind::etp;
    return group_of(axis);
}

void lay_levels(Nest& nest) {
    std::int64_t gpus = nest.mesh.world;
    double w = nest.aspect, h = 1;
    bool inner = false;
    const auto& factors = nest.fold == Fold::experts ? nest.mesh.expert : nest.mesh.dense;
    for (const Axis axis : {Axis::dp_replicate, Axis::dp_shard, Axis::pp, Axis::ep, Axis::cp, Axis::tp}) {
        const Factor f = factors[axis];
        if (f.size <= 1) continue;
        gpus /= f.size;
        nest.levels.push_back(
            {kind_of(axis, nest, inner), axis, group_of(axis, nest.fold), f.size, gpus, f.stride});
        inner = axis == Axis::dp_replicate;
        nest.grids.push_back(nest_grid(w, h, f.size, nest.grids.empty()));
        w = nest.grids.back().w;
        h = nest.grids.back().h;
    }
}

double held(const Nest& nest, const std::vector<int>& tensors) {
    double numbers = 0;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[static_cast<std::size_t>(i)];
        numbers += static_cast<double>(p.local[0]) * static_cast<double>(p.local[1])
                   * static_cast<double>(p.local[2]);
    }
    return numbers;
}

std::vector<int> tensors_where(const Nest& nest, auto&& wanted) {
    std::vector<int> out;
    for (std::size_t i = 0; i < nest.tensors.size(); ++i)
        if (nest.tensors[i].kind != TensorKind::norm && nest.tensors[i].dims[2] != Dim::none
            && wanted(nest.tensors[i]))
            out.push_back(static_cast<int>(i));
    return out;
}

// What a GPU runs, in the order of the model: embedding, its layers, head.
std::vector<NestItem> layers_in(const Nest& nest, std::int64_t rank) {
    const RankContents contents = contents_of(nest.plan, nest.mesh, rank);
    std::vector<NestItem> items;
    const LayerTypes types = layer_types(nest.plan.model);
    const auto whole = [&](const char* label, Place place) {
        items.push_back({label, 1, -1, place, 0,
                         tensors_where(nest, [&](const Placement& p) { return p.place == place; })});
        if (items.back().tensors.empty()) items.pop_back();  // tied: the head has no matrix of its own
    };
    if (contents.embedding) whole("embedding", Place::embedding);
    for (const RankChunk& chunk : contents.chunks)
        for (std::int64_t l = chunk.layers.begin; l < chunk.layers.end; ++l) {
            const int type = type_of_layer(nest.plan.model, types, l);
            items.push_back({sentence("layer ", l),
                             1,
                             l,
                             types[type].is_moe() ? Place::moe_layer : Place::dense_layer,
                             LayerMask{1} << type,
                             {}});
        }
    if (contents.head) whole("head", Place::head);
    return items;
}

std::vector<NestItem> blocks_in(const Nest& nest, const NestItem& layer) {
    std::vector<NestItem> items;
    static constexpr std::array<std::pair<TensorKind, const char*>, 5> kBlocks{
        {{TensorKind::attention, "attention"},
         {TensorKind::mixer, "mixer"},
         {TensorKind::mlp, "MLP"},
         {TensorKind::router, "router"},
         {TensorKind::experts, "experts"}}};
    for (const auto& [kind, label] : kBlocks) {
        const TensorKind wanted = kind;
        NestItem item{
            label, 1, layer.layer, layer.place, layer.types, tensors_where(nest, [&](const Placement& p) {
                return p.kind == wanted && (p.types & layer.types) != 0;
            })};
        if (item.tensors.empty()) continue;
        if (kind == TensorKind::mlp && layer.place == Place::moe_layer) item.label = "shared experts";
        item.weight = held(nest, item.tensors);
        items.push_back(std::move(item));
    }
    return items;
}

// A tensor each; queries, keys and values, which are computed as one product, together.
std::vector<NestItem> tensors_in(const Nest& nest, const NestItem& block) {
    std::vector<NestItem> items;
    for (const int i : block.tensors) {
        std::string_view name = nest.tensors[static_cast<std::size_t>(i)].name;
        const std::size_t dot = name.find('.');
        if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
        const bool fused = name == "q" || name == "k" || name == "v";
        if (fused && !items.empty() && items.back().label == "wqkv") {
            items.back().tensors.push_back(i);
            continue;
        }
        items.push_back({fused ? "wqkv" : std::string(name), 1, block.layer, block.place, block.types, {i}});
    }
    for (NestItem& item : items) item.weight = held(nest, item.tensors);
    return items;
}

NestChildren inside_gpu(const Nest& nest, std::span<const std::int64_t> path, const NestBox& box) {
    NestChildren out;
    const std::size_t depth = path.size() - nest.levels.size();
    if (depth > 2) return out;
    out.items = layers_in(nest, first_rank_of(nest, path));
    out.kind = NestKind::layer;
    for (std::size_t k = 0; k < depth; ++k) {
        const auto i = static_cast<std::size_t>(path[nest.levels.size() + k]);
        if (i >= out.items.size() || is_matrix(out, path[nest.levels.size() + k])) return {};
        const NestItem parent = out.items[i];
        out.items = k == 0 ? blocks_in(nest, parent) : tensors_in(nest, parent);
        out.kind = k == 0 ? NestKind::block : NestKind::tensor;
    }
    out.count = static_cast<std::int64_t>(out.items.size());
    out.sliced = depth > 0;
    out.grid = nest_grid(box.w, box.h, std::max<std::int64_t>(1, out.count));
    return out;
}

}  // namespace

std::string_view name_of(NestKind kind) {
    constexpr std::array<std::string_view, 13> names{"replica",     "shard",  "stage", "cp",  "tp",
                                                     "edp replica", "edp",    "ep",    "etp", "layer",
                                                     "block",       "tensor", "none"};
    return names[static_cast<std::size_t>(kind)];
}

double nest_head(double w, double h, bool cluster) {
    return std::min((cluster ? kClusterHead : kHead) * h, 0.25 * w);
}

NestGrid nest_grid(double w, double h, std::int64_t count, bool cluster) {
    NestGrid g;
    const double head = nest_head(w, h, cluster), pad = kPad * std::min(w, h);
    g.x = pad;
    g.y = head;
    const double room_w = w - 2 * pad, room_h = h - head - pad;
    double best = 1e300;
    // Columns about the square root of the best shape; the row that is not full costs its empty room.
    const double ideal = std::sqrt(static_cast<double>(count) * room_w / room_h / kBestAspect);
    const auto from = static_cast<std::int64_t>(std::max(1.0, std::floor(ideal / 2)));
    const auto to = std::min(count, static_cast<std::int64_t>(std::ceil(ideal * 2)) + 1);
    for (std::int64_t cols = std::min(from, count); cols <= to; ++cols) {
        const std::int64_t rows = (count + cols - 1) / cols;
        const double aspect =
            room_w / static_cast<double>(cols) / (room_h / static_cast<double>(rows)) / kBestAspect;
        const double empty = static_cast<double>(rows * cols) / static_cast<double>(count) - 1;
        const double cost = std::abs(std::log(aspect)) + 6 * empty + (empty > 0 ? 0.35 : 0);
        if (cost < best) best = cost, g.cols = cols, g.rows = rows;
    }
    g.pitch_x = room_w / static_cast<double>(g.cols);
    g.pitch_y = room_h / static_cast<double>(g.rows);
    const double gap = kGap * std::min(g.pitch_x, g.pitch_y);
    g.w = g.pitch_x - gap;
    g.h = g.pitch_y - gap;
    g.x += gap / 2;
    g.y += gap / 2;
    return g;
}

Nest nest_of(const Plan& plan, const Mesh& mesh, double aspect, Fold fold) {
    Nest nest{plan, mesh, mesh.has_experts ? fold : Fold::dense, {}, {}, {}, std::clamp(aspect, 0.25, 8.0)};
    lay_levels(nest);
    if (mesh.world > 0) list_placements(plan, mesh, TensorState::parameters, Moment::computing, nest.tensors);
    return nest;
}

NestChildren children_of(const Nest& nest, std::span<const std::int64_t> path, const NestBox& box) {
    if (nest.mesh.world <= 0) return {};
    if (path.size() >= nest.levels.size()) return inside_gpu(nest, path, box);
    const std::size_t level = path.size();
    return {nest.levels[level].kind, nest.levels[level].count, nest.grids[level], {}, false};
}

NestBox child_box(const NestChildren& children, const NestBox& parent, std::int64_t i) {
    const NestGrid& g = children.grid;
    if (!children.sliced) {
        const std::int64_t row = i / g.cols, column = i % g.cols;
        return {parent.x + g.x + static_cast<double>(column) * g.pitch_x,
                parent.y + g.y + static_cast<double>(row) * g.pitch_y, g.w, g.h};
    }
    double sum = 0, before = 0, own = 0, all = 0;
    for (const NestItem& item : children.items) sum += item.weight;
    for (std::size_t k = 0; k < children.items.size(); ++k) {
        const double share = std::max(kLeastShare, sum > 0 ? children.items[k].weight / sum : 0);
        if (static_cast<std::int64_t>(k) < i) before += share;
        if (static_cast<std::int64_t>(k) == i) own = share;
        all += share;
    }
    const double pad = kPad * std::min(parent.w, parent.h), head = nest_head(parent.w, parent.h);
    NestBox room{parent.x + pad, parent.y + head, parent.w - 2 * pad, parent.h - head - pad};
    const double gap = pad;
    if (room.w >= room.h) return {room.x + room.w * before / all, room.y, room.w * own / all - gap, room.h};
    return {room.x, room.y + room.h * before / all, room.w, room.h * own / all - gap};
}

NestBox box_of(const Nest& nest, std::span<const std::int64_t> path) {
    NestBox box{0, 0, nest.aspect, 1};
    for (std::size_t k = 0; k < path.size(); ++k)
        box = child_box(children_of(nest, path.first(k), box), box, path[k]);
    return box;
}

std::int64_t first_rank_of(const Nest& nest, std::span<const std::int64_t> path) {
    std::int64_t rank = 0;
    for (std::size_t k = 0; k < path.size() && k < nest.levels.size(); ++k)
        rank += path[k] * nest.levels[k].stride;
    return rank;
}

NestPath path_of_rank(const Nest& nest, std::int64_t rank) {
    NestPath path;
    path.reserve(nest.levels.size());
    for (const NestLevel& l : nest.levels) path.push_back(rank / l.stride % l.count);
    return path;
}

NestPath legal_path(const Nest& nest, std::span<const std::int64_t> path) {
    NestPath out;
    NestBox box{0, 0, nest.aspect, 1};
    for (const std::int64_t step : path) {
        const NestChildren children = children_of(nest, out, box);
        if (step < 0 || step >= children.count) break;
        box = child_box(children, box, step);
        out.push_back(step);
    }
    return out;
}

std::string step_label(const Nest& nest, std::span<const std::int64_t> path) {
    if (path.empty()) return "cluster";
    const std::size_t level = path.size() - 1;
    if (level < nest.levels.size()) return sentence(name_of(nest.levels[level].kind), " ", path.back());
    const NestChildren siblings = children_of(nest, path.first(level), {});
    const auto i = static_cast<std::size_t>(path.back());
    return i < siblings.items.size() ? siblings.items[i].label : "";
}

std::string product_text(const Nest& nest) {
    std::string text;
    for (const NestLevel& l : nest.levels) {
        const bool counted = l.kind == NestKind::replica || l.kind == NestKind::shard
                             || l.kind == NestKind::stage || l.kind == NestKind::edp_replica;
        text += sentence(text.empty() ? "" : " × ", l.count, " ", name_of(l.kind), counted ? "s" : "");
    }
    return text.empty() ? count_text(nest.mesh.world, "GPU")
                        : sentence(text, " = ", count_text(nest.mesh.world, "GPU"));
}

bool is_matrix(const NestChildren& siblings, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (at >= siblings.items.size()) return false;
    return siblings.kind == NestKind::tensor
           || (siblings.kind == NestKind::layer && siblings.items[at].layer < 0);
}

std::vector<int> tensors_at(const Nest& nest, std::span<const std::int64_t> path) {
    if (path.size() <= nest.levels.size()) return {};
    NestChildren siblings = children_of(nest, path.first(path.size() - 1), {});
    if (!is_matrix(siblings, path.back())) return {};
    return std::move(siblings.items[static_cast<std::size_t>(path.back())].tensors);
}

}  // namespace pentamesh
