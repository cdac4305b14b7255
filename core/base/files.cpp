#include "core/base/files.h"

#include "core/base/system_files.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

namespace pentamesh {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw Error(ErrorKind::io, path.string(), "", what);
}

// Returns the system's reason for the last failure, or `otherwise` where it gives none.
std::string system_reason(int number, const char* otherwise) {
    return number != 0 ? std::generic_category().message(number) : otherwise;
}

std::string too_large(std::uintmax_t most) {
    return "is larger than " + std::to_string(most >> 20) + " MiB, the most that is read";
}

constexpr std::string_view kHalfWritten = ".new-";  // a number follows

// Returns a name in the folder of `path` that no other process writes to.
fs::path name_beside(const fs::path& path) {
    fs::path name = path;
    name += std::string(kHalfWritten) + std::to_string(std::random_device{}());
    return name;
}

// Removes the half-written file that a killed process left next to `path`. It is removed once no process has
// it locked and it is old enough that its writer has had the time to lock it.
void remove_left_over(const fs::path& path) {
    constexpr std::chrono::seconds kTimeToLock{1};
    const std::string begin = path.filename().string() + std::string(kHalfWritten);
    std::error_code error;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.size() == begin.size() || !name.starts_with(begin)
            || name.find_first_not_of("0123456789", begin.size()) != std::string::npos)
            continue;
        std::error_code ignored;
        if (!fs::is_regular_file(it->symlink_status(ignored))) continue;
        if (fs::file_time_type::clock::now() - fs::last_write_time(it->path(), ignored) < kTimeToLock)
            continue;
        if (FileLock::take(it->path(), false)) fs::remove(it->path(), ignored);
    }
}

// Writes to a pipe or a device: nothing can be put in its place.
void write_in_place(const fs::path& path, std::string_view text) {
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    if (!out) fail(path, "cannot be written: " + system_reason(errno, "it could not be opened"));
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) fail(path, "cannot be written: " + system_reason(errno, "the write failed"));
}

// Returns the end of a chain of links, even where no file is there; the path itself where it is no link.
fs::path behind_links(fs::path path) {
    constexpr int kMostLinks = 40;  // as the kernel follows
    std::error_code error;
    for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
        const fs::path to = fs::read_symlink(path, error);
        if (error) break;
        path = to.is_absolute() ? to : path.parent_path() / to;
    }
    return path;
}

}  // namespace

namespace {

// Reads a pipe that somebody writes to: nobody is waited for who may never come.
std::string read_pipe(const fs::path& path, std::uintmax_t most, std::string& text) {
    PipeReader pipe(path);
    std::array<char, 1 << 16> block{};
    while (const std::size_t size = pipe.read(block.data(), block.size())) {
        text.append(block.data(), size);
        if (text.size() > most) return too_large(most);
    }
    if (!pipe.error().empty()) return "cannot be read: " + pipe.error();
    return text.empty() ? "is a pipe to which nobody writes" : "";
}

// Returns what is wrong, in words; empty: all of it is in `text`.
std::string read_all(std::istream& in, std::uintmax_t most, std::string& text) {
    std::array<char, 1 << 16> block{};
    while (in) {
        in.read(block.data(), block.size());
        text.append(block.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > most) return too_large(most);
    }
    return in.bad() ? "cannot be read: " + system_reason(errno, "the read failed") : "";
}

}  // namespace

std::string try_read_file(const fs::path& path, std::uintmax_t most_bytes, std::string& text) {
    std::error_code ignored;
    text.clear();
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) return "is a folder, not a file";
    if (fs::is_socket(status)) return "is a socket, not a file";
    if (fs::is_fifo(status)) return read_pipe(path, most_bytes, text);
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) return "cannot be read: " + system_reason(errno, "it could not be opened");
    if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) > most_bytes)
        return too_large(most_bytes);
    return read_all(in, most_bytes, text);
}

std::string read_stream(std::istream& in, const std::string& name) {
    std::string text;
    const std::string wrong = read_all(in, kMostFileBytes, text);
    if (!wrong.empty()) fail(name, wrong);
    return text;
}

std::string read_file(const fs::path& path) {
    std::string text;
    const std::string wrong = try_read_file(path, kMostFileBytes, text);
    if (!wrong.empty()) fail(path, wrong);
    return text;
}

std::optional<std::string> try_read_file(const fs::path& path) {
    std::string text;
    return try_read_file(path, kMostFileBytes, text).empty() ? std::optional(std::move(text)) : std::nullopt;
}

void write_file(const fs::path& path, std::string_view text) {
    std::error_code error;
    const fs::path target = behind_links(path);
    const fs::file_status status = fs::status(target, error);
    if (fs::is_directory(status)) fail(path, "is a folder, not a file");
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        write_in_place(target, text);
        return;
    }
    if (fs::exists(status) && !may_write(target)) fail(path, "cannot be written: it is read-only");
    const std::string reason = write_and_rename(name_beside(target), text, target);
    if (!reason.empty()) fail(path, "cannot be written: " + reason);
    flush_folder(target.parent_path());
    remove_left_over(target);
}

}  // namespace pentamesh
