#include "core/memory/savings.h"
#include "core/plan/names.h"

namespace pentamesh {
namespace {

std::string_view axis_reason(Axis axis) {
    switch (axis) {
    case Axis::tp: return "cuts weight matrices, and the activations between two cut ones";
    case Axis::cp: return "cuts every activation along the sequence; weights are copied";
    case Axis::ep: return "gives each rank a part of the experts";
    case Axis::dp_shard: return "copies everything: nothing is sharded at ZeRO stage 0";
    case Axis::dp_replicate: return "copies everything: no memory saved, a process group more";
    case Axis::pp: return "gives each stage a part of the layers, and keeps several micro-batches in flight";
    }
    return "";
}

std::string_view zero_reason(int stage) {
    return stage == 1   ? "cuts the optimizer state over data-parallel ranks"
           : stage == 2 ? "cuts optimizer state and gradients over data-parallel ranks"
                        : "cuts optimizer state, gradients and parameters over data-parallel ranks";
}

std::string_view recompute_reason(const RecomputeChoice& choice) {
    if (choice == Recompute::selective) return "makes the attention core again in the backward pass";
    return choice.whole_layers() ? "keeps the input of each layer, makes the rest again in the backward pass"
                                 : "makes these modules again in the backward pass";
}

}  // namespace

std::string label_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "single GPU";
    case Saving::axis: return std::string(name_of(s.axis)) + " " + std::to_string(s.ranks);
    case Saving::sequence_parallel: return "sequence parallel";
    case Saving::zero: return "ZeRO-" + std::to_string(s.stage) + " over " + std::to_string(s.ranks);
    case Saving::recompute:
        if (!s.recompute.is_plain()) return "recompute " + words_of(s.recompute);
        return s.recompute.whole_layers() ? "full recompute" : "selective recompute";
    case Saving::offload: return "offload";
    }
    return {};
}

std::string_view reason_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "the whole model on one GPU";
    case Saving::axis: return axis_reason(s.axis);
    case Saving::sequence_parallel: return "cuts along the sequence what tp copies: norms' inputs, masks";
    case Saving::zero: return zero_reason(s.stage);
    case Saving::recompute: return recompute_reason(s.recompute);
    case Saving::offload: return "keeps a part in host memory";
    }
    return {};
}

}  // namespace pentamesh
