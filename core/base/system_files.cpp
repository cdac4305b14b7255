#include "core/base/system_files.h"

#include <cerrno>
#include <system_error>
#include <utility>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace pentamesh {

namespace {

constexpr std::intptr_t kNoHandle = -1;

std::string reason_of(int error) {
    return std::system_category().message(error);
}

#if !defined(_WIN32)
bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(file, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// The owner is set first: giving a file away may clear bits of its mode.
bool made_like(int file, const std::filesystem::path& like) {
    struct stat old {};
    if (::stat(like.c_str(), &old) != 0) return true;
    struct stat now {};
    if (::fstat(file, &now) != 0) return false;
    const bool other_owner = now.st_uid != old.st_uid || now.st_gid != old.st_gid;
    if (other_owner && ::fchown(file, old.st_uid, old.st_gid) != 0
        && ::fchown(file, static_cast<uid_t>(-1), old.st_gid) != 0)
        errno = 0;  // only root gives files away: the mode is kept, the owner is who saved
    return ::fchmod(file, old.st_mode & 07777U) == 0;
}
#endif

}  // namespace

#if defined(_WIN32)

std::string write_and_rename(const std::filesystem::path& fresh, std::string_view text,
                             const std::filesystem::path& target) {
    const HANDLE file =
        CreateFileW(fresh.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) return reason_of(static_cast<int>(GetLastError()));
    DWORD written = 0;
    const bool whole = WriteFile(file, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != 0
                       && written == text.size() && FlushFileBuffers(file) != 0;
    const auto error = static_cast<int>(GetLastError());
    CloseHandle(file);
    if (whole && MoveFileExW(fresh.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) return {};
    const int reason = whole ? static_cast<int>(GetLastError()) : error;
    DeleteFileW(fresh.c_str());
    return reason_of(reason);
}

bool may_write(const std::filesystem::path& file) {
    const DWORD attributes = GetFileAttributesW(file.c_str());
    return attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_READONLY) == 0;
}

void flush_folder(const std::filesystem::path& /*folder*/) {}  // the system does it with the rename

std::int64_t process_id() {
    return static_cast<std::int64_t>(GetCurrentProcessId());
}

std::optional<FileLock> FileLock::take(const std::filesystem::path& file, bool create) {
    const HANDLE handle = CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE, nullptr,
                                      create ? OPEN_ALWAYS : OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) return std::nullopt;
    return FileLock(reinterpret_cast<std::intptr_t>(handle));
}

FileLock::~FileLock() {
    if (handle_ != kNoHandle) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

PipeReader::PipeReader(const std::filesystem::path& /*path*/) : error_("it is no file") {}  // none has a name
PipeReader::~PipeReader() = default;
std::size_t PipeReader::read(char* /*to*/, std::size_t /*most*/) {
    return 0;
}

#else

std::string write_and_rename(const std::filesystem::path& fresh, std::string_view text,
                             const std::filesystem::path& target) {
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return reason_of(errno);
    static_cast<void>(::flock(file, LOCK_EX | LOCK_NB));  // not every file system can
    const bool whole = write_all(file, text) && made_like(file, target) && ::fsync(file) == 0
                       && ::rename(fresh.c_str(), target.c_str()) == 0;
    const int error = errno;
    if (!whole) ::unlink(fresh.c_str());
    ::close(file);  // after fsync it has nothing left to fail with
    return whole ? std::string() : reason_of(error);
}

bool may_write(const std::filesystem::path& file) {
    return ::access(file.c_str(), W_OK) == 0;
}

void flush_folder(const std::filesystem::path& folder) {
    const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    static_cast<void>(::fsync(file));
    ::close(file);
}

std::int64_t process_id() {
    return ::getpid();
}

std::optional<FileLock> FileLock::take(const std::filesystem::path& file, bool create) {
    const int handle = ::open(file.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
    if (handle < 0) return std::nullopt;
    FileLock lock(handle);
    if (::flock(handle, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    struct stat named {};
    struct stat held {};
    const bool same = ::stat(file.c_str(), &named) == 0 && ::fstat(handle, &held) == 0
                      && named.st_ino == held.st_ino && named.st_dev == held.st_dev;
    if (!same) return std::nullopt;  // it was deleted before it was locked
    return lock;
}

FileLock::~FileLock() {
    if (handle_ != kNoHandle) ::close(static_cast<int>(handle_));
}

PipeReader::PipeReader(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0) error_ = reason_of(errno);
}

PipeReader::~PipeReader() {
    if (file_ >= 0) ::close(file_);
}

std::size_t PipeReader::read(char* to, std::size_t most) {
    while (file_ >= 0) {
        const ssize_t n = ::read(file_, to, most);
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno == EAGAIN) {  // somebody has it open, and has not written yet
            pollfd ready{file_, POLLIN, 0};
            if (::poll(&ready, 1, -1) >= 0) continue;
        }
        if (errno == EINTR) continue;
        error_ = reason_of(errno);
        return 0;
    }
    return 0;
}

#endif

FileLock::FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, kNoHandle)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

}  // namespace pentamesh
