#include "core/teach/lesson_pieces.h"

#include "core/base/characters.h"
#include "core/base/number.h"

#include <charconv>

namespace pentamesh {

bool parse_integer(std::string_view text, std::int64_t& out) {
    text = trimmed(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
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
    std::string word;
    for (const char c : text) {
        if (c == ',') {
            if (!trimmed(word).empty()) out.emplace_back(trimmed(word));
            word.clear();
        } else {
            word += c;
        }
    }
    if (!trimmed(word).empty()) out.emplace_back(trimmed(word));
    return out;
}

std::optional<KeyValue> key_value(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    if (line.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz") != line.npos)
        return std::nullopt;
    return KeyValue{line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

}  // namespace pentamesh
