#include "app/ui/kit/file_stem.h"

namespace pentamesh::ui {

std::string file_stem(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::string name;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                           || c == '.' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
        if (name.size() >= kLongest && static_cast<unsigned char>(c) < 0x80) break;
    }
    while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
    while (!name.empty() && name.front() == '.') name.erase(name.begin());
    return name;
}

}  // namespace pentamesh::ui
