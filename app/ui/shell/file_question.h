// A file that the user is asked for. The program that runs the window may have the desktop's dialog for it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

struct FileQuestion {
    bool saves = false;
    std::string title;
    std::filesystem::path start;       // a folder, or the file that is proposed
    std::string kind;                  // of file: "Plans and pictures"
    std::vector<std::string> endings;  // ".json"
};

struct FileAnswer {
    enum class Kind : std::uint8_t { picked, cancelled, failed };
    Kind kind = Kind::cancelled;
    std::filesystem::path path{};  // that was picked
    std::string reason{};          // of a failure
};

// A dialog that is open next to the window. Its destructor closes it.
class FileDialog {
  public:
    FileDialog() = default;
    virtual ~FileDialog() = default;
    FileDialog(const FileDialog&) = delete;
    FileDialog& operator=(const FileDialog&) = delete;
    // Returns at once; nullopt: it is still open. It is not called again after an answer.
    [[nodiscard]] virtual std::optional<FileAnswer> poll() = 0;
};

}  // namespace pentamesh::ui
