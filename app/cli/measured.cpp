// `measured` compares what was measured of a run with what its plan predicts.
#include "app/tables/measured.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"

namespace pentamesh::cli {
namespace {

struct MeasuredArguments {
    std::vector<std::string> files;
    PlanArgument plan;
    Forms forms;
};

Json known(const std::optional<double>& x) {
    return x ? Json(*x) : Json(nullptr);
}

Json json_of_part(const runs::Measured& m, const runs::PartRow& r) {
    const bool fits = !r.fitting.constant.empty();
    const double off = m.predicted_s && m.measured_s ? *m.measured_s - *m.predicted_s : 0;
    return {{"part", name_of(r.part)},
            {"predicted_s", known(r.predicted_s)},
            {"measured_s", r.time.measured_s},
            {"total_s", r.time.total_s},
            {"difference_s", r.predicted_s ? Json(r.difference_s()) : Json(nullptr)},
            {"share", r.predicted_s && off != 0 ? Json(r.difference_s() / off) : Json(nullptr)},
            {"constant", fits ? Json(r.fitting.constant) : Json(nullptr)},
            {"is", fits ? Json(r.fitting.is) : Json(nullptr)},
            {"would_be", fits ? Json(r.fitting.would_be) : Json(nullptr)},
            {"step_would_be_s", fits ? Json(r.fitting.step_s) : Json(nullptr)},
            {"why", r.fitting.why}};
}

Json json_of_whatif(const runs::WhatIf& w) {
    Json stages = Json::object(), replicas = Json::object(), kinds = Json::object(), worst = Json::array();
    for (std::size_t i = 0; i < w.by_stage.size(); ++i) stages[std::to_string(i)] = w.by_stage[i];
    for (std::size_t i = 0; i < w.by_replica.size(); ++i) replicas[std::to_string(i)] = w.by_replica[i];
    for (const auto& [kind, slowdown] : w.by_kind) kinds[kind] = slowdown;
    for (std::size_t i = 0; i < w.worst; ++i)
        worst.push_back({{"dp", w.workers[i].dp},
                         {"stage", w.workers[i].stage},
                         {"slowdown", w.workers[i].slowdown},
                         {"healthy_step_s", w.workers[i].healthy_s}});
    return {{"steps", w.steps},
            {"measured_s", w.measured_s},
            {"ideal_s", w.ideal_s},
            {"slowdown", w.slowdown},
            {"by_stage", std::move(stages)},
            {"by_dp_rank", std::move(replicas)},
            {"by_kind", std::move(kinds)},
            {"worst_workers", std::move(worst)},
            {"worst_workers_share", w.worst_share},
            {"last_stage_share", w.last_stage_share},
            {"straggler_cv", w.spread}};
}

Json json_of_collective(const runs::CollectiveRow& r) {
    return {{"axis", r.axis},
            {"group_name", as_utf8(r.group_name)},
            {"ranks", r.ranks},
            {"collective", as_utf8(r.collective)},
            {"bytes", r.bytes},
            {"calls", r.calls},
            {"median_s", r.median_s},
            {"transfer_s", known(r.transfer_s)},
            {"predicted_s", known(r.predicted_s)},
            {"last_to_arrive",
             r.last_rank < 0 ? Json(nullptr) : Json{{"rank", r.last_rank}, {"share", r.last_share}}}};
}

Json json_of_measured(const runs::Measured& m) {
    Json files = Json::array(), parts = Json::array(), collectives = Json::array(), links = Json::array(),
         problems = Json::array(), warnings = Json::array();
    for (const runs::RunFile& f : m.files)
        files.push_back({{"file", as_utf8(f.file)},
                         {"kind", name_of(f.kind)},
                         {"rank", f.rank < 0 ? Json(nullptr) : Json(f.rank)},
                         {"steps", f.steps}});
    for (const runs::PartRow& r : m.parts) parts.push_back(json_of_part(m, r));
    for (const runs::CollectiveRow& r : m.collectives) collectives.push_back(json_of_collective(r));
    for (const runs::Fitting& f : m.links)
        if (!f.constant.empty())
            links.push_back({{"constant", f.constant},
                             {"is", f.is},
                             {"would_be", f.would_be},
                             {"step_would_be_s", f.step_s},
                             {"why", f.why}});
    for (const runs::RunProblem& p : m.problems)
        problems.push_back({{"severity", p.code == "run-differs" ? "warning" : "error"},
                            {"code", p.code},
                            {"message", as_utf8(p.message)}});
    for (const std::string& w : m.warnings) warnings.push_back(as_utf8(w));
    return {{"files", std::move(files)},
            {"step",
             {{"predicted_s", known(m.predicted_s)},
              {"measured_s", known(m.measured_s)},
              {"ideal_s", known(m.ideal_s)},
              {"possible", m.possible}}},
            {"summary", as_utf8(m.summary)},
            {"parts", std::move(parts)},
            {"collectives", std::move(collectives)},
            {"links", std::move(links)},
            {"whatif", m.whatif ? json_of_whatif(*m.whatif) : Json(nullptr)},
            {"problems", std::move(problems)},
            {"warnings", std::move(warnings)}};
}

Document document_of(const runs::Measured& m) {
    Section step{"Step", {}, {}};
    if (!m.summary.empty()) step.lines.push_back(m.summary);
    for (const runs::RunProblem& p : m.problems) step.lines.push_back(as_utf8(p.message));
    for (const std::string& w : m.warnings) step.lines.push_back(as_utf8(w));
    if (!m.parts.empty()) step.table = measured_parts_table(m);
    Document out{"Measured", {}};
    out.sections.push_back(std::move(step));
    if (m.whatif)
        out.sections.push_back(
            {"If workers were equally fast", slowdown_words(*m.whatif), slowdown_table(*m.whatif)});
    if (!m.collectives.empty()) {
        Section calls{"Collectives", link_words(m), measured_collectives_table(m)};
        out.sections.push_back(std::move(calls));
    }
    return out;
}

int show_measured(const Context& context, const MeasuredArguments& a) {
    std::optional<Plan> plan;
    if (!a.plan.name.empty()) plan = load_plan(context, a.plan);
    const runs::Measured m = measure_files(context.presets, a.files, plan ? &*plan : nullptr);
    print_form(
        context, a.forms, [&] { return json_of_measured(m); },
        [&] { return m.parts.empty() ? measured_collectives_table(m) : measured_parts_table(m); },
        [&] { return document_of(m); });
    for (const runs::RunProblem& p : m.problems)
        if (p.code == "impossible-run") say_error("pentamesh: " + p.message);
    return m.possible ? 0 : 1;
}

}  // namespace

void add_measured(Options& app, Context& context) {
    auto& a = run_with(app, context, show_measured);
    app.add_option(
           "FILE", a.files,
           "traces of PyTorch, logs of Megatron or torchtitan, files of the NCCL Inspector, timelines "
           "of workers, plain or gzip: of one run; - for standard input")
        .required();
    app.add_option("--plan", a.plan.name, "the plan of the run, whose prediction stands beside it")
        .type_name("PLAN");
    add_sets(app, a.plan.sets);
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
