// `sensitivity` says how much each choice and constant matters.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/constants.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/decide/units.h"
#include "core/plan/title.h"

#include <cmath>
#include <optional>

namespace pentamesh::cli {
namespace {

struct SensitivityOptions {
    PlanArgument plan;
    Forms forms;
};

Json json_of_nudge(const Plan& plan, const std::optional<Nudge>& n) {
    if (!n) return nullptr;
    const std::vector<std::string> set = sets_between(plan, n->plan);
    if (!n->valid()) return {{"value", n->value}, {"set", set}, {"valid", false}, {"message", n->refused}};
    Json out{{"value", n->value},
             {"set", set},
             {"valid", true},
             {"step_s", n->step_s},
             {"same_tokens_s", n->same_tokens_s},
             {"tokens_per_s", n->tokens_per_s},
             {"memory_bytes", whole(n->memory_bytes)}};
    put_fit(out, n->fit);
    return out;
}

Json json_of_sensitivity(const Plan& plan, const Sensitivity& s, std::optional<MemoryFit> fit) {
    Json rows = Json::array();
    for (const SensitivityRow& r : s.rows)
        rows.push_back({{"kind", name_of(r.kind)},
                        {"id", r.id},
                        {"name", r.name},
                        {"value", r.value},
                        {"reach_s", r.reach_s},
                        {"down", json_of_nudge(plan, r.down)},
                        {"up", json_of_nudge(plan, r.up)}});
    Json base{
        {"step_s", s.step_s}, {"tokens_per_s", s.tokens_per_s}, {"memory_bytes", whole(s.memory_bytes)}};
    put_fit(base, fit);
    return {{"base", std::move(base)}, {"rows", std::move(rows)}};
}

int sensitivity(const Context& context, const SensitivityOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    const Sensitivity s = sensitivity_of(plan, context.presets);
    const auto fit = fit_of(e.memory);
    const auto json = [&] {
        Json out = json_of_sensitivity(plan, s, fit);
        if (!e.valid) void_figures(out);
        return out;
    };
    Section rows{"One step down and up; hardware figures and constants by 20 %",
                 {},
                 columns_of(sensitivity_table(s, true), {"name", "from", "to", "delta_s", "share", "step_s",
                                                         "tokens_per_s", "memory_bytes", "fits"})};
    if (s.rows.empty())
        rows.lines.emplace_back("—: the plan has no step.");
    else
        rows.lines.push_back("The plan: " + time_text(s.step_s) + ", "
                             + whole_text(std::round(s.tokens_per_s)) + " tokens/s, "
                             + memory_text(s.memory_bytes) + " on the fullest GPU, which "
                             + std::string(name_of(*fit)) + ". What changes nothing is left out.");
    return print_form(
        context, options.forms, e, json, [&] { return sensitivity_table(s, false); },
        [&] {
            return Document{title_of(plan), {std::move(rows)}};
        });
}

}  // namespace

void add_sensitivity(Options& app, Context& context) {
    auto& options = run_with(app, context, sensitivity);
    add_plan_argument(app, options.plan);
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
