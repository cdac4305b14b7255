// SVG and PDF by Cairo. Text is drawn from the same font files, as glyphs, at the positions the canvas
// measured.
#include "render/page.h"

#include "core/error.h"
#include "render/page_sink.h"

#include <array>
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

std::string base64(const std::string& in) {
    static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::size_t i = 0;
    for (; i + 2 < in.size(); i += 3) {
        const unsigned v = static_cast<unsigned char>(in[i]) << 16U
                           | static_cast<unsigned char>(in[i + 1]) << 8U
                           | static_cast<unsigned char>(in[i + 2]);
        for (const unsigned s : {18U, 12U, 6U, 0U}) out += kLetters[(v >> s) & 63U];
    }
    if (i < in.size()) {
        unsigned v = static_cast<unsigned char>(in[i]) << 16U;
        if (i + 1 < in.size()) v |= static_cast<unsigned>(static_cast<unsigned char>(in[i + 1])) << 8U;
        out += kLetters[(v >> 18U) & 63U];
        out += kLetters[(v >> 12U) & 63U];
        out += i + 1 < in.size() ? kLetters[(v >> 6U) & 63U] : '=';
        out += '=';
    }
    return out;
}

cairo_status_t append(void* to, const unsigned char* data, unsigned n) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
    return CAIRO_STATUS_SUCCESS;
}

}  // namespace

struct Page::Impl final : PageSink {
    PageFormat format;
    std::string bytes, title, embedded;
    FT_Library library = nullptr;
    std::array<FT_Face, 3> ft{};
    std::array<cairo_font_face_t*, 3> face{};
    cairo_surface_t* surface = nullptr;
    cairo_t* cr = nullptr;

    Impl(PageFormat f, Vec2 size, const FontFiles& fonts, std::string t, std::string e)
        : format(f), title(std::move(t)), embedded(std::move(e)) {
        if (FT_Init_FreeType(&library) != 0) throw Error(ErrorKind::io, "", "", "FreeType could not start");
        const std::array<const std::filesystem::path*, 3> files{&fonts.regular, &fonts.semibold, &fonts.mono};
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (FT_New_Face(library, files[i]->string().c_str(), 0, &ft[i]) != 0)
                throw Error(ErrorKind::io, files[i]->string(), "", "the font could not be read");
            face[i] = cairo_ft_font_face_create_for_ft_face(ft[i], FT_LOAD_NO_HINTING);
        }
        const double w = size.x * kPointsPerPixel, h = size.y * kPointsPerPixel;
        if (format == PageFormat::svg) {
            surface = cairo_svg_surface_create_for_stream(append, &bytes, w, h);
        } else {
            surface = cairo_pdf_surface_create_for_stream(append, &bytes, w, h);
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title.c_str());
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Pentamesh");
            // A fixed date: the same plan gives the same bytes. The plan travels in the keywords, base64.
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_KEYWORDS,
                                           ("pentamesh.plan:" + base64(embedded)).c_str());
        }
        cr = cairo_create(surface);
        cairo_scale(cr, kPointsPerPixel, kPointsPerPixel);
    }
    ~Impl() override {
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
        for (auto* f : face) cairo_font_face_destroy(f);
        for (auto* f : ft) FT_Done_Face(f);
        FT_Done_FreeType(library);
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
    void fill(std::span<const Vec2> polygon, Color color) override {
        use(color);
        path(polygon, true);
        cairo_fill(cr);
    }
    void fill_rect(Rect r, Color color, float radius) override {
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
    void text(Vec2 at, std::string_view utf8, const TextStyle& style) override {
        use(style.color);
        cairo_set_font_face(cr, face[static_cast<std::size_t>(style.face)]);
        cairo_set_font_size(cr, style.size);
        double x = at.x;
        const auto put = [&](const std::string& s) {
            cairo_move_to(cr, x, at.y);
            cairo_show_text(cr, s.c_str());
            double now = 0, y = 0;
            cairo_get_current_point(cr, &now, &y);
            x = now + style.tracking;
            cairo_new_path(cr);
        };
        if (style.tracking == 0) return put(std::string(utf8));
        while (!utf8.empty()) {
            std::size_t n = 1;
            while (n < utf8.size() && (static_cast<unsigned char>(utf8[n]) & 0xC0U) == 0x80U) ++n;
            put(std::string(utf8.substr(0, n)));
            utf8.remove_prefix(n);
        }
    }
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
        if (format == PageFormat::svg) {
            // The plan inside, base64 so that no character of it can end the element.
            const std::string metadata = "<title>" + escaped(title)
                                         + "</title>\n<metadata id=\"pentamesh.plan\">" + base64(embedded)
                                         + "</metadata>\n";
            const std::size_t at = bytes.find('>', bytes.find("<svg")) + 1;
            bytes.insert(at, "\n" + metadata);
        }
        return std::move(bytes);
    }
    static std::string escaped(const std::string& s) {
        std::string out;
        for (const char c : s)
            out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
        return out;
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
    void fill(std::span<const Vec2>, Color) override {}
    void fill_rect(Rect, Color, float) override {}
    void stroke(std::span<const Vec2>, Color, float, bool, Dash) override {}
    void text(Vec2, std::string_view, const TextStyle&) override {}
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
