// A page of vector drawing for design reviews: SVG or PDF, through Cairo, receiving the same primitives as
// the screen.
#pragma once

#include "render/canvas.h"
#include "render/surface.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

enum class PageFormat : std::uint8_t { svg, pdf };

// Whether this build can write pages (Cairo was there when it was configured).
[[nodiscard]] bool pages_available();
// What was embedded in an SVG or PDF file that a Page wrote; nullopt for any other bytes.
[[nodiscard]] std::optional<std::string> read_embedded(std::string_view bytes);

class Page {
  public:
    // Size in logical pixels; 1 logical pixel = 0.75 pt. `embedded` is put inside the file (SVG metadata, PDF
    // attachment "plan.json").
    Page(PageFormat format, Vec2 size, const FontFiles& fonts, std::string title, std::string embedded);
    ~Page();
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    // Ends the page and gives the file's bytes; the same drawing gives the same bytes. Error of kind io.
    [[nodiscard]] std::string finish();
    struct Impl;
    [[nodiscard]] Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace pentamesh
