#include "core/teach/lesson_pieces.h"

#include "core/base/characters.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>

namespace pentamesh {

std::string panel_name(std::string_view pointer) {
    struct Named {
        std::string_view field, name;
    };
    static constexpr std::array kNamed{Named{"zero", "ZeRO"},
                                       Named{"gpus", "GPUs"},
                                       Named{"global_batch", "batch"},
                                       Named{"micro_batch", "micro-batch"},
                                       Named{"sequence_length", "sequence"},
                                       Named{"virtual_stages", "chunks"}};
    const std::string_view last = pointer.substr(pointer.rfind('.') + 1);
    for (const Named& n : kNamed)
        if (n.field == last) return std::string(n.name);
    if (parse_name<Axis>(last) && std::ranges::count(pointer, '.') < 2) return std::string(last);
    std::string field(pointer.substr(pointer.find('.') + 1));  // "offload optimizer"
    std::replace_if(
        field.begin(), field.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
    return field;
}

bool parse_integer(std::string_view text, std::int64_t& out) {
    const auto n = parse_whole(trimmed(text));
    out = n.value_or(out);
    return n.has_value();
}

bool parse_tolerance(std::string_view text, double& out) {
    text = trimmed(text);
    const bool percent = !text.empty() && text.back() == '%';
    if (percent) text = trimmed(text.substr(0, text.size() - 1));
    const std::optional<double> read = parse_double(text);
    if (!read) return false;
    out = percent ? *read / 100 : *read;
    return out >= 0 && out <= 1;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view part : split(text, ','))
        if (!trimmed(part).empty()) out.emplace_back(trimmed(part));
    return out;
}

std::vector<std::string> split_values(std::string_view text) {
    std::vector<std::string> out;
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 0;
    const auto part = [&](std::size_t end) {
        if (const auto one = trimmed(text.substr(begin, end - begin)); !one.empty()) out.emplace_back(one);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted) continue;
        if (text[i] == '[' || text[i] == '{') ++depth;
        if (text[i] == ']' || text[i] == '}') --depth;
        if (text[i] == ',' && depth <= 0) part(i);
    }
    if (begin < text.size()) part(text.size());
    return out;
}

namespace {

// Holds the places of one "[[screen|paper]]".
struct Forms {
    std::size_t begin, bar, end;
};
std::optional<Forms> next_forms(std::string_view text, std::size_t from) {
    const std::size_t begin = text.find("[[", from), bar = text.find('|', begin), end = text.find("]]", bar);
    if (begin == text.npos || bar == text.npos || end == text.npos) return std::nullopt;
    return Forms{begin, bar, end};
}

std::string one_form(std::string_view text, bool paper) {
    std::string out;
    std::size_t at = 0;
    while (const auto forms = next_forms(text, at)) {
        const std::size_t first = paper ? forms->bar + 1 : forms->begin + 2;
        const std::string_view said = text.substr(first, (paper ? forms->end : forms->bar) - first);
        out += text.substr(at, forms->begin - at);
        if (said.empty() && out.ends_with(' ')) out.pop_back();
        out += said;
        at = forms->end + 2;
    }
    return out += text.substr(at);
}

}  // namespace

std::string on_screen(std::string_view text) {
    return one_form(text, false);
}

std::string on_paper(std::string_view text) {
    return one_form(text, true);
}

bool has_whole_forms(std::string_view text) {
    const std::string left = on_screen(text) + on_paper(text);
    return left.find("[[") == left.npos && left.find("]]") == left.npos;
}

std::string pointer_value(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) return "";
    return std::string(trimmed(text.substr(0, equals))) + "=" + std::string(trimmed(text.substr(equals + 1)));
}

std::optional<KeyValue> key_value(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    if (line.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz") != line.npos)
        return std::nullopt;
    return KeyValue{line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

}  // namespace pentamesh
