// What a frame of the whole window costs, beside Dear ImGui's own demo window in the same process.
#pragma once

#include "core/presets.h"
#include "render/surface.h"

#include <cstdint>
#include <vector>

namespace pentamesh::ui {

struct FrameCost {
    std::int64_t gpus = 0;
    double cpu_ms = 0, demo_cpu_ms = 0;  // built and submitted; medians
    int vertices = 0;
};
struct FrameBench {
    double first_frame_ms = 0;  // wall clock, from nothing but the presets to the first frame drawn
    std::vector<FrameCost> frames;
};
// Plans of 8, 1,024, 16,384 and 131,072 GPUs at 1600 x 900. Error of kind io where there is no EGL.
[[nodiscard]] FrameBench measure_frames(const Presets& presets, const FontFiles& fonts);

}  // namespace pentamesh::ui
