// Reads and writes PNG files with text inside (iTXt), by libpng.
#pragma once

#include "render/surface.h"

#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

struct PngText {
    std::string key, utf8;  // key: 1-79 Latin-1 characters, "pentamesh.plan"
};
// Returns the file; the same image and text give the same bytes (no date inside). Throws Error of kind io on
// failure.
[[nodiscard]] std::string encode_png(const Image& image, const std::vector<PngText>& text);
// Returns the text of one key of a PNG, nullopt where it has none. Throws Error where it is no PNG, or takes
// more than 64 MiB.
[[nodiscard]] std::optional<std::string> read_png_text(std::string_view bytes, std::string_view key);
[[nodiscard]] Image decode_png(std::string_view bytes);

}  // namespace pentamesh
