#include "core/layer/layer_tape.h"

#include "core/mesh/degrees.h"

#include <cmath>

namespace pentamesh {
namespace {

bool is_tokens(const LayerDim& d) {
    return d.name == DimName::sequence || d.name == DimName::batch || d.name == DimName::tokens;
}

}  // namespace

bool LayerDim::cut_by(GroupKind group) const {
    return std::ranges::any_of(cuts, [&](const LayerCut& c) { return c.group == group; });
}
double LayerTensor::numbers() const {
    double n = 1;
    for (const LayerDim& d : dims) n *= d.local;
    return n;
}
bool LayerTensor::cut_by(GroupKind group) const {
    return std::ranges::any_of(dims, [&](const LayerDim& d) { return d.cut_by(group); });
}
bool LayerTensor::partial_over(GroupKind group) const {
    return std::ranges::find(partial, group) != partial.end();
}

LayerTape::LayerTape(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type, i64 rank,
                     i64 most_members)
    : plan_(plan), m_(plan.model), t_(plan.training), mesh_(mesh), groups_(groups),
      types_(layer_types(plan.model)), type_(types_[type]), rank_(rank), most_members_(most_members),
      d_(degrees_of(plan, mesh)), w_(activation_widths(plan.training.compute)),
      facts_(facts_of(plan.training.software)), tokens_(token_counts(plan, d_)) {
    list_.type = type, list_.rank = rank, list_.micro_batch = t_.micro_batch;
    visit_tensors(m_, types_, [&](const Tensor& t) {
        if (t.types != 0 && has(t.types, type)) weights_.push_back(t);
    });
    list_parts(plan, d_, type_, parts_);
}

// ---- tensors --------------------------------------------------------------------------------------------

LayerDim LayerTape::cut_dim(DimName name, double size, double local, GroupKind group, i64 ranks) {
    LayerDim d{name, size, local, {}};
    if (ranks > 1 && local < size) {
        const auto parts = static_cast<i64>(std::ceil(size / local - 1e-9));
        d.cuts.push_back({group, std::min(parts, ranks)});
    }
    return d;
}

LayerDim LayerTape::tokens_dim(bool between) const {
    const auto s = static_cast<double>(t_.sequence_length);
    LayerDim d{DimName::sequence, s, s / static_cast<double>(d_.cp), {}};
    if (d_.cp > 1) d.cuts.push_back({GroupKind::cp, d_.cp});
    if (!between || !d_.sequence_parallel) return d;
    d.cuts.push_back({GroupKind::tp, d_.tp});
    d.local /= tp();
    return d;
}

LayerTensor LayerTape::hidden_tensor(std::string name, bool between, double width, DimName width_name) const {
    const auto b = static_cast<double>(t_.micro_batch);
    LayerTensor t;
    t.name = std::move(name);
    t.dims = {tokens_dim(between), {DimName::batch, b, b, {}}, {width_name, width, width, {}}};
    t.bytes_per_number = w_.wide;
    return t;
}

bool LayerTape::has_weight(TensorId id) const {
    return std::ranges::any_of(weights_, [&](const Tensor& t) { return t.id == id; });
}

LayerTensor LayerTape::weight_of(TensorId id, DimName rows, DimName cols) const {
    const auto at = std::ranges::find(weights_, id, &Tensor::id);
    LayerTensor w;
    w.name = "W_" + weight_name(id);
    w.weight = true;
    w.bytes_per_number = bytes_of(t_.parameters);
    if (at == weights_.end()) return w;
    const LocalShape local = local_shape(*at, d_);
    const auto d = [](i64 n) { return static_cast<double>(n); };
    const GroupKind group = at->per_expert ? GroupKind::etp : GroupKind::tp;
    const i64 ranks = at->per_expert ? d_.etp : d_.tp;
    if (at->per_expert)
        w.dims.push_back(cut_dim(DimName::experts, d(at->copies), d(local.copies), GroupKind::ep, d_.ep));
    w.dims.push_back(cut_dim(rows, d(at->rows), d(local.rows), group, ranks));
    w.dims.push_back(cut_dim(cols, d(at->cols), d(local.cols), group, ranks));
    return w;
}

// Returns the name without its module; where another module has a weight of that name, this order says which
// module keeps the short name.
std::string LayerTape::weight_name(TensorId id) const {
    const TensorModule module = module_of(id);
    const std::string_view full = name_of(id), own = short_name_of(id);
    std::string name;
    for (const TensorModule other : {TensorModule::experts, TensorModule::mlp, TensorModule::attention}) {
        if (module == other || own == full) break;
        const bool theirs = std::ranges::any_of(weights_, [&](const Tensor& t) {
            return module_of(t.id) == other && short_name_of(t.id) == own;
        });
        if (!theirs) continue;
        const std::string_view whose = full.substr(0, full.size() - own.size() - 1);
        name = std::string(module == TensorModule::shared_expert ? "shared" : whose) + "_";
    }
    name += own;
    std::ranges::replace(name, '.', '_');
    return name;
}

bool LayerTape::tokens_cut(const LayerTensor& t, GroupKind group) {
    return std::ranges::any_of(t.dims, [&](const LayerDim& d) { return is_tokens(d) && d.cut_by(group); });
}
bool LayerTape::width_cut(const LayerTensor& t, GroupKind group) {
    return std::ranges::any_of(t.dims, [&](const LayerDim& d) { return !is_tokens(d) && d.cut_by(group); });
}

// ---- nodes ----------------------------------------------------------------------------------------------

Value LayerTape::put(LayerTensor t, int node) {
    values_.push_back(std::move(t));
    makers_.push_back(node);
    return static_cast<Value>(values_.size()) - 1;
}

TapeNode& LayerTape::node(TapeKind kind, std::vector<Value> in, std::vector<LayerTensor> out) {
    TapeNode n;
    n.kind = kind;
    n.in = std::move(in);
    n.part = part_;
    const bool same = kind == TapeKind::branch || kind == TapeKind::enter || kind == TapeKind::view;
    for (LayerTensor& t : out) {
        t.value = same ? tensor(n.in[0]).value : ++made_;
        if (same) t.name = tensor(n.in[0]).name;
        n.out.push_back(put(std::move(t), static_cast<int>(nodes_.size())));
    }
    nodes_.push_back(std::move(n));
    return nodes_.back();
}

LayerStep& LayerTape::emit(LayerPass phase, LayerOp op, LayerBlock block, What what,
                           std::vector<LayerTensor> in, std::vector<LayerTensor> out) {
    LayerStep& s = list_.steps.emplace_back();
    s.phase = phase, s.op = op, s.block = block, s.what = what;
    s.in = std::move(in), s.out = std::move(out);
    return s;
}

LayerStep& LayerTape::step_of(TapeNode& n, const TapeStep& how) {
    n.step = static_cast<int>(list_.steps.size());
    std::vector<LayerTensor> in, out;
    for (const Value v : n.in) in.push_back(tensor(v));
    for (const Value v : n.weights) in.push_back(tensor(v));
    for (const Value v : n.out) out.push_back(tensor(v));
    LayerStep& s = emit(LayerPass::forward, how.op, block_, how.what, std::move(in), std::move(out));
    for (const LayerKernel& k : parts_.kernels) {
        if (k.what != how.what || k.part != part_) continue;
        if (s.work.what == What::none) s.work = {k.what, k.part, KernelPass::forward, k.rate};
        if (k.rate == LayerRate::scan) s.work.rate = k.rate;
        if (k.rate != LayerRate::core) s.flops += 2 * k.m * k.in * k.out * k.groups;
        n.repeats |= k.modules.any_of(t_.recompute.modules);
    }
    names_.push_back({n.step, how.back});
    return s;
}

Value LayerTape::branch(Value x) {
    LayerTensor copy = tensor(x);
    return node(TapeKind::branch, {x}, {std::move(copy)}).out[0];
}

Value LayerTape::kernel(const TapeStep& how, std::vector<Value> in, LayerTensor out, TapeKind kind) {
    TapeNode& n = node(kind, std::move(in), {std::move(out)});
    step_of(n, how);
    return n.out[0];
}

LayerTensor LayerTape::result_of(const LayerTensor& x, const LayerTensor& weight, std::string name,
                                 std::vector<LayerDim> dims) const {
    LayerTensor y;
    y.name = std::move(name);
    y.bytes_per_number = w_.wide;
    for (const LayerDim& d : x.dims)
        if (is_tokens(d)) y.dims.push_back(d);
    y.dims.insert(y.dims.end(), dims.begin(), dims.end());
    for (const GroupKind group : {GroupKind::tp, GroupKind::etp}) {
        const FactorCut left = width_cut(x, group) ? FactorCut::inner : FactorCut::whole;
        const FactorCut right = weight.dims.back().cut_by(group) ? FactorCut::inner : FactorCut::whole;
        if (product_case(left, right) == ProductCase::partial) y.partial.push_back(group);
    }
    return y;
}

std::vector<Value> LayerTape::product(What what, What back, Value x, const std::vector<LayerTensor>& weights,
                                      std::vector<LayerTensor> outs) {
    std::vector<Value> put_weights;
    for (const LayerTensor& w : weights) put_weights.push_back(put(w));
    TapeNode& n = node(TapeKind::product, {x}, std::move(outs));
    n.weights = std::move(put_weights);
    step_of(n, {LayerOp::matmul, what, back});
    return n.out;
}

const LayerCall* LayerTape::call_of(What what, LayerPass pass, LayerPart part) const {
    for (const LayerCall& c : parts_.calls)
        if (c.what == what && c.pass == pass && c.part == part) return &c;
    return nullptr;
}

Value LayerTape::enter(Value x, What what, What back, What again) {
    LayerTensor whole = tensor(x);
    if (const LayerCall* gather = call_of(what)) {
        for (LayerDim& d : whole.dims) {
            if (!is_tokens(d)) continue;
            const auto cut = [&](const LayerCut& c) { return c.group == gather->group; };
            if (std::erase_if(d.cuts, cut) > 0) d.local *= static_cast<double>(gather->ranks);
        }
        whole.name += "_full";
        x = collective(TapeKind::gather, what, back, {x}, {std::move(whole)})[0];
    } else if (call_of(back, LayerPass::backward, part_)) {
        x = node(TapeKind::enter, {x}, {std::move(whole)}).out[0];
    } else {
        return x;
    }
    enters_.push_back({static_cast<int>(nodes_.size()) - 1, back, again});
    return x;
}

Value LayerTape::leave(Value y, Value like, What what, What back) {
    const LayerCall* const call = call_of(what);
    if (!call) return y;
    LayerTensor sum = tensor(y);
    std::erase(sum.partial, call->group);
    if (call->collective == Collective::reduce_scatter)
        for (std::size_t i = 0; i < sum.dims.size(); ++i)
            if (is_tokens(sum.dims[i])) sum.dims[i] = tensor(like).dims[i];
    return collective(TapeKind::leave, what, back, {y}, {std::move(sum)})[0];
}

std::vector<Value> LayerTape::collective(TapeKind kind, What what, What back, std::vector<Value> in,
                                         std::vector<LayerTensor> out) {
    const LayerCall& call = *call_of(what);
    TapeNode& n = node(kind, std::move(in), std::move(out));
    LayerStep& s = step_of(n, {op_of(call.collective), what, back});
    set_call(s, call);
    n.repeats = call.repeats;
    return n.out;
}

// ---- what is kept ---------------------------------------------------------------------------------------

TapeSaved* LayerTape::save_extra(TensorId id, Value beside) {
    const auto* const at = std::ranges::find(parts_.kept, id, &Activation::id);
    if (at == parts_.kept.end()) return nullptr;
    TapeSaved& s = nodes_.back().saves.emplace_back();
    s.value = beside, s.activation = *at;
    s.bytes = bytes_of(*at, tokens_);
    s.kept = is_kept(*at, t_.recompute, facts_);
    return &s;
}

void LayerTape::save(Value needed, TensorId id) {
    TapeSaved* const s = save_extra(id, needed);
    if (!s) return;
    s->needed = needed;
    // A gathered tensor is kept as it was before, unless the software keeps all of it.
    const int made = makers_[static_cast<std::size_t>(needed)];
    if (made < 0 || nodes_[static_cast<std::size_t>(made)].kind != TapeKind::gather) return;
    const TapeNode& g = nodes_[static_cast<std::size_t>(made)];
    const bool over_cp = list_.steps[static_cast<std::size_t>(g.step)].group == GroupKind::cp;
    if (s->activation.tokens != Tokens::between && !over_cp) return;
    for (std::size_t i = 0; i < g.out.size(); ++i)
        if (g.out[i] == needed) s->value = g.in[i];
}

LayerList LayerTape::run() {
    weights_in(false);
    LayerTensor x = hidden_tensor("x", true, static_cast<double>(m_.hidden), DimName::hidden);
    x.value = ++made_;
    forward(put(std::move(x)));
    weights_behind(false);
    backward();
    sum_layer(list_);
    return std::move(list_);
}

LayerList list_layer(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type,
                     std::int64_t rank, std::int64_t most_members) {
    return LayerTape(plan, mesh, groups, type, rank, most_members).run();
}

}  // namespace pentamesh
