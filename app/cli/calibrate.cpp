// `calibrate` fits the constants of one's own cluster to one's own runs.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/constants.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/calibrate/own_runs.h"
#include "core/io/plan_json.h"

#include <algorithm>

namespace pentamesh::cli {
namespace {

struct CalibrateOptions {
    std::vector<std::string> files;
    PlanArgument plan;
    std::string cluster, out, save;
    Forms forms;
};

OwnFiles read_files(const Context& context, const CalibrateOptions& options) {
    OwnFiles own;
    std::optional<Plan> plan;
    if (!options.plan.name.empty()) plan = load_plan(context, options.plan);
    for (const std::string& file : options.files)
        add_own_file(own, read_input(file), file, plan ? &*plan : nullptr, options.cluster, context.presets);
    return own;
}

Cluster cluster_to_calibrate(const Context& context, const CalibrateOptions& options, const OwnFiles& own) {
    if (!options.cluster.empty()) return context.presets.cluster(options.cluster);
    if (const Cluster* of_runs = cluster_of_runs(own)) return *of_runs;
    if (!options.plan.name.empty()) return load_plan(context, options.plan).cluster;
    throw Error(ErrorKind::usage, "", "", "tables of nccl-tests alone need --cluster or --plan");
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
    const Calibrated made =
        calibrate(own.runs, own.links, cluster_to_calibrate(context, options, own), own.from);
    const std::string constants = write_constants(made, options.save, context.presets);
    if (!options.out.empty()) write_file(options.out, constants);
    std::string kept;
    if (!options.save.empty()) kept = save_calibrated(made, options.save, context.presets).string();
    if (context.json) {
        print(pretty(json_of_calibrated(made, constants)));
        return 0;
    }
    if (options.forms.csv) {
        print_csv(calibrated_constants_table(made));
        return 0;
    }
    print_document(options.forms, document_of(made));
    if (!options.out.empty()) print("\nWritten to " + options.out + ": --constants takes it.\n");
    if (!kept.empty()) print("\nKept as a cluster of your own: " + kept + "\n");
    return 0;
}

}  // namespace

void add_calibrate(Options& app, Context& context) {
    auto& o = run_with(app, context, calibrate_files);
    app.add_option(
           "FILE", o.files,
           "a table of plans and what was measured (JSON), a log of Megatron or torchtitan, a table of "
           "nccl-tests; - for standard input")
        .required();
    app.add_option("--plan", o.plan.name, "the plan of logs that do not say their own settings")
        .type_name("PLAN");
    app.add_option("--cluster", o.cluster,
                   "a cluster preset's id: what is calibrated; the first run's where it is left out")
        .type_name("CLUSTER");
    app.add_option("-o,--output", o.out, "write the constants to a file, which --constants takes")
        .type_name("FILE");
    app.add_option("--save", o.save, "keep it under this name among your own clusters").type_name("NAME");
    add_form_flags(app, context, o.forms);
}

}  // namespace pentamesh::cli
