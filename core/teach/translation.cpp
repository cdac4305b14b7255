#include "core/teach/translation.h"

#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace pentamesh {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the line of the entry with this id, from 1: the text was read as JSON, so that the id stands in it.
std::size_t line_of_id(std::string_view text, const std::string& id) {
    std::size_t at = 0;
    for (at = text.find('"' + id + '"'); at != std::string_view::npos;
         at = text.find('"' + id + '"', at + 1)) {
        const std::string_view before = trimmed(text.substr(0, at), " \t\r\n");
        if (before.ends_with(':')
            && trimmed(before.substr(0, before.size() - 1), " \t\r\n").ends_with("\"id\""))
            break;
    }
    const std::string_view before = text.substr(0, at == std::string_view::npos ? 0 : at);
    return static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
}

}  // namespace

bool is_language(std::string_view tag) {
    const std::vector<std::string_view> parts = split(tag, '-');
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (parts.front().size() < 2 || parts.front().size() > 3 || !std::ranges::all_of(parts.front(), lower))
        return false;
    return std::all_of(parts.begin() + 1, parts.end(), [](std::string_view part) {
        return part.size() >= 2 && part.size() <= 8
               && std::ranges::all_of(part, [](char c) { return is_letter(c) || is_digit(c); });
    });
}

std::string no_language(std::string_view text) {
    return "language is a tag such as de or pt-BR, \"" + shown_text(text) + "\" is no tag";
}

std::string language_of(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto next_line = [&] {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        return line;
    };
    if (next_line() != "---") return {};
    constexpr std::string_view kKey = "language:";
    while (!text.empty()) {
        const std::string_view line = next_line();
        if (line == "---") break;
        if (!line.starts_with(kKey)) continue;
        const std::string_view tag = trimmed(line.substr(kKey.size()));
        return is_language(tag) ? std::string(tag) : std::string();
    }
    return {};
}

Glossary with_own_texts(Glossary glossary, std::string_view text, const std::string& origin) {
    Glossary own = load_glossary(text, origin);
    std::vector<std::string_view> ids;
    for (const GlossaryEntry& e : glossary.entries) ids.push_back(e.id);
    for (std::size_t i = 0; i < own.entries.size(); ++i) {
        GlossaryEntry& e = own.entries[i];
        const auto at = std::find(ids.begin(), ids.end(), e.id);
        if (at == ids.end())
            throw Error(ErrorKind::invalid, origin + ":" + std::to_string(line_of_id(text, e.id)),
                        "/entries/" + std::to_string(i) + "/id",
                        "the glossary that ships has no entry \"" + e.id + "\"; the closest is \""
                            + std::string(nearest(e.id, ids)) + "\"");
    }
    for (GlossaryEntry& e : own.entries) {
        GlossaryEntry& shipped = *std::find_if(glossary.entries.begin(), glossary.entries.end(),
                                               [&](const GlossaryEntry& s) { return s.id == e.id; });
        e.also.push_back(std::move(shipped.term));
        std::move(shipped.also.begin(), shipped.also.end(), std::back_inserter(e.also));
        std::vector<std::string> names;  // each once, and none that is the term itself
        for (std::string& name : e.also)
            if (name != e.term && std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(std::move(name));
        shipped.term = std::move(e.term), shipped.also = std::move(names), shipped.text = std::move(e.text);
    }
    return glossary;
}

}  // namespace pentamesh
