// Reads the job behind a launch script: its program, the program's arguments as settings, and how many GPUs
// it starts on.
#pragma once

#include "core/interop/settings.h"
#include "core/interop/shell_script.h"

#include <cstdint>
#include <functional>

namespace pentamesh::interop {

struct Launch {
    std::string program;         // "pretrain_gpt.py", "torchtitan.train"; empty: bare flags
    std::vector<Setting> flags;  // "--name": value; "-tp" too
    std::vector<Setting> words;  // "a.b=c" words that belong to no flag, as name and value
    std::int64_t gpus = 0;       // 0: the script does not say
    std::int64_t gpus_per_node = 0;
    std::string hosts;              // its node list of SLURM, "gpu[001-064]"; empty: the script names none
    std::string unread;             // a file that it reads in and that is not there
    std::vector<std::string> jobs;  // "line-12": commands that start the same program with other arguments
    std::string job;                // the one that was read
    std::string gpus_unknown;       // why not, where it tries to: "--nnodes is set from NNODES (line 3)"
};

// `is_switch` (key with underscores) says that a flag takes no value, so that a word after it is not one.
// `which` names the one of several that is read; empty: the one with most settings. Throws Error (invalid)
// where the text is no script or starts no such job.
[[nodiscard]] Launch read_launch(std::string_view text, const std::string& path,
                                 const std::function<bool(std::string_view)>& is_switch,
                                 const shell::Given& given = {}, std::string_view which = {});

// Returns "num_layers" for "--num-layers", "tp" for "-tp".
[[nodiscard]] std::string flag_key(std::string_view name);

}  // namespace pentamesh::interop
