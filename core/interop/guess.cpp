#include "core/interop/guess.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pentamesh::interop {
namespace {

// Returns the names in a text, in small letters with underscores, of two letters and more.
std::set<std::string, std::less<>> names_in(std::string_view text) {
    std::set<std::string, std::less<>> out;
    std::string name;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        if (is_name_char(c) || (c == '-' && !name.empty())) {
            name.push_back(c == '-' ? '_' : c);
        } else if (!name.empty()) {
            while (name.ends_with('_')) name.pop_back();
            if (name.size() > 1) out.insert(name);
            name.clear();
        }
    }
    return out;
}

}  // namespace

std::string with_scripts_beside(const ImportRequest& r) {
    std::string all = r.text;
    if (!r.other || !is_script(r.text)) return all;
    std::set<std::string> read;
    for (std::string_view word : split_words(r.text, " \t\r\n\"';&()")) {
        if (!word.ends_with(".sh")) continue;
        if (const std::size_t variable = word.rfind('$'); variable != word.npos)  // "${DIR}/train.sh"
            word.remove_prefix(std::min(word.find('/', variable), word.size() - 1) + 1);
        constexpr std::size_t most = 20;
        if (word.empty() || read.size() >= most || !read.insert(std::string(word)).second) continue;
        if (const auto text = r.other(std::string(word))) all.append("\n").append(*text);
    }
    return all;
}

std::string unread_tool(std::string_view text) {
    for (const auto& row : words("unread_tools")) {
        std::vector<std::vector<std::string_view>> groups;
        for (const auto& group : row["marks"]) {
            std::vector<std::string_view>& marks = groups.emplace_back();
            for (const auto& mark : group) marks.push_back(word_of(mark));
        }
        if (has_marks(text, groups)) return std::string(word_of(row["called"]));
    }
    return {};
}

std::vector<const Tool*> nearest_tools(std::string_view text, const Presets& presets) {
    constexpr std::size_t most = 3;
    const auto names = names_in(text);
    std::vector<std::pair<std::size_t, const Tool*>> found;
    for (const Tool* tool : read_tools()) {
        const auto file = presets.root() / "frameworks" / (std::string(tool->name) + ".json");
        const auto known = try_read_file(file);
        if (!known) continue;
        const nlohmann::json all = parse_json(*known, file.string());
        std::set<std::string> said;
        const nlohmann::json listed = all.value("names", nlohmann::json::object());
        for (const auto& row : listed.items()) {
            const std::string& key = row.key();
            const std::string leaf = key.substr(key.rfind('.') + 1);
            if (names.contains(leaf)) said.insert(leaf);
        }
        if (!said.empty()) found.emplace_back(said.size(), tool);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const Tool*> out;
    for (const auto& [n, tool] : found)
        if (out.size() < most) out.push_back(tool);
    return out;
}

namespace {

// Returns the setting by which a file of this tool names those that it starts from; empty: it has none.
std::string bases_of(const Tool& tool, const Presets& presets) {
    const auto file = presets.root() / "frameworks" / (std::string(tool.name) + ".json");
    const auto known = try_read_file(file);
    return known ? parse_json(*known, file.string()).value("bases", std::string()) : std::string();
}

}  // namespace

const Tool* tool_of_bases(const ImportRequest& r, const Presets& presets) {
    if (!r.other || is_script(r.text)) return nullptr;
    for (const Tool* tool : read_tools()) {
        const std::string named = bases_of(*tool, presets);
        if (named.empty() || !has_line(r.text, named + ":")) continue;
        TextRequest text{.text = r.text, .path = r.path};
        text.bases = named;
        text.folder = r.folder;
        std::string all = r.text;
        text.other = [&](const std::string& name) {
            std::optional<std::string> base = r.other(name);
            if (base) all.append("\n").append(*base);
            return base;
        };
        (void)read_text(TextForm::yaml, text);
        const std::vector<const Tool*> fits = guess_tools(all);
        if (fits.size() == 1 && fits.front() == tool) return tool;
    }
    return nullptr;
}

}  // namespace pentamesh::interop
