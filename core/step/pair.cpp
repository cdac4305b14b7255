#include "core/step/pair.h"

#include <algorithm>

namespace pentamesh {

PairTimes time_pair(const LayerPair& p) {
    PairTimes out;
    const double backward = p.experts.input_grad + p.experts.weight_grad;
    // Hides a call behind so many seconds of compute; returns those that are used up.
    const auto hide = [&](PairCall call, double room) {
        out.hidden[call] = std::min(p.call[call], std::max(room, 0.0));
        return p.rate * out.hidden[call];
    };
    hide(PairCall::gradients_to_experts, p.rest.forward);
    const double used = hide(PairCall::tokens_to_experts, backward);
    // The gradients leave when they are made and the wire is free: at the earliest while the weights'
    // gradients are made, at the latest when the forward's experts begin.
    const double left = backward - std::max(used, p.splits_backward ? p.experts.input_grad : backward);
    const double behind_backward =
        std::min(hide(PairCall::gradients_from_experts, left + p.experts.forward), left);
    hide(PairCall::tokens_from_experts, p.rest.input_grad + p.rest.weight_grad);

    const auto slowed = [&](PairCall a, PairCall b) {
        return (1 - p.rate) * (out.hidden[a] + out.hidden[b]);
    };
    const double by_backward = (1 - p.rate) / p.rate * behind_backward;
    out.slowed_forward =
        slowed(PairCall::gradients_to_experts, PairCall::gradients_from_experts) - by_backward;
    out.slowed_backward = slowed(PairCall::tokens_to_experts, PairCall::tokens_from_experts) + by_backward;
    return out;
}

}  // namespace pentamesh
