#include "core/interop/shell_state.h"

#include <charconv>

namespace pentamesh::shell {

int own_line(const Script& script, int line) {
    const auto file = static_cast<std::size_t>(line / kLinesOfFile);
    return file == 0 || file > script.sources.size() ? line : script.sources[file - 1];
}

const Unknown* unknown_in(const Script& script, std::string_view text) {
    const std::size_t begin = text.find(kUnknownBegin);
    if (begin == std::string_view::npos) return nullptr;
    std::size_t index = 0;
    const char* const end = text.data() + text.size();
    std::from_chars(text.data() + begin + 1, end, index);
    return index < script.unknowns.size() ? &script.unknowns[index] : nullptr;
}

const Unknown* sole_unknown_in(const Script& script, std::string_view text) {
    const bool whole = text.starts_with(kUnknownBegin) && text.find(kUnknownEnd) + 1 == text.size();
    return whole ? unknown_in(script, text) : nullptr;
}

std::string shown(const Script& script, std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != kUnknownBegin) {
            out.push_back(text[i]);
            continue;
        }
        const Unknown* u = unknown_in(script, text.substr(i));
        if (u) out += u->what.starts_with("$") ? u->what : "${" + u->what + "}";
        const std::size_t end = text.find(kUnknownEnd, i);
        if (end == std::string_view::npos) break;
        i = end;
    }
    return out;
}

}  // namespace pentamesh::shell
