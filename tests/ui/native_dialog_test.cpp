// Tests the desktop's file dialog: which program asks, and how its output is used. The programs are
// stand-ins.
#include "app/platform/desktop.h"

#include "core/base/files.h"
#include "tests/folder.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

void script(const test::Folder& folder, const std::string& name, const std::string& text) {
    folder.put(name, "#!/bin/sh\n" + text);
    fs::permissions(folder.path / name, fs::perms::owner_all);
}

std::optional<FileAnswer> answer_of(FileDialog& dialog) {
    for (int i = 0; i < 500; ++i) {
        if (auto answer = dialog.poll()) return answer;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("which program asks: zenity, on KDE kdialog, none without a display or a program") {
    const test::Folder programs;
    FileQuestion q{true, "Save", "/tmp/x.plan.json", "Plans", {".json", ".png"}};
    Desktop desktop{programs.path.string(), "GNOME", true};
    CHECK(dialog_command(q, desktop).empty());
    CHECK(open_native_dialog(q, desktop) == nullptr);
    script(programs, "kdialog", "exit 1");
    CHECK(dialog_command(q, desktop).front() == programs.file("kdialog"));
    script(programs, "zenity", "exit 1");
    std::vector<std::string> command = dialog_command(q, desktop);
    CHECK(command.front() == programs.file("zenity"));
    CHECK(std::find(command.begin(), command.end(), "--save") != command.end());
    CHECK(std::find(command.begin(), command.end(), "--file-filter=Plans | *.json *.png") != command.end());
    desktop.name = "KDE";
    CHECK(dialog_command(q, desktop).front() == programs.file("kdialog"));
    q.saves = false;
    q.start = programs.path;
    CHECK(dialog_command(q, desktop)[4] == programs.path.string() + "/");
    desktop.path = "relative:" + programs.path.string();
    CHECK(dialog_command(q, desktop).front() == programs.file("kdialog"));
    desktop.shown = false;
    CHECK(dialog_command(q, desktop).empty());
}

TEST_CASE("a program that asks is heard, cancelled, ended and found out when it fails") {
    const test::Folder programs;
    const FileQuestion q{false, "Open \"it\"; rm -rf /", programs.path, "Plans", {".json"}};
    const Desktop desktop{programs.path.string(), "", true};
    const auto asked = [&](const std::string& text) {
        script(programs, "zenity", text);
        const auto dialog = open_native_dialog(q, desktop);
        REQUIRE(dialog);
        const auto answer = answer_of(*dialog);
        REQUIRE(answer);
        return *answer;
    };
    FileAnswer a = asked("echo '/tmp/a plan.json'");
    CHECK(a.kind == FileAnswer::Kind::picked);
    CHECK(a.path == "/tmp/a plan.json");
    // The title is one argument, with any characters in it.
    a = asked("echo \"/$2\"; echo noise >&2");
    CHECK(a.path == "/--title=Open \"it\"; rm -rf /");
    CHECK(asked("exit 1").kind == FileAnswer::Kind::cancelled);
    CHECK(asked("echo warning >&2; sleep 0.5; exit 1").kind == FileAnswer::Kind::cancelled);
    CHECK(asked("echo").kind == FileAnswer::Kind::cancelled);
    a = asked("echo 'cannot open display' >&2; exit 1");
    CHECK(a.kind == FileAnswer::Kind::failed);
    CHECK(a.reason == "cannot open display");
    CHECK(asked("exit 255").kind == FileAnswer::Kind::failed);
    CHECK(asked("kill -9 $$").kind == FileAnswer::Kind::failed);
    CHECK(asked("head -c 300000 /dev/zero | tr '\\0' x; exit 3").kind == FileAnswer::Kind::failed);
    script(programs, "zenity", "echo $$ > " + programs.file("pid") + "; exec sleep 60");
    auto dialog = open_native_dialog(q, desktop);
    REQUIRE(dialog);
    for (int i = 0;
         i < 300 && (!fs::exists(programs.path / "pid") || fs::file_size(programs.path / "pid") == 0); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(dialog->poll());
    const pid_t child = static_cast<pid_t>(std::stoi(read_file(programs.path / "pid")));
    CHECK(kill(child, 0) == 0);
    dialog.reset();
    CHECK(kill(child, 0) != 0);
}
