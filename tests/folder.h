// Makes a folder of a test's own, which is removed with it.
#pragma once

#include <cstddef>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace pentamesh::test {

struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("pentamesh-test-" + std::to_string(std::random_device{}()));
    Folder() { REQUIRE(std::filesystem::create_directories(path)); }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
    [[nodiscard]] std::ptrdiff_t entries() const {
        return std::distance(std::filesystem::directory_iterator(path),
                             std::filesystem::directory_iterator());
    }
    // Writes a file, and makes its folders.
    void put(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path / name).parent_path());
        std::ofstream(path / name) << text;
    }
};

// Returns an empty folder that stays after the test, to be looked at.
inline std::filesystem::path fresh_folder(const std::string& name) {
    const auto folder = std::filesystem::temp_directory_path() / ("pentamesh-test-" + name);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

}  // namespace pentamesh::test
