#include "core/teach/loaf.h"

#include "core/base/text.h"
#include "core/comm/call_names.h"
#include "core/model/model.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/sharding/sharding.h"
#include "core/teach/stage_loaf.h"

#include <algorithm>
#include <array>

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
Plan plan_of_loaf(const Plan& plan, std::int64_t at_once) {
    Plan p = uncut(plan);
    p.training.micro_batch =
        plan.training.micro_batch * std::max<std::int64_t>(data_parallel(plan), 1) * at_once;
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
    const Plan one = plan_of_loaf(plan, round_of(plan, evaluation).at_once);
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

namespace {

std::int64_t around(std::int64_t i, std::int64_t n) {
    return ((i % n) + n) % n;
}

}  // namespace

std::int64_t piece_sent(RingPart part, std::int64_t n, std::int64_t member, std::int64_t step) {
    switch (part) {
    case RingPart::after_reduce: return around(member + 1 - step, n);
    case RingPart::exchange: return around(member + 1 + step, n);
    case RingPart::reduce:
    case RingPart::gather: break;
    }
    return around(member - step, n);
}

double piece_held(RingPart part, std::int64_t n, std::int64_t member, std::int64_t piece,
                  std::int64_t steps) {
    // Pieces behind the member's own, in the order in which they come.
    const std::int64_t behind = around(member - piece, n);
    switch (part) {
    case RingPart::gather: return behind <= steps ? 1 : 0;
    case RingPart::after_reduce: return around(member + 1 - piece, n) <= steps ? 1 : 0;
    case RingPart::exchange: return behind <= steps ? 1 : 0;
    case RingPart::reduce: break;
    }
    const auto share = [&](std::int64_t members) {
        return static_cast<double>(members) / static_cast<double>(n);
    };
    if (behind < steps) return 0;                                       // passed on
    return behind == steps && steps > 0 ? share(steps + 1) : share(1);  // the piece that came last, with its
                                                                        // own added
}

namespace {

constexpr std::array<StrategyFacts, kStrategyCount> kFacts{{
    {"DDP", Axis::dp_replicate, "the batch",
     "The outermost axis around all others, and the one that every run starts with."},
    {"ZeRO-1", Axis::dp_shard, "the batch; optimizer state",
     "Costs no more bytes than DDP and goes with every other axis, pipelines included."},
    {"ZeRO-2", Axis::dp_shard, "the batch; optimizer state, gradients",
     "As ZeRO-1; with several micro-batches the gradients are usually reduced after each."},
    {"ZeRO-3 / FSDP", Axis::dp_shard, "the batch; optimizer state, gradients, parameters",
     "With dp_replicate around it: HSDP. In a pipeline every micro-batch gathers again, unless weights "
     "stay."},
    {"TP", Axis::tp, "the hidden and head dimensions",
     "The innermost axis: it waits for its peers in every layer and stays in the fast domain."},
    {"TP + SP", Axis::tp, "hidden and heads; the sequence between them",
     "A switch of TP: its all-reduces become reduce-scatters and all-gathers, its copies go."},
    {"CP", Axis::cp, "the sequence",
     "For long sequences, between TP and data parallelism; only attention speaks on it."},
    {"PP", Axis::pp, "the layers",
     "Across nodes, around TP: few bytes, but stages idle while the pipeline fills and drains."},
    {"EP", Axis::ep, "the experts",
     "Folds over the ranks of data parallelism (here DDP), which it does not multiply."},
}};

// Keeps the cluster's first GPUs: only the tiers that they need, the last spanning all of them.
void keep_gpus(Cluster& cluster, std::int64_t gpus) {
    cluster.gpus = gpus;
    std::size_t last = 0;
    while (last + 1 < cluster.tiers.size() && domain_of(cluster, last) < gpus) ++last;
    if (last < cluster.tiers.size()) {
        cluster.tiers.resize(last + 1);
        cluster.tiers[last].domain = 0;  // the whole cluster
    }
}

void collect_traffic(const Evaluation& e, StrategyPrice& out) {
    for (const Operation& o : e.comm.operations) {
        if (o.count_per_step <= 0) continue;
        auto same = std::find_if(out.traffic.begin(), out.traffic.end(), [&](const StrategyTraffic& t) {
            return t.collective == o.collective && t.group == o.group && t.carried == carried_by(o);
        });
        if (same == out.traffic.end())
            same = out.traffic.insert(out.traffic.end(),
                                      StrategyTraffic{o.collective, o.group, carried_by(o), 0, 0});
        same->count += o.count_per_step;
        same->sent_bytes += o.sent_bytes_per_rank;
        out.count += o.count_per_step;
        out.sent_bytes += o.sent_bytes_per_rank;
    }
}

std::string plural_of(Collective c, double count) {
    const std::string name(c == Collective::send_recv ? "message" : words_of(c));
    return count == 1 ? name : name + "s";
}

// Returns the same on one GPU.
Plan plan_of_single_gpu(const Plan& plan, std::int64_t gpus) {
    Plan p = uncut(plan);
    p.model.layers = gpus;
    p.model.mtp_layers = 0;
    if (p.model.moe && moe_layers(plan.model) > 0) {
        p.model.moe->first_dense_layers = 0;
        p.model.moe->every = 1;
    }
    p.training.micro_batch = 1;
    p.training.global_batch = gpus;
    return p;
}

}  // namespace

const StrategyFacts& facts_of(Strategy strategy) {
    return kFacts[static_cast<std::size_t>(strategy)];
}

Plan uncut(const Plan& plan) {
    Plan p = plan;
    p.model_source = p.cluster_source = {};
    keep_gpus(p.cluster, 1);
    p.layout = Layout{};
    p.layout.dp_replicate = 1;
    p.layout.zero = 0;
    p.layout.sequence_parallel = false;
    p.layout.cp_comm = plan.layout.cp_comm;
    return p;
}

Model with_example_experts(Model model) {
    constexpr std::int64_t kExperts = 8, kOfToken = 2;
    if (model.moe || model.ffn < kOfToken) return model;
    model.name += " with " + std::to_string(kExperts) + " experts";
    model.moe = Moe{.experts = kExperts, .top_k = kOfToken, .expert_ffn = model.ffn / kOfToken};
    for (LayerRun& run : model.pattern)
        if (run.ffn == LayerFfn::dense) run.ffn = LayerFfn::moe, run.ffn_width = 0;
    return model;
}

Plan plan_of_strategy(const Plan& plan, Strategy strategy, std::int64_t gpus) {
    Plan p = plan_of_single_gpu(plan, gpus);
    if (strategy == Strategy::ep) p.model = with_example_experts(std::move(p.model));
    p.cluster = plan.cluster;
    keep_gpus(p.cluster, gpus);
    Layout& l = p.layout;
    switch (strategy) {
    case Strategy::ddp: l.dp_replicate = gpus; break;
    case Strategy::zero1:
    case Strategy::zero2:
    case Strategy::fsdp:
        l.dp_shard = gpus;
        l.zero = strategy == Strategy::zero1 ? 1 : strategy == Strategy::zero2 ? 2 : 3;
        break;
    case Strategy::tp: l.tp = gpus; break;
    case Strategy::tp_sp:
        l.tp = gpus;
        l.sequence_parallel = true;
        break;
    case Strategy::cp: l.cp = gpus; break;
    case Strategy::pp: l.pp = gpus; break;
    case Strategy::ep:
        l.dp_replicate = gpus;
        l.ep = gpus;
        l.etp = 1;
        break;
    }
    return p;
}

void price_strategies(const Plan& plan, std::int64_t gpus, StrategyPrices& out) {
    out.gpus = std::max<std::int64_t>(gpus, 1);
    out.price.clear();
    Evaluation e;
    const auto fullest = [&] {
        return e.memory.stage.empty() ? StageMemory{} : e.memory.stage[e.memory.peak_stage];
    };
    out.single = plan_of_single_gpu(plan, out.gpus);
    evaluate(out.single, e, {.timeline = false, .messages = false});
    out.single_gpu = fullest();
    for (int i = 0; i < kStrategyCount; ++i) {
        StrategyPrice price;
        price.strategy = static_cast<Strategy>(i);
        price.plan = plan_of_strategy(plan, price.strategy, out.gpus);
        price.single = out.single_gpu;
        price.example = !(price.plan.model == out.single.model);
        if (price.example) {
            Plan single = out.single;
            single.model = price.plan.model;
            evaluate(single, e, {.timeline = false, .messages = false});
            price.single = fullest();
        }
        evaluate(price.plan, e, {.timeline = true, .messages = true});
        price.mesh = e.mesh;
        price.possible = e.valid && !e.memory.stage.empty();
        if (!price.possible) price.why_not = first_error(e.problems);
        if (price.possible) {
            price.fullest = fullest();
            collect_traffic(e, price);
        }
        out.price.push_back(std::move(price));
    }
}

std::string state_sentence(const StrategyPrice& price) {
    if (!price.possible) return {};
    struct State {
        std::string_view name;
        double StageMemory::*bytes;
    };
    static constexpr std::array<State, 3> kStates{{{"optimizer states", &StageMemory::optimizer},
                                                   {"gradients", &StageMemory::gradients},
                                                   {"parameters", &StageMemory::parameters}}};
    std::string cut, whole;
    for (const State& s : kStates) {
        std::string& to = price.fullest.*s.bytes < price.single.*s.bytes ? cut : whole;
        to += sentence(to.empty() ? "" : ", ", s.name);
    }
    if (cut.empty()) return sentence("Whole on every GPU: ", whole, ".");
    if (whole.empty()) return sentence("Cut over the GPUs: ", cut, ".");
    return sentence("Cut over the GPUs: ", cut, "; whole on every GPU: ", whole, ".");
}

std::string price_sentence(const StrategyPrice& price) {
    if (!price.possible) return price.why_not;
    const double now = price.fullest.total(), before = price.single.total();
    const double state = price.fullest.parameters + price.fullest.gradients + price.fullest.optimizer;
    std::string out = sentence("The fullest GPU holds ", memory_text(now), " (", memory_text(state),
                               " of it model state) where a single GPU would hold ", memory_text(before));
    if (price.count <= 0) return out + "; nothing is sent.";
    out += sentence("; per step it sends ", bytes_text(price.sent_bytes), ":");
    for (std::size_t i = 0; i < price.traffic.size(); ++i) {
        const StrategyTraffic& t = price.traffic[i];
        out += sentence(i == 0 ? " " : ", ", whole_text(t.count), " ", plural_of(t.collective, t.count));
        out += sentence(" of ", t.carried);
        if (t.collective != Collective::send_recv) out += sentence(" over ", name_of(t.group));
    }
    return out + ".";
}

LayerShed shed_of(const StrategyPrice& price) {
    LayerShed out;
    if (!price.possible) return out;
    const Model& model = price.plan.model;
    const LayerTypes types = layer_types(model);
    const int type = usual_type(model, types, moe_layers(model) > 0);
    const double width = activation_widths(price.plan.training.compute).wide;
    for (const Moment moment : {Moment::at_rest, Moment::computing})
        for (const Placement& p : list_placements(price.plan, price.mesh, TensorState::parameters, moment)) {
            if (!has(p.types, type)) continue;
            const Part part = part_of(price.plan, price.mesh, p, 0);
            if (moment == Moment::at_rest)
                out.kept += part.bytes;
            else
                out.gathered += static_cast<double>(part.numbers) * width;
        }
    out.dropped = !holds_gathered(price.plan);
    return out;
}

}  // namespace pentamesh
