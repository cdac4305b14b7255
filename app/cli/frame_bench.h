// Measures the cost of a frame of the whole window, and that of Dear ImGui's own demo window in the same
// process.
#pragma once

#include "core/io/presets.h"
#include "render/surface.h"

#include <cstdint>
#include <vector>

namespace pentamesh::ui {

struct FrameCost {
    std::int64_t gpus = 0;
    // Each time is for building and submitting a frame, a median, each after a pause as between two refreshes
    // of a monitor. The mouse moves over the mesh; Dear ImGui's demo is in the same surface; `anew` draws all
    // parts of the window again, as after an edit.
    double cpu_ms = 0, demo_cpu_ms = 0, anew_cpu_ms = 0;
    int vertices = 0;  // most of a frame of the first
};
// The timeline fills the window, panned and zoomed through all of its depths.
struct TimelineFrameCost {
    int stages = 0, microbatches = 0, chunks = 1;
    std::size_t ops = 0;
    double replay_ms = 0;  // of the schedule only
    double cpu_ms = 0;     // a frame, median over the way in and along
    double worst_ms = 0;
    int vertices = 0;  // most of a frame
};
struct FrameBench {
    double first_frame_ms = 0;  // wall clock, from nothing but the presets to the first frame drawn
    std::vector<FrameCost> frames;
    std::vector<TimelineFrameCost> timelines;  // 8 x 32 and 64 x 512 x 8
};
// Measures plans of 8, 1,024, 16,384 and 131,072 GPUs at 1600 x 900, and the timelines. Throws Error of kind
// io without EGL.
[[nodiscard]] FrameBench measure_frames(const Presets& presets, const FontFiles& fonts);

}  // namespace pentamesh::ui
