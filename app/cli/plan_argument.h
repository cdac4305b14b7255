// Most commands take PLAN and --set; this file reads them and says why a plan is invalid.
#pragma once

#include "app/cli/commands.h"
#include "core/evaluate.h"
#include "core/mesh/rank_list.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::cli {

struct PlanArgument {
    std::string name;  // a plan file, a plan preset's id, or "-"
    std::vector<std::string> sets;
    std::string constants{};  // a file that `calibrate` wrote; empty: the plan's own constants
};
void add_plan_argument(Options& app, PlanArgument& argument);
void add_sets(Options& app, std::vector<std::string>& sets);

// --json sets the form of the output, and of errors too.
void add_json_flag(Options& app, Context& context);

// Returns the text of a file, or of standard input for "-".
[[nodiscard]] std::string read_input(const std::string& name);
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
// Writes to standard output. Returns false if the reader closed the pipe: it has all it wanted, and more of
// the text need not come.
bool print(const std::string& text);
// Writes to a file, or to standard output for "" and "-".
void print_to(const std::string& file, const std::string& text);

}  // namespace pentamesh::cli
