// The papers of a review say how large a page and its type are.
#pragma once

#include "render/canvas.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace pentamesh::ui {

enum class PaperKind : std::uint8_t { slide, a4, letter };
inline constexpr int kPaperCount = 3;
[[nodiscard]] std::string_view name_of(PaperKind kind);  // "16:9", "a4", "letter"
[[nodiscard]] std::optional<PaperKind> paper_named(std::string_view name);

// Sizes are logical pixels, 96 to the inch. Nothing on the page is smaller than `small`.
struct Paper {
    Vec2 size{};
    float margin = 40;
    bool wide = false;        // a slide: a row of figures is as high as the page
    bool one_a_page = false;  // each heading begins a page: one figure or table on each, as large as it goes
    float title = 28, head = 21, body = 18.67f, small = 18.67f;  // sizes of type
    [[nodiscard]] float line() const { return body * 1.3f; }
};
// Returns a slide of 13.33 x 7.5 inches with type of at least 14 pt; or A4 or Letter upright, for reading.
[[nodiscard]] Paper paper_of(PaperKind kind);
// Returns a slide of another size, with type in proportion to its width.
[[nodiscard]] Paper slide_of(Vec2 size);

}  // namespace pentamesh::ui
