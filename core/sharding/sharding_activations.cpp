// Places activations: batch over data parallelism, sequence over cp (and tp between its regions), width over
// tp inside them, experts over ep.
#include "core/sharding/sharding_rules.h"

namespace pentamesh {
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

}  // namespace pentamesh
