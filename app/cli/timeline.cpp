#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/stage_names.h"
#include "core/pipeline/trace.h"
#include "core/plan/title.h"
#include "core/step/bubble.h"
#include "core/step/step_trace.h"

#include <array>
#include <optional>

namespace pentamesh::cli {
namespace {

struct TimelineOptions {
    PlanArgument plan;
    std::string costs, trace;
    Forms forms;
};

// Reads F=1,I=1,W=1,comm=0,FB=3: the costs of a micro-batch on a whole stage.
struct Costs {
    double f = 0, i = 0, w = 0, comm = 0, pair = 0;
};

[[noreturn]] void refuse_costs(const std::string& text, const std::string& why) {
    refuse("--costs " + text + ": " + why + "; write it as F=1,I=1,W=1,comm=0");
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
    for (const std::string_view piece : split(text, ',')) {
        const std::string part(piece);
        const std::size_t equals = std::min(part.find('='), part.size());
        Key* key = nullptr;
        for (Key& k : keys)
            if (k.name == part.substr(0, equals)) key = &k;
        if (!key) refuse_costs(text, "\"" + part.substr(0, equals) + "\" is none of F, I, W, comm, FB");
        const std::string number = equals < part.size() ? part.substr(equals + 1) : "";
        const std::optional<double> value = parse_double(number);
        if (!value || *value < 0) refuse_costs(text, "\"" + number + "\" is no time");
        *key->value = *value;
        key->seen = true;
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (!keys[k].seen) refuse_costs(text, std::string(keys[k].name) + " is missing");
    return costs;
}

// Replays the plan's schedule with one's own costs; the rest of the plan does not matter.
void replay(const Plan& plan, const Costs& costs, Evaluation& e) {
    const ScheduleShape shape = shape_of(plan, e.microbatches);
    if (e.microbatches < 1 || !accepts(shape)) return;
    e.costs = uniform_costs(shape, costs.f, costs.i, costs.w, costs.comm, costs.pair);
    run_timeline(shape, e.costs, e.timeline);
}

// Names devices as "stage 3, layers 24–31, head, nodes 6–7".
std::string trace_of(const Plan& plan, const Evaluation& e, bool own_costs) {
    TraceNames names{title_of(plan), {}, {}, 0};
    std::optional<StepTrace> step;
    if (e.step && !own_costs) {
        step.emplace(plan, e.timeline, e.comm, e.work, *e.step);
        names.step_s = e.step->time_s;
        names.kernels = [&](int device, std::size_t op, std::vector<TraceSlice>& out) {
            step->add(device, op, out);
        };
    }
    if (!e.timeline.empty()) {
        const auto places = stage_places(plan, e.mesh, e.timeline.shape, e.comm.stages);
        for (std::size_t d = 0; d < places.size(); ++d)
            names.device.push_back(stage_text(static_cast<int>(d), places[d], domain_name(plan.cluster)));
    }
    return chrome_trace(e.timeline, e.costs, names);
}

// Writes every operation on a line; times are in seconds, exact.
std::string csv_of(const Timeline& t) {
    std::string out = "device,op,chunk,microbatch,backward_chunk,backward_microbatch,start_s,end_s\r\n";
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            const Op& op = t.order.ops[i];
            const bool pair = op.kind == OpKind::FB;
            out += std::to_string(d) + "," + std::string(letters_of(op.kind)) + "," + std::to_string(op.chunk)
                   + "," + std::to_string(op.microbatch) + ","
                   + (pair ? std::to_string(op.backward_chunk) : "") + ","
                   + (pair ? std::to_string(op.backward_microbatch) : "") + "," + exact_text(t.start[i]) + ","
                   + exact_text(t.end[i]) + "\r\n";
        }
    return out;
}

Bubble bubble_of(const Evaluation& e) {
    if (e.timeline.empty()) return {};
    Timeline two;
    run_iterations(e.timeline.shape, e.costs, 2, two);
    return measure_bubble(e.timeline, e.costs, &two);
}

Json json_of_bubble(const Bubble& b) {
    return {{"work", b.work},
            {"makespan", b.makespan},
            {"span", b.span},
            {"back_to_back", b.steady.value_or(0)},
            {"fraction", b.fraction},
            {"overhead", b.overhead},
            {"closed_form",
             {{"formula", b.form.formula},
              {"measure", b.form.span_measure ? "span" : "makespan"},
              {"bubble", b.form.bubble},
              {"overhead", b.form_overhead},
              {"exact_when", b.form.exact_when},
              {"equal_stages", b.equal_stages},
              {"holds", b.form_holds()}}}};
}

// Adds the measures of docs/schedules.md, and the closed form next to the measure that it gives.
void add_bubble_lines(const Bubble& b, Section& s) {
    s.lines.push_back("Makespan bubble " + time_text(b.makespan) + ": fraction " + percent_text(b.fraction)
                      + " of the makespan, overhead " + percent_text(b.overhead)
                      + " of the work; span bubble " + time_text(b.span)
                      + "; two steps back to back: " + time_text(b.steady.value_or(0)) + " a step.");
    std::string form = std::string(b.form.formula) + " gives " + percent_text(b.form_overhead)
                       + " of the work, the " + (b.form.span_measure ? "span" : "makespan") + " bubble";
    if (b.form_holds())
        form += ", as measured.";
    else
        form += std::string(", if stages are equal and ") + b.form.exact_when + ".";
    s.lines.push_back(std::move(form));
}

int timeline(const Context& context, const TimelineOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const bool own_costs = !options.costs.empty();
    const Costs own = own_costs ? parse_costs(options.costs) : Costs{};
    if (own_costs && plan.layout.pp == 1 && plan.layout.virtual_stages > 1)
        throw Error(ErrorKind::invalid, "", "/layout/pp",
                    "a schedule of several chunks a device needs at least 2 pipeline stages; pp is 1");
    Evaluation e = assess(plan);
    if (own_costs) replay(plan, own, e);
    if (e.timeline.empty() && e.valid)
        throw Error(ErrorKind::invalid, "", "/training/global_batch",
                    "the schedule has too many operations to list");
    if (!options.trace.empty() && e.valid) {
        write_output(options.trace, trace_of(plan, e, own_costs));
    } else if (options.forms.csv) {
        print(csv_of(e.timeline));
    } else if (context.json) {
        Json out = json_of_timeline(e.timeline, true);
        if (!e.timeline.empty()) out["bubble"] = json_of_bubble(bubble_of(e));
        if (!e.valid) void_figures(out);
        print_json(std::move(out), e);
    } else {
        Section section = timeline_section(e);
        if (e.valid && e.timeline.shape.devices > 1 && !e.timeline.empty())
            add_bubble_lines(bubble_of(e), section);
        print_document(options.forms, {"", {std::move(section)}});
    }
    return status_of(e);
}

}  // namespace

void add_timeline(Options& app, Context& context) {
    auto& options = run_with(app, context, timeline);
    add_plan_argument(app, options.plan);
    app.add_option("--costs", options.costs,
                   "costs of a whole stage instead of the model's: F=1,I=1,W=1,comm=0[,FB=3]");
    add_forms(app, context, options.forms);
    app.add_option("--trace", options.trace, "write a Chrome trace to this file, which Perfetto opens")
        .type_name("FILE")
        .excludes("--json")
        .excludes("--csv");
}

}  // namespace pentamesh::cli
