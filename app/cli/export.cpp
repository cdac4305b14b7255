// `export` turns a plan into a framework's own settings.
#include "core/interop/export.h"
#include "app/cli/plan_argument.h"
#include "app/cli/streams.h"

namespace pentamesh::cli {
namespace {

struct ExportArguments {
    PlanArgument plan;
    std::string to, out;
    bool lossy = false;
};

int export_to(const Context& context, const ExportArguments& a) {
    const Plan plan = load_plan(context, a.plan);
    const Evaluation e = evaluate(plan, {.timeline = false});
    if (!e.valid) return status_of(e);
    const interop::Target target = *interop::target_of(a.to);
    const interop::Export made = interop::export_plan(plan, target, context.presets);
    const bool fails = !made.refused.empty() || (!made.lost.empty() && !a.lossy);
    for (const std::string& reason : made.refused) say_error("pentamesh: " + reason);
    for (const interop::Unsaid& u : made.lost)
        say_error("pentamesh: " + std::string(a.lossy ? "lost: " : "") + a.to + " cannot say " + u.pointer
                  + ": " + u.why);
    if (fails) {
        if (!made.lost.empty() && made.refused.empty())
            say_error("pentamesh: nothing is written; --lossy writes what can be said");
        return 1;
    }
    for (const std::string& note : made.notes) say_error("pentamesh: not in the text: " + note);
    print_to(a.out, made.text);
    return 0;
}

}  // namespace

void add_export(Options& app, Context& context) {
    auto& a = run_with(app, context, export_to);
    add_plan_argument(app, a.plan);
    std::vector<std::string> names(interop::kTargetNames.begin(), interop::kTargetNames.end());
    names.emplace_back("devicemesh");
    app.add_option("--to", a.to, "whose settings").required().one_of(names);
    app.add_option("-o,--output", a.out, "write to a file").type_name("FILE");
    app.add_flag("--lossy", a.lossy, "write though something of the plan is lost; what, stands at the head");
}

}  // namespace pentamesh::cli
