#include "core/sharding/sharding.h"

#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/software.h"
#include "core/sharding/weight_part.h"

#include <algorithm>

namespace pentamesh {

std::string_view name_of(TensorState state) {
    constexpr std::array<std::string_view, kTensorStateCount> names{"parameters", "gradients", "optimizer",
                                                                    "activations"};
    return names[static_cast<std::size_t>(state)];
}
std::string_view name_of(Moment moment) {
    return moment == Moment::at_rest ? "at_rest" : "computing";
}
std::string_view name_of(Spread spread) {
    constexpr std::array<std::string_view, 3> names{"copied", "cut", "partial"};
    return names[static_cast<std::size_t>(spread)];
}
std::string_view name_of(Dim dim) {
    constexpr std::array<std::string_view, 9> names{"none",  "layers",   "experts", "rows", "columns",
                                                    "batch", "sequence", "width",   "flat"};
    return names[static_cast<std::size_t>(dim)];
}

namespace {

// Lays out parameters, gradients and optimizer state.
class Placer {
  public:
    Placer(const Plan& plan, const Mesh& mesh, TensorState state, Moment moment)
        : plan_(plan), mesh_(mesh), state_(state), moment_(moment), types_(layer_types(plan.model)),
          counts_(count_layers(plan.model, types_, 0, plan.model.layers)), degrees_(degrees_of(plan, mesh)),
          bytes_(state == TensorState::parameters  ? parameter_bytes(plan)
                 : state == TensorState::gradients ? gradient_bytes(plan.training)
                                                   : optimizer_bytes(plan.training)) {}

    [[nodiscard]] const LayerTypes& types() const { return types_; }
    Placement operator()(const Tensor& t) const {
        Placement p;
        p.id = t.id;
        p.kind = t.kind;
        p.place = t.place;
        p.state = state_;
        p.moment = moment_;
        p.expert = t.per_expert;
        p.layers = times(plan_.model, types_, counts_, t);
        p.types = t.types;
        p.dims = {t.per_expert ? Dim::experts : Dim::none, Dim::rows, t.cols > 1 ? Dim::columns : Dim::none};
        const LocalShape local = local_shape(t, degrees_);
        // A padded vocabulary is as long on each rank of tp.
        p.shape = {t.copies, t.cut == TpCut::vocab ? local.rows * degrees_.tp : t.rows, t.cols};
        p.local = {local.copies, local.rows, local.cols};
        p.unit = unit_of(t, degrees_);
        for (int a = 0; a < kAxisCount; ++a) {
            const auto& factors = t.per_expert ? mesh_.expert : mesh_.dense;
            p.axis[a].size = factors[a].size;
        }
        cut(p, Axis::pp, Dim::layers);
        place_tp(p, t);
        if (t.per_expert && degrees_.ep > 1) cut(p, Axis::ep, Dim::experts);
        const std::int64_t shards = place_data(p, t);
        weigh(p, t, shards);
        return p;
    }

  private:
    static AxisPlacement& on(Placement& p, Axis a) { return p.axis[a]; }
    static void cut(Placement& p, Axis a, Dim dim) {
        AxisPlacement& x = on(p, a);
        if (x.size > 1) x = {Spread::cut, dim, x.size, x.size};
    }

    void place_tp(Placement& p, const Tensor& t) const {
        const std::int64_t n = on(p, Axis::tp).size;
        if (n <= 1) return;
        switch (t.cut) {
        case TpCut::none: break;
        case TpCut::column:
        case TpCut::vocab: cut(p, Axis::tp, Dim::rows); break;
        case TpCut::row: cut(p, Axis::tp, Dim::columns); break;
        case TpCut::kv:
            p.kv_heads = t.rows / t.unit;
            cut(p, Axis::tp, Dim::rows);
            on(p, Axis::tp).parts = std::min(n, p.kv_heads);
            if (p.kv_heads == 1) on(p, Axis::tp) = {Spread::copied, Dim::none, n, 1};
            break;
        }
        // Under sequence parallelism a copied tensor sees different tokens on each rank, and copied heads see
        // different queries: gradients are sums over tp.
        const bool copied = on(p, Axis::tp).copies() > 1;
        if (gradient_sum() && copied && (degrees_.sequence_parallel || t.cut == TpCut::kv) && !t.per_expert)
            if (on(p, Axis::tp).parts == 1) on(p, Axis::tp).spread = Spread::partial;
    }

    [[nodiscard]] bool gradient_sum() const {
        return state_ == TensorState::gradients && moment_ == Moment::computing;
    }

    // Places data parallel axes and, for all but experts, cp: cut by ZeRO, copied, or waiting to be summed.
    // Returns the number of shards.
    std::int64_t place_data(Placement& p, const Tensor& t) const {
        if (gradient_sum()) {
            for (const Axis a : {Axis::cp, Axis::dp_shard, Axis::dp_replicate})
                if (on(p, a).size > 1) on(p, a).spread = Spread::partial;
            return 1;
        }
        const int zero = plan_.layout.zero;
        const int from = state_ == TensorState::optimizer ? 1 : state_ == TensorState::gradients ? 2 : 3;
        const bool gathered = moment_ == Moment::computing && state_ == TensorState::parameters;
        if (zero < from || gathered) return 1;
        if (state_ == TensorState::gradients && gradient_reduction_of(plan_) == GradientReduction::step)
            return 1;
        // FSDP cuts the first dimension of the remaining part; ZeRO-1 and 2 cut flat.
        const Dim dim = zero >= 3 ? Dim::rows : Dim::flat;
        cut(p, Axis::dp_shard, dim);
        cut(p, Axis::cp, dim);
        const std::int64_t shards = t.per_expert ? degrees_.expert_shard : degrees_.dense_shard;
        if (dim == Dim::rows) p.local[1] = divide_up(p.local[1], shards);
        return dim == Dim::flat ? shards : 1;
    }

    void weigh(Placement& p, const Tensor& t, std::int64_t flat_shards) const {
        const bool matrix = t.is_matrix(),
                   ends = t.kind == TensorKind::embedding || t.kind == TensorKind::head;
        p.bytes_per_number = matrix && t.kind == TensorKind::router ? bytes_.router
                             : matrix && !ends                      ? bytes_.linear
                                                                    : bytes_.other;
        const double local = static_cast<double>(p.local[0]) * static_cast<double>(p.local[1])
                             * static_cast<double>(p.local[2]);
        p.bytes_whole = static_cast<double>(p.shape[0]) * static_cast<double>(p.shape[1])
                        * static_cast<double>(p.shape[2]) * p.bytes_per_number;
        p.bytes_per_rank = std::ceil(local / static_cast<double>(flat_shards)) * p.bytes_per_number;
    }

    const Plan& plan_;
    const Mesh& mesh_;
    TensorState state_;
    Moment moment_;
    LayerTypes types_;
    LayerCounts counts_;
    Degrees degrees_;
    StateBytes bytes_;
};

}  // namespace

void list_placements(const Plan& plan, const Mesh& mesh, TensorState state, Moment moment,
                     std::vector<Placement>& out) {
    out.clear();
    if (state == TensorState::activations) {
        list_activation_placements(plan, mesh, moment, out);
        return;
    }
    const Placer place(plan, mesh, state, moment);
    visit_tensors(plan.model, place.types(), [&](const Tensor& t) {
        const Placement p = place(t);
        if (p.layers > 0) out.push_back(p);
    });
}

std::vector<Placement> list_placements(const Plan& plan, const Mesh& mesh, TensorState state, Moment moment) {
    std::vector<Placement> out;
    list_placements(plan, mesh, state, moment, out);
    return out;
}

// Finds which part of a tensor, which layers, experts and tokens one rank holds.

namespace {

// Returns the index of a rank among the ranks of two axes together, in rank order.
std::int64_t joint_index(const EnumArray<Axis, Factor>& factors, const Coordinates& c, Axis a, Axis b) {
    const Factor &x = factors[a], &y = factors[b];
    return x.stride <= y.stride ? c[b] * x.size + c[a] : c[a] * y.size + c[b];
}

// Returns tokens [begin, end) of pieces laid one after the other.
std::vector<Range> slice(const std::vector<Range>& pieces, std::int64_t begin, std::int64_t end) {
    std::vector<Range> out;
    std::int64_t offset = 0;
    for (const Range& r : pieces) {
        const std::int64_t from = std::max(begin, offset), to = std::min(end, offset + r.size());
        if (from < to) out.push_back({r.begin + from - offset, r.begin + to - offset});
        offset += r.size();
    }
    return out;
}

std::int64_t length_of(const std::vector<Range>& pieces) {
    std::int64_t n = 0;
    for (const Range& r : pieces) n += r.size();
    return n;
}

struct RankPlace {
    const Plan& plan;
    const Mesh& mesh;
    Coordinates dense, expert;
    RankPlace(const Plan& p, const Mesh& m, std::int64_t rank)
        : plan(p), mesh(m), dense(dense_coordinates(m, rank)), expert(expert_coordinates(m, rank)) {}
    [[nodiscard]] std::int64_t size(Axis a) const { return size_of(mesh.dense, a); }
};

// ---- what a stage holds ---------------------------------------------------------------------------------

StageContents find_layers(const RankPlace& w, RankContents& out) {
    const Plan& plan = w.plan;
    const ScheduleShape shape = shape_of(plan, 1);
    Stages stages;
    lay_stages(plan, shape, stages);
    out.stage = w.dense[Axis::pp];
    const auto device = static_cast<int>(out.stage);
    if (device >= stages.devices || stages.empty()) return {};
    for (int c = 0; c < stages.chunks; ++c) {
        const int v = stage_of(shape, device, c);
        const std::int64_t* const first = &stages.first_layer[v];
        out.chunks.push_back({v, {first[0], first[1]}});
    }
    StageContents own = stages.contents(device);
    out.embedding = own.embedding;
    out.head = own.head;
    out.mtp_layers = own.mtp_layers;
    return own;
}

bool holds(const Model& model, const StageContents& c, const Placement& p) {
    if (p.place == Place::embedding)
        return c.embedding || (p.id == TensorId::embedding && copies_embedding(model, c));
    if (p.place == Place::head) return c.head;
    if (p.place == Place::mtp) return c.mtp_layers > 0;
    const bool of_mtp = c.mtp_layers > 0 && has(p.types, layer_types(model).mtp);
    return of_mtp || sum_of(c.types, p.types) > 0;
}

// ---- boxes ----------------------------------------------------------------------------------------------

// Returns the range of a dimension that tp cuts.
Range tp_range(const Placement& p, std::int64_t length, std::int64_t n, std::int64_t i) {
    if (p.kv_heads == 0) return chunk_of(length, n, i, p.unit);
    const Range heads = kv_heads_of(p.kv_heads, n, i);
    return {heads.begin * p.unit, heads.end * p.unit};
}

}  // namespace

Part weight_part(const Mesh& mesh, const Placement& placement, const Coordinates& coordinates) {
    const Placement& p = placement;
    const Coordinates& c = coordinates;
    Part part;
    part.held = true;
    for (std::size_t i = 0; i < 3; ++i) part.box[i] = {0, p.shape[i]};
    const auto& factors = p.expert ? mesh.expert : mesh.dense;
    const AxisPlacement& tp = p.on(Axis::tp);
    if (p.on(Axis::ep).spread == Spread::cut)
        part.box[0] = experts_of(p.shape[0], p.on(Axis::ep).size, c[Axis::ep]);
    if (tp.spread == Spread::cut) {
        const std::size_t d = tp.dim == Dim::columns ? 2 : 1;
        part.box[d] = tp_range(p, p.shape[d], tp.size, c[Axis::tp]);
    }
    const AxisPlacement &shard = p.on(Axis::dp_shard), &cp = p.on(Axis::cp);
    const Dim dim = shard.spread == Spread::cut ? shard.dim : cp.spread == Spread::cut ? cp.dim : Dim::none;
    const std::int64_t shards = shard.size * cp.size;
    const std::int64_t index = joint_index(factors, c, Axis::dp_shard, Axis::cp);
    if (dim == Dim::rows) {
        const Range r = chunk_of(part.box[1].size(), shards, index);
        part.box[1] = {part.box[1].begin + r.begin, part.box[1].begin + r.end};
    }
    const std::int64_t numbers =
        saturating_product(saturating_product(part.box[0].size(), part.box[1].size()), part.box[2].size());
    part.flat = dim == Dim::flat ? chunk_of(numbers, shards, index) : Range{0, numbers};
    part.numbers = part.flat.size();
    return part;
}

namespace {

void dense_activation_box(const RankPlace& w, const Placement& p, Part& part) {
    const std::int64_t replica = joint_index(w.mesh.dense, w.dense, Axis::dp_shard, Axis::dp_replicate);
    const std::int64_t own = p.local[0];
    part.box[0] = {replica * own, (replica + 1) * own};
    const AxisPlacement &cp = p.on(Axis::cp), &tp = p.on(Axis::tp);
    std::vector<Range> tokens{{0, p.shape[1]}};
    if (cp.spread == Spread::cut && cp.dim == Dim::sequence)
        tokens = sequence_of(p.shape[1], cp.size, w.dense[Axis::cp], w.plan.layout.cp_comm);
    if (tp.spread == Spread::cut && tp.dim == Dim::sequence) {
        const Range r = chunk_of(length_of(tokens), tp.size, w.dense[Axis::tp]);
        tokens = slice(tokens, r.begin, r.end);
    }
    if (tp.spread == Spread::cut && tp.dim == Dim::width)
        part.box[2] = tp_range(p, p.shape[2], tp.size, w.dense[Axis::tp]);
    if (cp.spread == Spread::cut && cp.dim == Dim::width) {
        const Range r = chunk_of(part.box[2].size(), cp.size, w.dense[Axis::cp]);
        part.box[2] = {part.box[2].begin + r.begin, part.box[2].begin + r.end};
    }
    part.box[1] = tokens.empty() ? Range{} : tokens[0];
    if (tokens.size() > 1) part.second = tokens[1];
    part.numbers = saturating_product(saturating_product(own, length_of(tokens)), part.box[2].size());
    part.flat = {0, part.numbers};
}

void dispatched_box(const RankPlace& w, const Placement& p, Part& part) {
    const Coordinates& c = w.expert;
    const AxisPlacement& tp = p.on(Axis::tp);
    part.box[0] = experts_of(p.shape[0], p.on(Axis::ep).size, c[Axis::ep]);
    const std::int64_t edp = p.on(Axis::dp_shard).size * p.on(Axis::dp_replicate).size;
    part.box[1] =
        chunk_of(p.shape[1], edp, joint_index(w.mesh.expert, c, Axis::dp_shard, Axis::dp_replicate));
    if (tp.spread == Spread::cut) part.box[2] = tp_range(p, p.shape[2], tp.size, c[Axis::tp]);
    part.numbers =
        saturating_product(saturating_product(part.box[0].size(), part.box[1].size()), part.box[2].size());
    part.flat = {0, part.numbers};
}

}  // namespace

Range experts_of(std::int64_t experts, std::int64_t parts, std::int64_t ep) {
    return chunk_of(experts, parts, ep);
}

std::int64_t owner_of_expert(std::int64_t experts, std::int64_t parts, std::int64_t expert) {
    return expert / std::max<std::int64_t>(divide_up(experts, parts), 1);
}

double imbalance_of(const std::vector<double>& load, std::int64_t parts) {
    const auto experts = static_cast<std::int64_t>(load.size());
    parts = std::max<std::int64_t>(parts, 1);
    double most = 0, all = 0;
    for (std::int64_t ep = 0; ep < parts; ++ep) {
        const Range own = experts_of(experts, parts, ep);
        double sum = 0;
        for (std::int64_t e = own.begin; e < own.end; ++e) sum += load[e];
        most = std::max(most, sum);
        all += sum;
    }
    return all > 0 ? most * static_cast<double>(parts) / all : 1;
}

std::vector<Range> sequence_of(std::int64_t length, std::int64_t parts, std::int64_t i, CpComm comm) {
    if (parts <= 1) return {{0, length}};
    if (comm == CpComm::ulysses) return {chunk_of(length, parts, i)};
    const Range head = chunk_of(length, 2 * parts, i), tail = chunk_of(length, 2 * parts, 2 * parts - 1 - i);
    if (head.end == tail.begin) return {{head.begin, tail.end}};
    return {head, tail};
}

Part part_of(const Plan& plan, const Mesh& mesh, const Placement& placement, std::int64_t rank) {
    const RankPlace w(plan, mesh, rank);
    RankContents rank_contents;
    const StageContents contents = find_layers(w, rank_contents);
    Part part;
    if (!holds(plan.model, contents, placement)) return part;
    part.held = true;
    for (std::size_t i = 0; i < 3; ++i) part.box[i] = {0, placement.shape[i]};
    if (placement.state != TensorState::activations)
        part = weight_part(mesh, placement, placement.expert ? w.expert : w.dense);
    else if (placement.expert)
        dispatched_box(w, placement, part);
    else
        dense_activation_box(w, placement, part);
    part.bytes = static_cast<double>(part.numbers) * placement.bytes_per_number;
    return part;
}

RankContents contents_of(const Plan& plan, const Mesh& mesh, std::int64_t rank) {
    const RankPlace w(plan, mesh, rank);
    const Model& m = plan.model;
    RankContents c;
    c.rank = rank;
    static_cast<void>(find_layers(w, c));
    const std::int64_t tp = w.size(Axis::tp), i = w.dense[Axis::tp];
    c.heads = chunk_of(m.heads, tp, i);
    c.kv_heads = m.attention == AttentionKind::mla ? c.heads : kv_heads_of(m.kv_heads, tp, i);
    if (times(m, Place::dense_layer) > 0) c.ffn = chunk_of(m.ffn, tp, i);
    if (c.embedding || c.head) c.vocabulary = chunk_of(m.vocab, tp, i, vocab_multiple_of(plan));
    if (m.moe && mesh.has_experts) {
        c.experts = experts_of(m.moe->experts, size_of(mesh.expert, Axis::ep), w.expert[Axis::ep]);
        c.expert_ffn = chunk_of(m.moe->expert_ffn, size_of(mesh.expert, Axis::tp), w.expert[Axis::tp]);
    } else if (m.moe) {
        c.experts = {0, m.moe->experts};
        c.expert_ffn = {0, m.moe->expert_ffn};
    }
    c.sequence =
        sequence_of(plan.training.sequence_length, w.size(Axis::cp), w.dense[Axis::cp], plan.layout.cp_comm);
    c.sequence_between = c.sequence;
    if (plan.layout.sequence_parallel && tp > 1) {
        const Range r = chunk_of(length_of(c.sequence), tp, i);
        c.sequence_between = slice(c.sequence, r.begin, r.end);
    }
    return c;
}

// Places activations: batch over data parallelism, sequence over cp (and tp between its regions), width over
// tp inside them, experts over ep.

namespace {

bool of_experts(TensorModule m) {
    return m == TensorModule::experts || m == TensorModule::router || m == TensorModule::shared_expert;
}

TensorKind kind_of(TensorModule module) {
    switch (module) {
    case TensorModule::attention: return TensorKind::attention;
    case TensorModule::mixer:
    case TensorModule::mamba: return TensorKind::mixer;
    case TensorModule::norm: return TensorKind::norm;
    case TensorModule::router: return TensorKind::router;
    case TensorModule::experts: return TensorKind::experts;
    case TensorModule::head: return TensorKind::head;
    case TensorModule::embedding: return TensorKind::embedding;
    case TensorModule::mlp:
    case TensorModule::shared_expert:
    case TensorModule::mtp: break;
    }
    return TensorKind::mlp;
}

class ActivationPlacer {
  public:
    ActivationPlacer(const Plan& plan, const Mesh& mesh, Moment moment, std::vector<Placement>& out)
        : plan_(plan), mesh_(mesh), moment_(moment), degrees_(degrees_of(plan, mesh)),
          tokens_(token_counts(plan, degrees_)), types_(layer_types(plan.model)),
          counts_(count_layers(plan.model, types_, 0, plan.model.layers)), out_(out) {}

    void run() {
        each(ModelEnd::embedding, Place::embedding);
        sum(TensorId::embedding_output, Place::embedding, Tokens::region, plan_.model.hidden,
            plan_.model.hidden, true);
        layers();
        if (plan_.model.mtp_layers > 0) each(ModelEnd::mtp, Place::mtp);
        each(ModelEnd::head, Place::head);
    }

  private:
    // Lists a tensor once for the types that keep it in the same way; where types differ, each has its own.
    void layers() {
        const Model& m = plan_.model;
        LayerMask present = 0;
        for (int t = 0; t < types_.size(); ++t) {
            const bool of_mtp = m.mtp_layers > 0 && t == types_.mtp;
            if (counts_[t] > 0 || of_mtp) present |= LayerMask{1} << t;
        }
        const std::size_t first = out_.size();
        for (int t = 0; t < types_.size(); ++t) {
            if (!has(present, t)) continue;
            mask_ = LayerMask{1} << t;
            LayerParts parts;
            list_parts(plan_, degrees_, types_[t], parts);
            for (const Activation& a : parts.kept) {
                const auto same = [&](const Placement& p) { return p.id == a.id && p.shape[2] == a.width; };
                const auto at =
                    std::find_if(out_.begin() + static_cast<std::ptrdiff_t>(first), out_.end(), same);
                if (at != out_.end())
                    merge(static_cast<std::size_t>(at - out_.begin()), t);
                else
                    put(a, Place::some_layers);
            }
        }
        for (std::size_t i = first; i < out_.size(); ++i) find_place(out_[i], present);
        mask_ = 0;
    }
    // Merges the tensor and its partial sum, which follows it.
    void merge(std::size_t i, int type) {
        const LayerMask bit = LayerMask{1} << type;
        out_[i].types |= bit;
        if (i + 1 < out_.size() && out_[i + 1].on(Axis::tp).spread == Spread::partial)
            out_[i + 1].types |= bit;
    }
    void find_place(Placement& p, LayerMask present) const {
        const LayerMask moe = types_.moe() & present;
        const TensorModule module = module_of(p.id);
        const bool mlp = module == TensorModule::mlp && p.id != TensorId::mlp_dropout_mask;
        p.place = of_experts(module)                        ? Place::moe_layer
                  : mlp && (p.types & moe) == 0 && moe != 0 ? Place::dense_layer
                  : p.types == present                      ? Place::every_layer
                  : (p.types & ~moe) == 0                   ? Place::moe_layer
                  : (p.types & moe) == 0                    ? Place::dense_layer
                                                            : Place::some_layers;
        Tensor t;
        t.place = p.place, t.types = p.types;
        p.layers = times(plan_.model, types_, counts_, t);
    }

    void each(ModelEnd end, Place where) {
        KeptList kept;
        list_kept(plan_, degrees_, end, kept);
        for (const Activation& a : kept) put(a, where);
    }
    void put(const Activation& a, Place where) {
        out_.push_back(place(a, where));
        const std::int64_t h = plan_.model.hidden;
        if (a.id == TensorId::attention_output)
            sum(TensorId::attention_projected, where, Tokens::region, h, h, degrees_.tp > 1);
        else if (a.id == TensorId::mlp_product)
            sum(TensorId::mlp_projected, where, Tokens::region, h, h, degrees_.tp > 1);
        else if (a.id == TensorId::experts_product)
            sum(TensorId::experts_projected, where, Tokens::dispatched, h, h, degrees_.etp > 1);
    }

    // Adds the output of a row cut: each tp rank has a summand of every number until it is reduced. It is not
    // kept.
    void sum(TensorId id, Place where, Tokens tokens, std::int64_t width, std::int64_t local, bool tp) {
        if (moment_ == Moment::at_rest || !tp || on_tp(tokens) <= 1) return;
        const double wide = activation_widths(plan_.training.compute).wide;
        Placement p = place(Activation{id, tokens, width, local, wide, RecomputeModules(), false}, where);
        p.axis[Axis::tp] = {Spread::partial, Dim::none, on_tp(tokens), 1};
        out_.push_back(p);
    }
    [[nodiscard]] std::int64_t on_tp(Tokens t) const {
        return t == Tokens::dispatched ? degrees_.etp : degrees_.tp;
    }

    Placement place(const Activation& a, Place where) const {
        Placement p;
        p.id = a.id;
        p.kind = kind_of(module_of(a.id));
        p.place = where;
        p.state = TensorState::activations;
        p.moment = moment_;
        p.expert = a.tokens == Tokens::dispatched;
        p.layers = mask_ == 0 ? times(plan_.model, where) : 1;
        p.types = mask_;
        p.bytes_per_number = a.bytes_per_number;
        for (std::size_t i = 0; i < kAxisCount; ++i)
            p.axis[i].size = (p.expert ? mesh_.expert : mesh_.dense)[i].size;
        cut(p, Axis::pp, Dim::layers);
        p.expert ? dispatched(p, a) : dense(p, a);
        double whole = a.bytes_per_number;
        for (const std::int64_t n : p.shape) whole *= static_cast<double>(n);
        p.bytes_whole = whole;
        return p;
    }

    static void cut(Placement& p, Axis a, Dim dim) {
        AxisPlacement& x = p.axis[a];
        if (x.size > 1) x = {Spread::cut, dim, x.size, x.size};
    }

    void dense(Placement& p, const Activation& a) const {
        const Training& t = plan_.training;
        const std::int64_t replicas =
            saturating_product(p.on(Axis::dp_shard).size, p.on(Axis::dp_replicate).size);
        p.dims = {Dim::batch, Dim::sequence, Dim::width};
        p.shape = {saturating_product(t.micro_batch, replicas), t.sequence_length, a.width};
        p.local = {t.micro_batch, divide_up(t.sequence_length, degrees_.cp), a.local_width};
        cut(p, Axis::dp_shard, Dim::batch);
        cut(p, Axis::dp_replicate, Dim::batch);
        cut(p, Axis::cp, Dim::sequence);
        double bytes = bytes_of(a, tokens_);
        if (a.tokens == Tokens::region) {
            width_over_tp(p, a);
        } else if (degrees_.sequence_parallel) {
            if (gathered(a.id)) {
                bytes *= static_cast<double>(degrees_.tp);
            } else {
                cut(p, Axis::tp, Dim::sequence);
                p.local[1] = divide_up(p.local[1], degrees_.tp);
            }
        }
        if (moment_ == Moment::computing) bytes *= exchange_over_cp(p, a);
        p.bytes_per_rank = bytes;
    }

    // Inputs of a tp region are all-gathered along the sequence before the product (Korthikanti et al. 2022,
    // section 4.2.2).
    [[nodiscard]] bool gathered(TensorId id) const {
        return moment_ == Moment::computing
               && (id == TensorId::attention_input || id == TensorId::mlp_input
                   || id == TensorId::head_input);
    }

    void width_over_tp(Placement& p, const Activation& a) const {
        if (a.local_width >= a.width) return;
        AxisPlacement& tp = p.axis[Axis::tp];
        const bool kv = a.of_kv_heads;
        if (kv) p.kv_heads = plan_.model.kv_heads;
        tp = {Spread::cut, Dim::width, tp.size, kv ? std::min(tp.size, p.kv_heads) : tp.size};
        p.unit = a.local_width;
        if (kv) p.unit = plan_.model.head_dim;
    }

    // Places a tensor while attention runs. Gathered keys and values are whole on every rank; Ulysses has
    // exchanged the cut of the sequence for one of the heads; a ring keeps its cut. Returns how many times
    // more bytes that is.
    double exchange_over_cp(Placement& p, const Activation& a) const {
        const bool kv = a.id == TensorId::attention_k || a.id == TensorId::attention_v;
        const bool heads = kv || a.id == TensorId::attention_q || a.id == TensorId::attention_output;
        if (degrees_.cp <= 1 || !heads || plan_.layout.cp_comm == CpComm::ring) return 1;
        AxisPlacement& cp = p.axis[Axis::cp];
        p.local[1] = plan_.training.sequence_length;
        if (plan_.layout.cp_comm == CpComm::ulysses) {
            cp.dim = Dim::width;
            p.local[2] = divide_up(p.local[2], degrees_.cp);
            return 1;
        }
        // Inner groups have exchanged heads; between them the cut of the sequence stays. A placement has one
        // cut an axis: that of the sequence is shown.
        if (plan_.layout.cp_comm == CpComm::ulysses_ring) {
            const std::int64_t inner = head_ranks_of(plan_.layout, degrees_.cp);
            p.local[1] = divide_up(plan_.training.sequence_length, degrees_.cp / inner);
            p.local[2] = divide_up(p.local[2], inner);
            return 1;
        }
        if (!kv) {
            p.local[1] = divide_up(p.local[1], degrees_.cp);
            return 1;
        }
        cp = {Spread::copied, Dim::none, cp.size, 1};
        return static_cast<double>(degrees_.cp);
    }

    // Places tokens of a whole step's slice, a token once for each expert that it uses, sorted by expert.
    void dispatched(Placement& p, const Activation& a) const {
        const Training& t = plan_.training;
        const Moe& e = *plan_.model.moe;
        const auto dense = [&](Axis x) { return size_of(mesh_.dense, x); };
        const std::int64_t sequences = saturating_product(
            t.micro_batch, saturating_product(dense(Axis::dp_shard), dense(Axis::dp_replicate)));
        const std::int64_t all =
            saturating_product(saturating_product(sequences, t.sequence_length), e.top_k);
        const std::int64_t experts = std::max<std::int64_t>(e.experts, 1);
        p.dims = {Dim::experts, Dim::sequence, Dim::width};
        p.shape = {experts, divide_up(all, experts), a.width};
        const std::int64_t edp = saturating_product(p.on(Axis::dp_shard).size, p.on(Axis::dp_replicate).size);
        p.local = {divide_up(experts, degrees_.ep), divide_up(p.shape[1], edp), a.local_width};
        cut(p, Axis::ep, Dim::experts);
        cut(p, Axis::dp_shard, Dim::sequence);
        cut(p, Axis::dp_replicate, Dim::sequence);
        if (a.local_width < a.width) cut(p, Axis::tp, Dim::width);
        p.bytes_per_rank = bytes_of(a, tokens_);
    }

    const Plan& plan_;
    const Mesh& mesh_;
    Moment moment_;
    Degrees degrees_;
    TokenCounts tokens_;
    LayerTypes types_;
    LayerCounts counts_;
    LayerMask mask_ = 0;  // of the layers that are being listed
    std::vector<Placement>& out_;
};

}  // namespace

void list_activation_placements(const Plan& plan, const Mesh& mesh, Moment moment,
                                std::vector<Placement>& out) {
    ActivationPlacer(plan, mesh, moment, out).run();
}

namespace {

// Returns the replicas among the experts' own data parallelism.
GroupFactors expert_replicas(const Mesh& mesh) {
    const Factor f = mesh.expert[Axis::dp_replicate];
    return f.size > 1 ? GroupFactors{{f}, 1} : GroupFactors{};
}

}  // namespace

ParameterCopies parameter_copies_of(const Plan& plan, const Mesh& mesh) {
    const bool sharded = plan.layout.zero >= 3;
    ParameterCopies c;
    c.dense = group_factors(mesh, sharded                  ? GroupKind::dp_replicate
                                  : mesh.weight_shards > 1 ? GroupKind::dp_cp_without_gtp_remat
                                                           : GroupKind::dp_cp);
    if (mesh.has_experts) c.experts = sharded ? expert_replicas(mesh) : group_factors(mesh, GroupKind::edp);
    c.stage_across = parameter_copies(plan.layout.schedule) > 1 && mesh.dense[Axis::pp].size > 1;
    return c;
}

std::int64_t degree_of(const GroupFactors& factors) {
    std::int64_t degree = 1;
    for (const Factor& f : factors.span()) degree *= f.size;
    return degree;
}

std::vector<std::int64_t> ranks_over(const GroupFactors& factors, std::int64_t rank) {
    std::int64_t first = rank;
    for (const Factor& f : factors.span()) first -= rank / f.stride % f.size * f.stride;
    std::vector<std::int64_t> ranks;
    ranks.reserve(static_cast<std::size_t>(degree_of(factors)));
    for_each_sum(factors.span(), [&](std::int64_t offset) { ranks.push_back(first + offset); });
    return ranks;
}

}  // namespace pentamesh
