// `memory` and `comm` print one part of the evaluation each.
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "core/advice/advice.h"

namespace pentamesh::cli {
namespace {

struct PartOptions {
    PlanArgument plan;
    Forms forms;
};

template <Json (*JsonOf)(const Plan&, const Evaluation&),
          Section (*SectionOf)(const Plan&, const Evaluation&)>
int show_part(const Context& context, const PartOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    const auto json = [&] {
        Json out = JsonOf(plan, e);
        if (!e.valid) void_figures(out);
        return out;
    };
    return print_form(
        context, options.forms, e, json, [&] { return SectionOf(plan, e).table; },
        [&] {
            return Document{"", {SectionOf(plan, e)}};
        });
}

void add_part(Options& app, Context& context, int (*show)(const Context&, const PartOptions&)) {
    auto& options = run_with(app, context, show);
    add_plan_argument(app, options.plan);
    add_forms(app, context, options.forms);
}

}  // namespace

void add_memory(Options& app, Context& context) {
    add_part(app, context, show_part<json_of_memory, memory_section>);
}

void add_comm(Options& app, Context& context) {
    add_part(app, context, show_part<json_of_comm, comm_section>);
}

}  // namespace pentamesh::cli
