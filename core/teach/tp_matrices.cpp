#include "core/teach/tp_matrices.h"

#include "core/base/text.h"
#include "core/comm/collective_time.h"
#include "core/explain/sequence_parallel.h"
#include "core/layer/calls.h"
#include "core/layer/layer.h"
#include "core/model/model.h"
#include "core/plan/software.h"
#include "core/step/compute.h"

#include <algorithm>

namespace pentamesh {

namespace {

// Names the calls of the way into a pair of matrices, and out of it.
struct Ways {
    What in = What::none, out = What::none;
};
Ways ways_of(TpPair pair) {
    switch (pair) {
    case TpPair::mlp: return {What::activations_before_the_mlp, What::activations_after_the_mlp};
    case TpPair::shared_experts:
        return {What::activations_before_the_shared_experts, What::activations_after_the_shared_experts};
    case TpPair::attention: return {What::activations_before_attention, What::activations_after_attention};
    }
    return {};
}

// Returns the type of most layers among those that `wanted` is true of, or -1.
template <typename F>
int most_layers(const Model& model, const LayerTypes& types, F&& wanted) {
    const LayerCounts counts = count_layers(model, types, 0, model.layers);
    int best = -1;
    for (int t = 0; t < types.size(); ++t)
        if (counts[t] > 0 && wanted(types[t]) && (best < 0 || counts[t] > counts[best])) best = t;
    return best;
}

// Chooses the pair and writes its sizes. Returns the type of layer that has it, or -1.
int choose_pair(const Model& m, std::int64_t tp, TpMatrices& out) {
    const LayerTypes types = layer_types(m);
    out.gated = is_gated(m.ffn_kind);
    switch (m.ffn_kind) {
    case FfnKind::swiglu: out.between = "silu"; break;
    case FfnKind::geglu:
    case FfnKind::gelu: out.between = "gelu"; break;
    case FfnKind::relu2: out.between = "relu²"; break;
    case FfnKind::xielu: out.between = "xielu"; break;
    }
    int type = most_layers(m, types, [](const LayerType& t) { return t.ffn_width > 0 && !t.is_moe(); });
    if (type < 0) type = most_layers(m, types, [](const LayerType& t) { return t.ffn_width > 0; });
    if (type >= 0) {
        out.pair = TpPair::mlp;
        out.columns = out.rows = types[type].ffn_width;
        return type;
    }
    if (m.moe && m.moe->shared_experts > 0) {
        type = most_layers(m, types, [](const LayerType& t) { return t.is_moe(); });
        out.pair = TpPair::shared_experts;
        out.columns = out.rows = m.moe->shared_experts * m.moe->shared_expert_ffn;
        return type;
    }
    if (m.attention == AttentionKind::mla) return -1;
    type = most_layers(m, types, [](const LayerType& t) { return t.attends() && !t.shares_kv; });
    if (type < 0) return type;
    const LayerType& t = types[type];
    out.pair = TpPair::attention;
    out.between = "attention";
    out.gated = false;
    out.columns =
        t.heads * t.head_dim + t.kv_heads * (t.head_dim + (t.keys_as_values ? 0 : t.value_head_dim));
    out.rows = t.heads * t.value_head_dim;
    out.kv_copies = t.kv_heads > 0 ? std::max<std::int64_t>(tp / t.kv_heads, 1) : 1;
    return type;
}

// Counts what a layer says over tp, and times the pair's own calls of the forward.
TpSum sum_of(const Plan& plan, const Evaluation& e, int type, TpPair pair, bool sliced) {
    Plan p = plan;
    p.layout.sequence_parallel = sliced;
    const Ways ways = ways_of(pair);
    TpSum out;
    out.sliced = sliced;
    for (const LayerStep& s : timed_layer(p, e.mesh, e.groups, type).steps) {
        if (!is_collective(s.op) || s.group != GroupKind::tp || s.block == LayerBlock::weights || s.per_step)
            continue;
        (is_gathered_again(s.what) ? out.gathered_again : s.recomputed ? out.repeated : out.calls) += s.calls;
        if (s.phase != LayerPass::forward) continue;
        if (s.what == ways.in && s.op == LayerOp::all_gather)
            out.gather_bytes += s.sent_bytes, out.gather_s += s.time_s;
        if (s.what == ways.out && (s.op == LayerOp::all_reduce || s.op == LayerOp::reduce_scatter))
            out.sum_bytes += s.sent_bytes, out.sum_s += s.time_s;
    }
    return out;
}

// Returns the share of the plan's own calls about this that is waited for; < 0 where it has none.
double waited_of(const Comm& comm, int type, const Ways& ways) {
    double all_s = 0, waits_s = 0;
    for (const Operation& o : comm.operations)
        if (o.group == GroupKind::tp && has(o.types, type) && (o.what == ways.in || o.what == ways.out))
            all_s += o.time_s, waits_s += o.exposed_s;
    return all_s > 0 ? waits_s / all_s : -1;
}

// Times the all-reduce of the same result over another number of GPUs.
std::optional<TpOther> other_of(const Plan& plan, const TpMatrices& m) {
    TpOther out{.tp = m.tp() == 2 ? 4 : 2};
    const std::int64_t heads = plan.model.heads;
    if (m.rows % out.tp != 0 || heads % out.tp != 0) return std::nullopt;
    Plan p = plan;
    p.layout.tp = out.tp;
    const Mesh mesh = build_mesh(p);
    if (mesh.world <= 0) return std::nullopt;
    const GroupSummary group = summarize(mesh, p.cluster, GroupKind::tp);
    if (group.degree != out.tp) return std::nullopt;
    Operation o;
    o.group = GroupKind::tp, o.collective = Collective::all_reduce, o.group_size = out.tp;
    o.message_bytes = m.result_bytes;
    out.sum_bytes = sent_bytes(o.collective, o.group_size, o.message_bytes);
    out.sum_s = call_time(p, find_route(p, mesh, group), o);
    out.tier = group.slowest_tier;
    return out;
}

}  // namespace

TpMatrices tp_matrices(const Plan& plan, const Evaluation& e, std::int64_t rank) {
    TpMatrices out;
    out.ranks = group_members(e.mesh, GroupKind::tp, rank);
    const int type = choose_pair(plan.model, out.tp(), out);
    if (type < 0) {
        out.why_not =
            "No layer of this model has two matrices of which tp cuts the first into columns and the "
            "second into rows, one right after the other.";
        return out;
    }
    const Training& t = plan.training;
    out.tokens = t.micro_batch * t.sequence_length / std::max<std::int64_t>(degrees_of(plan, e.mesh).cp, 1);
    out.hidden = plan.model.hidden;
    out.result_bytes =
        static_cast<double>(out.tokens) * static_cast<double>(out.hidden) * wire_bytes(t.compute);
    out.own_sliced = degrees_of(plan, e.mesh).sequence_parallel;
    out.whole = sum_of(plan, e, type, out.pair, false);
    out.slices = sum_of(plan, e, type, out.pair, true);
    out.waited = waited_of(e.comm, type, ways_of(out.pair));
    out.tier = e.groups[GroupKind::tp].slowest_tier;
    const SoftwareFacts& software = facts_of(t.software);
    out.software = software.name;
    out.is_megatron = is_megatron(t.software);
    out.keeps_inputs = software.inputs_whole;
    out.other = other_of(plan, out);
    return out;
}

}  // namespace pentamesh
