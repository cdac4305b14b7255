// `memory` and `comm` print one part of the evaluation each.
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "core/advice/advice.h"

namespace pentamesh::cli {
namespace {

using JsonOf = Json (*)(const Plan&, const Evaluation&);
using SectionOf = Section (*)(const Plan&, const Evaluation&);

void add_part(Options& app, Context& context, JsonOf json_of, SectionOf section_of) {
    auto argument = std::make_shared<PlanArgument>();
    add_plan_argument(app, *argument);
    add_json_flag(app, context);
    auto csv = std::make_shared<bool>(false);
    app.add_flag("--csv", *csv, "write the table as CSV").excludes("--json");
    app.callback([&context, argument, csv, json_of, section_of] {
        context.run = [&context, argument, csv, json_of, section_of] {
            const Plan plan = load_plan(context, *argument);
            const Evaluation e = assess(plan);
            if (context.json) {
                Json out = json_of(plan, e);
                if (!e.valid) void_figures(out);
                add_validity(out, e);
                print(pretty(out));
            } else if (*csv) {
                print(write_table(section_of(plan, e).table, TableFormat::csv));
            } else {
                print(to_text({"", {section_of(plan, e)}}));
            }
            return status_of(e);
        };
    });
}

}  // namespace

void add_memory(Options& app, Context& context) {
    add_part(
        app, context, [](const Plan&, const Evaluation& e) { return json_of_memory(e); }, memory_section);
}

void add_comm(Options& app, Context& context) {
    add_part(app, context, json_of_comm, comm_section);
}

}  // namespace pentamesh::cli
