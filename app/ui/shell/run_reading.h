// Reads the files of a real run: for the window on another thread, for a picture at once.
#pragma once

#include "app/ui/scene/real_run.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Returns true for a folder, and for a file that says by its begin that it is of a run: a log with settings
// is taken for these. Never throws.
[[nodiscard]] bool is_run_place(const std::filesystem::path& path);

// Reads dumps of flight recorders (a folder, or one of them for all in its folder), or traces, logs,
// Inspector files and timelines of one run. `open` is the plan of the window: it names groups and nodes.
// Throws Error (invalid) that says which kind something is where it is of another.
[[nodiscard]] RealRun read_real_run(const std::vector<std::filesystem::path>& places, const Plan& open,
                                    const Presets& presets, runs::ReadWatch* watch = nullptr);

// Returns the bytes that there are to read, for a bar.
[[nodiscard]] std::uint64_t bytes_of(const std::vector<std::filesystem::path>& places);

}  // namespace pentamesh::ui
