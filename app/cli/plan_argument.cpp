#include "app/cli/plan_argument.h"

#include "app/cli/streams.h"
#include "app/ui/shell/incoming.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/calibrate/calibrate.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "core/mesh/failure.h"
#include "core/plan/edit_words.h"
#include "core/plan/title.h"
#include "core/runs/run_axes.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pentamesh::cli {
namespace {

bool looks_like_file(const std::string& name) {
    return name.find_first_of("/\\.") != std::string::npos;
}

// Returns true for the JSON of a plan, in the place of its name.
bool is_plan_itself(const std::string& name) {
    return name.starts_with("{");
}

}  // namespace

void add_sets(Options& app, std::vector<std::string>& sets) {
    app.add_option("--set", sets,
                   "change a field of the plan first, as layout.tp=4 or /layout/tp=4; may be repeated")
        .type_name("POINTER=VALUE")
        .repeatable();
}

void add_plan_argument(Options& app, PlanArgument& argument) {
    app.add_option("PLAN", argument.name,
                   "a plan file, a plan preset's id, a picture with a plan inside, a config.json, the plan's "
                   "JSON itself, or - for standard input")
        .required();
    add_sets(app, argument.sets);
    app.add_option("--constants", argument.constants, "take the constants of a file that `calibrate` wrote")
        .type_name("FILE");
}

void add_json_flag(Options& app, Context& context) {
    app.add_flag("--json", context.json, "write JSON");
}

std::filesystem::path file_of(const Context& context, const PlanArgument& argument) {
    if (argument.name == "-" || is_plan_itself(argument.name)
        || context.presets.has(PresetKind::plan, argument.name))
        return {};
    return argument.name;
}

namespace {

struct PlanText {
    std::string text, name;  // `name` is the plan's name in errors
};

// Returns a plan around a model's own settings: a model by itself gets the layout that `import` gives it, and
// standard error says so.
std::string plan_around(const Context& context, const std::string& config, const std::string& name) {
    interop::ImportRequest request;
    request.text = config;
    request.path = name;
    request.framework = interop::Framework::hf;
    const interop::Import in = interop::import_settings(request, context.presets);
    if (!in.plan) {
        for (const interop::ImportProblem& p : in.problems)
            if (p.severity == Severity::error) throw Error(ErrorKind::invalid, name, "", p.message);
        throw Error(ErrorKind::invalid, name, "", "no plan can be made of this model");
    }
    say_error(sentence("pentamesh: ", name, " is a model, not a plan: ",
                       count_text(in.plan->cluster.gpus, "GPU"), " of \"", in.plan->cluster.name,
                       "\" without a layout stand in. Change that with --set cluster.gpus=8, --set "
                       "layout.tp=8 and the like"));
    return write_plan(*in.plan);
}

PlanText text_of(const Context& context, const PlanArgument& argument) {
    const Presets& presets = context.presets;
    if (is_plan_itself(argument.name)) return {argument.name, "the plan"};
    if (presets.has(PresetKind::plan, argument.name)) {
        const std::string file = (presets.root() / "plans" / (argument.name + ".plan.json")).string();
        return {read_file(file), file};
    }
    std::error_code ignored;
    if (!looks_like_file(argument.name) && argument.name != "-"
        && !std::filesystem::exists(argument.name, ignored)) {
        std::vector<std::string_view> ids;
        for (const Presets::Entry& e : presets.list(PresetKind::plan)) ids.push_back(e.id);
        throw Error(ErrorKind::io, argument.name, "",
                    "there is no such file, and no such plan preset; the closest preset is \""
                        + std::string(nearest(argument.name, ids)) + "\"");
    }
    std::string text = ui::plan_text_inside(read_input(argument.name), argument.name);
    if (const std::string words = runs::run_file_words(text); !words.empty())
        throw Error(ErrorKind::invalid, argument.name, "", words);
    if (ui::is_model_text(text)) text = plan_around(context, text, argument.name);
    return {std::move(text), argument.name};
}

}  // namespace

LoadedPlan load_plan_and_sets(const Context& context, const PlanArgument& argument) {
    const PlanText in = text_of(context, argument);
    LoadedPlan loaded{parse_plan(in.text, in.name, context.presets, argument.sets), std::nullopt};
    if (!argument.constants.empty())
        loaded.plan = with_constants_of(
            loaded.plan, read_constants(read_input(argument.constants), argument.constants, context.presets),
            context.presets);
    if (argument.sets.empty()) return loaded;
    try {
        loaded.before = parse_plan(in.text, in.name, context.presets);
    } catch (const Error&) {  // --set mends what is wrong with it: there is no plan to go back to
        return loaded;
    }
    loaded.plan = with_true_title(*loaded.before, std::move(loaded.plan));
    if (const std::string lost = lost_title_text(*loaded.before, loaded.plan); !lost.empty())
        say_error("pentamesh: " + lost);
    return loaded;
}

Plan load_plan(const Context& context, const PlanArgument& argument) {
    return load_plan_and_sets(context, argument).plan;
}

void add_hosts(Options& app, std::string& hosts) {
    app.add_option("--hosts", hosts,
                   "the hosts' names in the order of ranks: node[01-04,7], or a file of them")
        .type_name("LIST");
}

Hosts load_hosts(const std::string& hosts, const Plan& plan, const Mesh& mesh) {
    if (hosts.empty() || mesh.world < 1) return {};
    std::error_code ignored;
    const bool file =
        hosts == "-"
        || (std::filesystem::exists(hosts, ignored) && !std::filesystem::is_directory(hosts, ignored));
    const std::int64_t node = std::max<std::int64_t>(1, node_size(mesh, plan.cluster));
    const Hosts out = hosts_of(file ? read_input(hosts) : hosts, mesh.world, node);
    const std::int64_t nodes = (mesh.world + node - 1) / node;
    // A single word may be the name of a file; one of a host in its domain has several dots.
    const bool as_file =
        hosts.find_first_of("/\\") != std::string::npos || std::count(hosts.begin(), hosts.end(), '.') == 1;
    if (!file && out.names.size() == 1 && (nodes > 1 || as_file))
        throw Error(ErrorKind::io, hosts, "",
                    "there is no such file, and as a host it would hold all " + count_text(mesh.world, "rank")
                        + " of " + count_text(nodes, "node")
                        + ": --hosts takes a list, as node[01-04,7], or a file of names");
    return out;
}

int status_of(const Evaluation& evaluation) {
    if (evaluation.valid) return 0;
    for (const Problem& p : evaluation.problems) {
        if (p.severity != Severity::error) continue;
        say_error("pentamesh: " + (p.pointer.empty() ? "" : p.pointer + ": ") + p.message
                  + (p.fix.empty() ? "" : " Change: " + words_of(p.fix) + "."));
    }
    return 1;
}

void refuse(const std::string& why) {
    throw Error(ErrorKind::usage, "", "", why);
}

runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                             const Plan* plan) {
    std::optional<Mesh> mesh;
    if (plan != nullptr) mesh = build_mesh(*plan);
    const runs::PartOfGroup part_of = runs::parts_by(mesh ? &*mesh : nullptr);
    std::vector<runs::RunFile> read;
    read.reserve(files.size());
    for (const std::string& file : files) {
        note_input(file);
        read.push_back(file == "-" ? runs::read_run_text(read_input(file), file, part_of)
                                   : runs::read_run_file(file, part_of));
    }
    return runs::measure(std::move(read), plan, presets);
}

}  // namespace pentamesh::cli
