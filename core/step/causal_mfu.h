// Computes MFU without the attention that a causal mask leaves out.
#pragma once

#include "core/step/step.h"

namespace pentamesh {

[[nodiscard]] inline double mfu_causal(const Step& s) {
    return s.time_s > 0 ? s.ideal_s / s.time_s : 0;
}
// Returns true if attention under a mask, half of which no kernel computes, is above a fifth of the model's
// FLOPs: MFU (causal) is then shown next to MFU.
[[nodiscard]] inline bool shows_causal_mfu(const Step& s) {
    constexpr double kShown = 0.2;
    return mfu_causal(s) < (1 - kShown / 2) * s.mfu;
}

}  // namespace pentamesh
