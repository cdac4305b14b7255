// Looking for a file inside the window: places, the folder's content, a path that is typed.
#pragma once

#include "app/ui/kit/scroll.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Lists a folder as somebody who looks for a file wants to see it, and completes names typed in part.
inline constexpr std::size_t kMostListedFiles = 10000;

struct FolderEntry {
    std::string name;
    bool folder = false;
    std::filesystem::file_time_type changed{};
    std::uintmax_t bytes = 0;  // of a file
};

enum class FileOrder : std::uint8_t { name, date };

struct FolderOptions {
    std::vector<std::string> endings;  // ".json": files that end in one of them; empty: every file
    bool hidden = false;               // names that begin with a dot
    FileOrder order = FileOrder::name;
    bool backwards = false;  // by name from z to a, by date from the oldest on
};

struct FolderList {
    std::vector<FolderEntry> entries;  // folders first
    std::string error;                 // why the folder cannot be read; empty: it can
    bool cut = false;                  // there are more than kMostListedFiles
};

// Never throws. By date the newest comes first.
[[nodiscard]] FolderList list_folder(const std::filesystem::path& folder, const FolderOptions& options);

// Returns "~" and "~/..." under `home`; anything else, and all where there is no home, as it is.
[[nodiscard]] std::string with_home(std::string_view typed, const std::filesystem::path& home);
// Returns the path that was typed; a relative one lies in `folder`.
[[nodiscard]] std::filesystem::path typed_in(std::string_view typed, const std::filesystem::path& folder,
                                             const std::filesystem::path& home);
// Returns the folder that a typed path lies in: itself where it ends in a separator.
[[nodiscard]] std::filesystem::path folder_of_typed(std::string_view typed,
                                                    const std::filesystem::path& folder,
                                                    const std::filesystem::path& home);
// Returns true if a path is `folder` or lies in it; an empty folder holds everything.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);
// Returns what follows the last separator.
[[nodiscard]] std::string_view leaf_of_typed(std::string_view typed);
// Returns `typed` with as much more as all entries have that begin with its leaf; a folder that is the only
// one gets a separator. Returns `typed` itself where nothing can be added.
[[nodiscard]] std::string completed(std::string_view typed, const FolderList& list);
// Returns the first entry that begins with `leaf`, in any case of letters; -1: none, or `leaf` is empty.
[[nodiscard]] int first_match(const FolderList& list, std::string_view leaf);

struct FileBrowser {
    std::filesystem::path folder;  // that is shown
    std::filesystem::path anchor;  // that was gone to: a relative path lies in it
    std::filesystem::path fence;   // it stays in here; empty: it goes anywhere
    FolderOptions options;
    std::vector<std::string> endings;  // of the files that serve
    bool every_file = false;           // the others are shown too
    bool saves = false;                // the typed name is kept when another folder is gone to
    FolderList list;
    std::filesystem::path listed;  // the folder that `list` is of; empty: it is to be read
    int cursor = -1;               // row that Up, Down or a click chose
    int shown_match = -1;          // row that was brought into sight for what is typed
    ScrollState scroll, places_scroll;

    void go_to(std::filesystem::path to, std::string& typed);
    // Shows a folder. What is typed has no effect on it.
    void begin(std::filesystem::path at);
    // Shows the folder that `typed` lies in, after `typed` was changed by hand.
    void follow(std::string_view typed, const std::filesystem::path& home);
    void read_again() { listed.clear(); }
    // Reads the folder if it is to be read.
    void look();
};

struct FilePlace {
    std::string label;
    std::filesystem::path path;
    bool recent = false;   // a file; else a folder
    bool missing = false;  // it is not there any more
};

struct BrowserAction {
    bool go = false;  // what is typed is meant
    int forget = -1;  // this place is to be dropped
};

// Returns "3 minutes ago", "less than a minute ago".
[[nodiscard]] std::string age_text(std::filesystem::file_time_type time);
// Returns the same for a narrow column: "just now".
[[nodiscard]] std::string short_age(std::filesystem::file_time_type time);

// `typed` gets the path of what is picked. `fresh`: its field gets the keyboard.
[[nodiscard]] BrowserAction draw_file_browser(Ui& ui, Rect room, FileBrowser& browser, std::string& typed,
                                              const std::vector<FilePlace>& places,
                                              const std::filesystem::path& home, bool& fresh);

}  // namespace pentamesh::ui
