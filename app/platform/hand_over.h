// Hands things to the desktop: a picture to its clipboard, a file to be opened.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh {

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
