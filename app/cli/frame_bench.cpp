#include "app/cli/frame_bench.h"

#include "app/ui/shell/shell.h"
#include "core/pipeline/schedules/schedule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace pentamesh::ui {

namespace {

constexpr int kFrames = 30;

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

// Waits as a window does between two frames: the last one is on the screen, and there is time until the next.
// Frames without a pause would measure how far a software renderer's threads are behind.
void wait_for_refresh(const Offscreen& surface) {
    surface.finish();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// The largest cluster is the 16,384-GPU plan with eight times the data parallelism.
Plan plan_of(const Presets& presets, std::int64_t gpus) {
    if (gpus == 8) return presets.plan("mesh-8");
    if (gpus == 1024) return presets.plan("zoom-1024");
    Plan p = presets.plan("llama-3.1-405b-16k");
    const std::int64_t k = gpus / p.cluster.gpus;
    p.cluster.gpus = gpus;
    p.layout.dp_shard *= k;
    p.training.global_batch *= k;
    return p;
}

FrameCost cost_of(Offscreen& surface, const Presets& presets, std::int64_t gpus) {
    Shell shell(presets, plan_of(presets, gpus), {});
    SyntheticInput input;
    std::vector<double> own, demo, anew;
    FrameCost out{.gpus = gpus};
    double time_s = 0;
    const auto frame = [&](std::vector<double>& cost) {
        input.mouse.x += 1;  // moving over the mesh, as a person does
        wait_for_refresh(surface);
        surface.frame(input, time_s += 1.0 / 60, [&](const FrameInfo& info) { shell.frame(info); });
        cost.push_back((surface.last_cost().build_s + surface.last_cost().submit_s) * 1e3);
    };
    input.mouse = {700, 220};
    for (int i = 0; i < 5; ++i) frame(own);
    own.clear();
    for (int i = 0; i < kFrames; ++i) {
        frame(own);
        out.vertices = std::max(out.vertices, surface.last_cost().vertices);
    }
    for (int i = 0; i < kFrames; ++i) {
        wait_for_refresh(surface);
        const Offscreen::Cost d = draw_demo(surface, time_s += 1.0 / 60);
        demo.push_back((d.build_s + d.submit_s) * 1e3);
    }
    for (int i = 0; i < kFrames; ++i) {
        shell.ui_state().redraw_all = true;
        frame(anew);
    }
    out.cpu_ms = median(own), out.demo_cpu_ms = median(demo), out.anew_cpu_ms = median(anew);
    return out;
}

// Returns a pipeline of p stages, m micro-batches and v chunks: the 1,024-GPU plan's model with a layer a
// chunk.
Plan timeline_plan(const Presets& presets, int p, int m, int v) {
    Plan plan = presets.plan("zoom-1024");
    plan.model.layers = std::int64_t{p} * v;
    Layout& l = plan.layout;
    l.pp = p, l.virtual_stages = v;
    l.stage_layers.clear();
    l.schedule = usual_schedule(v);
    l.cp = l.ep = l.dp_shard = 1;
    l.dp_replicate = 1;
    plan.cluster.gpus = l.tp * p;
    plan.training.global_batch = std::int64_t{m} * plan.training.micro_batch;
    return plan;
}

TimelineFrameCost cost_of_timeline(Offscreen& surface, const Presets& presets, int p, int m, int v) {
    Shell shell(presets, timeline_plan(presets, p, m, v), {});
    shell.show_full(ViewId::timeline);
    TimelineFrameCost out{p, m, v, shell.evaluation().timeline.order.ops.size()};
    SyntheticInput input;
    std::vector<double> cost;
    double time_s = 0;
    const auto frame = [&](bool counted) {
        wait_for_refresh(surface);
        surface.frame(input, time_s += 1.0 / 60, [&](const FrameInfo& info) { shell.frame(info); });
        input.wheel = 0;
        if (!counted) return;
        cost.push_back(surface.last_cost().build_s + surface.last_cost().submit_s);
        out.vertices = std::max(out.vertices, surface.last_cost().vertices);
    };
    input.mouse = {700, 400};
    for (int i = 0; i < 5; ++i) frame(false);
    const auto plot = shell.ui_state().rect_of("timeline.plot");
    if (!plot) return out;
    input.mouse = plot->center();
    for (int depth = 0; depth < 12; ++depth) {  // in by two notches, then along by a drag, and so on
        input.wheel = depth == 0 ? 0.0f : 2.0f;
        frame(true);
        input.down[0] = true;
        frame(false);
        for (int i = 0; i < 6; ++i) {
            input.mouse.x -= 9;
            frame(true);
        }
        input.down[0] = false;
        frame(false);
        input.mouse = plot->center();
        frame(false);
    }
    out.cpu_ms = median(cost) * 1e3;
    out.worst_ms = *std::max_element(cost.begin(), cost.end()) * 1e3;
    std::vector<double> replays;
    Timeline t;
    for (int i = 0; i < 7; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        run_timeline(shell.evaluation().timeline.shape, shell.evaluation().costs, t);
        replays.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
    }
    out.replay_ms = *std::min_element(replays.begin(), replays.end());
    return out;
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
    out.timelines.push_back(cost_of_timeline(surface, presets, 8, 32, 1));
    out.timelines.push_back(cost_of_timeline(surface, presets, 64, 512, 8));
    return out;
}

}  // namespace pentamesh::ui
