// `calibrate` fits the constants of one's own cluster to one's own runs.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/constants.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/calibrate/own_runs.h"
#include "core/runs/run_axes.h"

#include <fstream>
#include <iostream>

namespace pentamesh::cli {
namespace {

struct CalibrateOptions {
    std::vector<std::string> files;
    PlanArgument plan;
    std::string cluster, out, save;
    bool force = false;
    Forms forms;
};

// A trace may be long: its begin says what it is.
std::string begin_of(const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return "";  // what a pipe says is read once
    std::string begin(std::size_t{1} << 18U, ' ');
    std::ifstream in(file, std::ios::binary);
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(in.gcount()));
    return begin;
}

OwnFiles read_files(const Context& context, const CalibrateOptions& options) {
    OwnFiles own;
    std::optional<Plan> plan;
    if (!options.plan.name.empty()) plan = load_plan(context, options.plan);
    std::optional<Mesh> mesh;
    if (plan) mesh = build_mesh(*plan);
    std::vector<runs::RunFile> run_files;
    for (const std::string& file : options.files) {
        if (file == "-" || !runs::run_file_kind(begin_of(file))) {
            add_own_file(own, read_input(file), file, plan ? &*plan : nullptr, options.cluster,
                         context.presets);
            continue;
        }
        if (!plan)
            throw Error(ErrorKind::usage, file, "",
                        "a trace does not say its settings: name the run's plan with --plan");
        run_files.push_back(runs::read_run_file(file, runs::parts_by(&*mesh)));
    }
    if (plan) add_run_files(own, std::move(run_files), *plan, context.presets);
    return own;
}

Cluster cluster_to_calibrate(const Context& context, const CalibrateOptions& options, const OwnFiles& own) {
    if (!options.cluster.empty()) return context.presets.cluster(options.cluster);
    if (const Cluster* of_runs = cluster_of_runs(own)) return *of_runs;
    if (!options.plan.name.empty()) return load_plan(context, options.plan).cluster;
    refuse("tables of nccl-tests alone need --cluster or --plan");
}

Json json_of_calibrated(const Calibrated& made, const std::string& constants) {
    Json runs = Json::array(), list = Json::array();
    for (const CalibratedRun& r : made.runs)
        runs.push_back({{"run", r.id},
                        {"measured_s", r.measured_s},
                        {"before_s", r.before_s},
                        {"after_s", r.after_s},
                        {"left_out_s", r.left_out_s},
                        {"better", r.better()}});
    for (const CalibratedConstant& c : made.constants)
        list.push_back({{"id", c.id},
                        {"before", c.before},
                        {"after", c.after},
                        {"least", c.least},
                        {"most", c.most},
                        {"measured", c.measured}});
    return {{"runs", std::move(runs)},
            {"constants", std::move(list)},
            {"links", made.links},
            {"error", {{"before", made.before}, {"after", made.after}, {"left_out", made.left_out}}},
            {"cluster", Json::parse(constants)}};
}

Document document_of(const Calibrated& made) {
    Section runs{"Runs", calibrated_lines(made), calibrated_runs_table(made)};
    Section constants{"Constants", made.links, calibrated_constants_table(made)};
    Document out{"Constants of " + made.cluster.name, {}};
    if (!made.runs.empty()) out.sections.push_back(std::move(runs));
    out.sections.push_back(std::move(constants));
    return out;
}

int calibrate_files(const Context& context, const CalibrateOptions& options) {
    const OwnFiles own = read_files(context, options);
    Calibrated made =
        calibrate(own.runs, own.links, cluster_to_calibrate(context, options, own), own.from, own.parts);
    const std::string worse = made.worse_words();
    const bool writes = worse.empty() || options.force;
    if (!worse.empty() && options.force && made.cluster.calibration)
        made.cluster.calibration->from += " (written by --force: " + worse + ")";
    const std::string constants = write_constants(made, options.save, context.presets);
    if (writes && !options.out.empty()) write_output(options.out, constants);
    std::string kept;
    if (writes && !options.save.empty()) kept = save_calibrated(made, options.save, context.presets).string();
    print_form(
        context, options.forms, [&] { return json_of_calibrated(made, constants); },
        [&] { return calibrated_constants_table(made); }, [&] { return document_of(made); });
    if (!writes) {
        say_error("pentamesh: " + worse + ". Nothing is written; --force writes it all the same.");
        return 1;
    }
    if (context.json || options.forms.csv) return 0;
    if (!options.out.empty()) print("\nWritten to " + options.out + ": --constants takes it.\n");
    if (!kept.empty()) print("\nKept as a cluster of your own: " + kept + "\n");
    return 0;
}

}  // namespace

void add_calibrate(Options& app, Context& context) {
    auto& o = run_with(app, context, calibrate_files);
    app.add_option(
           "FILE", o.files,
           "a table of plans and what was measured (JSON), a table of nccl-tests, and what `measured` reads: "
           "logs, traces, files of the NCCL Inspector; - for standard input")
        .required();
    app.add_option("--plan", o.plan.name,
                   "the plan of traces, and of logs that do not say their own settings")
        .type_name("PLAN");
    app.add_option("--cluster", o.cluster,
                   "a cluster preset's id: what is calibrated; the first run's where it is left out")
        .type_name("CLUSTER");
    app.add_option("-o,--output", o.out, "write the constants to a file, which --constants takes")
        .type_name("FILE");
    app.add_option("--save", o.save, "keep it under this name among your own clusters").type_name("NAME");
    app.add_flag("--force", o.force, "write a fit, too, that is no better than none");
    add_form_flags(app, context, o.forms);
}

}  // namespace pentamesh::cli
