#include "app/cli/document.h"
#include "app/cli/frame_bench.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/platform/platform.h"
#include "app/ui/kit/format.h"
#include "core/base/text.h"
#include "core/decide/search.h"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace pentamesh::cli {
namespace {

// Returns evaluations per CPU second of this thread: the median of several repeats, each long enough for the
// clock.
double evaluations_per_s(const Plan& plan, const EvaluateOptions& options) {
    constexpr int repeats = 5;
    constexpr double least_s = 0.05;
    Evaluation out;
    evaluate(plan, out, options);
    std::vector<double> rates;
    for (int r = 0; r < repeats; ++r) {
        const double start = thread_cpu_s();
        double used = 0;
        std::int64_t done = 0;
        for (std::int64_t batch = 1; used < least_s; batch *= 2) {
            for (std::int64_t i = 0; i < batch; ++i) evaluate(plan, out, options);
            done += batch;
            used = thread_cpu_s() - start;
        }
        rates.push_back(static_cast<double>(done) / used);
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

// Times the search that people wait for: 405B on 16,384 GPUs, the default space. `per_s` counts the layouts
// evaluated in a CPU second, as the search counts them: layouts of a run that is impossible or too big under
// every sharding count together.
Json bench_search(const Context& context, Section& section) {
    const Plan plan = context.presets.plan("llama-3.1-405b-16k");
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, {}, error);
    constexpr int repeats = 3;
    std::vector<double> wall;
    SearchReport r;
    for (int i = 0; i < repeats; ++i) {
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
    return {{"layouts", r.counts.layouts},
            {"threads", r.threads},
            {"seconds", wall[wall.size() / 2]},
            {"cpu_s", used},
            {"layouts_per_s", rate},
            {"per_s", evaluated}};
}

int bench(const Context& context) {
    Json with = Json::array(), without = Json::array(), reported = Json::array();
    Section section{"Evaluations per CPU second of one thread",
                    {},
                    {{{"plan"},
                      {"with timeline", Shown::count},
                      {"without, for a report", Shown::count},
                      {"without, for a search", Shown::count}},
                     {}}};
    for (const Presets::Entry& entry : context.presets.list(PresetKind::plan)) {
        const Plan plan = context.presets.plan(entry.id);
        const double full = evaluations_per_s(plan, {});
        const double fast = evaluations_per_s(plan, {.timeline = false, .messages = false});
        const double quick = evaluations_per_s(plan, {.timeline = false, .messages = false, .report = false});
        with.push_back({{"plan", entry.id}, {"per_s", full}});
        without.push_back({{"plan", entry.id}, {"per_s", quick}});
        reported.push_back({{"plan", entry.id}, {"per_s", fast}});
        section.table.rows.push_back({entry.id, with_commas(std::llround(full)),
                                      with_commas(std::llround(fast)), with_commas(std::llround(quick))});
    }
    // A search asks for "without timeline"; a report asks for the other one.
    Json out{{"evaluate", std::move(with)},
             {"evaluate_without_timeline", std::move(without)},
             {"evaluate_for_report_without_timeline", std::move(reported)}};
    std::vector<Section> sections{std::move(section)};
    Section searched{"Search: 405B on 16,384 GPUs, the default space", {}, {}};
    out["search"] = bench_search(context, searched);
    sections.push_back(std::move(searched));
    try {
        const ui::FrameBench frames = ui::measure_frames(context.presets, find_fonts(context.data_folder));
        out["first_frame_ms"] = frames.first_frame_ms;
        Section table{"A frame of the window, built and submitted, beside Dear ImGui's demo window",
                      {},
                      {{{"GPUs", Shown::count},
                        {"ms", Shown::figure},
                        {"demo ms", Shown::figure},
                        {"all anew ms", Shown::figure},
                        {"vertices", Shown::count}},
                       {}}};
        Json list = Json::array();
        for (const ui::FrameCost& f : frames.frames) {
            list.push_back({{"gpus", f.gpus},
                            {"cpu_ms", f.cpu_ms},
                            {"demo_cpu_ms", f.demo_cpu_ms},
                            {"anew_cpu_ms", f.anew_cpu_ms},
                            {"vertices", f.vertices}});
            table.table.rows.push_back({with_commas(f.gpus), ui::significant(f.cpu_ms),
                                        ui::significant(f.demo_cpu_ms), ui::significant(f.anew_cpu_ms),
                                        with_commas(f.vertices)});
        }
        out["frame"] = std::move(list);
        sections.push_back(std::move(table));
        Section depth{"The timeline in the whole window, panned and zoomed",
                      {},
                      {{{"stages", Shown::count},
                        {"micro-batches", Shown::count},
                        {"chunks", Shown::count},
                        {"ops", Shown::count},
                        {"replay ms", Shown::figure},
                        {"frame ms", Shown::figure},
                        {"worst ms", Shown::figure}},
                       {}}};
        Json timelines = Json::array();
        for (const ui::TimelineFrameCost& t : frames.timelines) {
            timelines.push_back({{"stages", t.stages},
                                 {"microbatches", t.microbatches},
                                 {"chunks", t.chunks},
                                 {"ops", t.ops},
                                 {"replay_ms", t.replay_ms},
                                 {"cpu_ms", t.cpu_ms},
                                 {"worst_ms", t.worst_ms},
                                 {"vertices", t.vertices}});
            depth.table.rows.push_back({with_commas(t.stages), with_commas(t.microbatches),
                                        with_commas(t.chunks), with_commas(static_cast<std::int64_t>(t.ops)),
                                        ui::significant(t.replay_ms), ui::significant(t.cpu_ms),
                                        ui::significant(t.worst_ms)});
        }
        out["timeline_frame"] = std::move(timelines);
        sections.push_back(std::move(depth));
    } catch (const Error& e) {
        std::cerr << "pentamesh: frames are not measured: " << e.what() << "\n";
    }
    print(context.json ? pretty(out) : to_text({"", std::move(sections)}));
    return 0;
}

}  // namespace

void add_bench(Options& app, Context& context) {
    add_json_flag(app, context);
    app.callback([&context] { context.run = [&context] { return bench(context); }; });
}

}  // namespace pentamesh::cli
