#include "core/layer/layer_words.h"

#include "core/base/text.h"
#include "core/layer/layer.h"
#include "core/layer/layer_tape.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

namespace pentamesh {

std::string_view words_of(What what) {
#define PENTAMESH_WORDS(enumerator, words) words,
    static constexpr EnumArray<What, std::string_view> kWords{PENTAMESH_WHATS(PENTAMESH_WORDS)};
#undef PENTAMESH_WORDS
    return kWords[what];
}

// Chooses names for the program: a tensor never takes the name of one that is still read later.

namespace {

// Makes "u3" of "u2" and 3.
std::string numbered(std::string name, int n) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    return name + std::to_string(n);
}

}  // namespace

// Returns true if the backward recomputes the node and the maker of its input in one go.
bool LayerTape::runs_with(int maker, std::size_t node) const {
    for (std::size_t i = static_cast<std::size_t>(maker); i <= node; ++i)
        if (!recomputed_[i] && nodes_[i].step >= 0 && !is_weights(nodes_[i])) return false;
    return true;
}

// Returns the tensors that the backward reads, by LayerTensor::value.
std::vector<char> LayerTape::read_behind() const {
    std::vector<char> read(static_cast<std::size_t>(made_) + 1, 0);
    const auto mark = [&](Value v) { read[static_cast<std::size_t>(tensor(v).value)] = 1; };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const TapeNode& n = nodes_[i];
        for (const TapeSaved& s : n.saves)
            if (s.needed >= 0) mark(s.needed), mark(s.value);
        for (const Value v : n.in) {
            const int made = makers_[static_cast<std::size_t>(v)];
            if (n.kind == TapeKind::product) mark(v);
            if (recomputed_[i] && (made < 0 || !runs_with(made, i))) mark(v);
            // These are gathered a second time for the backward.
            if (made >= 0 && nodes_[static_cast<std::size_t>(made)].kind == TapeKind::gather)
                for (const Value cut : nodes_[static_cast<std::size_t>(made)].in) mark(cut);
        }
    }
    return read;
}

// If a step would take the name of a tensor that is read after it, its result gets a number. Tensors made
// of that under the same name ("y = all_to_all(y)", "u_full") follow.
void LayerTape::name_apart() {
    const auto count = static_cast<std::size_t>(made_) + 1;
    const std::vector<char> behind = read_behind();
    std::vector<std::size_t> last(count, 0);  // node that reads the value in the forward
    std::vector<std::string> old(count), now(count);
    const auto id = [&](Value v) { return static_cast<std::size_t>(tensor(v).value); };
    for (const LayerTensor& t : values_) old[static_cast<std::size_t>(t.value)] = t.name;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].step >= 0)
            for (const Value v : nodes_[i].in) last[id(v)] = i;
    now = old;
    const auto take = [&](std::size_t v, std::size_t at, const TapeNode& n) {
        for (const Value in : n.in) {
            const std::string &was = old[id(in)], &is = now[id(in)];
            if (was != is && (old[v] == was || old[v].starts_with(was + "_")))
                now[v] = is + old[v].substr(was.size());
        }
        const auto held = [&](const std::string& name) {
            for (std::size_t u = 1; u < v; ++u)
                if (now[u] == name && (behind[u] || last[u] > at)) return true;
            return false;
        };
        if (!held(now[v])) return;
        int number = 2;
        while (std::ranges::find(now, numbered(now[v], number)) != now.end()) ++number;
        now[v] = numbered(now[v], number);
    };
    std::size_t seen = 1;  // x
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (const Value v : nodes_[i].out) {
            if (id(v) <= seen || tensor(v).weight) continue;
            seen = id(v);
            take(seen, i, nodes_[i]);
        }
    for (LayerTensor& t : values_)
        if (t.value > 0 && !t.weight) t.name = now[static_cast<std::size_t>(t.value)];
    for (const TapeNode& n : nodes_) {
        if (n.step < 0) continue;
        LayerStep& s = list_.steps[static_cast<std::size_t>(n.step)];
        for (std::size_t i = 0; i < n.in.size(); ++i) s.in[i].name = tensor(n.in[i]).name;
        for (std::size_t i = 0; i < n.out.size(); ++i) s.out[i].name = tensor(n.out[i]).name;
    }
}

// Writes tensors and steps in three notations: Megatron's words, DTensor's placements, JAX's cut dimensions.

namespace {

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

std::string sums_text(const LayerTensor& t) {
    return join(t.partial, ", ");
}

// Returns "[S_cp_tp, B_dp, H]"; weights are inputs by outputs, as in a product.
std::string jax_text(const LayerTensor& t, bool dp) {
    std::vector<std::string> parts;
    for (const LayerDim& d : t.dims) {
        std::string p = upper(d.symbol);
        if (d.cuts.empty() && d.name == DimName::batch && dp) p += "_dp";
        for (const LayerCut& c : d.cuts) p += "_" + std::string(name_of(c.group));
        parts.push_back(std::move(p));
    }
    if (t.weight && parts.size() > 1) std::swap(parts[parts.size() - 1], parts[parts.size() - 2]);
    std::string out = t.name + "[";
    for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? ", " : "") + parts[i];
    out += "]";
    if (!t.partial.empty()) out += " {sum over " + sums_text(t) + "}";
    return out;
}

std::string megatron_text(const LayerTensor& t) {
    std::string out = t.name + " [";
    for (std::size_t i = 0; i < t.dims.size(); ++i) {
        const LayerDim& d = t.dims[i];
        out += (i > 0 ? ", " : "") + std::string(d.symbol);
        const std::string by = join(d.cuts, " ", [](const LayerCut& c) { return name_of(c.group); });
        if (!by.empty()) out += "/" + (d.cuts.size() > 1 ? "(" + by + ")" : by);
    }
    out += "]";
    if (!t.partial.empty()) out += ", to be reduced over " + sums_text(t);
    return out;
}

std::vector<GroupKind> axes_of(const LayerTensor& t) {
    std::vector<GroupKind> axes;
    for (const LayerDim& d : t.dims)
        for (const LayerCut& c : d.cuts)
            if (std::ranges::find(axes, c.group) == axes.end()) axes.push_back(c.group);
    for (const GroupKind p : t.partial)
        if (std::ranges::find(axes, p) == axes.end()) axes.push_back(p);
    return axes;
}

// Says what the ranks of a group have of a tensor: all of it, a summand, or a piece of dimension `cut`.
struct Placement {
    bool partial = false;
    std::optional<std::size_t> cut;
    bool operator==(const Placement&) const = default;
};
Placement find_placement(const LayerTensor& t, GroupKind group) {
    if (t.partial_over(group)) return {true, {}};
    for (std::size_t i = 0; i < t.dims.size(); ++i)
        if (t.dims[i].cut_by(group)) return {false, i};
    return {};
}

std::string dtensor_placement(const LayerTensor& t, GroupKind group) {
    const Placement p = find_placement(t, group);
    return p.cut ? "Shard(" + std::to_string(*p.cut) + ")" : p.partial ? "Partial()" : "Replicate()";
}

// `dp` says that every replica has its own samples, which the tensor's own sizes leave out.
std::string dtensor_text(const LayerTensor& t, bool dp) {
    std::string out;
    for (std::size_t i = 0; dp && !t.weight && i < t.dims.size(); ++i)
        if ((t.dims[i].name == DimName::batch || t.dims[i].name == DimName::tokens)
            && !t.cut_by(GroupKind::dp))
            out = "dp=Shard(" + std::to_string(i) + ")";
    for (const GroupKind group : axes_of(t))
        out += (out.empty() ? "" : ", ") + std::string(name_of(group)) + "=" + dtensor_placement(t, group);
    return t.name + " (" + (out.empty() ? "Replicate()" : out) + ")";
}

std::string names_of(const std::vector<LayerTensor>& list, bool weights) {
    std::string out;
    for (const LayerTensor& t : list)
        if (t.weight == weights) out += (out.empty() ? "" : ", ") + t.name;
    return out;
}

// Returns Megatron's names for these steps.
std::string megatron_call(const LayerStep& s) {
    const bool in_sequence = !s.in.empty() && s.group == GroupKind::tp;
    switch (s.op) {
    case LayerOp::matmul: return "linear";
    case LayerOp::norm: return "layernorm";
    case LayerOp::rotary: return "apply_rotary_pos_emb";
    case LayerOp::attention: return "core_attention";
    case LayerOp::activation: return "activation_func";
    case LayerOp::router: return "router";
    case LayerOp::permute:  // a backward has its forward's name
        return s.what == What::tokens_sorted_by_expert || s.what == What::gradients_back_in_order
                   ? "permute"
                   : "unpermute";
    case LayerOp::residual: return "bias_dropout_add";
    case LayerOp::dropout: return "dropout";
    case LayerOp::all_gather:
        return in_sequence ? "gather_from_sequence_parallel_region"
                           : "all_gather_" + std::string(name_of(s.group));
    case LayerOp::reduce_scatter:
        return in_sequence ? "reduce_scatter_to_sequence_parallel_region"
                           : "reduce_scatter_" + std::string(name_of(s.group));
    case LayerOp::all_reduce:
        return in_sequence ? s.phase == LayerPass::forward ? "reduce_from_tensor_model_parallel_region"
                                                           : "copy_to_tensor_model_parallel_region_backward"
                           : "all_reduce_" + std::string(name_of(s.group));
    case LayerOp::all_to_all: return "all_to_all_" + std::string(name_of(s.group));
    case LayerOp::ring_send: return "ring_exchange_" + std::string(name_of(s.group));
    }
    return {};
}

std::string call_of(const LayerStep& s, Notation notation) {
    if (notation == Notation::megatron) return megatron_call(s);
    std::string name(name_of(s.op));
    if (s.op == LayerOp::activation) name = "activate";
    return name;
}

// Returns true if a redistribution describes the step: an exchange of tokens leaves them cut as they were.
bool is_redistribution(const LayerStep& s) {
    if (s.op == LayerOp::ring_send || s.in.empty() || s.out.empty()) return false;
    return find_placement(s.in[0], s.group) != find_placement(s.out[0], s.group);
}

std::string redistributed(const LayerStep& s) {
    std::string out;
    for (std::size_t i = 0; i < s.out.size() && i < s.in.size(); ++i)
        out += (i > 0 ? ", " : "") + s.in[i].name + ".redistribute(" + std::string(name_of(s.group)) + "="
               + dtensor_placement(s.out[i], s.group) + ")";
    return out;
}

}  // namespace

std::string placement_of(const LayerTensor& t, GroupKind group) {
    const Placement p = find_placement(t, group);
    return p.cut ? "shard(" + std::to_string(*p.cut) + ")" : p.partial ? "partial" : "replicate";
}

std::string text_of(const LayerTensor& tensor, Notation notation, bool dp) {
    if (notation == Notation::jax) return jax_text(tensor, dp);
    return notation == Notation::dtensor ? dtensor_text(tensor, dp) : megatron_text(tensor);
}

std::string line_of(const LayerStep& s, Notation notation, bool dp) {
    std::string left = names_of(s.out, false);
    if (left.empty()) left = names_of(s.out, true);
    if (is_collective(s.op)) {
        const std::string in = names_of(s.in, !s.in.empty() && s.in[0].weight);
        if (notation == Notation::dtensor && is_redistribution(s)) return left + " = " + redistributed(s);
        if (notation == Notation::megatron) return left + " = " + call_of(s, notation) + "(" + in + ")";
        return left + " = " + call_of(s, notation) + "(" + in + ", " + std::string(name_of(s.group)) + ")";
    }
    const bool products = s.op == LayerOp::matmul || s.op == LayerOp::router;
    if (products && !s.in.empty() && !s.out.empty()) {
        // JAX multiplies by inputs by outputs; PyTorch keeps outputs by inputs and multiplies by the
        // transpose.
        const bool torch = notation != Notation::jax;
        if (s.out[0].weight) {
            std::string gradients;
            for (std::size_t i = 1; i < s.in.size(); ++i) gradients += (i > 1 ? ", " : "") + s.in[i].name;
            if (torch && s.in.size() > 2) gradients = "(" + gradients + ")";
            return left + " = "
                   + (torch ? gradients + ".T @ " + s.in[0].name : s.in[0].name + ".T @ " + gradients);
        }
        std::string weights;
        for (const LayerTensor& t : s.in) {
            if (!t.weight) continue;
            const bool back = s.phase == LayerPass::backward && !s.recomputed;
            weights += (weights.empty() ? "" : ", ")
                       + (!torch && !back ? jax_text(t, dp) : t.name + (back == torch ? "" : ".T"));
        }
        return left + " = " + names_of(s.in, false) + " @ " + weights;
    }
    if (s.op == LayerOp::residual && s.in.size() > 1)
        return left + " = " + s.in[0].name + " + " + s.in[1].name;
    const bool back = s.phase == LayerPass::backward && !s.recomputed;
    return left + " = " + call_of(s, notation) + (back ? "_backward(" : "(") + names_of(s.in, false) + ")";
}

std::string sentence_of(const LayerStep& s) {
    const std::string group(name_of(s.group)), n = with_commas(s.group_size);
    std::string more = s.recomputed ? " Again: the forward did not keep it." : "";
    if (s.per_step)
        more += s.per_run ? " Once after each run of micro-batches." : " Once in a training step.";
    const bool cuts = !s.out.empty() && s.out[0].cut_by(s.group);
    switch (s.op) {
    case LayerOp::all_gather:
        return sentence("Each of the ", n, " ranks of ", group, " has a piece and gets those of the others.")
               + more;
    case LayerOp::reduce_scatter:
        return sentence("Every rank of ", group,
                        " holds a summand of all of it: one reduce-scatter adds the ", n,
                        cuts ? " up and leaves each rank its piece." : " up.")
               + more;
    case LayerOp::all_reduce:
        return sentence("Every rank of ", group, " holds a summand: one all-reduce adds the ", n,
                        " up, and all have the sum.")
               + more;
    case LayerOp::all_to_all:
        return sentence("Each of the ", n, " ranks of ", group, " sends every other one its piece.") + more;
    case LayerOp::ring_send:
        return sentence("Blocks go round the ring of the ", n, " ranks of ", group, ", ",
                        count_text(std::llround(s.calls), "message"), " each.")
               + more;
    default: break;
    }
    if (s.out.empty()) return std::string(words_of(s.what)) + "." + more;
    std::string what(words_of(s.what));
    if (!what.empty()) what[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(what[0])));
    const LayerTensor& t = s.out[0];
    if (!t.partial.empty() && !t.weight)
        return what + ": what is summed over is cut by " + sums_text(t) + ", so each rank has a summand."
               + more;
    const std::vector<GroupKind> axes = axes_of(t);
    std::string by;
    for (const GroupKind a : axes)
        if (!t.partial_over(a)) by += (by.empty() ? "" : " and ") + std::string(name_of(a));
    return what
           + (by.empty() ? ": no axis of a replica cuts it, nothing is sent."
                         : ": cut by " + by + ", nothing is sent.")
           + more;
}

}  // namespace pentamesh
