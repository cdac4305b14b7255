// Lists a folder as somebody who looks for a file wants to see it, and completes names typed in part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
