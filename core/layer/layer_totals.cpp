// Sums over a layer's steps.
#include "core/layer/layer.h"
#include "core/plan/software.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

// Returns the bytes of activations that a step works on and that are not kept.
double working_bytes(const LayerStep& s) {
    double sum = 0;
    for (const std::vector<LayerTensor>* list : {&s.in, &s.out})
        for (const LayerTensor& t : *list) {
            const auto same = [&](const KeptTensor& k) { return k.value != 0 && k.value == t.value; };
            const bool kept = std::ranges::any_of(s.kept, same) || std::ranges::any_of(s.freed, same);
            if (!t.weight && !kept) sum += t.bytes();
        }
    return sum;
}

void add_calls(LayerTotals& totals, const LayerStep& s) {
    auto same = std::ranges::find_if(
        totals.calls, [&](const LayerCallSum& c) { return c.group == s.group && c.op == s.op; });
    if (same == totals.calls.end()) same = totals.calls.insert(same, {s.group, s.op, 0, 0});
    same->calls += s.calls;
    same->sent_bytes += s.sent_bytes;
}

}  // namespace

void sum_layer(LayerList& list) {
    LayerTotals t;
    double stash = 0;
    for (std::size_t i = 0; i < list.steps.size(); ++i) {
        LayerStep& s = list.steps[i];
        s.n = static_cast<int>(i) + 1;
        for (const KeptTensor& k : s.kept) stash += k.bytes;
        t.peak_bytes = std::max(t.peak_bytes, stash + working_bytes(s));
        for (const KeptTensor& k : s.freed) stash -= k.bytes;
        s.stash_bytes = std::max(stash, 0.0);
        const bool forward = s.phase == LayerPass::forward;
        if (forward) t.kept_bytes = s.stash_bytes;
        (forward ? t.flops_forward : t.flops_backward) += s.flops;
        (forward ? t.time_forward_s : t.time_backward_s) += s.per_step ? 0 : s.time_s;
        if (s.recomputed) t.flops_recomputed += s.flops;
        if (is_collective(s.op)) add_calls(t, s);
    }
    list.totals = std::move(t);
}

std::string_view name_of(LayerOp op) {
    static constexpr std::array<std::string_view, kEnumCount<LayerOp>> kNames{
        "matmul",   "norm",    "rotary",     "attention",      "activation", "router",     "permute",
        "residual", "dropout", "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "ring_send"};
    return kNames[static_cast<std::size_t>(op)];
}
std::string_view name_of(LayerPass pass) {
    return pass == LayerPass::forward ? "forward" : "backward";
}
std::string_view name_of(Notation notation) {
    static constexpr std::array<std::string_view, 3> kNames{"megatron", "dtensor", "jax"};
    return kNames[static_cast<std::size_t>(notation)];
}

Notation notation_of(Software software) {
    switch (framework_of(software)) {
    case Software::torchtitan:
    case Software::fsdp:
    case Software::automodel: return Notation::dtensor;
    case Software::maxtext: return Notation::jax;
    default: return Notation::megatron;
    }
}

LayerOp op_of(Collective collective) {
    static constexpr std::array kOps{LayerOp::all_reduce, LayerOp::all_gather, LayerOp::reduce_scatter,
                                     LayerOp::all_to_all, LayerOp::ring_send};
    return kOps[static_cast<std::size_t>(collective)];
}

Collective collective_of(LayerOp op) {
    switch (op) {
    case LayerOp::all_gather: return Collective::all_gather;
    case LayerOp::reduce_scatter: return Collective::reduce_scatter;
    case LayerOp::all_to_all: return Collective::all_to_all;
    case LayerOp::ring_send: return Collective::send_recv;
    default: return Collective::all_reduce;
    }
}

}  // namespace pentamesh
