#include "core/base/files.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <random>
#include <system_error>

namespace pentamesh {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw Error(ErrorKind::io, path, "", what);
}

// What the system says about the last failure, or `otherwise` where it says nothing.
std::string system_reason(int number, const char* otherwise) {
    return number != 0 ? std::generic_category().message(number) : otherwise;
}

std::string too_large() {
    return "is larger than " + std::to_string(kMostFileBytes >> 20) + " MiB, the most that is read";
}

// A name beside `path` that nobody else is writing to.
fs::path name_beside(const fs::path& path) {
    fs::path name = path;
    name += ".new-" + std::to_string(std::random_device{}());
    return name;
}

void put(const fs::path& to, const std::string& named, std::string_view text) {
    errno = 0;
    std::ofstream out(to, std::ios::binary | std::ios::trunc);
    if (!out) fail(named, "cannot be written: " + system_reason(errno, "it could not be opened"));
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) fail(named, "cannot be written: " + system_reason(errno, "the write failed"));
}

}  // namespace

std::string read_stream(std::istream& in, const std::string& name) {
    std::string text;
    std::array<char, 1 << 16> block{};
    while (in) {
        in.read(block.data(), block.size());
        text.append(block.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMostFileBytes) fail(name, too_large());
    }
    if (in.bad()) fail(name, "cannot be read: " + system_reason(errno, "the read failed"));
    return text;
}

std::string read_file(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) fail(path, "is a folder, not a file");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(path, "cannot be read: " + system_reason(errno, "it could not be opened"));
    if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) > kMostFileBytes)
        fail(path, too_large());
    return read_stream(in, path);
}

void write_file(const std::string& path, std::string_view text) {
    std::error_code error;
    // Through a link the file that it names is replaced, not the link.
    fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::path(path);
    const fs::file_status status = fs::status(target, error);
    if (fs::is_directory(status)) fail(path, "is a folder, not a file");
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        put(target, path, text);
        return;
    }
    const fs::path fresh = name_beside(target);
    try {
        put(fresh, path, text);
    } catch (const Error&) {
        fs::remove(fresh, error);
        throw;
    }
    if (fs::exists(status)) fs::permissions(fresh, status.permissions(), error);
    fs::rename(fresh, target, error);
    if (!error) return;
    const std::string why = error.message();
    fs::remove(fresh, error);
    fail(path, "cannot be written: " + why);
}

}  // namespace pentamesh
