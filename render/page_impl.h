// Behind a Page stands a sink that keeps the primitives that it is given.
#pragma once

#include "render/page.h"
#include "render/page_sink.h"

namespace pentamesh {

struct Page::Impl : PageSink {
    virtual void next() {}
    virtual int outline(std::string_view, const PagePlace&, int) { return 0; }
    virtual void link(Rect, const PagePlace&) {}
    virtual void link(Rect, std::string_view) {}
    virtual void begin_piece(std::string_view) {}
    virtual void end_piece() {}
    virtual void begin_inset(Vec2, float) {}
    virtual void end_inset() {}
    [[nodiscard]] virtual std::string finish() = 0;
};
[[nodiscard]] std::unique_ptr<Page::Impl> make_svg_page(const PageSpec& spec);
// Makes PDF, PNG and outlines. Throws Error of kind io where the build has no Cairo.
[[nodiscard]] std::unique_ptr<Page::Impl> make_cairo_page(const PageSpec& spec);

}  // namespace pentamesh
