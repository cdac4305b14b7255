// `import`: a framework's settings into a plan, and what became of each of them.
#include "core/interop/import.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <iostream>

namespace pentamesh::cli {
namespace {

using interop::Import;
using interop::Listed;

struct Arguments {
    std::string file, from, model, cluster, out;
    std::int64_t gpus = 0;
    std::vector<std::string> sets;
};

Json json_of_fix(const std::vector<Edit>& fix) {
    Problem p;
    p.fix = fix;
    return json_of_problems({p}).at(0).at("fix");
}

Json json_of_list(const std::vector<Listed>& rows, bool paths, bool reasons) {
    Json out = Json::array();
    for (const Listed& r : rows) {
        Json row{{"setting", r.setting}, {"value", r.value}};
        if (paths) row["path"] = r.path;
        if (reasons) row["why"] = r.why;
        row["line"] = r.line;
        out.push_back(std::move(row));
    }
    return out;
}

std::string_view severity_name(Severity s) {
    return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "info";
}

Json json_of_import(const Import& made) {
    Json problems = Json::array();
    for (const interop::ImportProblem& p : made.problems)
        problems.push_back({{"severity", severity_name(p.severity)},
                            {"code", p.code},
                            {"message", p.message},
                            {"fix", json_of_fix(p.fix)}});
    return {{"kind", interop::name_of(made.framework)},
            {"plan", made.plan ? Json::parse(write_plan(*made.plan)) : Json(nullptr)},
            {"mapped", json_of_list(made.mapped, true, false)},
            {"ignored", json_of_list(made.ignored, false, false)},
            {"unmapped", json_of_list(made.unmapped, false, true)},
            {"problems", std::move(problems)}};
}

void add_rows(std::string& out, const char* title, const std::vector<Listed>& rows) {
    if (rows.empty()) return;
    out += std::string("\n") + title + "\n";
    for (const Listed& r : rows) {
        out += "  " + r.setting + (r.value.empty() ? "" : " = " + r.value);
        if (!r.path.empty()) out += "  ->  " + r.path;
        if (!r.why.empty()) out += "  (" + r.why + ")";
        out += r.line > 0 ? "  [line " + std::to_string(r.line) + "]\n" : "\n";
    }
}

std::string text_of(const Import& made) {
    std::string out = "Read as " + std::string(interop::name_of(made.framework)) + "\n";
    if (made.plan) {
        const Layout& l = made.plan->layout;
        const auto n = [](std::int64_t x) { return std::to_string(x); };
        out += made.plan->model.name + ", " + n(made.plan->cluster.gpus) + " GPUs: tp " + n(l.tp) + ", cp "
               + n(l.cp) + ", pp " + n(l.pp) + ", ep " + n(l.ep) + ", dp_shard " + n(l.dp_shard)
               + ", dp_replicate " + n(l.dp_replicate.value_or(1)) + ", ZeRO-" + std::to_string(l.zero)
               + "\n";
    }
    add_rows(out, "Mapped", made.mapped);
    add_rows(out, "Ignored: no bearing on the layout", made.ignored);
    add_rows(out, "Cannot be held by a plan", made.unmapped);
    if (!made.problems.empty()) out += "\nProblems\n";
    for (const interop::ImportProblem& p : made.problems)
        out += "  " + std::string(severity_name(p.severity)) + ": " + p.message + "\n";
    return out;
}

int import(const Context& context, const Arguments& a) {
    interop::ImportRequest request;
    request.text = read_input(a.file);
    request.path = a.file;
    if (!a.from.empty()) {
        const auto& names = interop::kFrameworkNames;
        const auto it = std::find(names.begin(), names.end(), a.from);
        request.framework = static_cast<interop::Framework>(it - names.begin());
    }
    request.gpus = a.gpus;
    request.model =
        a.model.empty() || context.presets.has(PresetKind::model, a.model) ? a.model : read_input(a.model);
    request.cluster = a.cluster;
    request.sets = a.sets;
    const Import made = interop::import_settings(request, context.presets);
    if (made.plan && !a.out.empty()) write_file(a.out, write_plan(*made.plan));
    if (context.json)
        print(json_of_import(made).dump(2) + "\n");
    else
        print(text_of(made));
    for (const interop::ImportProblem& p : made.problems)
        if (p.severity == Severity::error) std::cerr << "pentamesh: " << p.message << "\n";
    return made.failed() ? 1 : 0;
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
    auto a = std::make_shared<Arguments>();
    app.add_option("FILE", a->file, "a launch script, a configuration file or a log; - for standard input")
        ->required();
    app.add_option("--from", a->from, "whose settings; guessed from the content where it is left out")
        ->check(CLI::IsMember(
            std::vector<std::string>(interop::kFrameworkNames.begin(), interop::kFrameworkNames.end())));
    app.add_option("--gpus", a->gpus, "GPUs of the job, where the text does not say them")
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--model", a->model, "a model preset's id or a file, where the text does not say it");
    app.add_option("--cluster", a->cluster, "a cluster preset's id; h100-sxm-ib where it is left out");
    add_sets(app, a->sets);
    app.add_option("-o,--output", a->out, "write the plan to a file");
    add_json_flag(app, context);
    app.callback([&context, a] { context.run = [&context, a] { return import(context, *a); }; });
}

}  // namespace pentamesh::cli
