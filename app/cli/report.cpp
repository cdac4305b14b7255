#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "app/tables/comm.h"
#include "app/tables/review.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/report_pictures.h"
#include "core/advice/advice.h"
#include "core/decide/nearby.h"
#include "core/explain/verdict.h"
#include "core/plan/title.h"

namespace pentamesh::cli {
namespace {

Document document_of(const Plan& plan, const Evaluation& e, bool explained) {
    Document document{title_of(plan), {{"", {asked_line(plan, e.microbatches)}, {}}}};
    if (!plan.notes.empty()) document.sections.front().lines.push_back(plan.notes);
    document.sections.push_back(problems_section(e));
    document.sections.push_back(step_section(e));
    if (Section cost = cost_section(plan, e); !cost.table.rows.empty())
        document.sections.push_back(std::move(cost));
    document.sections.push_back(groups_section(plan, e, kinds_of(e)));
    document.sections.push_back(memory_section(plan, e));
    document.sections.push_back(comm_section(plan, e));
    document.sections.push_back(timeline_section(e));
    document.sections.push_back(parameters_section(e.parameters));
    if (explained) document.sections.push_back(explanations_section(plan, e));
    return document;
}

// Puts pictures over the tables of the same question.
void add_pictures(const Context& context, const Plan& plan, const Evaluation& e, Document& document) {
    const FontFiles fonts = find_fonts(context.data_folder);
    for (Section& s : document.sections)
        if (s.figure) s.svg = ui::report_figure(context.presets, plan, e, *s.figure, fonts);
}

// Lists what one edit each gives, as a review's first page does.
Json json_of_tried(const Plan& plan, const Evaluation& e) {
    Json out = Json::array();
    const TriedEdits edits = try_each_edit(plan, e.step->time_s);
    for (const auto* list : {&edits.fit, &edits.unfit})
        for (const SearchResult& r : *list)
            out.push_back({{"change", ui::change_words(plan, r.choice)},
                           {"step_s", r.step_s},
                           {"step_change", r.step_s / e.step->time_s - 1},
                           {"memory_bytes", whole(r.memory_bytes)},
                           {"fits", list == &edits.fit}});
    return out;
}

Json json_of_report(const Plan& plan, const Evaluation& e) {
    Json out = Json::object();
    add_validity(out, e);
    out["plan"] = plan_to_json(plan);
    out["parameters"] = json_of_parameters(plan.model.name, e.parameters);
    out["groups"] = json_of_groups(plan, e, kinds_of(e));
    out["memory"] = json_of_memory(plan, e);
    out["comm"] = json_of_comm(plan, e);
    out["timeline"] = json_of_timeline(e.timeline, false);
    out["step"] = json_of_step(e);
    if (!e.valid)
        for (const char* part : {"groups", "memory", "comm", "timeline"}) void_figures(out[part]);
    if (e.valid) {
        out["failure"] = json_of_failure(plan, e);
        out["explanations"] = json_rows(explanations_table(plan, e));
        if (e.step) out["tried"] = json_of_tried(plan, e);
    }
    if (Json cost = json_of_cost(plan, e); !cost.is_null()) out["cost"] = std::move(cost);
    return out;
}

struct ReportOptions {
    PlanArgument plan;
    Forms forms;
    bool html = false;
};

int report(const Context& context, const ReportOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    if (options.html) {
        Document document = document_of(plan, e, true);
        add_pictures(context, plan, e, document);
        print(to_html(document));
    } else {
        const auto json = [&] { return json_of_report(plan, e); };
        print_form(context, options.forms, json, json,
                   [&] { return document_of(plan, e, options.forms.markdown); });
    }
    return status_of(e);
}

}  // namespace

void add_report(Options& app, Context& context) {
    auto& options = run_with(app, context, report);
    add_plan_argument(app, options.plan);
    add_forms(app, context, options.forms);
    app.add_flag("--html", options.html, "write one HTML file with pictures")
        .excludes("--json")
        .excludes("--csv")
        .excludes("--markdown");
}

}  // namespace pentamesh::cli
