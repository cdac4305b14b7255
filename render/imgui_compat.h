// The one place that knows how Dear ImGui changed between 1.86 and 1.92.
#pragma once

#include "render/input.h"

namespace pentamesh {

// Feeds synthetic input to the current context before NewFrame; positions are multiplied by `scale`.
void feed_input(const SyntheticInput& input, Vec2 size, float scale, double seconds_since_last);
// Where the platform backend reports keys by its own codes, nothing; called once after the backend has
// started.
void prepare_synthetic_keys();

}  // namespace pentamesh
