// Reads the files of a real run: for the window on another thread, for a picture at once.
#pragma once

#include "app/ui/scene/real_run.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Returns true for a folder, and for a file that says by its begin that it is of a run: a log with steps is
// one, with settings or without. Never throws.
[[nodiscard]] bool is_run_place(const std::filesystem::path& path);

// Reads dumps of flight recorders (a folder, or one of them for all in its folder), or traces, logs,
// Inspector files and timelines of one run. `open` is the plan of the window: it names groups and nodes.
// Throws Error (invalid) that says which kind something is where it is of another, and where the reading was
// cancelled.
[[nodiscard]] RealRun read_real_run(const std::vector<std::filesystem::path>& places, const Plan& open,
                                    const Presets& presets, runs::ReadWatch* watch = nullptr);

// Returns the text of a log, unpacked. Throws Error where it cannot be read.
[[nodiscard]] std::string log_text(const std::filesystem::path& path);

}  // namespace pentamesh::ui
