#include "core/sharding/placement.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh {
namespace {

NestKind kind_of(Axis axis, const Nest& nest, bool inner_dp) {
    const Plan& plan = nest.plan;
    const Fold fold = nest.fold;
    if (fold == Fold::experts && (axis == Axis::dp_shard || axis == Axis::dp_replicate)) {
        if (!has_kind(nest.mesh, GroupKind::edp_shard)) return NestKind::edp;  // it has one part
        return axis == Axis::dp_shard ? NestKind::edp_shard : NestKind::edp_replicate;
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

GroupKind group_of(Axis axis, const Nest& nest) {
    if (nest.fold != Fold::experts) return group_of(axis);
    if (axis == Axis::tp) return GroupKind::etp;
    if (axis != Axis::dp_replicate && axis != Axis::dp_shard) return group_of(axis);
    if (!has_kind(nest.mesh, GroupKind::edp_shard)) return GroupKind::edp;
    return axis == Axis::dp_shard ? GroupKind::edp_shard : GroupKind::edp_replicate;
}

void lay_levels(Nest& nest) {
    bool inner = false;
    const auto& factors = nest.fold == Fold::experts ? nest.mesh.expert : nest.mesh.dense;
    for (const Axis axis : {Axis::dp_replicate, Axis::dp_shard, Axis::pp, Axis::ep, Axis::cp, Axis::tp}) {
        const Factor f = factors[axis];
        if (f.size <= 1) continue;
        nest.levels.push_back({kind_of(axis, nest, inner), axis, group_of(axis, nest), f.size, 1, f.stride});
        inner = axis == Axis::dp_replicate;
    }
    std::ranges::sort(nest.levels, std::greater(), &NestLevel::stride);
    std::int64_t gpus = nest.mesh.world;
    for (NestLevel& level : nest.levels) level.gpus = gpus /= level.count;
}

bool is_matrix(const Placement& p) {
    return p.kind != TensorKind::norm && p.dims[2] != Dim::none;
}

// Lists the layers of a GPU, in the order of the model: embedding, its layers, head.
std::vector<NestItem> layers_in(const Nest& nest, std::int64_t rank) {
    const RankContents contents = contents_of(nest.plan, nest.mesh, rank);
    const LayerTypes types = layer_types(nest.plan.model);
    std::vector<double> bytes;
    for (const Placement& p : nest.kept) bytes.push_back(part_of(nest.plan, nest.mesh, p, rank).bytes);
    std::vector<NestItem> items;
    const auto put = [&](std::string label, std::int64_t layer, auto&& has) {
        NestItem item{std::move(label), 0, layer, {}};
        for (std::size_t i = 0; i < nest.tensors.size(); ++i) {
            if (!has(nest.tensors[i])) continue;
            item.bytes += bytes[i];
            if (is_matrix(nest.tensors[i])) item.tensors.push_back(static_cast<int>(i));
        }
        // A tied head has no matrix of its own.
        if (!item.tensors.empty()) items.push_back(std::move(item));
    };
    if (contents.embedding)
        put("embedding", -1, [](const Placement& p) { return p.place == Place::embedding; });
    for (const RankChunk& chunk : contents.chunks)
        for (std::int64_t l = chunk.layers.begin; l < chunk.layers.end; ++l) {
            const LayerMask type = LayerMask{1} << type_of_layer(nest.plan.model, types, l);
            put(sentence("layer ", l), l, [&](const Placement& p) { return (p.types & type) != 0; });
        }
    if (contents.head) put("head", -1, [](const Placement& p) { return p.place == Place::head; });
    return items;
}

NestChildren inside_gpu(const Nest& nest, std::span<const std::int64_t> path) {
    const std::size_t depth = path.size() - nest.levels.size();
    if (depth > 1) return {};
    const std::int64_t rank = first_rank_of(nest, path);
    NestChildren out{NestKind::layer, 0, layers_in(nest, rank)};
    if (depth == 1) {
        const auto i = static_cast<std::size_t>(path.back());
        if (i >= out.items.size()) return {};
        const NestItem parent = std::move(out.items[i]);
        out = {NestKind::tensor, 0, {}};
        for (const int t : parent.tensors)
            out.items.push_back({std::string(name_of(nest.tensors[t].id)),
                                 part_of(nest.plan, nest.mesh, nest.kept[t], rank).bytes,
                                 parent.layer,
                                 {t}});
    }
    out.count = static_cast<std::int64_t>(out.items.size());
    return out;
}

}  // namespace

std::string_view name_of(NestKind kind) {
    constexpr std::array<std::string_view, 13> names{"replica",       "shard",     "stage", "cp", "tp",
                                                     "edp_replicate", "edp_shard", "edp",   "ep", "etp",
                                                     "layer",         "tensor",    "none"};
    return names[static_cast<std::size_t>(kind)];
}

Nest nest_of(const Plan& plan, const Mesh& mesh, Fold fold) {
    Nest nest{plan, mesh, mesh.has_experts ? fold : Fold::dense, {}, {}, {}};
    lay_levels(nest);
    if (mesh.world <= 0) return nest;
    list_placements(plan, mesh, TensorState::parameters, Moment::computing, nest.tensors);
    list_placements(plan, mesh, TensorState::parameters, Moment::at_rest, nest.kept);
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

std::string level_text(const NestLevel& level) {
    const bool counted =
        level.kind == NestKind::replica || level.kind == NestKind::shard || level.kind == NestKind::stage;
    return sentence(level.count, " ", name_of(level.kind), counted ? "s" : "");
}

std::string product_text(const Nest& nest) {
    std::string text;
    for (const NestLevel& l : nest.levels) text += (text.empty() ? "" : " × ") + level_text(l);
    return text.empty() ? count_text(nest.mesh.world, "GPU")
                        : sentence(text, " = ", count_text(nest.mesh.world, "GPU"));
}

int tensor_at(const Nest& nest, std::span<const std::int64_t> path) {
    if (path.size() != nest.levels.size() + 2) return -1;
    const NestChildren siblings = children_of(nest, path.first(path.size() - 1));
    const auto i = static_cast<std::size_t>(path.back());
    return i < siblings.items.size() ? siblings.items[i].tensors.front() : -1;
}

NestPiece piece_of(const Nest& nest, int tensor, std::int64_t rank) {
    const Placement& kept = nest.kept[tensor];
    NestPiece piece{part_of(nest.plan, nest.mesh, nest.tensors[tensor], rank),
                    part_of(nest.plan, nest.mesh, kept, rank), 1, 1};
    for (const Axis axis : all_of<Axis>()) {
        if (axis == Axis::pp) continue;
        const AxisPlacement& on = kept.on(axis);
        if (on.spread == Spread::cut) piece.parts *= on.parts;
        piece.copies *= on.copies();
    }
    if (parameter_copies_of(nest.plan, nest.mesh).stage_across) piece.copies *= 2;
    return piece;
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

std::string cut_sentence(const Nest& nest, int tensor, std::int64_t rank) {
    const Placement& p = nest.tensors[tensor];
    const Part part = part_of(nest.plan, nest.mesh, p, rank);
    const bool dealt = p.dims[0] == Dim::experts && p.shape[0] > 1;
    std::string s(name_of(p.id));
    s += ", " + with_commas(p.shape[1]) + " × " + with_commas(p.shape[2]);
    if (dealt) {
        s += " in each of " + with_commas(p.shape[0]) + " experts";
        if (p.on(Axis::ep).spread == Spread::cut) s += ": experts " + short_range(part.box[0]);
    }
    const AxisPlacement& tp = p.on(Axis::tp);
    const std::string name(axis_name(p, Axis::tp));
    if (tp.size > 1 && tp.spread == Spread::cut) {
        const bool rows = tp.dim == Dim::rows;
        s += std::string(rows ? ": rows " : ": columns ") + short_range(part.box[rows ? 1 : 2]) + ", " + name
             + " " + with_commas(coordinate_on(nest, p, rank, Axis::tp)) + " of " + with_commas(tp.size);
        if (tp.copies() > 1) s += ", shared by " + with_commas(tp.copies());
    } else if (tp.size > 1) {
        s += ": copied on all " + with_commas(tp.size) + " of " + name;
    } else if (!dealt) {
        s += ": whole on this GPU";
    }
    return s;
}

namespace {

const EnumArray<Axis, Factor>& factors_of(const Mesh& mesh, const Placement& p) {
    return p.expert ? mesh.expert : mesh.dense;
}

std::int64_t rank_of(const EnumArray<Axis, Factor>& factors, const Coordinates& c) {
    std::int64_t rank = 0;
    for (std::size_t i = 0; i < kAxisCount; ++i) rank += c[i] * factors[i].stride;
    return rank;
}

bool inside_layer(Dim d) {
    return d == Dim::rows || d == Dim::columns || d == Dim::sequence || d == Dim::width || d == Dim::flat;
}

// Appends [begin, end) of a box's numbers, row by row.
void flat_boxes(const IndexBox& box, std::int64_t begin, std::int64_t end, std::vector<IndexBox>& out) {
    const std::int64_t width = box.columns.size();
    if (width <= 0 || begin >= end) return;
    const auto put = [&](std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
        if (r0 < r1 && c0 < c1)
            out.push_back({{box.rows.begin + r0, box.rows.begin + r1},
                           {box.columns.begin + c0, box.columns.begin + c1}});
    };
    std::int64_t first = begin / width;
    const std::int64_t last = end / width, skip = begin % width, over = end % width;
    if (first == last) {
        put(first, first + 1, skip, over);
        return;
    }
    if (skip > 0) {
        put(first, first + 1, skip, width);
        ++first;
    }
    put(first, last, 0, width);
    put(last, last + 1, 0, over);
}

// Finds edges shared by two pieces, by the boxes that end where another begins.
class EdgeFinder {
  public:
    EdgeFinder(const CutOrder& order, TensorPieces& out) : order_(order), out_(out) {}

    void run() {
        for (std::size_t p = 0; p < out_.piece.size(); ++p)
            for (int b = out_.piece[p].first; b < out_.piece[p].end; ++b) owner_.push_back(p);
        for (const bool horizontal : {true, false}) along(horizontal);
        merge();
    }

  private:
    [[nodiscard]] const IndexBox& box(std::size_t i) const { return out_.box[i]; }
    [[nodiscard]] const Range& across(std::size_t i, bool horizontal) const {
        return horizontal ? box(i).rows : box(i).columns;
    }
    [[nodiscard]] const Range& length(std::size_t i, bool horizontal) const {
        return horizontal ? box(i).columns : box(i).rows;
    }

    void along(bool horizontal) {
        std::vector<std::size_t> by_end(out_.box.size());
        for (std::size_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
        std::sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) {
            return across(a, horizontal).end < across(b, horizontal).end;
        });
        for (std::size_t i = 0; i < out_.box.size(); ++i) {
            const std::int64_t edge = across(i, horizontal).begin;
            auto j = std::lower_bound(by_end.begin(), by_end.end(), edge, [&](std::size_t a, std::int64_t v) {
                return across(a, horizontal).end < v;
            });
            for (; j != by_end.end() && across(*j, horizontal).end == edge; ++j) {
                const std::int64_t from = std::max(length(i, horizontal).begin, length(*j, horizontal).begin);
                const std::int64_t to = std::min(length(i, horizontal).end, length(*j, horizontal).end);
                if (from < to && owner_[i] != owner_[*j])
                    out_.line.push_back({axis_between(owner_[i], owner_[*j]), horizontal, edge, from, to});
            }
        }
    }

    [[nodiscard]] Axis axis_between(std::size_t a, std::size_t b) const {
        for (int i = 0; i < order_.count; ++i) {
            const Axis x = order_.axis[i];
            if (out_.piece[a].at[x] != out_.piece[b].at[x]) return x;
        }
        return order_.axis[0];
    }

    // Edges in a row become one line.
    void merge() {
        const auto key = [](const CutLine& l) { return std::tuple(l.horizontal, l.axis, l.at, l.from); };
        std::sort(out_.line.begin(), out_.line.end(),
                  [&](const CutLine& a, const CutLine& b) { return key(a) < key(b); });
        std::size_t n = 0;
        for (const CutLine& l : out_.line) {
            CutLine* last = n > 0 ? &out_.line[n - 1] : nullptr;
            if (last != nullptr && last->horizontal == l.horizontal && last->axis == l.axis
                && last->at == l.at && l.from <= last->to)
                last->to = std::max(last->to, l.to);
            else
                out_.line[n++] = l;
        }
        out_.line.resize(n);
    }

    const CutOrder& order_;
    TensorPieces& out_;
    std::vector<std::size_t> owner_;
};

// Returns true if two axes cut one dimension together, by one joint index: neither can be taken away without
// the other.
bool cut_jointly(const Placement& p, Axis a, Axis b) {
    const Axis other = p.state == TensorState::activations ? Axis::dp_replicate : Axis::cp;
    if (p.state == TensorState::activations && !p.expert) return false;
    return (a == Axis::dp_shard && b == other) || (a == other && b == Axis::dp_shard);
}

// Takes the cuts of all but the first axis (and of the one that cuts jointly with it) off a placement.
void coarsen(Placement& p, CutOrder& order) {
    int kept = std::min(order.count, 1);
    if (order.count > 1 && cut_jointly(p, order.axis[0], order.axis[1])) kept = 2;
    for (int i = kept; i < order.count; ++i) {
        AxisPlacement& x = p.axis[order.axis[i]];
        x = {Spread::copied, Dim::none, x.size, 1};
    }
    order.count = kept;
}

}  // namespace

void TensorPieces::clear() {
    box.clear();
    piece.clear();
    line.clear();
    by = {};
}

void boxes_of(const Placement& p, const Part& part, std::int64_t expert, std::vector<IndexBox>& out) {
    if (!part.held || part.numbers <= 0) return;
    const IndexBox box{part.box[1], part.box[2]};
    if (p.state == TensorState::activations) {
        if (p.expert && (expert < part.box[0].begin || expert >= part.box[0].end)) return;
        if (box.numbers() > 0) out.push_back(box);
        if (part.second.size() > 0) out.push_back({part.second, box.columns});
        return;
    }
    if (expert < part.box[0].begin || expert >= part.box[0].end) return;
    const std::int64_t one = box.numbers(), offset = (expert - part.box[0].begin) * one;
    flat_boxes(box, std::clamp<std::int64_t>(part.flat.begin - offset, 0, one),
               std::clamp<std::int64_t>(part.flat.end - offset, 0, one), out);
}

double share_of(const Placement& p, const std::vector<IndexBox>& boxes) {
    double numbers = 0;
    for (const IndexBox& b : boxes) numbers += static_cast<double>(b.numbers());
    const double whole = static_cast<double>(p.shape[1]) * static_cast<double>(p.shape[2]);
    return whole > 0 ? numbers / whole : 0;
}

CutOrder cuts_within_layer(const Mesh& mesh, const Placement& p) {
    CutOrder out;
    const auto& factors = factors_of(mesh, p);
    const auto add = [&](Axis a) {
        const AxisPlacement& x = p.on(a);
        if (x.spread == Spread::cut && x.parts > 1 && inside_layer(x.dim)) out.axis[out.count++] = a;
    };
    if (p.state == TensorState::activations) {
        // The sequence is cut by cp, then by tp within each rank's tokens; Ulysses' heads are cut after tp's.
        const bool tokens_first = p.on(Axis::cp).dim != Dim::width;
        if (p.expert) {
            const bool outside = factors[Axis::dp_shard].stride >= factors[Axis::dp_replicate].stride;
            add(outside ? Axis::dp_shard : Axis::dp_replicate);
            add(outside ? Axis::dp_replicate : Axis::dp_shard);
        }
        if (tokens_first) add(Axis::cp);
        add(Axis::tp);
        if (!tokens_first) add(Axis::cp);
        return out;
    }
    add(Axis::tp);
    const bool shard_outside = factors[Axis::dp_shard].stride >= factors[Axis::cp].stride;
    add(shard_outside ? Axis::dp_shard : Axis::cp);
    add(shard_outside ? Axis::cp : Axis::dp_shard);
    return out;
}

std::int64_t part_index(const AxisPlacement& p, std::int64_t coordinate) {
    return p.spread == Spread::cut && p.parts < p.size ? coordinate * p.parts / p.size : coordinate;
}

std::int64_t holder_like(const Plan& plan, const Mesh& mesh, const Placement& p, std::int64_t rank) {
    const Factor& pp = mesh.dense[Axis::pp];
    const std::int64_t first = rank - rank / pp.stride % pp.size * pp.stride;
    if (part_of(plan, mesh, p, rank).held) return rank;
    for (std::int64_t s = 0; s < pp.size; ++s)
        if (part_of(plan, mesh, p, first + s * pp.stride).held) return first + s * pp.stride;
    return -1;
}

void pieces_of(const Plan& plan, const Mesh& mesh, const Placement& placement, std::int64_t rank,
               std::int64_t expert, bool coarse, std::int64_t most, TensorPieces& out) {
    out.clear();
    CutOrder order = cuts_within_layer(mesh, placement);
    Placement p = placement;
    if (coarse) coarsen(p, order);
    std::int64_t count = 1;
    for (int i = 0; i < order.count; ++i) count = saturating_product(count, p.on(order.axis[i]).parts);
    const std::int64_t like = holder_like(plan, mesh, p, rank);
    if (count > most || like < 0) return;
    const auto& factors = factors_of(mesh, p);
    Coordinates base = p.expert ? expert_coordinates(mesh, like) : dense_coordinates(mesh, like);
    const AxisPlacement& ep = p.on(Axis::ep);
    if (ep.spread == Spread::cut)
        base[Axis::ep] = std::min(owner_of_expert(p.shape[0], ep.size, expert), ep.size - 1);
    for (std::int64_t i = 0; i < count; ++i) {
        Piece piece;
        Coordinates c = base;
        std::int64_t rest = i;
        for (int k = order.count; k-- > 0;) {
            const Axis a = order.axis[k];
            const AxisPlacement& x = p.on(a);
            const std::int64_t index = rest % x.parts;
            rest /= x.parts;
            piece.at[a] = index;
            c[a] = divide_up(index * x.size, x.parts);
        }
        piece.first = static_cast<int>(out.box.size());
        boxes_of(p, part_of(plan, mesh, p, rank_of(factors, c)), expert, out.box);
        piece.end = static_cast<int>(out.box.size());
        out.piece.push_back(piece);
    }
    for (int i = 0; i < order.count; ++i) out.by[order.axis[i]] = true;
    EdgeFinder(order, out).run();
}

std::vector<std::array<int, 2>> stages_of_layers(const Plan& plan, const Mesh& mesh) {
    constexpr std::int64_t kMost = 4096;
    const Factor& pp = mesh.dense[Axis::pp];
    std::vector<std::array<int, 2>> out;
    if (plan.model.layers < 1 || plan.model.layers > kMost || pp.size > kMost || mesh.world < 1) return out;
    out.assign(static_cast<std::size_t>(plan.model.layers), {-1, -1});
    for (std::int64_t s = 0; s < pp.size; ++s)
        for (const RankChunk& chunk : contents_of(plan, mesh, s * pp.stride).chunks)
            for (std::int64_t l = chunk.layers.begin; l < std::min(chunk.layers.end, plan.model.layers);
                 ++l) {
                auto& holders = out[l];
                (holders[0] < 0 ? holders[0] : holders[1]) = static_cast<int>(s);
            }
    return out;
}

namespace {

std::string_view word_of(Dim d) {
    switch (d) {
    case Dim::sequence: return "tokens";
    case Dim::batch: return "sequences";
    case Dim::width: return "width";
    default: return name_of(d);
    }
}

std::string range_words(const Range& r) {
    return r.size() == 1 ? with_commas(r.begin) : sentence(r.begin, " – ", r.end - 1);
}

// Shortens "attention.q" to "q" in a list of one layer's tensors.
std::string listed_name(TensorId id) {
    const TensorModule module = module_of(id);
    const char* whose = module == TensorModule::experts         ? "experts' "
                        : module == TensorModule::shared_expert ? "the shared expert's "
                                                                : "";
    return sentence(whose, short_name_of(id));
}

std::string listed(const std::vector<const Placement*>& tensors) {
    const bool activations = !tensors.empty() && tensors.front()->state == TensorState::activations;
    const std::size_t most = activations ? 3 : 7;
    std::string out;
    std::int64_t norms = 0;
    std::vector<std::string> names;
    for (const Placement* p : tensors) {
        if (p->kind == TensorKind::norm && p->state != TensorState::activations)
            ++norms;
        else
            names.push_back(activations ? std::string(name_of(p->id)) : listed_name(p->id));
    }
    if (names.size() > most) {
        out = sentence(static_cast<std::int64_t>(names.size()), " tensors");
    } else {
        for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : ", ") + names[i];
    }
    if (norms > 0) out += sentence(out.empty() ? "" : " and ", count_text(norms, "norm"));
    return out;
}

bool same_treatment(const AxisPlacement& a, const AxisPlacement& b) {
    return a.spread == b.spread && a.dim == b.dim;
}

// Returns "8,192 / 8 / 64": a dimension and its divisors, in the order of cutting.
std::string divided(std::string whole, const Placement& p, Dim dim, bool symbols) {
    for (const Axis a : {Axis::ep, Axis::tp, Axis::cp, Axis::dp_shard, Axis::dp_replicate}) {
        const AxisPlacement& x = p.on(a);
        if (x.spread != Spread::cut || x.dim != dim || x.parts <= 1) continue;
        whole += symbols ? sentence(" / ", axis_name(p, a)) : sentence(" / ", x.parts);
    }
    return whole;
}

std::string_view source_of(const Placement& p) {
    if (p.state == TensorState::activations)
        return p.on(Axis::tp).dim == Dim::sequence
                   ? "Korthikanti et al. 2022, section 4.2.2: sequence parallel"
                   : "Korthikanti et al. 2022, section 4";
    if (p.expert)
        return "Megatron-LM transformer/moe: experts by number over ep; Rajbhandari et al. 2020, section 5: "
               "ZeRO over "
               "expert data parallelism";
    if (p.on(Axis::dp_shard).spread == Spread::cut || p.on(Axis::cp).spread == Spread::cut)
        return p.on(Axis::tp).spread == Spread::cut
                   ? "Shoeybi et al. 2019, section 3; Rajbhandari et al. 2020, section 5"
                   : "Rajbhandari et al. 2020, section 5";
    return p.on(Axis::tp).spread == Spread::cut ? "Shoeybi et al. 2019, section 3"
                                                : "copied: no axis of the plan cuts it";
}

}  // namespace

std::string_view axis_name(const Placement& p, Axis axis) {
    if (!p.expert) return name_of(axis);
    if (axis == Axis::tp) return "etp";
    if (axis != Axis::dp_shard && axis != Axis::dp_replicate) return name_of(axis);
    const bool parts = p.on(Axis::dp_shard).size > 1 && p.on(Axis::dp_replicate).size > 1;
    return name_of(!parts                   ? GroupKind::edp
                   : axis == Axis::dp_shard ? GroupKind::edp_shard
                                            : GroupKind::edp_replicate);
}

std::string spread_words(const AxisPlacement& on) {
    if (on.size <= 1) return "off";
    switch (on.spread) {
    case Spread::copied: return sentence("copied on ", count_text(on.size, "rank"));
    case Spread::partial: return sentence("partial: ", on.size, " summands");
    case Spread::cut: break;
    }
    if (on.dim == Dim::layers) return sentence("cut by layers into ", count_text(on.parts, "stage"));
    if (on.dim == Dim::flat) return sentence("cut flat, row by row, into ", on.parts);
    std::string out = sentence("cut along ", word_of(on.dim), " into ", on.parts);
    if (on.copies() > 1) out += sentence(", each on ", count_text(on.copies(), "rank"));
    return out;
}

std::string cutter_words(const Placement& p, Axis axis) {
    const AxisPlacement& on = p.on(axis);
    if (on.size <= 1) return {};
    const std::string who = sentence(axis_name(p, axis), " ", on.size);
    if (on.spread == Spread::copied) return who + " copies";
    if (on.spread == Spread::partial) return who + " sums";
    if (on.dim == Dim::layers || on.dim == Dim::experts) return sentence(who, " deals ", word_of(on.dim));
    return sentence(who, " cuts ", word_of(on.dim));
}

std::string part_words(const Placement& p, const Part& part) {
    if (!part.held) return "nothing: not on this pipeline stage";
    if (part.numbers <= 0) return "nothing: the axis has more ranks than there are parts";
    std::string out;
    for (std::size_t i = 0; i < 3; ++i) {
        if (p.dims[i] == Dim::none) continue;
        std::string range = range_words(part.box[i]);
        const bool second = p.dims[i] == Dim::sequence && part.second.size() > 0;
        if (!second && part.box[i].size() == p.shape[i]) continue;
        if (second) range += " and " + range_words(part.second);
        out += sentence(out.empty() ? "" : ", ", word_of(p.dims[i]), " ", range, " of ", p.shape[i]);
    }
    const std::int64_t box = part.box[0].size() * part.box[1].size() * part.box[2].size();
    if (p.state != TensorState::activations && part.flat.size() < box)
        out += sentence(out.empty() ? "" : "; of these ", "numbers ", range_words(part.flat), " of ", box);
    return out.empty() ? "all of it" : out;
}

std::string shape_words(const Placement& p) {
    std::string out;
    for (std::size_t i = 0; i < 3; ++i)
        if (p.dims[i] != Dim::none) out += sentence(out.empty() ? "" : " × ", p.shape[i]);
    return out.empty() ? "1" : out;
}

std::string axis_sentence(std::span<const Placement> placements, Axis axis) {
    std::vector<const AxisPlacement*> kinds;
    std::vector<std::vector<const Placement*>> tensors;
    for (const Placement& p : placements) {
        const AxisPlacement& x = p.on(axis);
        if (x.size <= 1) continue;
        std::size_t k = 0;
        while (k < kinds.size() && !same_treatment(*kinds[k], x)) ++k;
        if (k == kinds.size()) {
            kinds.push_back(&x);
            tensors.emplace_back();
        }
        tensors[k].push_back(&p);
    }
    if (kinds.empty()) return {};
    std::string out;
    Spread last = Spread::partial;
    for (const Spread spread : {Spread::cut, Spread::copied, Spread::partial})
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            const AxisPlacement& x = *kinds[k];
            if (x.spread != spread) continue;
            const bool all = kinds.size() == 1;
            const bool again = !out.empty() && last == spread;
            last = spread;
            if (!out.empty()) out += again ? " and " : "; ";
            if (spread == Spread::cut) {
                if (x.dim == Dim::layers) return "deals layers to stages";
                if (x.dim == Dim::experts) return sentence("deals experts to ", count_text(x.parts, "rank"));
                if (!again) out += "cuts ";
                out += x.dim == Dim::flat ? "flat" : std::string(word_of(x.dim));
                out += all ? " of every tensor" : sentence(" of ", listed(tensors[k]));
            } else {
                const std::string what = all ? "everything" : listed(tensors[k]);
                out += spread == Spread::copied ? sentence("copies ", what)
                                                : sentence("leaves ", what, " to be summed");
            }
        }
    return out;
}

Explanation explain_tensor(const Plan& plan, const Mesh& mesh, const Placement& p, std::int64_t rank) {
    const Part part = part_of(plan, mesh, p, rank);
    Explanation e;
    e.title = sentence(name_of(p.id), ", ", name_of(p.state), ": bytes on rank ", rank);
    static constexpr std::string_view kSymbols[] = {"experts", "rows",     "columns",
                                                    "batch",   "sequence", "width"};
    for (std::size_t i = 0; i < 3; ++i) {
        if (p.dims[i] == Dim::none) continue;
        const Dim d = p.dims[i];
        const std::size_t symbol = d == Dim::experts    ? 0
                                   : d == Dim::rows     ? 1
                                   : d == Dim::columns  ? 2
                                   : d == Dim::batch    ? 3
                                   : d == Dim::sequence ? 4
                                                        : 5;
        const std::string by = e.formula.empty() ? "" : " · ";
        e.formula += by + divided(std::string(kSymbols[symbol]), p, d, true);
        e.substituted += by + divided(with_commas(p.shape[i]), p, d, false);
    }
    e.formula = divided(e.formula, p, Dim::flat, true) + " · bytes";
    e.substituted =
        sentence(divided(e.substituted, p, Dim::flat, false), " · ", three_digits(p.bytes_per_number));
    e.result = part.held ? sentence("= ", memory_text(part.bytes), " (",
                                    static_cast<std::int64_t>(part.bytes), " bytes) of one layer")
                         : "= 0: this pipeline stage does not hold it";
    e.source = source_of(p);
    return e;
}

}  // namespace pentamesh
