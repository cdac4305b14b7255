#include "core/teach/glossary.h"

#include "core/base/error.h"
#include "core/base/json_reader.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pentamesh {
namespace {

using nlohmann::json;

struct GlossaryReader {
    const std::string& origin;

    [[noreturn]] void fail(const std::string& pointer, const std::string& what) const {
        throw Error(ErrorKind::invalid, origin, pointer, what);
    }

    [[nodiscard]] std::string text(const json& value, const std::string& pointer) const {
        if (!value.is_string() || value.get_ref<const std::string&>().empty())
            fail(pointer, "found " + shown_json(value) + ", must be a text");
        return value.get<std::string>();
    }

    [[nodiscard]] GlossaryEntry entry(const json& object, const std::string& pointer) const {
        if (!object.is_object()) fail(pointer, "found " + shown_json(object) + ", must be an object");
        GlossaryEntry e;
        for (const auto& [key, value] : object.items()) {
            const std::string at = pointer + "/" + escape_token(key);
            if (key == "id")
                e.id = id(value, at);
            else if (key == "term")
                e.term = text(value, at);
            else if (key == "text")
                e.text = text(value, at);
            else if (key == "axis")
                e.axis = axis(value, at);
            else if (key == "kind")
                e.name = kind(value, at);
            else if (key == "also")
                e.also = names(value, at);
            else
                fail(at, "is no key of an entry; there are: id, term, also, axis, kind, text");
        }
        for (const auto& [key, value] :
             {std::pair<const char*, const std::string&>{"id", e.id}, {"term", e.term}, {"text", e.text}})
            if (value.empty()) fail(pointer, std::string(key) + " is missing");
        if (e.name && e.axis.empty()) fail(pointer, "a name needs the axis that it hangs under");
        return e;
    }

    [[nodiscard]] std::string id(const json& value, const std::string& at) const {
        std::string s = text(value, at);
        const bool plain = std::all_of(s.begin(), s.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
        if (!plain) fail(at, "found " + shown_json(value) + ", must be of a-z, 0-9, - and _");
        return s;
    }
    [[nodiscard]] std::string axis(const json& value, const std::string& at) const {
        constexpr std::array<std::string_view, 5> kAxes{"dp", "tp", "pp", "cp", "ep"};
        std::string s = text(value, at);
        if (std::find(kAxes.begin(), kAxes.end(), s) == kAxes.end())
            fail(at, "found " + shown_json(value) + ", must be dp, tp, pp, cp or ep");
        return s;
    }
    [[nodiscard]] bool kind(const json& value, const std::string& at) const {
        const std::string s = text(value, at);
        if (s != "name" && s != "term")
            fail(at, "found " + shown_json(value) + ", must be \"name\" or \"term\"");
        return s == "name";
    }
    [[nodiscard]] std::vector<std::string> names(const json& value, const std::string& at) const {
        if (!value.is_array()) fail(at, "found " + shown_json(value) + ", must be a list of texts");
        std::vector<std::string> out;
        for (std::size_t i = 0; i < value.size(); ++i)
            out.push_back(text(value[i], at + "/" + std::to_string(i)));
        return out;
    }
};

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size()
           && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

// Returns 2 where `text` has `word` at the begin of a word, 1 inside one, 0 nowhere, without regard to case.
int stands(std::string_view word, std::string_view text) {
    int best = 0;
    for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
        if (!same(text.substr(i, word.size()), word)) continue;
        const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
        best = std::max(best, begins ? 2 : 1);
    }
    return best;
}

int word_score(const GlossaryEntry& e, std::string_view word) {
    if (same(e.term, word) || same(e.id, word)) return 9;
    int score = 3 * stands(word, e.term);
    for (const std::string& other : e.also)
        score = std::max(score, same(other, word) ? 8 : 2 * stands(word, other));
    if (score == 0 && stands(word, e.text) == 2) score = 1;
    return score;
}

}  // namespace

const GlossaryEntry* Glossary::find(std::string_view term) const {
    for (const GlossaryEntry& e : entries)
        if (e.id == term) return &e;
    for (const GlossaryEntry& e : entries)
        if (same(e.term, term)
            || std::any_of(e.also.begin(), e.also.end(), [&](const std::string& a) { return same(a, term); }))
            return &e;
    return nullptr;
}

Glossary load_glossary(std::string_view text, const std::string& origin) {
    const json document = parse_json(text, origin);
    const GlossaryReader reader{origin};
    if (!document.is_object() || !document.contains("entries") || !document["entries"].is_array())
        reader.fail("", "a glossary is an object with a list of entries");
    Glossary out;
    for (std::size_t i = 0; i < document["entries"].size(); ++i) {
        const std::string at = "/entries/" + std::to_string(i);
        GlossaryEntry e = reader.entry(document["entries"][i], at);
        for (const GlossaryEntry& before : out.entries)
            if (before.id == e.id) reader.fail(at + "/id", "\"" + e.id + "\" stands twice");
        out.entries.push_back(std::move(e));
    }
    return out;
}

int glossary_match(const GlossaryEntry& entry, std::string_view typed) {
    int score = 0;
    while (!typed.empty()) {
        const std::size_t end = std::min(typed.find(' '), typed.size());
        const std::string_view word = typed.substr(0, end);
        typed.remove_prefix(std::min(end + 1, typed.size()));
        if (word.empty()) continue;
        const int points = word_score(entry, word);
        if (points == 0) return -1;
        score += points;
    }
    return score;
}

}  // namespace pentamesh
