// What is handed to the desktop: a picture for its clipboard, a file to be opened.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh {

// What of the environment says which programs there are.
struct DesktopPrograms {
    std::string path;      // PATH
    bool wayland = false;  // there is a Wayland display
    bool x11 = false;      // there is an X display
};
[[nodiscard]] DesktopPrograms programs_of_user();

// The command that takes a PNG on its standard input and keeps it for others to paste: wl-copy on Wayland,
// xclip on X. Empty: there is none.
[[nodiscard]] std::vector<std::string> clipboard_command(const DesktopPrograms& desktop);
// "", or why the picture is not on the clipboard and what to do about it.
[[nodiscard]] std::string put_on_clipboard(const std::string& png, const DesktopPrograms& desktop);

// The command that opens a file with what the user has for it; empty: there is none.
[[nodiscard]] std::vector<std::string> opening_command(const std::filesystem::path& file,
                                                       const DesktopPrograms& desktop);
// "", or why it cannot be opened.
[[nodiscard]] std::string open_outside(const std::filesystem::path& file, const DesktopPrograms& desktop);

}  // namespace pentamesh
