#include "app/platform/platform.h"

#include "app/platform/programs.h"

#include <array>
#include <ctime>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>
#else
#include <csignal>
#include <sys/ioctl.h>
#include <unistd.h>
#endif
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace pentamesh {
namespace {

namespace fs = std::filesystem;

// Returns an absolute folder out of the environment; empty where it is not set.
fs::path folder_of(const char* variable) {
    const fs::path folder = environment(variable);
    return folder.is_absolute() ? folder : fs::path();
}

}  // namespace

fs::path executable_path(const char* argv0) {
    std::error_code error;
#if defined(_WIN32)
    std::array<wchar_t, 32768> name{};
    const DWORD size = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    if (size > 0 && size < name.size()) return fs::path(name.data());
#elif defined(__APPLE__)
    std::array<char, 4096> name{};
    auto size = static_cast<std::uint32_t>(name.size());
    if (_NSGetExecutablePath(name.data(), &size) == 0) return fs::path(name.data());
#elif !defined(__EMSCRIPTEN__)  // there it would be Node, or nothing
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error) return self;
#endif
    return fs::absolute(argv0 ? argv0 : "pentamesh", error);
}

fs::path home_folder() {
#if defined(_WIN32)
    return folder_of("USERPROFILE");
#else
    return folder_of("HOME");
#endif
}

fs::path config_folder() {
#if defined(_WIN32)
    const fs::path base = folder_of("APPDATA");
#elif defined(__APPLE__)
    const fs::path home = folder_of("HOME");
    const fs::path base = home.empty() ? home : home / "Library" / "Application Support";
#else
    fs::path base = folder_of("XDG_CONFIG_HOME");
    if (base.empty() && !folder_of("HOME").empty()) base = folder_of("HOME") / ".config";
#endif
    return base.empty() ? base : base / "pentamesh";
}

void survive_failed_writes() {
#if !defined(_WIN32)
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
#endif
}

bool is_terminal(StandardStream stream) {
#if defined(_WIN32)
    return _isatty(stream == StandardStream::output ? 1 : 2) != 0;
#else
    return isatty(stream == StandardStream::output ? STDOUT_FILENO : STDERR_FILENO) != 0;
#endif
}

std::size_t terminal_width() {
    if (!is_terminal(StandardStream::output)) return 0;
#if defined(_WIN32)
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info) == 0) return 0;
    return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
#elif defined(TIOCGWINSZ)
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
#else
    return 0;
#endif
}

double thread_cpu_s() {
#if defined(_WIN32)
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#else
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
}

}  // namespace pentamesh
