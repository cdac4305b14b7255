#include "core/interop/references.h"

#include "core/interop/sheet.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pentamesh::interop {
namespace {

std::optional<std::string> value_of_reference(const std::string& inside, const std::string& of,
                                              const std::map<std::string, std::string>& plain,
                                              const GivenValues& given) {
    const std::size_t colon = inside.find(':');
    std::string name = inside.substr(0, colon);
    if (name == "multiply") {
        const std::size_t comma = inside.find(',');
        if (comma == std::string::npos) return std::nullopt;
        const auto number = [](std::string text) {
            std::erase(text, ' ');
            return parse_integer(text).value_or(0);
        };
        const std::int64_t a = number(inside.substr(colon + 1, comma - colon - 1)),
                           b = number(inside.substr(comma + 1));
        if (a <= 0 || b <= 0 || a > (1 << 25) || b > (1 << 25)) return std::nullopt;
        return std::to_string(a * b);
    }
    if (name.starts_with(".")) name = of.substr(0, of.rfind('.')) + name;
    if (const auto it = given.find(name); it != given.end()) return it->second;
    // A file of a group that others include is named with the group: "training.trainer.precision".
    for (std::string part = name;; part = part.substr(part.find('.') + 1)) {
        if (const auto it = plain.find(part); it != plain.end()) return it->second;
        if (std::count(part.begin(), part.end(), '.') < 2) break;
    }
    return colon == std::string::npos ? std::nullopt : std::optional(inside.substr(colon + 1));
}

}  // namespace

void resolve_references(std::vector<Setting>& settings, const GivenValues& given) {
    std::map<std::string, std::string> plain;
    for (const Setting& s : settings)
        if (s.value.find("${") == std::string::npos) plain[s.name] = s.value;
    for (Setting& s : settings) {
        for (std::size_t at = 0; (at = s.value.rfind("${")) != std::string::npos;) {
            const std::size_t end = s.value.find('}', at);
            if (end == std::string::npos) break;
            const std::string inside = s.value.substr(at + 2, end - at - 2);
            const std::optional<std::string> value = value_of_reference(inside, s.name, plain, given);
            if (!value) s.unknown = inside;
            if (!value) break;
            s.value.replace(at, end + 1 - at, *value);
            if (s.value.size() > 4096) break;
        }
    }
}

}  // namespace pentamesh::interop
