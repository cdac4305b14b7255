// Says what a mixer that scans shows to those who visit it (visit_scan, core/plan/mixers.h).
#pragma once

#include "core/model/layer_types.h"
#include "core/plan/tensor_id.h"

#include <cstdint>
#include <string_view>

namespace pentamesh {

// Counts the forward, for one token and all heads of the layer, without projections.
struct ScanFlops {
    double model = 0;        // counted as the model's: the recurrence
    double kernel = 0;       // computed by a chunked kernel with matrix units
    double state_bytes = 0;  // states written and read between chunks, fp32
};

// Takes no notice of anything: a visitor hides what it wants to see. `channels` are numbers of a token inside
// the mixer, which tensor parallelism cuts by heads, `unit` of them together (Megatron-LM ssm/mamba_mixer.py,
// ssm/gated_delta_net.py).
struct ScanVisitor {
    using Id = TensorId;
    using i64 = std::int64_t;

    // A size that tp must divide, in words; `megatron` if only Megatron asks for it.
    void divides(i64, std::string_view, bool = false) {}

    // Weights of products: from the layer's input to channels; the same by way of `rank` numbers, which are
    // whole on each rank; from the channels to numbers that are whole, and from these to channels; from the
    // channels to the layer's output.
    void input(Id, i64 /*channels*/, i64 /*unit*/ = 1) {}
    void low_rank(Id /*down*/, Id /*up*/, i64 /*rank*/, i64 /*channels*/, i64 /*unit*/) {}
    void from_channels(Id, i64 /*numbers*/, i64 /*channels*/) {}
    void to_channels(Id, i64 /*numbers*/, i64 /*channels*/) {}
    void output(Id, i64 /*channels*/, i64 /*unit*/ = 1) {}
    // Other weights: numbers that are cut with the channels, and those that each rank has.
    void columns(Id, i64 /*numbers*/, i64 /*unit*/ = 1) {}
    void whole(Id, i64 /*numbers*/) {}

    // Tensors that the backward needs, as `heads`, which are cut, of `dim` numbers; the last is the input of
    // the product out.
    void keeps(Id, i64 /*heads*/, i64 /*dim*/) {}
    void keeps_output(Id, i64 /*heads*/, i64 /*dim*/) {}

    void works(const ScanFlops&) {}
};

// Shows the scans of a layer of this type.
template <typename S>
void visit_scans(const Model& m, const LayerType& type, S& s) {
    if (type.mixer == MixerKind::linear && m.linear) visit_scan(*m.linear, m.hidden, s);
    if (type.has_mamba() && m.mamba) visit_scan(*m.mamba, m.hidden, s);
}

}  // namespace pentamesh
