#include "core/layer/layer_tape.h"

#include "core/layer/parts.h"
#include "core/mesh/mesh.h"

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
    const double width = static_cast<double>(m_.hidden) * residual_streams(m_);
    LayerTensor x = hidden_tensor("x", true, width, DimName::hidden);
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

// Reads the backward of a layer off the tape in reverse. A gather's transpose is a sum that cuts, a sum's is
// nothing or a gather, a product's are two products.

LayerTensor LayerTape::gradient_of(Value v) const {
    LayerTensor g = tensor(v);
    g.name = "d" + g.name;
    g.value = -g.value;
    g.partial.clear();
    // The other way out of the branch has this name, or will have it.
    const int made = makers_[static_cast<std::size_t>(v)];
    if (made < 0 || nodes_[static_cast<std::size_t>(made)].kind != TapeKind::branch) return g;
    const Value sum = grads_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(made)].in[0])];
    if (sum < 0 || tensor(sum).name == g.name) g.name += "b";
    return g;
}

void LayerTape::set_grad(Value v, Value g) {
    if (grads_.size() < values_.size()) grads_.resize(values_.size(), -1);
    if (grad(v) < 0) grad(v) = g;  // else it is added in place
}

What LayerTape::back_of(const TapeNode& n) const {
    for (const Back& b : names_)
        if (b.step == n.step) return b.what;
    return What::none;
}

void LayerTape::find_recomputed() {
    recomputed_.assign(nodes_.size(), 0);
    const RecomputeChoice& choice = t_.recompute;
    if (!choice.any()) return;
    const bool by_name = !facts_.selective_keeps.empty() && choice == RecomputeChoice(Recompute::selective);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const TapeNode& n = nodes_[i];
        const bool weights = n.kind == TapeKind::weights_in || n.kind == TapeKind::weights_again;
        if (n.step >= 0 && !weights && !by_name) recomputed_[i] = choice.whole_layers() || n.repeats;
        for (const TapeSaved& s : n.saves)
            if (!s.kept) recomputed_[static_cast<std::size_t>(made_by(s, static_cast<int>(i)))] = 1;
    }
}

// Returns the node whose step makes the saved value; `at`, where no step of the layer does.
int LayerTape::made_by(const TapeSaved& s, int at) const {
    if (s.needed < 0) return at;
    for (Value v = s.value;;) {
        const int made = makers_[static_cast<std::size_t>(v)];
        if (made < 0) return at;
        const TapeNode& n = nodes_[static_cast<std::size_t>(made)];
        if (n.step >= 0) return made;
        v = n.in[0];
    }
}

// Recomputes the nodes of a run, before the backward of the nodes that need them.
void LayerTape::recompute(std::size_t last) {
    const auto neutral = [&](std::size_t i) { return nodes_[i].step < 0; };
    std::size_t first = last;
    while (first > 0 && (recomputed_[first - 1] || neutral(first - 1) || is_weights(nodes_[first - 1])))
        --first;
    for (std::size_t i = first; i <= last; ++i) {
        if (!recomputed_[i]) continue;
        recomputed_[i] = 0;
        const LayerStep forward = list_.steps[static_cast<std::size_t>(nodes_[i].step)];
        list_.steps.push_back(forward);
        LayerStep& s = list_.steps.back();
        s.phase = LayerPass::backward;
        s.recomputed = true;
        s.kept.clear();
        for (std::size_t j = 0; j < nodes_.size(); ++j)
            for (const TapeSaved& saved : nodes_[j].saves)
                if (!saved.kept && made_by(saved, static_cast<int>(j)) == static_cast<int>(i))
                    s.kept.push_back(kept_tensor(saved));
    }
}

KeptTensor LayerTape::kept_tensor(const TapeSaved& s) const {
    const TensorId a = s.activation.id;
    if (s.needed >= 0) return {tensor(s.value).name, a, s.bytes, tensor(s.value).value};
    const std::string_view full = name_of(a);
    std::string name(full.substr(full.rfind('.') + 1));
    return {std::move(name), a, s.bytes};
}

void LayerTape::backward() {
    find_recomputed();
    name_apart();
    for (std::size_t j = 0; j < nodes_.size(); ++j)
        for (const TapeSaved& s : nodes_[j].saves)
            if (s.kept)
                list_
                    .steps[static_cast<std::size_t>(
                        nodes_[static_cast<std::size_t>(made_by(s, static_cast<int>(j)))].step)]
                    .kept.push_back(kept_tensor(s));
    const std::vector<TapeNode> nodes = nodes_;
    Value last = -1;
    for (const TapeNode& n : nodes)
        if (n.kind != TapeKind::weights_again) last = n.out.empty() ? last : n.out[0];
    grads_.assign(values_.size(), -1);
    set_grad(last, put(gradient_of(last)));
    for (std::size_t i = nodes.size(); i-- > 0;) {
        // The run of nodes that are recomputed ends here.
        if (recomputed_[i]) recompute(i);
        back(nodes[i]);
        if (nodes[i].saves.empty()) continue;
        std::vector<KeptTensor>& freed = list_.steps.back().freed;
        for (const TapeSaved& s : nodes[i].saves) freed.push_back(kept_tensor(s));
    }
}

void LayerTape::back(const TapeNode& n) {
    if (n.step >= 0) block_ = list_.steps[static_cast<std::size_t>(n.step)].block;
    if (is_weights(n)) return back_weights(n);
    if (grad(n.out[0]) < 0 && n.kind != TapeKind::product && n.kind != TapeKind::kernel) return;
    switch (n.kind) {
    case TapeKind::product: return back_product(n);
    case TapeKind::kernel: return back_kernel(n);
    case TapeKind::residual:
        set_grad(n.in[0], grad(n.out[0]));
        set_grad(n.in[1], grad(n.out[0]));
        return;
    case TapeKind::leave:
        // If tokens are cut, the products before it need the gradient of all of them.
        if (const LayerCall* gather = call_of(back_of(n), LayerPass::backward, n.part))
            back_gather(n, *gather);
        else
            set_grad(n.in[0], grad(n.out[0]));
        return;
    case TapeKind::slice:
        back_gather(n, *call_of(What::gradients_before_the_mlp, LayerPass::backward, n.part));
        return;
    case TapeKind::copies:
    case TapeKind::view: {
        const LayerTensor& of_result = tensor(grad(n.out[0]));
        LayerTensor g = gradient_of(n.in[0]);
        g.name = of_result.name, g.value = of_result.value;
        set_grad(n.in[0], put(std::move(g)));
        return;
    }
    case TapeKind::branch: {
        const LayerTensor own = tensor(grad(n.out[0])), other = tensor(grad(n.in[0])),
                          sum = gradient_of(n.in[0]);
        LayerStep& s = emit(LayerPass::backward, LayerOp::residual, block_,
                            What::gradients_of_both_ways_added, {other, own}, {sum});
        s.work = {What::added_to_the_residual_stream, n.part, KernelPass::input_grad, LayerRate::none};
        grad(n.in[0]) = put(sum);
        return;
    }
    case TapeKind::enter:
    case TapeKind::gather:
    case TapeKind::exchange:
    case TapeKind::sum: return back_collective(n);
    case TapeKind::weights_in:
    case TapeKind::weights_again: return;
    }
}

// Gathers a tensor a second time where only the cut one is kept; once, for all nodes that need it.
void LayerTape::fetch(const TapeNode& n) {
    for (const Value v : n.in) {
        const int made = makers_[static_cast<std::size_t>(v)];
        if (made < 0 || nodes_[static_cast<std::size_t>(made)].kind != TapeKind::gather) continue;
        const TapeNode g = nodes_[static_cast<std::size_t>(made)];
        // Two mixers side by side have one input, which the first of them keeps.
        const bool whole = std::ranges::any_of(nodes_, [&](const TapeNode& any) {
            return std::ranges::any_of(any.saves,
                                       [&](const TapeSaved& s) { return s.needed == v && s.value == v; });
        });
        if (whole || std::find(fetched_.begin(), fetched_.end(), made) != fetched_.end()) continue;
        fetched_.push_back(made);
        LayerStep s = list_.steps[static_cast<std::size_t>(g.step)];
        s.phase = LayerPass::backward;
        s.recomputed = true;
        s.kept.clear();
        for (const Entered& e : enters_)
            if (e.node == made && e.again != What::none) s.what = e.again;
        list_.steps.push_back(std::move(s));
    }
}

void LayerTape::back_product(const TapeNode& n) {
    std::vector<LayerTensor> gradients, weights, weight_gradients;
    for (const Value v : n.weights) weights.push_back(tensor(v));
    for (const Value v : n.out)
        if (grad(v) >= 0) gradients.push_back(tensor(grad(v)));
    fetch(n);
    const Value x = n.in[0];
    LayerTensor dx = gradient_of(x);
    for (const GroupKind group : {GroupKind::tp, GroupKind::etp}) {
        const FactorCut left =
            !gradients.empty() && width_cut(gradients[0], group) ? FactorCut::inner : FactorCut::whole;
        const LayerDim& rows = weights[0].dims[weights[0].dims.size() - 2];
        const FactorCut right = rows.cut_by(group) ? FactorCut::inner : FactorCut::whole;
        if (product_case(left, right) == ProductCase::partial) dx.partial.push_back(group);
    }
    const LayerStep forward = list_.steps[static_cast<std::size_t>(n.step)];
    std::vector<LayerTensor> in = gradients;
    in.insert(in.end(), weights.begin(), weights.end());
    LayerStep& s = emit(LayerPass::backward, forward.op, block_, back_of(n), std::move(in), {dx});
    s.flops = forward.flops;
    s.work = forward.work, s.work.pass = KernelPass::input_grad;
    // Tokens are summed over, and every replica and cp rank has its own.
    in = {tensor(x)};
    in.insert(in.end(), gradients.begin(), gradients.end());
    for (LayerTensor d : weights) {
        d.name = "d" + d.name;
        d.bytes_per_number = bytes_of(t_.gradients);
        for (const GroupKind group : {GroupKind::tp, GroupKind::cp, GroupKind::ep, GroupKind::etp})
            if (tokens_cut(tensor(x), group) && !d.cut_by(group)) d.partial.push_back(group);
        const bool expert = d.dims.size() > 2;
        if (!expert && groups_[GroupKind::dp].degree > 1) d.partial.push_back(GroupKind::dp);
        if (expert && groups_[GroupKind::edp].degree > 1) d.partial.push_back(GroupKind::edp);
        weight_gradients.push_back(std::move(d));
    }
    LayerStep& last = emit(LayerPass::backward, LayerOp::matmul, block_, What::gradients_of_the_weights,
                           std::move(in), std::move(weight_gradients));
    last.flops = forward.flops;
    last.work = forward.work, last.work.pass = KernelPass::weight_grad;
    set_grad(x, put(std::move(dx)));
}

void LayerTape::back_kernel(const TapeNode& n) {
    const LayerStep forward = list_.steps[static_cast<std::size_t>(n.step)];
    if (forward.op == LayerOp::attention) fetch(n);
    std::vector<LayerTensor> in, out;
    for (const Value v : n.out)
        if (grad(v) >= 0) in.push_back(tensor(grad(v)));
    for (const TapeSaved& s : n.saves)
        if (s.needed >= 0 && std::find(n.out.begin(), n.out.end(), s.needed) == n.out.end())
            in.push_back(tensor(s.needed));
    const LayerTensor result = tensor(n.out[0]);
    const bool meets = forward.op == LayerOp::attention || forward.op == LayerOp::rotary;
    for (const Value v : n.in) {
        LayerTensor g = gradient_of(v);
        // The input is whole here and cut in the result: each rank has a summand from its part of the result.
        for (const GroupKind group : {GroupKind::tp, GroupKind::cp})
            if (meets && result.cut_by(group) && !g.cut_by(group)) g.partial.push_back(group);
        out.push_back(g);
        set_grad(v, put(std::move(g)));
    }
    LayerStep& s = emit(LayerPass::backward, forward.op, block_, back_of(n), std::move(in), std::move(out));
    s.flops = 2 * forward.flops;
    s.work = forward.work, s.work.pass = KernelPass::backward;
    s.bytes_moved = forward.bytes_moved * kBackwardFactor;
}

// Gathers the gradient of what comes before a node.
void LayerTape::back_gather(const TapeNode& n, const LayerCall& call) {
    LayerTensor whole = gradient_of(n.in[0]);
    LayerStep& s =
        emit(LayerPass::backward, LayerOp::all_gather, block_, call.what, {tensor(grad(n.out[0]))}, {whole});
    set_call(s, call);
    set_grad(n.in[0], put(std::move(whole)));
}

void LayerTape::back_collective(const TapeNode& n) {
    std::vector<LayerTensor> in, out;
    for (const Value v : n.out) in.push_back(tensor(grad(v) >= 0 ? grad(v) : v));
    for (const Value v : n.in) out.push_back(gradient_of(v));
    for (std::size_t i = 0; i < out.size(); ++i) set_grad(n.in[i], put(out[i]));
    What what = back_of(n);
    for (const Entered& e : enters_)
        if (n.kind == TapeKind::enter && e.node == makers_[static_cast<std::size_t>(n.out[0])]) what = e.back;
    const LayerCall& call = *call_of(what, LayerPass::backward, n.part);
    LayerStep& s =
        emit(LayerPass::backward, op_of(call.collective), block_, what, std::move(in), std::move(out));
    set_call(s, call);
}

}  // namespace pentamesh
