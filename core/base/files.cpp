#include "core/base/files.h"

#include "core/base/number.h"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
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

namespace {

// Returns the day and its parts, here or in Greenwich.
std::tm parts_of(std::time_t time, bool here) {
    std::tm out{};
#if defined(_WIN32)
    here ? localtime_s(&out, &time) : gmtime_s(&out, &time);
#else
    here ? ::localtime_r(&time, &out) : ::gmtime_r(&time, &out);
#endif
    return out;
}

}  // namespace

std::string today_in_words() {
    static constexpr std::array<std::string_view, 12> kMonths{
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"};
    std::time_t now = std::time(nullptr);
    bool set_from_outside = false;  // then it is the same everywhere
    if (const char* set = std::getenv("SOURCE_DATE_EPOCH"))
        if (const auto seconds = parse_double(set); seconds && *seconds >= 0 && *seconds < 1e11)
            now = static_cast<std::time_t>(*seconds), set_from_outside = true;
    const std::tm day = parts_of(now, !set_from_outside);
    return std::to_string(day.tm_mday) + " " + std::string(kMonths[static_cast<std::size_t>(day.tm_mon)])
           + " " + std::to_string(day.tm_year + 1900);
}

namespace {

using State = std::array<std::uint32_t, 8>;

// Returns the first 32 bits of the fractions of the square (root 2) or cube (root 3) roots of the first
// primes. It uses only whole numbers: the largest x with x^root <= prime * 2^(32 root).
template <std::size_t N>
constexpr std::array<std::uint32_t, N> root_bits(int root) {
    std::array<std::uint32_t, N> out{};
    std::size_t n = 0;
    for (std::uint64_t prime = 2; n < N; ++prime) {
        bool composite = false;
        for (std::uint64_t d = 2; d * d <= prime; ++d) composite = composite || prime % d == 0;
        if (composite) continue;
        // The root is found bit by bit; the power is kept in pieces of 32 bits.
        std::uint64_t x = 0;
        for (int bit = 37; bit >= 0; --bit) {
            const std::uint64_t with = x | std::uint64_t{1} << static_cast<unsigned>(bit);
            std::array<std::uint64_t, 5> power{1, 0, 0, 0, 0};
            for (int k = 0; k < root; ++k) {
                std::array<std::uint64_t, 5> next{};
                for (std::size_t i = 0; i < 5; ++i)
                    for (std::size_t j = 0; j < 2 && i + j < 5; ++j) {
                        const std::uint64_t product = power[i] * (j == 0 ? with & 0xffffffffU : with >> 32U);
                        std::uint64_t carry = product;
                        for (std::size_t at = i + j; at < 5 && carry != 0; ++at) {
                            const std::uint64_t sum = next[at] + (carry & 0xffffffffU);
                            next[at] = sum & 0xffffffffU;
                            carry = (carry >> 32U) + (sum >> 32U);
                        }
                    }
                power = next;
            }
            bool above = false;  // power > prime << 32 root
            for (std::size_t i = 4;; --i) {
                const std::uint64_t limit = i == static_cast<std::size_t>(root) ? prime : 0;
                if (power[i] != limit) {
                    above = power[i] > limit;
                    break;
                }
                if (i == 0) break;
            }
            if (!above) x = with;
        }
        out[n++] = static_cast<std::uint32_t>(x & 0xffffffffU);
    }
    return out;
}

void take_block(State& h, const unsigned char* block, const std::array<std::uint32_t, 64>& k) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8U | block[4 * i + b];
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) + w[i - 7]
               + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
    }
    State s = h;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t one = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
        const std::uint32_t pick = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const std::uint32_t first = s[7] + one + pick + k[i] + w[i];
        const std::uint32_t zero = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
        const std::uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s = {first + zero + most, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) h[i] += s[i];
}

}  // namespace

std::string sha256_of(std::string_view bytes) {
    static const auto k = root_bits<64>(3);
    State h = root_bits<8>(2);
    std::string text(bytes);
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    text += static_cast<char>(0x80);
    text.append((120 - text.size() % 64) % 64, '\0');
    for (unsigned shift = 64; shift != 0;) {
        shift -= 8;
        text += static_cast<char>(bits >> shift & 255U);
    }
    for (std::size_t at = 0; at < text.size(); at += 64)
        take_block(h, reinterpret_cast<const unsigned char*>(text.data()) + at, k);
    std::string out;
    for (const std::uint32_t word : h)
        for (unsigned shift = 32; shift != 0;) {
            shift -= 4;
            out += "0123456789abcdef"[word >> shift & 15U];
        }
    return out;
}

}  // namespace pentamesh
