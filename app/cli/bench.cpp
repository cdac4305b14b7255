#include "app/cli/document.h"
#include "app/cli/frame_bench.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/platform/platform.h"
#include "app/tables/table_json.h"
#include "core/base/text.h"
#include "core/decide/search.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <variant>

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

Table table_of(const std::vector<ui::FrameCost>& frames) {
    Table t{{{"GPUs", Shown::count, "gpus"},
             {"ms", Shown::figure, "cpu_ms"},
             {"demo ms", Shown::figure, "demo_cpu_ms"},
             {"all anew ms", Shown::figure, "anew_cpu_ms"},
             {"vertices", Shown::count}},
            {}};
    for (const ui::FrameCost& f : frames)
        t.rows.push_back({cell(f.gpus), cell(f.cpu_ms), cell(f.demo_cpu_ms), cell(f.anew_cpu_ms),
                          std::to_string(f.vertices)});
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
        t.rows.push_back({std::to_string(f.stages), std::to_string(f.microbatches), std::to_string(f.chunks),
                          std::to_string(f.ops), cell(f.replay_ms), cell(f.cpu_ms), cell(f.worst_ms),
                          std::to_string(f.vertices)});
    return t;
}

int bench(const Context& context, const std::monostate& /*no options*/) {
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
        const auto add = [&](const char* key, const char* title, Table table) {
            out[key] = json_rows(table);
            sections.push_back({title, {}, std::move(table)});
        };
        add("frame", "A frame of the window, built and submitted, beside Dear ImGui's demo window",
            table_of(frames.frames));
        add("timeline_frame", "The timeline in the whole window, panned and zoomed",
            table_of(frames.timelines));
    } catch (const Error& e) {
        std::cerr << "pentamesh: frames are not measured: " << e.what() << "\n";
    }
    print(context.json ? pretty(out) : to_text({"", std::move(sections)}));
    return 0;
}

}  // namespace

void add_bench(Options& app, Context& context) {
    add_json_flag(app, context);
    static_cast<void>(run_with(app, context, bench));
}

}  // namespace pentamesh::cli
