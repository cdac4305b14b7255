#include "app/ui/shell/path_field.h"

#include <algorithm>
#include <system_error>
#include <tuple>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
constexpr std::string_view kSeparators = "/\\";
#else
constexpr std::string_view kSeparators = "/";
#endif

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool begins_alike(std::string_view name, std::string_view leaf) {
    return name.size() >= leaf.size() && lower(name.substr(0, leaf.size())) == lower(leaf);
}

bool has_ending(std::string_view name, const std::vector<std::string>& endings) {
    return endings.empty() || std::any_of(endings.begin(), endings.end(), [&](const std::string& e) {
               return name.size() > e.size() && lower(name.substr(name.size() - e.size())) == e;
           });
}

// Returns true if a letter of several bytes goes on at this byte.
bool goes_on(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

}  // namespace

FolderList list_folder(const fs::path& folder, const std::vector<std::string>& endings, bool hidden) {
    FolderList list;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        FolderName entry{it->path().filename().string()};
        if (!hidden && entry.name.starts_with('.')) continue;
        std::error_code ignored;  // it may go away meanwhile
        entry.folder = it->is_directory(ignored);
        if (!entry.folder && (!it->is_regular_file(ignored) || !has_ending(entry.name, endings))) continue;
        if (list.names.size() == kMostListedFiles) {
            list.cut = true;
            break;
        }
        list.names.push_back(std::move(entry));
    }
    if (error) list.error = folder.string() + " cannot be read: " + error.message();
    std::sort(list.names.begin(), list.names.end(), [](const FolderName& a, const FolderName& b) {
        const std::string x = lower(a.name), y = lower(b.name);
        return std::tie(b.folder, x, a.name) < std::tie(a.folder, y, b.name);
    });
    if (folder.has_parent_path() && folder.parent_path() != folder)
        list.names.insert(list.names.begin(), {"..", true});
    return list;
}

fs::path typed_in(std::string_view typed, const fs::path& folder, const fs::path& home) {
    const bool at_home = !home.empty() && (typed == "~" || typed.starts_with("~/"));
    const fs::path path = at_home ? home.string() + std::string(typed.substr(1)) : std::string(typed);
    std::error_code ignored;
    const fs::path whole = fs::absolute(path.is_absolute() ? path : folder / path, ignored);
    return (whole.empty() ? path : whole).lexically_normal();
}

fs::path folder_of_typed(std::string_view typed, const fs::path& folder, const fs::path& home) {
    if (typed.empty()) return folder;
    const fs::path path = typed_in(typed, folder, home);
    const bool itself = typed == "~" || kSeparators.find(typed.back()) != std::string_view::npos;
    return itself && path.has_filename() ? path : path.parent_path();
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    const fs::path whole = path.lexically_normal(), fence = folder.lexically_normal();
    return std::mismatch(fence.begin(), fence.end(), whole.begin(), whole.end()).first == fence.end();
}

std::string_view leaf_of_typed(std::string_view typed) {
    const std::size_t at = typed.find_last_of(kSeparators);
    return at == std::string_view::npos ? typed : typed.substr(at + 1);
}

std::string completed(std::string_view typed, const FolderList& list) {
    const std::string_view leaf = leaf_of_typed(typed);
    std::string common;
    const FolderName* only = nullptr;
    int found = 0;
    for (const FolderName& e : list.names) {
        if (!begins_alike(e.name, leaf) || (leaf.empty() && e.name == "..")) continue;
        if (found++ == 0) {
            common = e.name;
            only = &e;
            continue;
        }
        std::size_t n = 0;
        while (n < common.size() && n < e.name.size() && common[n] == e.name[n]) ++n;
        while (n > 0 && (goes_on(common, n) || goes_on(e.name, n))) --n;
        common.resize(n);
    }
    if (found == 0 || common.size() < leaf.size()) return std::string(typed);
    std::string out(typed.substr(0, typed.size() - leaf.size()));
    out += common;
    if (found == 1 && only->folder) out += '/';
    return out;
}

int first_match(const FolderList& list, std::string_view leaf) {
    if (leaf.empty()) return -1;
    for (std::size_t i = 0; i < list.names.size(); ++i)
        if (begins_alike(list.names[i].name, leaf)) return static_cast<int>(i);
    return -1;
}

}  // namespace pentamesh::ui
