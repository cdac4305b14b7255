#include "core/sharding/sharding.h"

#include "core/pipeline/gradient_reduction.h"
#include "core/sharding/sharding_rules.h"

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

}  // namespace pentamesh
