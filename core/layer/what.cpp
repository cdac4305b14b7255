#include "core/layer/what.h"

namespace pentamesh {

std::string_view words_of(What what) {
#define PENTAMESH_WORDS(enumerator, words) words,
    static constexpr EnumArray<What, std::string_view> kWords{PENTAMESH_WHATS(PENTAMESH_WORDS)};
#undef PENTAMESH_WORDS
    return kWords[what];
}

}  // namespace pentamesh
