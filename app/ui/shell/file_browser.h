// Looking for a file inside the window: places, the folder's content, a path that is typed.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/shell/folder_list.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

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
