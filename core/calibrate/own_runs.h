// Reads one's own files for a calibration: tables of runs, logs and tables of nccl-tests, distinguished by
// their content.
#pragma once

#include "core/calibrate/calibrate.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct OwnFiles {
    std::vector<MeasuredRun> runs;
    std::vector<LinkText> links;
    std::vector<PartConstant> parts;
    std::string from;  // the files' names, as a calibration is to name them
};

enum class OwnFile : std::uint8_t { table, log, links };
// Decides by the content: JSON is a table of runs, output of nccl-tests is links, all else a log.
[[nodiscard]] OwnFile own_file_kind(std::string_view text);

// Adds the content of a file; runs without a time are left out. A log takes its plan from `plan`, where there
// is one, else from its own settings, on `cluster` (a preset's id; empty: read_log's own). Returns in words
// what was found: "12 runs". Throws Error where nothing can be read.
std::string add_own_file(OwnFiles& own, const std::string& text, const std::string& path, const Plan* plan,
                         const std::string& cluster, const Presets& presets);

// Adds traces of ranks, files of the NCCL Inspector and the like, all of one run of this plan: a run, where
// they say its step, and what its parts give.
void add_run_files(OwnFiles& own, std::vector<runs::RunFile> files, const Plan& plan, const Presets& presets);

// Returns true if a text that is dropped on a window is for a calibration, and of no other known kind: a
// table with "cases" that were measured, or a log of steps without its settings. Never throws.
[[nodiscard]] bool is_measured_text(const std::string& text);

// Returns the cluster to calibrate where no cluster is named: that of the first run.
[[nodiscard]] const Cluster* cluster_of_runs(const OwnFiles& own);

}  // namespace pentamesh
