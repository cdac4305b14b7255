#include "core/sharding/tensor_pieces.h"

#include "core/sharding/sharding_rules.h"

#include <algorithm>
#include <tuple>

namespace pentamesh {
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

}  // namespace pentamesh
