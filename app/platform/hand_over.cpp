#include "app/platform/hand_over.h"

#include "app/platform/programs.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <shellapi.h>
#endif

namespace pentamesh {

DesktopPrograms programs_of_user() {
    return {environment("PATH"), !environment("WAYLAND_DISPLAY").empty(), !environment("DISPLAY").empty()};
}

std::vector<std::string> clipboard_command(const DesktopPrograms& desktop) {
    const std::string wayland = desktop.wayland ? find_program("wl-copy", desktop.path) : "",
                      x11 = desktop.x11 ? find_program("xclip", desktop.path) : "";
    if (!wayland.empty()) return {wayland, "--type", "image/png"};
    if (!x11.empty()) return {x11, "-selection", "clipboard", "-t", "image/png", "-i"};
    return {};
}

std::string put_on_clipboard(const std::string& png, const DesktopPrograms& desktop) {
    const std::vector<std::string> command = clipboard_command(desktop);
    if (command.empty()) {
        const std::string program = desktop.wayland ? "wl-copy (the package wl-clipboard)" : "xclip";
        return desktop.wayland || desktop.x11
                   ? "A picture is copied by " + program + ", which is not there. Write it to a file instead"
                   : "This system has no clipboard for pictures here. Write it to a file instead";
    }
    const std::string failed = run_program(command, png);
    return failed.empty() ? "" : command.front() + " did not take the picture: " + failed;
}

std::vector<std::string> opening_command(const std::filesystem::path& file, const DesktopPrograms& desktop) {
#if defined(__APPLE__)
    return {"/usr/bin/open", file.string()};
#else
    const std::string opener = find_program("xdg-open", desktop.path);
    if (opener.empty()) return {};
    return {opener, file.string()};
#endif
}

std::string open_outside(const std::filesystem::path& file, const DesktopPrograms& desktop) {
#if defined(_WIN32)
    static_cast<void>(desktop);
    const auto done = reinterpret_cast<INT_PTR>(
        ShellExecuteW(nullptr, L"open", file.wstring().c_str(), nullptr, nullptr, SW_SHOWNORMAL));
    return done > 32 ? "" : "The system opens no such file";
#else
    const std::vector<std::string> command = opening_command(file, desktop);
    if (command.empty()) return "No program xdg-open is there to open it. Copy the path instead";
    const std::string failed = run_program(command, "", true);
    return failed.empty() ? "" : "It could not be opened: " + command.front() + ": " + failed;
#endif
}

}  // namespace pentamesh
