#include "app/cli/output.h"
#include "app/platform/platform.h"
#include "app/ui/shell/shell.h"
#include "core/base/text.h"
#include "core/decide/search.h"
#include "core/io/presets.h"
#include "core/pipeline/schedules/schedule.h"
#include "render/surface.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace pentamesh::ui {
namespace {

// Measures the cost of a frame of the whole window, and that of Dear ImGui's own demo window in the same
// process.
struct FrameCost {
    std::int64_t gpus = 0;
    // Each time is for building and submitting a frame, a median, each after a pause as between two refreshes
    // of a monitor. The mouse moves over the mesh; Dear ImGui's demo is in the same surface; `anew` draws all
    // parts of the window again, as after an edit; `moving`: figures glide after one.
    double cpu_ms = 0, demo_cpu_ms = 0, anew_cpu_ms = 0, moving_cpu_ms = 0;
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
    std::vector<TimelineFrameCost> timelines;
};

// Says how much is measured: enough for a figure that a document can quote, or as much as ten seconds hold.
struct FrameEffort {
    std::vector<std::int64_t> gpus{8, 1024, 16384, 131072};
    int frames = 30;            // of each kind
    int edits = 4, rest = 150;  // of the gliding window, and the frames after each
    int depths = 12;            // of the timeline
    bool large_timeline = true;
};
FrameEffort quick_frames() {
    return {.gpus = {8, 16384}, .frames = 8, .edits = 2, .rest = 20, .depths = 4, .large_timeline = false};
}

// It is called with a case in words when it has been measured.
using CaseDone = std::function<void(const std::string&)>;

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

FrameCost cost_of(Offscreen& surface, const Presets& presets, std::int64_t gpus, const FrameEffort& effort) {
    Shell shell(presets, plan_of(presets, gpus), {});
    SyntheticInput input;
    std::vector<double> own, demo, anew, moving;
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
    for (int i = 0; i < effort.frames; ++i) {
        frame(own);
        out.vertices = std::max(out.vertices, surface.last_cost().vertices);
    }
    for (int i = 0; i < effort.frames; ++i) {
        wait_for_refresh(surface);
        const Offscreen::Cost d = draw_demo(surface, time_s += 1.0 / 60);
        demo.push_back((d.build_s + d.submit_s) * 1e3);
    }
    for (int i = 0; i < effort.frames; ++i) {
        shell.ui_state().redraw_all = true;
        frame(anew);
    }
    // tp is doubled and halved again: a quarter of a second of frames after each edit.
    for (int i = 0; i < effort.edits; ++i) {
        Plan edited = shell.document().plan();
        Layout& l = edited.layout;
        if (i % 2 == 0)
            l.tp *= 2, l.dp_shard /= 2;
        else
            l.tp /= 2, l.dp_shard *= 2;
        shell.edit_plan(std::move(edited), "tp");
        for (int k = 0; k < 15; ++k) frame(moving);
        std::vector<double> rest;
        for (int k = 0; k < effort.rest; ++k) frame(rest);
    }
    out.cpu_ms = median(own), out.demo_cpu_ms = median(demo), out.anew_cpu_ms = median(anew);
    out.moving_cpu_ms = median(moving);
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

TimelineFrameCost cost_of_timeline(Offscreen& surface, const Presets& presets, int p, int m, int v,
                                   int depths) {
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
    for (int depth = 0; depth < depths; ++depth) {  // in by two notches, then along by a drag, and so on
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

std::string words_of(const FrameCost& f) {
    return "a frame of " + with_commas(f.gpus) + " GPUs: " + three_digits(f.cpu_ms) + " ms, all anew "
           + three_digits(f.anew_cpu_ms) + " ms, gliding " + three_digits(f.moving_cpu_ms) + " ms";
}

std::string words_of(const TimelineFrameCost& f) {
    return "a frame of the timeline, " + with_commas(f.stages) + " stages x " + with_commas(f.microbatches)
           + " micro-batches: " + three_digits(f.cpu_ms) + " ms, the worst " + three_digits(f.worst_ms)
           + " ms";
}

// Measures frames at 1600 x 900. Throws Error of kind io without EGL.
FrameBench measure_frames(const Presets& presets, const FontFiles& fonts, const FrameEffort& effort,
                          const CaseDone& done) {
    FrameBench out;
    const auto begun = std::chrono::steady_clock::now();
    Offscreen surface({1600, 900}, 1, fonts);
    {
        Shell shell(presets, presets.plan("llama-3.1-405b-16k"), {});
        surface.frame({}, 0, [&](const FrameInfo& info) { shell.frame(info); });
    }
    out.first_frame_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    done("the first frame: " + three_digits(out.first_frame_ms) + " ms");
    for (const std::int64_t gpus : effort.gpus) {
        out.frames.push_back(cost_of(surface, presets, gpus, effort));
        done(words_of(out.frames.back()));
    }
    const auto add_timeline = [&](int p, int m, int v) {
        out.timelines.push_back(cost_of_timeline(surface, presets, p, m, v, effort.depths));
        done(words_of(out.timelines.back()));
    };
    add_timeline(8, 32, 1);
    if (effort.large_timeline) add_timeline(64, 512, 8);
    return out;
}

}  // namespace
}  // namespace pentamesh::ui

namespace pentamesh::cli {
namespace {

// Says how much is measured, as ui::FrameEffort says of frames.
struct Effort {
    bool quick = false;
    int repeats = 5;
    double least_s = 0.05;
    std::vector<std::string> plans{};  // empty: all that ship
    std::string searched = "llama-3.1-405b-16k";
    int searches = 3;
    ui::FrameEffort frames{};
};
Effort quick_effort() {
    return {.quick = true,
            .repeats = 3,
            .least_s = 0.02,
            .plans = {"mesh-8", "llama-3-70b-3d", "llama-3.1-405b-16k"},
            .searched = "llama-3-70b-3d",
            .searches = 1,
            .frames = ui::quick_frames()};
}

// Says what was measured at once: all of it takes minutes, and the tables come at the end.
void tell_case(const std::string& words) {
    std::cerr << "bench: " << words << "\n" << std::flush;
}

// Returns evaluations per CPU second of this thread: the median of several repeats, each long enough for the
// clock.
double evaluations_per_s(const Plan& plan, const EvaluateOptions& options, const Effort& effort) {
    Evaluation out;
    evaluate(plan, out, options);
    std::vector<double> rates;
    for (int r = 0; r < effort.repeats; ++r) {
        const double start = thread_cpu_s();
        double used = 0;
        std::int64_t done = 0;
        for (std::int64_t batch = 1; used < effort.least_s; batch *= 2) {
            for (std::int64_t i = 0; i < batch; ++i) evaluate(plan, out, options);
            done += batch;
            used = thread_cpu_s() - start;
        }
        rates.push_back(static_cast<double>(done) / used);
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

// Times the search that people wait for, over the default space. `per_s` counts the layouts evaluated in a
// CPU second, as the search counts them: layouts of a run that is impossible or too big under every sharding
// count together.
Json bench_search(const Context& context, const Effort& effort, Section& section) {
    const Plan plan = context.presets.plan(effort.searched);
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, {}, error);
    std::vector<double> wall;
    SearchReport r;
    for (int i = 0; i < effort.searches; ++i) {
        const auto start = std::chrono::steady_clock::now();
        r = search(plan, space);
        wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(wall.begin(), wall.end());
    // One thread runs by itself: its CPU time is the time of the whole search.
    const double before = thread_cpu_s();
    const SearchReport alone = search(plan, space, {.threads = 1});
    const double used = std::max(thread_cpu_s() - before, 1e-9);
    const double rate = static_cast<double>(alone.counts.layouts) / used;
    const double evaluated = static_cast<double>(alone.counts.evaluated) / used;
    section.table.columns = {{"layouts", Shown::count},
                             {"threads", Shown::count},
                             {"wall", Shown::seconds},
                             {"CPU", Shown::seconds},
                             {"layouts a CPU s", Shown::count}};
    section.table.rows.push_back({with_commas(r.counts.layouts), with_commas(r.threads),
                                  time_text(wall[wall.size() / 2]), time_text(used),
                                  with_commas(std::llround(rate))});
    tell_case("a search of " + effort.searched + ": " + with_commas(r.counts.layouts) + " layouts in "
              + time_text(wall[wall.size() / 2]));
    return {{"plan", effort.searched}, {"layouts", r.counts.layouts},
            {"threads", r.threads},    {"seconds", wall[wall.size() / 2]},
            {"cpu_s", used},           {"layouts_per_s", rate},
            {"per_s", evaluated}};
}

Table table_of(const std::vector<ui::FrameCost>& frames) {
    Table t{{{"GPUs", Shown::count, "gpus"},
             {"ms", Shown::figure, "cpu_ms"},
             {"demo ms", Shown::figure, "demo_cpu_ms"},
             {"all anew ms", Shown::figure, "anew_cpu_ms"},
             {"moving ms", Shown::figure, "moving_cpu_ms"},
             {"vertices", Shown::count}},
            {}};
    for (const ui::FrameCost& f : frames)
        t.rows.push_back({f.gpus, f.cpu_ms, f.demo_cpu_ms, f.anew_cpu_ms, f.moving_cpu_ms, f.vertices});
    return t;
}

Table table_of(const std::vector<ui::TimelineFrameCost>& frames) {
    Table t{{{"stages", Shown::count},
             {"micro-batches", Shown::count, "microbatches"},
             {"chunks", Shown::count},
             {"ops", Shown::count},
             {"replay ms", Shown::figure, "replay_ms"},
             {"frame ms", Shown::figure, "cpu_ms"},
             {"worst ms", Shown::figure, "worst_ms"},
             {"vertices", Shown::count}},
            {}};
    for (const ui::TimelineFrameCost& f : frames)
        t.rows.push_back(
            {f.stages, f.microbatches, f.chunks, f.ops, f.replay_ms, f.cpu_ms, f.worst_ms, f.vertices});
    return t;
}

// Returns the plans' rates as JSON, three lists, and puts them into the section's table.
Json bench_evaluations(const Context& context, const Effort& effort, Section& section) {
    section.table.columns = {{"plan"},
                             {"with timeline", Shown::count},
                             {"without, for a report", Shown::count},
                             {"without, for a search", Shown::count}};
    std::vector<std::string> ids = effort.plans;
    if (ids.empty())
        for (const Presets::Entry& entry : context.presets.list(PresetKind::plan)) ids.push_back(entry.id);
    Json with = Json::array(), without = Json::array(), reported = Json::array();
    for (const std::string& id : ids) {
        const Plan plan = context.presets.plan(id);
        const double full = evaluations_per_s(plan, {}, effort);
        const double fast = evaluations_per_s(plan, {.timeline = false, .messages = false}, effort);
        const double quick =
            evaluations_per_s(plan, {.timeline = false, .messages = false, .report = false}, effort);
        with.push_back({{"plan", id}, {"per_s", full}});
        without.push_back({{"plan", id}, {"per_s", quick}});
        reported.push_back({{"plan", id}, {"per_s", fast}});
        section.table.rows.push_back({id, std::llround(full), std::llround(fast), std::llround(quick)});
        tell_case(id + ": " + with_commas(std::llround(full)) + " evaluations a CPU second, "
                  + with_commas(std::llround(quick)) + " in a search");
    }
    // A search asks for "without timeline"; a report asks for the other one.
    return {{"quick", effort.quick},
            {"evaluate", std::move(with)},
            {"evaluate_without_timeline", std::move(without)},
            {"evaluate_for_report_without_timeline", std::move(reported)}};
}

struct BenchArguments {
    bool quick = false;
    Forms forms;
};

int bench(const Context& context, const BenchArguments& a) {
    const Effort effort = a.quick ? quick_effort() : Effort{};
    Section evaluations{"Evaluations per CPU second of one thread", {}, {}};
    Json out = bench_evaluations(context, effort, evaluations);
    std::vector<Section> sections{std::move(evaluations)};
    Section searched{"Search: " + effort.searched + ", the default space", {}, {}};
    out["search"] = bench_search(context, effort, searched);
    sections.push_back(std::move(searched));
    try {
        const ui::FrameBench frames =
            ui::measure_frames(context.presets, find_fonts(context.data_folder), effort.frames, tell_case);
        out["first_frame_ms"] = frames.first_frame_ms;
        const auto add = [&](const char* key, const char* title, Table table) {
            out[key] = json_rows(table);
            sections.push_back({title, {}, std::move(table)});
        };
        add("frame", "A frame of the window, built and submitted, beside Dear ImGui's demo window",
            table_of(frames.frames));
        add("timeline_frame", "The timeline in the whole window, panned and zoomed",
            table_of(frames.timelines));
    } catch (const Error& e) {
        say_error(std::string("pentamesh: frames are not measured: ") + e.what());
    }
    return print_answer(context, a.forms, {out, figures_table(out), {"", std::move(sections)}});
}

}  // namespace

void add_bench(Options& app, Context& context) {
    auto& a = run_with(app, context, bench);
    app.add_flag("--quick", a.quick, "fewer cases, each measured more briefly: some seconds");
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
