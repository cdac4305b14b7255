// SVG and PDF by Cairo. Text is drawn from the same font files, as glyphs, at the positions the canvas
// measured.
#include "render/page.h"

#include "core/base/error.h"
#include "render/page_embed.h"
#include "render/page_sink.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#ifdef PENTAMESH_HAVE_CAIRO
#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <cmath>
#include <ft2build.h>
#include FT_FREETYPE_H
#endif

namespace pentamesh {

#ifdef PENTAMESH_HAVE_CAIRO

namespace {

constexpr double kPointsPerPixel = 0.75;

cairo_status_t append(void* to, const unsigned char* data, unsigned n) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
    return CAIRO_STATUS_SUCCESS;
}

// For PDF, so that text in it can be searched and copied.
std::string utf8_of(char32_t c) {
    const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xc0U | c >> 6U), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xe0U | c >> 12U), tail(6), tail(0)};
    return {static_cast<char>(0xf0U | c >> 18U), tail(12), tail(6), tail(0)};
}

}  // namespace

struct Page::Impl final : PageSink {
    PageFormat format;
    std::string bytes, title, embedded;
    TypeFaces type;
    std::array<cairo_font_face_t*, kFaceCount> face{};
    cairo_surface_t* surface = nullptr;
    cairo_t* cr = nullptr;

    Impl(PageFormat f, Vec2 size, const FontFiles& fonts, std::string t, std::string e)
        : format(f), title(std::move(t)), embedded(std::move(e)), type(fonts) {
        for (std::size_t i = 0; i < face.size(); ++i)
            face[i] = cairo_ft_font_face_create_for_ft_face(type.freetype(static_cast<Face>(i)),
                                                            FT_LOAD_NO_HINTING);
        const double w = size.x * kPointsPerPixel, h = size.y * kPointsPerPixel;
        if (format == PageFormat::svg) {
            surface = cairo_svg_surface_create_for_stream(append, &bytes, w, h);
        } else {
            surface = cairo_pdf_surface_create_for_stream(append, &bytes, w, h);
            // 1.4: a classic cross-reference table, which attach_to_pdf continues.
            cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title.c_str());
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Pentamesh");
            // A fixed date: the same plan gives the same bytes.
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
        }
        cr = cairo_create(surface);
        cairo_scale(cr, kPointsPerPixel, kPointsPerPixel);
        cairo_font_options_t* options = cairo_font_options_create();
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
        cairo_set_font_options(cr, options);
        cairo_font_options_destroy(options);
    }
    ~Impl() override {
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
        for (auto* f : face) cairo_font_face_destroy(f);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void use(Color c) const { cairo_set_source_rgba(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0); }
    void path(std::span<const Vec2> points, bool closed) const {
        bool first = true;
        for (const Vec2 p : points) {
            first ? cairo_move_to(cr, p.x, p.y) : cairo_line_to(cr, p.x, p.y);
            first = false;
        }
        if (closed) cairo_close_path(cr);
    }
    void polygon(std::span<const Vec2> convex, Color color) override {
        use(color);
        path(convex, true);
        cairo_fill(cr);
    }
    void rect(Rect r, Color color, float radius) override {
        use(color);
        if (radius <= 0) {
            cairo_rectangle(cr, r.x, r.y, r.w, r.h);
        } else {
            const double k = std::min({radius, r.w / 2, r.h / 2});
            cairo_new_sub_path(cr);
            cairo_arc(cr, r.right() - k, r.y + k, k, -M_PI / 2, 0);
            cairo_arc(cr, r.right() - k, r.bottom() - k, k, 0, M_PI / 2);
            cairo_arc(cr, r.x + k, r.bottom() - k, k, M_PI / 2, M_PI);
            cairo_arc(cr, r.x + k, r.y + k, k, M_PI, 3 * M_PI / 2);
            cairo_close_path(cr);
        }
        cairo_fill(cr);
    }
    void fill_rects(std::span<const Rect> rects, Color color) override {
        if (rects.empty()) return;
        use(color);
        for (const Rect& r : rects) cairo_rectangle(cr, r.x, r.y, r.w, r.h);
        cairo_fill(cr);
    }
    void stroke_pairs(std::span<const Vec2> points, Color color, float width) override {
        if (points.size() < 2) return;
        use(color);
        cairo_set_line_width(cr, width);
        for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
            cairo_move_to(cr, points[i].x, points[i].y);
            cairo_line_to(cr, points[i + 1].x, points[i + 1].y);
        }
        cairo_stroke(cr);
    }
    void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) override {
        use(color);
        cairo_set_line_width(cr, width);
        const std::array<double, 2> dashed{4.0 + width, 3.0 + width}, dotted{width, 1.5 + width};
        if (dash != Dash::solid)
            cairo_set_dash(cr, dash == Dash::dashed ? dashed.data() : dotted.data(), 2, 0);
        path(points, closed);
        cairo_stroke(cr);
        cairo_set_dash(cr, nullptr, 0, 0);
    }
    void glyphs(std::span<const PlacedGlyph> run, float size, Color color) override {
        use(color);
        cairo_set_font_size(cr, size);
        while (!run.empty()) {  // one face at a time
            const Face f = run[0].glyph.face;
            std::vector<cairo_glyph_t> placed;
            std::vector<cairo_text_cluster_t> clusters;
            std::string utf8;
            while (!run.empty() && run[0].glyph.face == f) {
                const std::string letter = utf8_of(run[0].character);
                placed.push_back({run[0].glyph.index, run[0].pen.x, run[0].pen.y});
                clusters.push_back({static_cast<int>(letter.size()), 1});
                utf8 += letter;
                run = run.subspan(1);
            }
            cairo_set_font_face(cr, face[static_cast<std::size_t>(f)]);
            cairo_show_text_glyphs(cr, utf8.data(), static_cast<int>(utf8.size()), placed.data(),
                                   static_cast<int>(placed.size()), clusters.data(),
                                   static_cast<int>(clusters.size()), {});
        }
    }
    [[nodiscard]] const TypeFaces& faces() const override { return type; }
    void push_clip(Rect r) override {
        cairo_save(cr);
        cairo_rectangle(cr, r.x, r.y, r.w, r.h);
        cairo_clip(cr);
    }
    void pop_clip() override { cairo_restore(cr); }

    std::string finish() {
        cairo_surface_finish(surface);
        if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
            throw Error(ErrorKind::io, "", "",
                        std::string("the page could not be written: ")
                            + cairo_status_to_string(cairo_surface_status(surface)));
        // Cairo numbers surfaces over the life of the process; nothing refers to the number of the whole
        // page.
        constexpr std::string_view kNumbered = "<g id=\"surface";
        const std::size_t group = format == PageFormat::svg ? bytes.find(kNumbered) : std::string::npos;
        if (group != std::string::npos) bytes.replace(group, bytes.find('>', group) - group, "<g");
        if (format == PageFormat::svg)
            embed_in_svg(bytes, title, embedded);
        else if (!attach_to_pdf(bytes, embedded))
            throw Error(ErrorKind::io, "", "",
                        "this Cairo writes PDF files to which no plan can be attached");
        return std::move(bytes);
    }
};

bool pages_available() {
    return true;
}

#else

struct Page::Impl final : PageSink {
    Impl(PageFormat, Vec2, const FontFiles&, std::string, std::string) {
        throw Error(
            ErrorKind::io, "", "",
            "this build writes no SVG or PDF; build it where Cairo is installed (Debian: libcairo2-dev)");
    }
    void polygon(std::span<const Vec2>, Color) override {}
    void rect(Rect, Color, float) override {}
    void fill_rects(std::span<const Rect>, Color) override {}
    void stroke(std::span<const Vec2>, Color, float, bool, Dash) override {}
    void stroke_pairs(std::span<const Vec2>, Color, float) override {}
    void glyphs(std::span<const PlacedGlyph>, float, Color) override {}
    [[nodiscard]] const TypeFaces& faces() const override { std::abort(); }  // none was ever made
    void push_clip(Rect) override {}
    void pop_clip() override {}
    std::string finish() { return {}; }
};

bool pages_available() {
    return false;
}

#endif

Page::Page(PageFormat format, Vec2 size, const FontFiles& fonts, std::string title, std::string embedded)
    : impl_(std::make_unique<Impl>(format, size, fonts, std::move(title), std::move(embedded))) {}
Page::~Page() = default;
std::string Page::finish() {
    return impl_->finish();
}
PageSink& sink_of(Page& page) {
    return page.impl();
}

}  // namespace pentamesh
