// These system calls make writing files safe: flushing, owner and mode, locks; and reading pipes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

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

}  // namespace pentamesh
