// Asks for a file inside the window: a path is typed and Tab completes it; the names of its folder and the
// files that were opened last stand below. The desktop's dialog is asked first (dialogs.h).
#pragma once

#include "app/ui/kit/scroll.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

inline constexpr std::size_t kMostListedFiles = 10000;

struct FolderName {
    std::string name;
    bool folder = false;
};

struct FolderList {
    std::vector<FolderName> names;  // folders first
    std::string error;              // why the folder cannot be read; empty: it can
    bool cut = false;               // there are more than kMostListedFiles
};

// Lists folders, and files that end in one of `endings` (all where it is empty). Names that begin with a dot
// are listed where `hidden` asks for them. Never throws.
[[nodiscard]] FolderList list_folder(const std::filesystem::path& folder,
                                     const std::vector<std::string>& endings, bool hidden = false);

// Returns the path that was typed: "~" is `home`, a relative one lies in `folder`.
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
// Returns `typed` with as much more as all names have that begin with its leaf; a folder that is the only one
// gets a separator. Returns `typed` itself where nothing can be added.
[[nodiscard]] std::string completed(std::string_view typed, const FolderList& list);
// Returns the first name that begins with `leaf`, in any case of letters; -1: none, or `leaf` is empty.
[[nodiscard]] int first_match(const FolderList& list, std::string_view leaf);

struct PathField {
    std::filesystem::path folder;      // whose names are shown
    std::filesystem::path base;        // that was gone to: a relative path lies in it
    std::filesystem::path fence;       // it stays in here; empty: it goes anywhere
    std::vector<std::string> endings;  // of the files that serve
    bool saves = false;                // the typed name is kept when another folder is gone to
    FolderList list;
    std::pair<std::filesystem::path, bool> listed;  // `list` is of this folder, with hidden names or without
    int cursor = -1;                                // row that Up, Down or a click chose
    int shown_match = -1;                           // row that was brought into sight for the typed name
    ScrollState scroll, recent_scroll;

    // Shows a folder for a path that may be typed already.
    void begin(std::filesystem::path at, std::string& typed, const std::filesystem::path& home);
    void go_to(std::filesystem::path to, std::string& typed);
    // Shows the folder that `typed` lies in, after `typed` was changed by hand.
    void follow(std::string_view typed, const std::filesystem::path& home);
    void read_again() { listed = {}; }
    // Reads the folder if it is to be read.
    void look(std::string_view typed);
};

struct PathPicked {
    bool go = false;  // the typed path is meant
    int recent = -1;  // this recent file is meant
};
// `typed` gets the path of the name that is picked. `fresh`: its field gets the keyboard.
[[nodiscard]] PathPicked draw_path_field(Ui& ui, Rect room, PathField& field, std::string& typed,
                                         const std::vector<std::string>& recent,
                                         const std::filesystem::path& home, bool& fresh);

}  // namespace pentamesh::ui
