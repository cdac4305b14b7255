#include "app/ui/frame_bench.h"

#include "app/ui/shell.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace pentamesh::ui {

namespace {

constexpr int kFrames = 30;

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

// The largest cluster is the 16,384-GPU plan with eight times the data parallelism.
Plan plan_of(const Presets& presets, std::int64_t gpus) {
    if (gpus == 8) return presets.plan("mesh-8");
    if (gpus == 1024) return presets.plan("zoom-1024");
    Plan p = presets.plan("llama-3.1-405b-16k");
    const std::int64_t k = gpus / p.cluster.gpus;
    p.cluster.gpus = gpus;
    p.cluster.tiers.back().domain = gpus;
    p.layout.dp_shard *= k;
    p.training.global_batch *= k;
    return p;
}

FrameCost cost_of(Offscreen& surface, const Presets& presets, std::int64_t gpus) {
    Shell shell(presets, plan_of(presets, gpus), {});
    SyntheticInput input;
    std::vector<double> build, submit;
    for (int i = 0; i < kFrames + 5; ++i) {
        input.mouse = {700.0f + static_cast<float>(i), 220};  // moving over the mesh, as a person does
        surface.frame(input, i / 60.0, [&](const FrameInfo& info) { shell.frame(info); });
        if (i < 5) continue;
        build.push_back(surface.last_cost().build_s);
        submit.push_back(surface.last_cost().submit_s);
    }
    const int vertices = surface.last_cost().vertices;
    const Offscreen::Cost demo = measure_demo(surface);
    return {gpus, (median(build) + median(submit)) * 1e3, (demo.build_s + demo.submit_s) * 1e3, vertices};
}

}  // namespace

FrameBench measure_frames(const Presets& presets, const FontFiles& fonts) {
    FrameBench out;
    const auto begun = std::chrono::steady_clock::now();
    Offscreen surface({1600, 900}, 1, fonts);
    {
        Shell shell(presets, presets.plan("llama-3.1-405b-16k"), {});
        surface.frame({}, 0, [&](const FrameInfo& info) { shell.frame(info); });
    }
    out.first_frame_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    for (const std::int64_t gpus : {8, 1024, 16384, 131072})
        out.frames.push_back(cost_of(surface, presets, gpus));
    return out;
}

}  // namespace pentamesh::ui
