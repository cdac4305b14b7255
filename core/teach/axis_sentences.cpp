#include "core/teach/axis_sentences.h"

#include <algorithm>
#include <array>

namespace pentamesh {

std::string_view sentence_of(Axis axis) {
    switch (axis) {
    case Axis::tp:
        return "tp cuts every layer through its width: each GPU has a part of every matrix, and their "
               "results "
               "are added up.";
    case Axis::cp: return "cp cuts each sample through its tokens, attention included: for a long context.";
    case Axis::ep:
        return "ep deals out the experts of a layer: each GPU keeps a few, and tokens travel to them.";
    case Axis::dp_shard: return "dp_shard are the copies that share out one state; ZeRO says how much of it.";
    case Axis::dp_replicate:
        return "dp_replicate are the copies that share nothing: each has its own part of the batch.";
    case Axis::pp:
        return "pp cuts the stack between layers: each GPU keeps whole layers and hands on what they make.";
    }
    return {};
}

std::string_view sentence_of_zero(int stage) {
    static constexpr std::array<std::string_view, 4> kRungs{
        "ZeRO-0: every copy keeps all of the state.", "ZeRO-1: the copies share out the optimizer's state.",
        "ZeRO-2: the copies share out the optimizer's state and the gradients.",
        "ZeRO-3: the copies share out the optimizer's state, the gradients and the weights, which are "
        "gathered "
        "when they are used."};
    return kRungs[static_cast<std::size_t>(std::clamp(stage, 0, 3))];
}

}  // namespace pentamesh
