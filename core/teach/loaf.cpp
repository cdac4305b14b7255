#include "core/teach/loaf.h"

#include "core/plan/factors.h"
#include "core/sharding/sharding.h"
#include "core/teach/single_axis.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Tensors of a state that the tensor-parallel ranks cut, or copy, on one stage.
struct Pile {
    bool experts = false;
    double weight = 0;                // bytes by the placements
    const Placement* most = nullptr;  // the one with most bytes: its axes are those of the pile
    double most_weight = 0;
};

// The piles of one state: cut and copied by tensor parallelism, each of the experts and of the rest.
using Piles = std::array<Pile, 4>;

double layers_with(const Placement& p, const StageMemory& s) {
    switch (p.place) {
    case Place::embedding: return s.embedding ? 1 : 0;
    case Place::head: return s.head ? 1 : 0;
    case Place::mtp: return static_cast<double>(s.mtp_layers);
    default: return sum_of(s.types, p.types);
    }
}

Piles pile_up(const std::vector<Placement>& placements, const StageMemory& stage, bool bread) {
    Piles out;
    for (const Placement& p : placements) {
        const AxisPlacement& tp = p.on(Axis::tp);
        const bool copied = tp.size > 1 && tp.copies() > 1;
        // Activations at their experts are work like all others: only tensors lie in drawers.
        const bool experts = p.expert && !bread;
        Pile& pile = out[(copied ? 1 : 0) + (experts ? 2 : 0)];
        const double bytes = p.bytes_per_rank * layers_with(p, stage);
        pile.experts = experts;
        pile.weight += bytes;
        if (bytes > pile.most_weight) pile.most = &p, pile.most_weight = bytes;
    }
    // A pile of less than a hundredth joins the other of its kind.
    for (const int k : {0, 2})
        if (out[k].most != nullptr && out[k + 1].weight < 0.01 * (out[k].weight + out[k + 1].weight))
            out[k].weight += out[k + 1].weight, out[k + 1] = {};
    return out;
}

// A length between two shares, of which one equal part is taken after another.
struct Length {
    double begin = 0, end = 1;
    void take(std::int64_t i, std::int64_t of) {
        if (of <= 1) return;
        const double part = (end - begin) / static_cast<double>(of);
        begin += part * static_cast<double>(i);
        end = begin + part;
    }
};

class Slicer {
  public:
    Slicer(const Plan& plan, const Evaluation& e) : plan_(plan), e_(e) {
        for (const LoafPart part : kParts)
            placements_[part] = list_placements(plan, e.mesh, state_of(part), Moment::at_rest);
        // The drawers take the share of the width that experts have of the parameters.
        double experts = 0, all = 0;
        for (const Placement& p : placements_[LoafPart::parameters]) {
            const double bytes = p.bytes_whole * static_cast<double>(p.layers);
            all += bytes;
            if (p.expert) experts += bytes;
        }
        drawers_from_ = all > 0 ? 1 - experts / all : 1;
    }
    [[nodiscard]] double drawers_from() const { return drawers_from_; }

    [[nodiscard]] LoafSlice slice(std::int64_t rank) const {
        LoafSlice out;
        out.rank = rank;
        const RankContents contents = contents_of(plan_, e_.mesh, rank);
        out.stage = static_cast<int>(contents.stage);
        const StageMemory& stage = e_.memory.stage[contents.stage];
        out.total = stage.total();
        for (const LoafPart part : kParts) add(part, stage, contents, out);
        return out;
    }

  private:
    static constexpr std::array kParts{LoafPart::optimizer, LoafPart::gradients, LoafPart::parameters,
                                       LoafPart::bread};
    static TensorState state_of(LoafPart part) {
        switch (part) {
        case LoafPart::optimizer: return TensorState::optimizer;
        case LoafPart::gradients: return TensorState::gradients;
        case LoafPart::parameters: return TensorState::parameters;
        case LoafPart::bread: break;
        }
        return TensorState::activations;
    }
    static double bytes_in(const StageMemory& s, LoafPart part) {
        switch (part) {
        case LoafPart::optimizer: return s.optimizer;
        case LoafPart::gradients: return s.gradients;
        case LoafPart::parameters: return s.parameters;
        case LoafPart::bread: break;
        }
        return s.activations;
    }

    void add(LoafPart part, const StageMemory& stage, const RankContents& contents, LoafSlice& out) const {
        const double bytes = bytes_in(stage, part);
        if (bytes <= 0) return;
        const Piles piles = pile_up(placements_[part], stage, part == LoafPart::bread);
        double weight = 0;
        for (const Pile& p : piles) weight += p.weight;
        for (const Pile& p : piles)
            if (p.most != nullptr) add_pile(part, p, bytes * p.weight / weight, contents, out);
    }

    void add_pile(LoafPart part, const Pile& pile, double bytes, const RankContents& contents,
                  LoafSlice& out) const {
        const Placement& p = *pile.most;
        const auto at =
            p.expert ? expert_coordinates(e_.mesh, contents.rank) : dense_coordinates(e_.mesh, contents.rank);
        LoafBlock block;
        block.part = part;
        block.experts = pile.experts;
        for (const Axis a : all_of<Axis>())
            if (a != Axis::pp) block.copies *= std::max<std::int64_t>(p.on(a).copies(), 1);
        Length across;
        if (pile.experts)
            across.begin = drawers_from_;
        else if (part != LoafPart::bread)
            across.end = drawers_from_;
        for (const Axis a : {Axis::ep, Axis::tp})
            if (const AxisPlacement& on = p.on(a);
                on.spread == Spread::cut && (a == Axis::tp || pile.experts))
                across.take(at[a] / on.copies(), on.parts);
        block.left = across.begin;
        block.right = across.end;
        std::int64_t layers = 0;
        for (const RankChunk& c : contents.chunks) layers += c.layers.size();
        const auto all = static_cast<double>(std::max<std::int64_t>(plan_.model.layers, 1));
        for (const RankChunk& c : contents.chunks) {
            if (c.layers.size() == 0 && layers > 0) continue;
            Length upright{static_cast<double>(c.layers.begin) / all,
                           static_cast<double>(c.layers.end) / all};
            // Copies that shed a state keep equal parts of it, drawn one below the other.
            for (const Axis a : {Axis::dp_replicate, Axis::dp_shard, Axis::cp})
                if (const AxisPlacement& on = p.on(a); part != LoafPart::bread && on.spread == Spread::cut)
                    upright.take(at[a] / on.copies(), on.parts);
            block.top = upright.begin;
            block.bottom = upright.end;
            block.bytes = layers > 0
                              ? bytes * static_cast<double>(c.layers.size()) / static_cast<double>(layers)
                              : bytes / static_cast<double>(contents.chunks.size());
            out.blocks.push_back(block);
        }
    }

    const Plan& plan_;
    const Evaluation& e_;
    EnumArray<LoafPart, std::vector<Placement>> placements_;
    double drawers_from_ = 1;
};

// Returns the plan on one GPU: no axis cuts it, and its one micro-batch has the samples of a round over all
// replicas.
Plan plan_of_loaf(const Plan& plan) {
    Plan p = uncut(plan);
    p.training.micro_batch = plan.training.micro_batch * std::max<std::int64_t>(data_parallel(plan), 1);
    p.training.global_batch = p.training.micro_batch;
    return p;
}

}  // namespace

double LoafSlice::bytes_of(LoafPart part) const {
    double sum = 0;
    for (const LoafBlock& b : blocks) sum += b.part == part ? b.bytes : 0;
    return sum;
}

double LoafSlice::crust() const {
    double sum = 0;
    for (const LoafBlock& b : blocks) sum += b.part == LoafPart::bread ? 0 : b.bytes;
    return sum;
}

GroupKind kind_of_loaf(const GroupSummaries& groups, GroupKind kind) {
    for (const GroupKind k : {kind, GroupKind::tp, GroupKind::ep, GroupKind::cp, GroupKind::pp,
                              GroupKind::dp_shard, GroupKind::dp_replicate})
        if (groups[k].degree > 1) return k;
    return GroupKind::tp;
}

Loaf loaf_of(const Plan& plan, const Evaluation& evaluation, GroupKind kind, std::int64_t rank,
             std::size_t most) {
    Loaf out;
    const Plan one = plan_of_loaf(plan);
    const Evaluation single = evaluate(one, {.timeline = false, .messages = false});
    out.whole_known = single.valid && !single.memory.stage.empty();
    if (out.whole_known) out.whole = Slicer(one, single).slice(0);
    out.samples = one.training.micro_batch;
    out.layers = plan.model.layers;
    const Slicer slicer(plan, evaluation);
    out.drawers_from = slicer.drawers_from();
    const Mesh& mesh = evaluation.mesh;
    out.group = kind_of_loaf(evaluation.groups, kind);
    out.all_ranks = mesh.world <= static_cast<std::int64_t>(most);
    std::vector<std::int64_t> ranks;
    if (out.all_ranks)
        for (std::int64_t r = 0; r < mesh.world; ++r) ranks.push_back(r);
    else
        ranks = group_members(mesh, out.group, std::clamp<std::int64_t>(rank, 0, mesh.world - 1));
    if (ranks.size() > most) {
        out.left_out = static_cast<std::int64_t>(ranks.size()) - 4;
        ranks = {ranks[0], ranks[1], ranks[2], ranks.back()};
    }
    for (const std::int64_t r : ranks) out.slices.push_back(slicer.slice(r));
    return out;
}

}  // namespace pentamesh
