// Most commands take PLAN and --set; this file reads them and says why a plan is invalid.
#pragma once

#include "app/cli/commands.h"
#include "app/cli/streams.h"
#include "core/evaluate.h"
#include "core/mesh/rank_list.h"
#include "core/runs/measured.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::cli {

struct PlanArgument {
    std::string name;  // a plan file, a plan preset's id, a plan's JSON, or "-"
    std::vector<std::string> sets;
    std::string constants{};  // a file that `calibrate` wrote; empty: the plan's own constants
};
void add_plan_argument(Options& app, PlanArgument& argument);
void add_sets(Options& app, std::vector<std::string>& sets);

// --json sets the form of the output, and of errors too.
void add_json_flag(Options& app, Context& context);

[[nodiscard]] Plan load_plan(const Context& context, const PlanArgument& argument);
struct LoadedPlan {
    Plan plan;                   // with --set
    std::optional<Plan> before;  // without; nullopt: nothing is set, or --set mends what could not be read
};
[[nodiscard]] LoadedPlan load_plan_and_sets(const Context& context, const PlanArgument& argument);
// Returns the file that the argument names; empty for a preset or standard input.
[[nodiscard]] std::filesystem::path file_of(const Context& context, const PlanArgument& argument);

// --hosts names the job's hosts: a node list of SLURM or a file that has one.
void add_hosts(Options& app, std::string& hosts);
// Returns the hosts, empty where no host is named. Throws Error where they do not fit the plan.
[[nodiscard]] Hosts load_hosts(const std::string& hosts, const Plan& plan, const Mesh& mesh);

// Writes to standard error why a plan is invalid; returns the exit status for that.
[[nodiscard]] int status_of(const Evaluation& evaluation);

// Ends a command as a usage error that says `why`.
[[noreturn]] void refuse(const std::string& why);

// Reads the files that a run left behind, for the commands that compare it with its plan.
// `plan` may be nullptr. Throws Error for a file of another kind.
[[nodiscard]] runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                                           const Plan* plan);

}  // namespace pentamesh::cli
