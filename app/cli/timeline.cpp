#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "app/files.h"
#include "core/text.h"
#include "core/trace.h"

#include <array>
#include <cmath>

namespace pentamesh::cli {
namespace {

struct Options {
    PlanArgument plan;
    std::string costs, trace;
};

// F=1,I=1,W=1,comm=0,FB=3: costs of a micro-batch on a whole stage.
struct Costs {
    double f = 0, i = 0, w = 0, comm = 0, pair = 0;
};

[[noreturn]] void refuse_costs(const std::string& text, const std::string& why) {
    throw Error(ErrorKind::usage, "", "",
                "--costs " + text + ": " + why + "; write it as F=1,I=1,W=1,comm=0");
}

Costs parse_costs(const std::string& text) {
    Costs costs;
    struct Key {
        std::string_view name;
        double* value;
        bool seen = false;
    };
    std::array<Key, 5> keys{
        {{"F", &costs.f}, {"I", &costs.i}, {"W", &costs.w}, {"comm", &costs.comm}, {"FB", &costs.pair}}};
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string part = text.substr(from, comma - from);
        const std::size_t equals = std::min(part.find('='), part.size());
        Key* key = nullptr;
        for (Key& k : keys)
            if (k.name == part.substr(0, equals)) key = &k;
        if (!key) refuse_costs(text, "\"" + part.substr(0, equals) + "\" is none of F, I, W, comm, FB");
        const std::string number = equals < part.size() ? part.substr(equals + 1) : "";
        std::size_t used = 0;
        try {
            *key->value = std::stod(number, &used);
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != number.size() || !std::isfinite(*key->value) || *key->value < 0)
            refuse_costs(text, "\"" + number + "\" is no time");
        key->seen = true;
        from = comma + 1;
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (!keys[k].seen) refuse_costs(text, std::string(keys[k].name) + " is missing");
    return costs;
}

// The plan's schedule with costs of one's own; whatever else the plan is like does not matter.
void replay(const Plan& plan, const Costs& costs, Evaluation& e) {
    const ScheduleShape shape = shape_of(plan, e.microbatches);
    if (e.microbatches < 1 || !accepts(shape)) return;
    e.costs = uniform_costs(shape, costs.f, costs.i, costs.w, costs.comm, costs.pair);
    run_timeline(shape, e.costs, e.timeline);
}

// Devices as "stage 3, layers 24-31".
std::string trace_of(const Plan& plan, const Evaluation& e, const TimelineCosts& costs) {
    TraceNames names{title_of(plan), {}};
    for (const StageMemory& stage : e.memory.stage)
        names.device.push_back("stage " + std::to_string(stage.stage) + ", "
                               + count_text(stage.layers, "layer"));
    return chrome_trace(e.timeline, costs, names);
}

int timeline(const Context& context, const Options& options) {
    const Plan plan = load_plan(context, options.plan);
    const bool own_costs = !options.costs.empty();
    const Costs own = own_costs ? parse_costs(options.costs) : Costs{};
    Evaluation e = evaluate(plan, {.timeline = !own_costs, .advice = true});
    if (own_costs) replay(plan, own, e);
    const TimelineCosts& costs = e.costs;
    if (e.timeline.empty() && e.valid)
        throw Error(ErrorKind::invalid, "", "/training/global_batch",
                    "the schedule has too many operations to list");
    if (!options.trace.empty()) {
        write_file(options.trace, trace_of(plan, e, costs));
    } else if (context.json) {
        Json out = json_of_timeline(e.timeline, true);
        add_validity(out, e);
        print(pretty(out));
    } else {
        print(to_text({"", {timeline_section(e.timeline)}}));
    }
    return status_of(e);
}

}  // namespace

void add_timeline(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    add_plan_argument(app, options->plan);
    app.add_option("--costs", options->costs,
                   "costs of a whole stage instead of the model's: F=1,I=1,W=1,comm=0[,FB=3]");
    auto* json = app.add_flag("--json", context.json, "write JSON");
    app.add_option("--trace", options->trace, "write a Chrome trace to this file, which Perfetto opens")
        ->excludes(json);
    app.callback(
        [&context, options] { context.run = [&context, options] { return timeline(context, *options); }; });
}

}  // namespace pentamesh::cli
