#include "app/platform/desktop.h"

#include "app/platform/platform.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <shellapi.h>
#endif

#if !defined(_WIN32) && !defined(__APPLE__)
#define PENTAMESH_HAS_DIALOG_PROGRAMS
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#endif

namespace pentamesh {

Desktop desktop_of_user() {
    const bool wanted = environment("PENTAMESH_FILE_DIALOG") != "own";
    return {environment("PATH"), environment("XDG_CURRENT_DESKTOP"),
            wanted && (!environment("DISPLAY").empty() || !environment("WAYLAND_DISPLAY").empty())};
}

#if !defined(PENTAMESH_HAS_DIALOG_PROGRAMS)

std::vector<std::string> dialog_command(const ui::FileQuestion&, const Desktop&) {
    return {};
}
std::unique_ptr<ui::FileDialog> open_native_dialog(const ui::FileQuestion&, const Desktop&) {
    return nullptr;
}

#else

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOutput = std::size_t{64} << 10;
// A dialog that ends sooner than anybody could cancel it, with words on its standard error, was never seen.
constexpr std::chrono::milliseconds kNobodyCancels{400};

std::string patterns_of(const ui::FileQuestion& q) {
    std::string out;
    for (const std::string& e : q.endings) out += (out.empty() ? "*" : " *") + e;
    return out.empty() ? "*" : out;
}

// Returns the path that the dialog begins at. A folder ends in a separator: the dialog goes into it and does
// not choose it.
std::string start_of(const ui::FileQuestion& q) {
    std::error_code ignored;
    std::string start = q.start.string();
    if (fs::is_directory(q.start, ignored) && !start.ends_with('/')) start += '/';
    return start;
}

void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
}

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        std::array<int, 2> ends{-1, -1};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
        read = ends[0], write = ends[1];
        fcntl(read, F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        close_end(read);
        close_end(write);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    // Takes the bytes that are there; it drops those above the limit.
    void take(std::string& into) const {
        std::array<char, 4096> part{};
        for (ssize_t n = 0; (n = ::read(read, part.data(), part.size())) > 0;)
            if (into.size() < kMostOutput) into.append(part.data(), static_cast<std::size_t>(n));
    }
};

std::string first_line(const std::string& text) {
    return text.substr(0, text.find_first_of("\r\n"));
}

class ChildDialog : public ui::FileDialog {
  public:
    ~ChildDialog() override {
        if (child_ <= 0) return;
        kill(child_, SIGTERM);
        for (int i = 0; i < 20; ++i) {
            if (waitpid(child_, nullptr, WNOHANG) != 0) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }

    bool start(const std::vector<std::string>& command) {
        if (out_.read < 0 || error_.read < 0) return false;
        child_ = start_program(command, {.out = out_.write, .error = error_.write}).process;
        close_end(out_.write);
        close_end(error_.write);
        return child_ >= 0;
    }

    std::optional<ui::FileAnswer> poll() override {
        out_.take(said_);
        error_.take(complained_);
        int status = 0;
        const pid_t ended = waitpid(child_, &status, WNOHANG);
        if (ended == 0) return std::nullopt;
        child_ = -1;
        out_.take(said_);
        error_.take(complained_);
        return ended < 0 ? failure() : answer_of(status);
    }

  private:
    Pipe out_, error_;
    pid_t child_ = -1;
    std::string said_, complained_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();

    [[nodiscard]] ui::FileAnswer failure() const {
        return {ui::FileAnswer::Kind::failed, {}, first_line(complained_)};
    }
    // Both programs end with 0 and a path, or with 1 for cancelled; zenity 5 is a timeout, kdialog 254 and
    // 255 are failures. GTK ends with 1 where it finds no display.
    [[nodiscard]] ui::FileAnswer answer_of(int status) const {
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        const fs::path path = first_line(said_);
        if (code == 0 && path.is_absolute()) return {ui::FileAnswer::Kind::picked, path, {}};
        const bool quick = std::chrono::steady_clock::now() - begun_ < kNobodyCancels && !complained_.empty();
        if ((code == 1 && !quick) || code == 0) return {};
        return failure();
    }
};

}  // namespace

std::vector<std::string> dialog_command(const ui::FileQuestion& q, const Desktop& desktop) {
    if (!desktop.shown) return {};
    const std::string zenity = find_program("zenity", desktop.path),
                      kdialog = find_program("kdialog", desktop.path);
    const bool kde = desktop.name.find("KDE") != std::string::npos;
    if (!kdialog.empty() && (kde || zenity.empty()))
        return {kdialog,     "--title",
                q.title,     q.saves ? "--getsavefilename" : "--getopenfilename",
                start_of(q), q.kind + " (" + patterns_of(q) + ")\nAll files (*)"};
    if (zenity.empty()) return {};
    std::vector<std::string> command{zenity,
                                     "--file-selection",
                                     "--title=" + q.title,
                                     "--filename=" + start_of(q),
                                     "--file-filter=" + q.kind + " | " + patterns_of(q),
                                     "--file-filter=All files | *"};
    if (q.saves) command.insert(command.end(), {"--save", "--confirm-overwrite"});
    return command;
}

std::unique_ptr<ui::FileDialog> open_native_dialog(const ui::FileQuestion& question, const Desktop& desktop) {
    const std::vector<std::string> command = dialog_command(question, desktop);
    auto dialog = std::make_unique<ChildDialog>();
    if (command.empty() || !dialog->start(command)) return nullptr;
    return dialog;
}

#endif

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
