#include "app/platform/platform.h"

#include "core/base/text.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <utility>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>
#else
#include <csignal>
#include <sys/ioctl.h>
#include <unistd.h>
#endif
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#endif
#if defined(__APPLE__)
#include <mach-o/dyld.h>
extern char** environ;  // NOLINT(readability-redundant-declaration): no header of macOS has it
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

std::string environment(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? value : "";
}

#if defined(_WIN32) || defined(__EMSCRIPTEN__)

std::string find_program(const std::string&, std::string_view) {
    return {};
}
StartedProgram start_program(const std::vector<std::string>&, ProgramStreams) {
    return {-1, ENOSYS};
}
std::string run_program(const std::vector<std::string>&, const std::string&, bool) {
    return "this system starts no other programs from here";
}

#else

namespace {

constexpr std::chrono::milliseconds kMostWait{10000};

// Writes all of it, as long as the reader takes it. The end is closed in both cases.
void feed(int end, const std::string& input) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    const auto before = std::signal(SIGPIPE, SIG_IGN);  // it may be gone already
    const auto until = std::chrono::steady_clock::now() + kMostWait;
    for (std::size_t at = 0; at < input.size() && std::chrono::steady_clock::now() < until;) {
        const ssize_t n = write(end, input.data() + at, input.size() - at);
        if (n > 0) {
            at += static_cast<std::size_t>(n);
        } else if (errno == EAGAIN) {
            pollfd wait{end, POLLOUT, 0};
            poll(&wait, 1, 100);
        } else if (errno != EINTR) {
            break;  // it reads no more
        }
    }
    close(end);
    std::signal(SIGPIPE, before);
}

// Returns "" or how the program failed; it waits for a limited time.
std::string wait_for(pid_t child, bool stays) {
    const auto until = std::chrono::steady_clock::now() + (stays ? kMostWait / 20 : kMostWait);
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(child, &status, WNOHANG)) == 0;) {
        if (std::chrono::steady_clock::now() >= until) {
            if (stays) {  // nobody waits for it any more
                std::thread([child] { waitpid(child, nullptr, 0); }).detach();
                return {};
            }
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
            return "it did not end";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return WIFEXITED(status) ? "it ended with status " + std::to_string(WEXITSTATUS(status)) : "it was ended";
}

}  // namespace

std::string find_program(const std::string& name, std::string_view path) {
    for (const std::string_view folder : split(path, ':')) {
        const fs::path file = fs::path(folder) / name;
        if (file.is_absolute() && access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

StartedProgram start_program(const std::vector<std::string>& command, ProgramStreams streams) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (const auto& [end, becomes] : {std::pair{streams.in, 0}, {streams.out, 1}, {streams.error, 2}}) {
        if (end >= 0)
            posix_spawn_file_actions_adddup2(&files, end, becomes);
        else
            posix_spawn_file_actions_addopen(&files, becomes, "/dev/null", O_RDWR, 0);
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int failed =
        posix_spawn(&child, command.front().c_str(), &files, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed == 0 ? StartedProgram{child, 0} : StartedProgram{-1, failed};
}

std::string run_program(const std::vector<std::string>& command, const std::string& input, bool stays) {
    std::array<int, 2> ends{-1, -1};
    if (pipe(ends.data()) != 0) return std::generic_category().message(errno);
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    const StartedProgram child = start_program(command, {.in = ends[0]});
    close(ends[0]);
    if (child.process < 0) {
        close(ends[1]);
        return std::generic_category().message(child.error);
    }
    feed(ends[1], input);
    return wait_for(child.process, stays);
}

#endif

}  // namespace pentamesh
