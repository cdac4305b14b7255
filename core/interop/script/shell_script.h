// Reads a launch script as the shell would run it, and runs nothing: it finds which commands, with which
// arguments. Some values only a running shell knows: a command's output, a positional argument, a variable
// that nothing sets. Each stays a named unknown in the argument that it reaches.
#pragma once

#include "core/interop/script/settings.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::shell {

// This is a value that the script does not give.
struct Unknown {
    std::string what;    // "TP", "$1", "$(nproc)"
    int line = 0;        // the line that uses it first
    bool unset = false;  // nothing sets it: an empty text in a condition, as in a clean environment
};

struct Argument {
    std::string text;  // unknowns stand in it as marks: see unknown_in
    int line = 0;
};

struct Invocation {
    std::vector<Argument> words;  // the program first
    int line = 0;
    // Variables that launchers read their processes from: NPROC_PER_NODE, NNODES.
    std::map<std::string, std::string, std::less<>> environment{};
    // Words of the launcher that starts the shell which runs it: `srun -N 4 bash -c "…"`.
    std::vector<Argument> outer{};
};

struct Source {
    std::string file;  // as the script names it
    int line = 0;      // of the script itself: of the command that reads it in
};

// Holds the words of a variable that is a list of flags, as a file has them that another script reads in.
struct FlagList {
    std::string name;
    std::vector<Argument> words;
};

struct Script {
    std::vector<Invocation>
        invocations;  // in the order of the run; of a branch whose condition is unknown, both sides
    std::vector<Unknown> unknowns;
    // "nodes" -> "256"; of a further group of a job of several: "nodes@1".
    std::map<std::string, std::string, std::less<>> sbatch;
    std::vector<Source> sources;  // files that it reads in, in the order of the run
    std::string unread;           // the first such file that is not there: "source a.sh (line 3)"
    std::vector<FlagList> lists;  // variables that hold flags, as they are at the end, by name
    // Files that it writes, by their names as they are shown; empty: with one text or another. An unknown
    // value stands in a text as $NAME.
    std::map<std::string, std::string, std::less<>> written{};
};

// Holds what a script does not say and its user does: "TP" or "$1" to a value.
struct Given {
    std::map<std::string, std::string, std::less<>> values{};
    std::vector<std::string> arguments{};  // $1 …; empty: none are given
    std::function<std::optional<std::string>(const std::string& name)> file{};  // what `source` reads
};

// Throws Error (invalid) with a line where the text is no shell script. It is bounded in time, depth and
// size.
[[nodiscard]] Script read_script(std::string_view text, const std::string& path, const Given& given = {});

// Returns what stands behind an option of `sbatch` that is of this group of nodes.
[[nodiscard]] std::string group_suffix(std::int64_t group);

// Returns true for a text whose first line, #!, names a program that is not Python.
[[nodiscard]] bool begins_as_script(std::string_view text);

// Returns where a word's or a command's line stands: lines of files that the script reads in have numbers of
// their own.
[[nodiscard]] interop::TextPlace place_in(const Script& script, int line);
// Returns the line of the script itself: of a file that it reads in, the one where it does.
[[nodiscard]] int own_line(const Script& script, int line);

// Returns the first unknown in an argument; null where its text is whole.
[[nodiscard]] const Unknown* unknown_in(const Script& script, std::string_view text);
// Returns the unknown that is the whole text, or null.
[[nodiscard]] const Unknown* sole_unknown_in(const Script& script, std::string_view text);
// Returns the text with unknowns as they are written: "${TP}", "$(nproc)".
[[nodiscard]] std::string shown(const Script& script, std::string_view text);

}  // namespace pentamesh::shell

// Reads the job behind a launch script: its program, the program's arguments as settings, and how many GPUs
// it starts on.

namespace pentamesh::interop {

struct Launch {
    std::string program;          // "pretrain_gpt.py", "torchtitan.train"; empty: bare flags
    std::vector<Setting> flags;   // "--name": value; "-tp" too
    std::vector<Setting> words;   // "a.b=c" words that belong to no flag, as name and value
    std::vector<Setting> before;  // flags between a launcher and the program, with the launcher (Setting::of)
    std::vector<Setting> loose;   // other words of which settings may come: ${ARGS}, @args.txt, a file
    std::int64_t gpus = 0;        // 0: the script does not say
    std::int64_t gpus_per_node = 0;
    bool gpus_of_tasks = false;     // they are Slurm's tasks: a tool may start more processes than these
    std::string hosts;              // its node list of SLURM, "gpu[001-064]"; empty: the script names none
    std::string unread;             // a file that it reads in and that is not there
    std::vector<std::string> jobs;  // "line-12": commands that start the same program with other arguments
    std::string job;                // the one that was read
    std::string elastic;            // "--nnodes 2:4": the larger number counts
    std::string device;             // the accelerator that a launcher names, "tpu7x"; empty: none does
    std::map<std::string, std::string, std::less<>> written{};  // files that the script writes (Script)
    std::string gpus_unknown;  // why not, where it tries to: "--nnodes is set from NNODES (line 3)"
};

// `is_switch` (key with underscores) says that a flag takes no value, so that a word after it is not one.
// `which` names the one of several that is read; empty: the one with most settings. Throws Error (invalid)
// where the text is no script or starts no such job.
[[nodiscard]] Launch read_launch(std::string_view text, const std::string& path,
                                 const std::function<bool(std::string_view)>& is_switch,
                                 const shell::Given& given = {}, std::string_view which = {});

// Holds a tool's own command that is given a file of settings: `llamafactory-cli train full.yaml`.
struct FrontEnd {
    std::string tool;     // whose settings the file holds: a name of the table of tools
    std::string command;  // "llamafactory-cli train"
    std::string file;     // as the command names it; "${CONFIG}" where the text does not set it
    bool known = true;    // false: the text does not set the file's name
    bool sure = false;    // a variable of the environment says which tool of several it is
};

// Returns the first such command of a text (words.json, "front_ends"); nullopt where it has none, or is no
// script.
[[nodiscard]] std::optional<FrontEnd> front_end_in(std::string_view text, const std::string& path,
                                                   const shell::Given& given = {});

// Returns true for a name that ends as a file of settings does: ".yaml", ".toml".
[[nodiscard]] bool is_settings_file(std::string_view name);

// Returns the slots of each host that a filter of DeepSpeed names, "worker-1:0,1@worker-2"
// (launcher/runner.py, parse_node_config_list); an empty set: all of the host's.
using SlotsOfHosts = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;
[[nodiscard]] SlotsOfHosts slots_of_filter(std::string_view filter);

// Returns "num_layers" for "--num-layers", "tp" for "-tp".
[[nodiscard]] std::string flag_key(std::string_view name);

}  // namespace pentamesh::interop
