// Runs the desktop's own file dialog, zenity's or kdialog's, in a process of its own, so that the window goes
// on.
#pragma once

#include "app/ui/shell/window.h"

#include <memory>
#include <string>
#include <vector>

namespace pentamesh {

// This part of the environment says which dialog there is.
struct Desktop {
    std::string path;    // PATH
    std::string name;    // XDG_CURRENT_DESKTOP
    bool shown = false;  // there is a display to show it on
};
[[nodiscard]] Desktop desktop_of_user();

// Returns the command that asks, its program found in `desktop.path`; empty where there is no such program.
[[nodiscard]] std::vector<std::string> dialog_command(const ui::FileQuestion& question,
                                                      const Desktop& desktop);

// Starts the dialog. Returns null if there is no such program, or it cannot be started.
[[nodiscard]] std::unique_ptr<ui::FileDialog> open_native_dialog(const ui::FileQuestion& question,
                                                                 const Desktop& desktop);

}  // namespace pentamesh
