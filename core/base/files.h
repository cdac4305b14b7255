// An Error is thrown at the edge: files, JSON, command line. The engine itself never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pentamesh {

enum class ErrorKind { invalid, usage, io };  // exit status 1, 2, 3

class Error : public std::runtime_error {
  public:
    // `path` is the file ("" for no file, "-" for standard input), `pointer` the JSON pointer in it ("" for
    // the whole).
    Error(ErrorKind kind, std::string path, std::string pointer, const std::string& message)
        : std::runtime_error(compose(path, pointer, message)), kind_(kind), path_(std::move(path)),
          pointer_(std::move(pointer)), message_(message) {}
    [[nodiscard]] ErrorKind kind() const { return kind_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& pointer() const { return pointer_; }
    [[nodiscard]] const std::string& message() const { return message_; }  // without path and pointer
    [[nodiscard]] int exit_status() const {
        return kind_ == ErrorKind::io ? 3 : kind_ == ErrorKind::usage ? 2 : 1;
    }

  private:
    static std::string compose(const std::string& path, const std::string& pointer,
                               const std::string& message) {
        std::string text = path;
        if (!pointer.empty()) text += (text.empty() ? "" : ": ") + pointer;
        return text.empty() ? message : text + ": " + message;
    }
    ErrorKind kind_;
    std::string path_, pointer_, message_;
};

// These system calls make writing files safe: flushing, owner and mode, locks; and reading pipes.

// Makes the new file `fresh`, writes it, flushes it to the disk and gives it the name `target`. An existing
// target gives its mode and, if the system allows that, its owner. Until then `fresh` is locked: a process
// that can lock it knows that no process is writing it. Returns the system's reason for a failure, after
// which `fresh` is gone and `target` as it was; "" where it was written.
[[nodiscard]] std::string write_and_rename(const std::filesystem::path& fresh, std::string_view text,
                                           const std::filesystem::path& target);
// Returns true if the user may change a file that is there; renaming over it would not ask.
[[nodiscard]] bool may_write(const std::filesystem::path& file);
// Makes the names in a folder as durable as the files. Not every file system can; it is no error.
void flush_folder(const std::filesystem::path& folder);

[[nodiscard]] std::int64_t process_id();

// Locks a file until it goes away or the process ends in any way.
class FileLock {
  public:
    // Returns nullopt if another process holds it, or the file cannot be opened (or made, with `create`).
    [[nodiscard]] static std::optional<FileLock> take(const std::filesystem::path& file, bool create);
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

  private:
    explicit FileLock(std::intptr_t handle) : handle_(handle) {}
    std::intptr_t handle_;
};

// Reads a pipe that has a name. One to which nobody writes is at its end: it is not waited for.
class PipeReader {
  public:
    explicit PipeReader(const std::filesystem::path& path);
    PipeReader(const PipeReader&) = delete;
    PipeReader& operator=(const PipeReader&) = delete;
    ~PipeReader();
    // Waits as long as somebody has the pipe open to write. Returns 0 at its end, and after an error.
    [[nodiscard]] std::size_t read(char* to, std::size_t most);
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    int file_ = -1;
    std::string error_;
};

// Reads and writes files at the edge: read whole up to a limit, written under another name and then renamed.
// Every failure is an Error of kind io that names the file.

// A larger file is no plan, model or settings file: it is refused before it fills the memory.
inline constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{64} << 20;

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
// Reads into `text`, whose memory it keeps. Returns what is wrong, in words; empty: all of it is there.
[[nodiscard]] std::string try_read_file(const std::filesystem::path& path, std::uintmax_t most_bytes,
                                        std::string& text);
// Returns nullopt where it cannot be read, and nobody asks why.
[[nodiscard]] std::optional<std::string> try_read_file(const std::filesystem::path& path);
// Reads an open stream in the same way; `name` is used in errors.
[[nodiscard]] std::string read_stream(std::istream& in, const std::string& name);

// A reader of `path` sees the old text or the new one, never a part, also after a power cut. Follows links;
// keeps the file's mode, and its owner where the system allows it. After an Error the old file is whole, and
// no new file is left. A path that is no plain file (a pipe, /dev/stdout) is written in place.
void write_file(const std::filesystem::path& path, std::string_view text);

// Says which day it is.

// Returns "26 November 2026": today where the user is, or the day (UTC) of SOURCE_DATE_EPOCH
// (reproducible-builds.org) where that is set.
[[nodiscard]] std::string today_in_words();

// Computes SHA-256 (FIPS 180-4): a printed page names its plan by this checksum.

// Returns 64 hexadecimal digits, as sha256sum prints them.
[[nodiscard]] std::string sha256_of(std::string_view bytes);

}  // namespace pentamesh
