#include "core/sharding/nesting.h"

#include "core/base/text.h"

#include <array>
#include <utility>

namespace pentamesh {
namespace {

NestKind kind_of(Axis axis, const Nest& nest, bool inner_dp) {
    const Plan& plan = nest.plan;
    const Fold fold = nest.fold;
    if (fold == Fold::experts && axis == Axis::dp_shard) return NestKind::edp;
    if (fold == Fold::experts && axis == Axis::dp_replicate) {  // by itself, it is all of edp
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
    bool inner = false;
    const auto& factors = nest.fold == Fold::experts ? nest.mesh.expert : nest.mesh.dense;
    for (const Axis axis : {Axis::dp_replicate, Axis::dp_shard, Axis::pp, Axis::ep, Axis::cp, Axis::tp}) {
        const Factor f = factors[axis];
        if (f.size <= 1) continue;
        gpus /= f.size;
        nest.levels.push_back(
            {kind_of(axis, nest, inner), axis, group_of(axis, nest.fold), f.size, gpus, f.stride});
        inner = axis == Axis::dp_replicate;
    }
}

double held(const Nest& nest, const std::vector<int>& tensors) {
    double numbers = 0;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
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

// Lists the layers of a GPU, in the order of the model: embedding, its layers, head.
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

bool is_fused(TensorId id) {
    switch (id) {
    case TensorId::attention_q:
    case TensorId::attention_k:
    case TensorId::attention_v:
    case TensorId::mixer_q:
    case TensorId::mixer_k:
    case TensorId::mixer_v: return true;
    default: return false;
    }
}

// Lists each tensor; queries, keys and values, which are computed as one product, are together.
std::vector<NestItem> tensors_in(const Nest& nest, const NestItem& block) {
    std::vector<NestItem> items;
    bool last_fused = false;
    for (const int i : block.tensors) {
        const TensorId id = nest.tensors[i].id;
        const bool fused = is_fused(id);
        if (fused && last_fused) {
            items.back().tensors.push_back(i);
            continue;
        }
        last_fused = fused;
        items.push_back(
            {fused ? "wqkv" : std::string(short_name_of(id)), 1, block.layer, block.place, block.types, {i}});
    }
    for (NestItem& item : items) item.weight = held(nest, item.tensors);
    return items;
}

NestChildren inside_gpu(const Nest& nest, std::span<const std::int64_t> path) {
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
    return out;
}

}  // namespace

std::string_view name_of(NestKind kind) {
    constexpr std::array<std::string_view, 13> names{"replica",     "shard",  "stage", "cp",  "tp",
                                                     "edp replica", "edp",    "ep",    "etp", "layer",
                                                     "block",       "tensor", "none"};
    return names[static_cast<std::size_t>(kind)];
}

Nest nest_of(const Plan& plan, const Mesh& mesh, Fold fold) {
    Nest nest{plan, mesh, mesh.has_experts ? fold : Fold::dense, {}, {}};
    lay_levels(nest);
    if (mesh.world > 0) list_placements(plan, mesh, TensorState::parameters, Moment::computing, nest.tensors);
    return nest;
}

NestChildren children_of(const Nest& nest, std::span<const std::int64_t> path) {
    if (nest.mesh.world <= 0) return {};
    if (path.size() >= nest.levels.size()) return inside_gpu(nest, path);
    const NestLevel& level = nest.levels[path.size()];
    return {level.kind, level.count, {}};
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
    for (const std::int64_t step : path) {
        if (step < 0 || step >= children_of(nest, out).count) break;
        out.push_back(step);
    }
    return out;
}

std::string step_label(const Nest& nest, std::span<const std::int64_t> path) {
    if (path.empty()) return "cluster";
    const std::size_t level = path.size() - 1;
    if (level < nest.levels.size()) return sentence(name_of(nest.levels[level].kind), " ", path.back());
    const NestChildren siblings = children_of(nest, path.first(level));
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
    NestChildren siblings = children_of(nest, path.first(path.size() - 1));
    if (!is_matrix(siblings, path.back())) return {};
    return std::move(siblings.items[path.back()].tensors);
}

namespace {

std::int64_t coordinate_on(const Nest& nest, const Placement& p, std::int64_t rank, Axis a) {
    const Coordinates c = p.expert ? expert_coordinates(nest.mesh, rank) : dense_coordinates(nest.mesh, rank);
    return c[a];
}

}  // namespace

std::string short_range(const Range& r) {
    return r.size() == 1 ? with_commas(r.begin) : with_commas(r.begin) + "–" + with_commas(r.end - 1);
}

std::vector<std::string> cut_sentences(const Nest& nest, std::span<const int> tensors, std::int64_t rank) {
    std::vector<std::string> out;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
        const Part part = part_of(nest.plan, nest.mesh, p, rank);
        std::string s(name_of(p.id));
        s += ", " + with_commas(p.shape[1]) + " × " + with_commas(p.shape[2]);
        if (p.dims[0] == Dim::experts && p.shape[0] > 1) {
            s += " in each of " + with_commas(p.shape[0]) + " experts";
            if (p.on(Axis::ep).spread == Spread::cut) s += ": experts " + short_range(part.box[0]);
        }
        const AxisPlacement& tp = p.on(Axis::tp);
        const std::string name = p.expert ? "etp" : "tp";
        if (tp.size > 1 && tp.spread == Spread::cut) {
            const bool rows = tp.dim == Dim::rows;
            s += std::string(rows ? ": rows " : ": columns ") + short_range(part.box[rows ? 1 : 2]) + ", "
                 + name + " " + with_commas(coordinate_on(nest, p, rank, Axis::tp)) + " of "
                 + with_commas(tp.size);
            if (tp.copies() > 1) s += ", shared by " + with_commas(tp.copies());
        } else if (tp.size > 1) {
            s += ": copied on all " + with_commas(tp.size) + " of " + name;
        } else if (!(p.dims[0] == Dim::experts && p.shape[0] > 1)) {
            s += ": whole on this GPU";
        }
        out.push_back(std::move(s));
    }
    return out;
}

}  // namespace pentamesh
