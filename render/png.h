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
// A picture of a moving one, and how long it stands.
struct MovingFrame {
    Image image;
    double seconds = 0.1;
};
// Returns a PNG that moves (APNG; W3C, PNG third edition, section 11.3.3), again and again; a reader that
// knows no movement shows the first picture. All are of one size, and each later one holds only what changed.
[[nodiscard]] std::string encode_moving_png(const std::vector<MovingFrame>& frames,
                                            const std::vector<PngText>& text);
// Returns the text of one key of a PNG, nullopt where it has none. Throws Error where it is no PNG, or takes
// more than 64 MiB.
[[nodiscard]] std::optional<std::string> read_png_text(std::string_view bytes, std::string_view key);
[[nodiscard]] Image decode_png(std::string_view bytes);

}  // namespace pentamesh
