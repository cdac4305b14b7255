// `import` turns a framework's settings into a plan, and says what became of each of them.

#include "core/interop/import.h"
#include "app/cli/output.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/export.h"
#include "core/interop/fabric_text.h"
#include "core/io/plan_json.h"
#include "core/runs/calibrate.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace pentamesh::cli {
namespace {

using interop::Import;
using interop::Listed;

struct Arguments : JobArguments {
    std::string file, from, out, on, recipe, arguments;
    std::vector<std::string> sets;
    bool tools = false, markdown = false;
};

Json json_of_list(const std::vector<Listed>& rows, bool paths, bool reasons) {
    Json out = Json::array();
    for (const Listed& r : rows) {
        Json row{{"setting", r.setting}, {"value", r.value}};
        if (paths) row["path"] = r.path;
        if (reasons) row["why"] = r.why;
        row["line"] = r.line;
        if (!r.file.empty()) row["file"] = r.file;
        out.push_back(std::move(row));
    }
    return out;
}

// Those that are not known stand here too: no plan holds them.
Json json_of_unmapped(const interop::SettingLists& lists) {
    std::vector<Listed> rows = lists.unmapped;
    for (Listed row : lists.not_known) {
        row.why = "not known: it may change the layout, the memory or the time";
        rows.push_back(std::move(row));
    }
    return json_of_list(rows, false, true);
}

Json json_of_import(const Import& made) {
    Json out = {{"kind", made.kind},
                {"plan", made.plan ? Json::parse(write_plan(*made.plan)) : Json(nullptr)},
                {"mapped", json_of_list(made.settings.mapped, true, false)},
                {"ignored", json_of_list(made.settings.ignored, false, false)},
                {"unmapped", json_of_unmapped(made.settings)},
                {"not_known", json_of_list(made.settings.not_known, false, false)},
                {"problems", json_of_import_problems(made.problems)}};
    if (!made.hosts.empty()) out["hosts"] = made.hosts;  // --hosts takes it
    if (!made.recipes.empty()) out["recipes"] = made.recipes;
    if (!made.recipe.empty()) out["recipe"] = made.recipe;
    return out;
}

void add_rows(std::string& out, const char* title, const std::vector<Listed>& rows) {
    if (rows.empty()) return;
    out += std::string("\n") + title + "\n";
    for (const Listed& r : rows) {
        out += "  " + r.setting + (r.value.empty() ? "" : " = " + r.value);
        if (!r.path.empty()) out += "  ->  " + r.path;
        if (!r.why.empty()) out += "  (" + r.why + ")";
        out += r.line > 0 ? "  [" + interop::words_of(interop::TextPlace{r.line, r.file}) + "]\n" : "\n";
    }
}

// Returns a value as --set takes it.
std::string set_text(const EditValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, std::string>)
                return v;
            else if constexpr (std::is_same_v<T, double>)
                return exact_text(v);
            else
                return Json(v).dump();
        },
        value);
}

void add_problems(std::string& out, const std::vector<interop::ImportProblem>& problems) {
    if (!problems.empty()) out += "\nProblems\n";
    for (const interop::ImportProblem& p : problems) {
        out += "  " + std::string(name_of(p.severity)) + ": " + p.message + "\n";
        for (const Edit& e : p.fix)
            if (p.opens) out += "    --set " + e.path + "=" + set_text(e.value) + "\n";
    }
}

std::string text_of(const Import& made) {
    std::string out =
        "Read as " + made.kind + (made.recipe.empty() ? "" : ", the recipe " + made.recipe) + "\n";
    if (made.plan) {
        const Layout& l = made.plan->layout;
        const auto n = [](std::int64_t x) { return std::to_string(x); };
        out += made.plan->model.name + ", " + n(made.plan->cluster.gpus) + " GPUs: tp " + n(l.tp) + ", cp "
               + n(l.cp) + ", pp " + n(l.pp) + ", ep " + n(l.ep) + ", dp_shard " + n(l.dp_shard)
               + ", dp_replicate " + n(l.dp_replicate.value_or(1)) + ", ZeRO-" + std::to_string(l.zero)
               + "\n";
    }
    const interop::SettingLists& l = made.settings;
    out += summary_of(l) + "\n";
    add_rows(out, "Not known: these may change the layout, the memory or the time", l.not_known);
    add_rows(out, "Cannot be held by a plan", l.unmapped);
    add_rows(out, "Mapped", l.mapped);
    add_rows(out, "Ignored: known to change nothing that a plan says", l.ignored);
    add_problems(out, made.problems);
    return out;
}

constexpr std::array kTools{interop::FabricTool::nccl_tests, interop::FabricTool::nvidia_topo};

std::optional<interop::FabricTool> tool_of(const std::string& from, std::string_view text) {
    if (from.empty()) return interop::fabric_tool(text);
    for (const interop::FabricTool tool : kTools)
        if (from == interop::name_of(tool)) return tool;
    return std::nullopt;
}

// Applies a measured tier to the plan of --on, or prints it as fields to set.
int import_links(const Context& context, const Arguments& a, interop::FabricTool tool,
                 const std::string& text) {
    Plan plan;
    if (!a.on.empty())
        plan = load_plan(context, {a.on, a.sets});
    else
        plan.cluster = context.presets.cluster(a.cluster.empty() ? interop::kAssumedCluster : a.cluster);
    interop::FabricReading made = interop::read_fabric(tool, text, a.file, plan.cluster);
    made.problems.insert(made.problems.begin(), {Severity::info, "measured-link", made.summary, made.edits});
    if (a.on.empty() && a.cluster.empty())
        made.problems.push_back(
            {Severity::info,
             "cluster-assumed",
             "For a cluster of H100 with InfiniBand; --on PLAN or --cluster gives another.",
             {}});
    if (!a.on.empty()) plan = apply_edits(plan, made.edits, context.presets);
    if (!a.on.empty() && !a.out.empty()) {  // a plan may get its tier in its own file
        forget_inputs();
        note_input(a.file);
        write_output(a.out, write_plan(plan));
    }
    if (context.json) {
        print_json(pretty(Json{{"kind", interop::name_of(tool)},
                               {"plan", a.on.empty() ? Json(nullptr) : Json::parse(write_plan(plan))},
                               {"mapped", json_of_list(made.settings.mapped, true, false)},
                               {"ignored", json_of_list(made.settings.ignored, false, false)},
                               {"unmapped", Json::array()},
                               {"problems", json_of_import_problems(made.problems)}}));
        return 0;
    }
    std::string out = "Read as " + std::string(interop::words_of(tool)) + "\n" + made.summary + "\n";
    for (const Edit& e : made.edits) out += "  --set " + e.path + "=" + set_text(e.value) + "\n";
    add_rows(out, "Used", made.settings.mapped);
    add_rows(out, "Not used", made.settings.ignored);
    made.problems.erase(made.problems.begin());
    add_problems(out, made.problems);
    print(out);
    return 0;
}

int import(const Context& context, const Arguments& a) {
    if (a.tools) return list_tools(context, {a.file, a.markdown, a.out});
    if (a.markdown) refuse("--markdown is for --tools");
    if (a.file.empty()) refuse("FILE is required");
    const std::string text = read_input(a.file);
    if (const std::string words = runs::run_file_words(text); !words.empty())
        throw Error(ErrorKind::invalid, a.file, "", words);
    if (is_measured_text(text))
        throw Error(ErrorKind::invalid, a.file, "",
                    "these are times of runs without their settings; `pentamesh measured` reads logs, "
                    "`pentamesh calibrate` logs and tables");
    if (const auto tool = tool_of(a.from, text)) return import_links(context, a, *tool, text);
    if (!a.on.empty())
        refuse("--on PLAN is for what a tool says of the fabric: a table of nccl-tests, nvidia-smi topo -m");
    interop::ImportRequest request = request_of(context, a);
    put_file(request, a.file, text);
    request.tool = a.from;
    request.sets = a.sets;
    request.recipe = a.recipe;
    request.arguments = a.arguments;
    const Import made = interop::import_settings(request, context.presets);
    if (made.plan && !a.out.empty()) write_output(a.out, write_plan(*made.plan));
    if (context.json)
        print_json(pretty(json_of_import(made)));
    else
        print(text_of(made)
              + (runs::read_run_log(text).steps > 0
                     ? "\nIt says the times of its steps too: `pentamesh measured` reads them\n"
                     : ""));
    for (const interop::ImportProblem& p : made.problems)
        if (p.severity == Severity::error) say_error("pentamesh: " + p.message);
    const bool unnamed = std::any_of(made.problems.begin(), made.problems.end(),
                                     [](const auto& p) { return p.asks == interop::Asked::recipe; });
    return unnamed ? 2 : made.failed() ? 1 : 0;
}

}  // namespace

void add_import(Options& app, Context& context) {
    auto& a = run_with(app, context, import);
    app.add_option(
        "FILE", a.file,
        "a launch script, a configuration file or a log; - for standard input. With --tools: a tool's name");
    std::vector<std::string> names;
    for (const interop::Tool* tool : interop::read_tools()) names.emplace_back(tool->name);
    for (const interop::FabricTool tool : kTools) names.emplace_back(interop::name_of(tool));
    app.add_option("--from", a.from, "whose settings; guessed from the content where it is left out")
        .one_of(names);
    app.add_option("--on", a.on,
                   "the plan whose tier a table of nccl-tests measures, or nvidia-smi topo -m shows")
        .type_name("PLAN");
    app.add_option(
           "--recipe", a.recipe,
           "which configuration of a Python file or job of a script that has several; they are listed")
        .type_name("NAME");
    app.add_option("--var", a.variables, "a value that a script does not say, TP=4; may be repeated")
        .type_name("NAME=VALUE")
        .repeatable();
    app.add_option("--args", a.arguments, "the arguments that a script is started with: its $1, $2 and so on")
        .type_name("WORDS");
    app.add_option("--gpus", a.gpus, "GPUs of the job, where the text does not say them").range(1, 1 << 20);
    app.add_option("--model", a.model, "a model preset's id or a file, where the text does not say it")
        .type_name("MODEL");
    app.add_option("--cluster", a.cluster, "a cluster preset's id; h100-sxm-ib where it is left out")
        .type_name("CLUSTER");
    add_sets(app, a.sets);
    app.add_option("-o,--output", a.out, "write the plan, or with --tools the list, to a file")
        .type_name("FILE");
    app.add_flag("--tools", a.tools,
                 "list the tools that are read and what is known of each; all settings of one: --tools roll");
    add_json_flag(app, context);
    app.add_flag("--markdown", a.markdown, "write the list of --tools as Markdown").excludes("--json");
}

namespace {

namespace fs = std::filesystem;

// Returns true if a folder may be the package "a/b" without the packages around it: the folder around it is
// named by the next one, or is no package.
bool may_be_package(const fs::path& folder, const fs::path& package) {
    if (package.empty()) return true;
    if (folder.filename() != package.filename()) return false;
    const fs::path around = package.parent_path();
    std::error_code ignored;
    return around.empty() || folder.parent_path().filename() == around.filename()
           || !fs::exists(folder.parent_path() / "__init__.py", ignored);
}

interop::OtherFile files_beside(const fs::path& file) {
    std::error_code ignored;
    const fs::path own = fs::absolute(file, ignored);
    return [own](const std::string& name) -> std::optional<std::string> {
        const bool whole = name.starts_with("/"), here = name.starts_with("./");
        const int levels = whole ? 1 : here ? 2 : 12;
        // The folder "perf_recipes" may stand without the packages around it; a script in scripts/ is started
        // in the folder above, where its "./scripts/zero3.json" lies.
        for (std::string part = here ? name.substr(2) : name, outside;;) {
            fs::path at = own.parent_path();
            for (int level = 0; level < levels; ++level, at = at.parent_path()) {
                if (may_be_package(at, outside) && at / part != own)
                    if (auto text = try_read_file(at / part)) return text;
                if (at == at.parent_path()) break;
            }
            const std::size_t slash = part.find('/');
            if (whole || here || slash == std::string::npos || part.starts_with("..")) return std::nullopt;
            outside += (outside.empty() ? "" : "/") + part.substr(0, slash);
            part.erase(0, slash + 1);
        }
    };
}

}  // namespace

interop::ImportRequest request_of(const Context& context, const JobArguments& job) {
    for (const std::string& v : job.variables)
        if (v.find('=') == std::string::npos) refuse("--var " + shown_text(v) + " is no NAME=VALUE");
    interop::ImportRequest r;
    r.gpus = job.gpus;
    const bool preset = job.model.empty() || context.presets.has(PresetKind::model, job.model);
    r.model = preset ? job.model : read_input(job.model);
    r.cluster = job.cluster;
    r.variables = job.variables;
    return r;
}

void put_file(interop::ImportRequest& request, const std::string& file, const std::string& text) {
    request.text = text;
    request.path = file;
    if (file != "-") request.other = files_beside(file);
}

// `export` turns a plan into a framework's own settings.

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
    const interop::Export made = interop::export_plan(plan, a.to, context.presets);
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
    std::vector<std::string> names;
    for (const interop::Tool* tool : interop::written_tools()) names.emplace_back(tool->name);
    names.emplace_back("devicemesh");
    app.add_option("--to", a.to, "whose settings").required().one_of(names);
    app.add_option("-o,--output", a.out, "write to a file").type_name("FILE");
    app.add_flag("--lossy", a.lossy, "write though something of the plan is lost; what, stands at the head");
}

}  // namespace pentamesh::cli
