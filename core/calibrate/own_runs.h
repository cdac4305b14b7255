// What do one's own files say to calibrate from? Tables of runs, logs and tables of nccl-tests, told apart by
// what stands in them.
#pragma once

#include "core/calibrate/calibrate.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct OwnFiles {
    std::vector<MeasuredRun> runs;
    std::vector<LinkText> links;
    std::string from;  // the files' names, as a calibration is to name them
};

enum class OwnFile : std::uint8_t { table, log, links };
// By its content: JSON is a table of runs, what nccl-tests print is links, all else a log.
[[nodiscard]] OwnFile own_file_kind(std::string_view text);

// Adds what a file says; runs without a time are left out. A log takes its plan from `plan`, where there is
// one, else from its own settings, on `cluster` (a preset's id; empty: read_log's own). Returns what was
// found, in words: "12 runs". Error where nothing can be read.
std::string add_own_file(OwnFiles& own, const std::string& text, const std::string& path, const Plan* plan,
                         const std::string& cluster, const Presets& presets);

// Whether a text that is dropped on a window is meant to calibrate from, and is nothing else that is known: a
// table with "cases" that were measured, or a log of steps without its settings. Never throws.
[[nodiscard]] bool is_measured_text(const std::string& text);

// The cluster that is calibrated where none is named: of the first run.
[[nodiscard]] const Cluster* cluster_of_runs(const OwnFiles& own);

}  // namespace pentamesh
