// The real window around the shell.
#pragma once

#include "core/io/presets.h"

#include <filesystem>
#include <optional>

namespace pentamesh {

struct WindowArgs {
    std::optional<Plan> plan;         // nothing: what was not saved last time, or the default plan
    std::filesystem::path plan_file;  // where it was read from; empty: a preset
    bool saved = true;                // false: the plan is not what stands there
    std::optional<Plan> edited;       // an edit of the plan to begin with, which undo takes back
    std::filesystem::path opened;     // a lesson, opened as if it were dropped on the window; or empty
    std::filesystem::path data_folder, config_folder, home;
};
// Returns when the window was closed. Error of kind io where no window can be opened.
void run_window(const Presets& presets, const WindowArgs& args);

}  // namespace pentamesh
