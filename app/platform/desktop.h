// Asks the desktop: its own file dialog, zenity's or kdialog's, in a process of its own, so that the window
// goes on; its clipboard for a picture; its program to open a file.
#pragma once

#include "app/ui/shell/window.h"

#include <filesystem>
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

// This part of the environment says which programs there are.
struct DesktopPrograms {
    std::string path;      // PATH
    bool wayland = false;  // there is a Wayland display
    bool x11 = false;      // there is an X display
};
[[nodiscard]] DesktopPrograms programs_of_user();

// Returns the command that takes a PNG on its standard input and keeps it for others to paste: wl-copy on
// Wayland, xclip on X. It is empty where neither is there.
[[nodiscard]] std::vector<std::string> clipboard_command(const DesktopPrograms& desktop);
// Returns "", or why the picture is not on the clipboard and how to mend that.
[[nodiscard]] std::string put_on_clipboard(const std::string& png, const DesktopPrograms& desktop);

// Returns the command that opens a file with the user's own program for it; empty where there is no such
// command.
[[nodiscard]] std::vector<std::string> opening_command(const std::filesystem::path& file,
                                                       const DesktopPrograms& desktop);
// Returns "", or why it cannot be opened.
[[nodiscard]] std::string open_outside(const std::filesystem::path& file, const DesktopPrograms& desktop);

}  // namespace pentamesh
