// Writes files where the disk, the folder or a limit refuses: the old file stays whole, with its mode, its
// owner and the links to it.
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "tests/folder.h"

#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#if !defined(_WIN32)
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace pentamesh;
namespace fs = std::filesystem;

namespace {

using test::Folder;

std::string why_not(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& e) {
        return e.kind() == ErrorKind::io ? e.what() : "of another kind";
    }
    return "";
}

// Runs `act` in a process that is not root; returns the exit status, 0 where `act` was true.
int as_nobody(const std::function<bool()>& act) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
        _exit(act() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

}  // namespace

TEST_CASE("a disk that is full while a file is written leaves the old file whole and nothing beside it") {
    const Folder folder;
    const fs::path file = folder.path / "a.plan.json";
    write_file(file, "old");
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string why = why_not([&] { write_file(file, std::string(100'000, 'x')); });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    CAPTURE(why);
    CHECK(why.find(file.string()) != std::string::npos);
    CHECK(why.find("cannot be written") != std::string::npos);
    CHECK(read_file(file) == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a folder without permission refuses a file, and the one that was there stays whole") {
    const Folder folder;
    write_file(folder.path / "a.plan.json", "old");
    fs::permissions(folder.path / "a.plan.json", fs::perms::all);
    fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read
                                     | fs::perms::others_exec);
    CHECK(as_nobody([&] {
              return why_not([&] { write_file(folder.path / "a.plan.json", "new"); }).find("ermission")
                         != std::string::npos
                     && !why_not([&] { write_file(folder.path / "b.plan.json", "new"); }).empty();
          })
          == 0);
    CHECK(read_file(folder.path / "a.plan.json") == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a read-only file is not replaced, though its folder would allow it") {
    const Folder folder;
    fs::permissions(folder.path, fs::perms::all);
    write_file(folder.path / "a.plan.json", "old");
    fs::permissions(folder.path / "a.plan.json", fs::perms::owner_read | fs::perms::others_read);
    CHECK(as_nobody([&] {
              return why_not([&] { write_file(folder.path / "a.plan.json", "new"); }).find("read-only")
                     != std::string::npos;
          })
          == 0);
    CHECK(read_file(folder.path / "a.plan.json") == "old");
}

TEST_CASE("what a killed writer left beside a file goes with the next save, what is being written stays") {
    const Folder folder;
    const fs::path file = folder.path / "a.plan.json";
    const auto put = [&](const std::string& name, int seconds_ago) {
        write_file(folder.path / name, "half");
        const auto now = fs::file_time_type::clock::now();
        fs::last_write_time(folder.path / name, now - std::chrono::seconds(seconds_ago));
    };
    put("a.plan.json.new-17", 60);
    put("a.plan.json.new-18", 60);
    put("a.plan.json.new-19", 0);
    put("a.plan.json.new-mine", 60);
    put("b.plan.json.new-17", 60);
    const auto held = FileLock::take(folder.path / "a.plan.json.new-18", false);
    REQUIRE(held);
    write_file(file, "new");
    CHECK(read_file(file) == "new");
    CHECK_FALSE(fs::exists(folder.path / "a.plan.json.new-17"));
    for (const char* stays :
         {"a.plan.json.new-18", "a.plan.json.new-19", "a.plan.json.new-mine", "b.plan.json.new-17"})
        CHECK(fs::exists(folder.path / stays));
}

TEST_CASE("a writer holds its new file locked until it has the file's name") {
    const Folder folder;
    const fs::path file = folder.path / "a.plan.json";
    const pid_t child = fork();
    if (child == 0) {
        while (true) write_file(file, std::string(4'000'000, 'x'));
    }
    int seen = 0, taken = 0;
    // On a busy machine the child may be given little time: it is waited for.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (seen < 20 && std::chrono::steady_clock::now() < until)
        for (const auto& e : fs::directory_iterator(folder.path)) {
            std::error_code gone;
            if (e.path() == file || fs::file_size(e.path(), gone) == 0 || gone) continue;
            ++seen;
            if (FileLock::take(e.path(), false)) ++taken;
        }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(seen > 0);
    CHECK(taken == 0);
}

TEST_CASE("a folder that went away is named, and no folder is made in its place") {
    const Folder folder;
    fs::create_directory(folder.path / "sub");
    write_file(folder.path / "sub" / "a.plan.json", "old");
    fs::remove_all(folder.path / "sub");
    CHECK(why_not([&] { write_file(folder.path / "sub" / "a.plan.json", "new"); }).find("sub")
          != std::string::npos);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a file that is replaced keeps its mode, its owner and the links to it") {
    const Folder folder;
    const fs::path file = folder.path / "a.plan.json";
    write_file(file, "old");
    REQUIRE(chmod(file.c_str(), 0640) == 0);
    const bool root = geteuid() == 0;
    if (root) REQUIRE(chown(file.c_str(), 1234, 2345) == 0);
    fs::create_directory(folder.path / "links");
    fs::create_symlink("../a.plan.json", folder.path / "links" / "one");
    fs::create_symlink("one", folder.path / "links" / "two");
    write_file(folder.path / "links" / "two", "new");
    CHECK(read_file(file) == "new");
    CHECK(fs::is_symlink(folder.path / "links" / "one"));
    CHECK(fs::is_symlink(folder.path / "links" / "two"));
    struct stat now {};
    REQUIRE(stat(file.c_str(), &now) == 0);
    CHECK((now.st_mode & 07777U) == 0640U);
    if (root) {
        CHECK(now.st_uid == 1234);
        CHECK(now.st_gid == 2345);
    }
}

TEST_CASE("a link to a file that is not there yet makes that file") {
    const Folder folder;
    fs::create_symlink("later.json", folder.path / "link");
    write_file(folder.path / "link", "text");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(read_file(folder.path / "later.json") == "text");
}

TEST_CASE("a lock is held by one alone and ends with whoever holds it, also when that is killed") {
    const Folder folder;
    const fs::path file = folder.path / "lock";
    CHECK_FALSE(FileLock::take(file, false));  // not there
    {
        const auto held = FileLock::take(file, true);
        REQUIRE(held);
        CHECK_FALSE(FileLock::take(file, true));
    }
    int said[2] = {};
    REQUIRE(pipe(said) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto held = FileLock::take(file, true);
        const char ready = held ? 'y' : 'n';
        if (write(said[1], &ready, 1) != 1) _exit(1);
        while (true) pause();
    }
    char ready = 0;
    REQUIRE(read(said[0], &ready, 1) == 1);
    CHECK(ready == 'y');
    CHECK_FALSE(FileLock::take(file, true));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(FileLock::take(file, true));
    close(said[0]);
    close(said[1]);
}

TEST_CASE("a file or a text that nobody asks about is read by the same rules, without an error") {
    const Folder folder;
    const fs::path file = folder.path / "a.md";
    write_file(file, "words");
    CHECK(try_read_file(file) == std::optional<std::string>("words"));
    CHECK_FALSE(try_read_file(folder.path));
    CHECK_FALSE(try_read_file(folder.path / "b.md"));
    const std::string deep(kMostJsonLevels + 1, '[');
    for (const std::string& text :
         {std::string(R"({"a": [1, 2.5, null]})"), std::string("3"), std::string(), std::string("{"),
          std::string(R"({"a": 1, "a": 2})"), std::string("[1] x"), std::string("[1e999]"),
          deep + std::string(deep.size(), ']')}) {
        CAPTURE(text);
        const auto value = try_parse_json(text);
        std::optional<nlohmann::json> read;
        try {
            read = parse_json(text, "");
        } catch (const Error&) {  // then nothing is read
        }
        CHECK(value == read);
        CHECK(value.has_value() == (text == "3" || text.starts_with(R"({"a": [)")));
    }
}
