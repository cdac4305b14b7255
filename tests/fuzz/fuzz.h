// Every fuzz target shares this.
#pragma once

#include "core/io/presets.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pentamesh::fuzz {

[[noreturn]] inline void complain(std::string_view what, std::string_view text) {
    std::fprintf(stderr, "%.*s:\n%.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(text.size()), text.data());
    std::abort();
}

inline const Presets& presets() {
    static const Presets all(std::string(SOURCE_DIR) + "/presets");
    return all;
}

inline std::string_view text_of(const unsigned char* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace pentamesh::fuzz
