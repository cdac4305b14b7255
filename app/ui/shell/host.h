// The window cannot do these things by itself: the program that runs it does them.
#pragma once

#include "app/ui/review/review.h"
#include "app/ui/shell/picture_choice.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// A file that the user is asked for. The program that runs the window may have the desktop's dialog for it.
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

// The shell asks this of the program that runs it; a picture and a test answer with nothing.
struct Host {
    std::function<std::string()> clipboard;
    std::function<void(const std::string&)> set_clipboard;
    std::function<void(bool)> set_fullscreen;
    // Returns true if there is a screen other than the window's. Empty: there is no other.
    std::function<bool()> has_second_screen;
    std::function<double()> now_s;  // for measuring evaluate; empty: not measured
    // Draws a picture once the frame is done: to a file, to the clipboard, or as a preview (show_preview).
    // Empty: no pictures.
    std::function<void(const PictureOrder&)> save_picture;
    // Writes a design review of the plans (the open one first): PDF, or HTML by the file's ending. Empty: no
    // reviews.
    std::function<void(const ReviewRequest&, const std::vector<Plan>&, const std::filesystem::path&)>
        save_review;
    // Writes the open lesson as a handout: PDF or HTML by the file's ending. Empty: no handouts.
    std::function<void(const std::filesystem::path& file)> save_handout;
    // Writes a picture of which tasks are done, by the file's ending. Empty: none.
    std::function<void(const std::filesystem::path& file)> save_results;
    // Opens a dialog of the desktop's. Empty, or a null answer: the window's own is shown.
    std::function<std::unique_ptr<FileDialog>(const FileQuestion&)> file_dialog;
    // Opens a file with what the desktop has for it; "", or why not. Empty: nothing can be opened.
    std::function<std::string(const std::filesystem::path&)> open_outside;
    std::string page_address;             // of the page that the window is in; empty: it is in none
    bool in_page = false;                 // nothing is quit there: a page is closed
    std::filesystem::path config_folder;  // empty: nothing is remembered
    std::filesystem::path home;           // what "~" stands for; empty: "~" is a name like any other
    // Files outside of it are neither looked at nor written; empty: all can be. It is for tests that use the
    // window at random.
    std::filesystem::path fence;
    bool searches = false;       // looks for better layouts in the background, a little after each edit
    bool flies = false;          // the zoom may fly by itself, once
    bool first_run = false;      // the welcome may be shown where it was not seen yet
    std::function<void()> wake;  // from any thread: a frame is wanted; empty: the window asks by itself
};

}  // namespace pentamesh::ui
