// Cairo writes PDF, PNG and SVG outlines. Text is drawn from the same font files, as glyphs, at the positions
// the canvas measured.
#include "core/base/files.h"
#include "render/page.h"
#include "render/png.h"
#include "render/sink.h"

#include <algorithm>
#include <array>
#include <cstring>
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
constexpr const char* kDocument = "Document";

cairo_status_t append(void* to, const unsigned char* data, unsigned n) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
    return CAIRO_STATUS_SUCCESS;
}

// A PDF needs this, so that text in it can be searched and copied.
std::string utf8_of(char32_t c) {
    const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xc0U | c >> 6U), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xe0U | c >> 12U), tail(6), tail(0)};
    return {static_cast<char>(0xf0U | c >> 18U), tail(12), tail(6), tail(0)};
}

}  // namespace

namespace {

// Cairo has rows of 32-bit words, alpha first, each channel times alpha. Returns them as an image with
// straight alpha.
Image image_of(cairo_surface_t* surface) {
    cairo_surface_flush(surface);
    Image out{cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface), {}};
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    out.pixels.resize(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 4);
    std::uint8_t* to = out.pixels.data();
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x, to += 4) {
            std::uint32_t pixel = 0;
            std::memcpy(&pixel, data + static_cast<std::ptrdiff_t>(y) * stride + 4 * x, 4);
            const std::uint32_t alpha = pixel >> 24U;
            for (unsigned k = 0; k < 3; ++k) {
                const std::uint32_t channel = pixel >> (16U - 8U * k) & 255U;
                to[k] = static_cast<std::uint8_t>(
                    alpha == 0 ? 0U : std::min(255U, (channel * 255U + alpha / 2) / alpha));
            }
            to[3] = static_cast<std::uint8_t>(alpha);
        }
    return out;
}

struct CairoPage final : Page::Impl {
    PageSpec spec;
    std::string bytes;
    std::array<cairo_font_face_t*, kFaceCount> face{};
    cairo_surface_t* surface = nullptr;
    cairo_t* cr = nullptr;
    std::vector<std::string> pieces{};      // that are open
    std::vector<std::string> instead_of{};  // what is read aloud in the place of each figure

    explicit CairoPage(const PageSpec& s) : spec(s) {
        for (std::size_t i = 0; i < face.size(); ++i)
            face[i] = cairo_ft_font_face_create_for_ft_face(spec.faces->freetype(static_cast<Face>(i)),
                                                            FT_LOAD_NO_HINTING);
        const double w = spec.size.x * kPointsPerPixel, h = spec.size.y * kPointsPerPixel;
        const bool image = spec.format == PageFormat::png;
        if (image) {
            const auto pixels = [&](float v) { return static_cast<int>(std::lround(v * spec.scale)); };
            surface =
                cairo_image_surface_create(CAIRO_FORMAT_ARGB32, pixels(spec.size.x), pixels(spec.size.y));
        } else if (spec.format == PageFormat::svg_outlines) {
            surface = cairo_svg_surface_create_for_stream(append, &bytes, w, h);
        } else {
            surface = cairo_pdf_surface_create_for_stream(append, &bytes, w, h);
            // Version 1.4 has a classic cross-reference table, which attach_to_pdf continues.
            cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, spec.title.c_str());
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Pentamesh");
            // The date is fixed, so that the same plan gives the same bytes.
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
        }
        cr = cairo_create(surface);
        const double scale = image ? static_cast<double>(spec.scale) : kPointsPerPixel;
        cairo_scale(cr, scale, scale);
        cairo_font_options_t* options = cairo_font_options_create();
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
        if (image) cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
        cairo_set_font_options(cr, options);
        cairo_font_options_destroy(options);
        // Cairo calls a file tagged where all of its pieces stand in one of these.
        if (is_pdf()) cairo_tag_begin(cr, kDocument, nullptr);
    }
    ~CairoPage() override {
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
        for (auto* f : face) cairo_font_face_destroy(f);
    }
    CairoPage(const CairoPage&) = delete;
    CairoPage& operator=(const CairoPage&) = delete;

    void use(Color c) const { cairo_set_source_rgba(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0); }
    void path(std::span<const Vec2> points, bool closed) const {
        bool first = true;
        for (const Vec2 p : points) {
            first ? cairo_move_to(cr, p.x, p.y) : cairo_line_to(cr, p.x, p.y);
            first = false;
        }
        if (closed) cairo_close_path(cr);
    }
    // Cairo takes an opaque box over all of a page for a new page, and forgets the pieces that were begun on
    // it. A shape that reaches beyond the page with slanted sides is no box.
    void box(Rect r) const {
        double left = r.x, top = r.y, right = r.right(), bottom = r.bottom();
        cairo_user_to_device(cr, &left, &top);
        cairo_user_to_device(cr, &right, &bottom);
        constexpr double kNear = 0.05;
        const bool covers = is_pdf() && left <= kNear && top <= kNear
                            && right >= spec.size.x * kPointsPerPixel - kNear
                            && bottom >= spec.size.y * kPointsPerPixel - kNear;
        if (!covers) return cairo_rectangle(cr, r.x, r.y, r.w, r.h);
        const std::array<Vec2, 4> corners{{{r.x - 1, r.y - 1},
                                           {r.right() + 2, r.y - 1},
                                           {r.right() + 1, r.bottom() + 1},
                                           {r.x - 1, r.bottom() + 1}}};
        path(corners, true);
    }
    void polygon(std::span<const Vec2> convex, Color color) override {
        use(color);
        path(convex, true);
        cairo_fill(cr);
    }
    void rect(Rect r, Color color, float radius) override {
        use(color);
        if (radius <= 0) {
            box(r);
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
        for (const Rect& r : rects) box(r);
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
        const auto [on, off] = lengths_of(dash, width);
        const std::array<double, 2> lengths{on, off};
        if (dash != Dash::solid) cairo_set_dash(cr, lengths.data(), 2, 0);
        if (dash == Dash::dotted) cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
        path(points, closed);
        cairo_stroke(cr);
        cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
        cairo_set_dash(cr, nullptr, 0, 0);
    }
    void glyphs(std::span<const PlacedGlyph> run, float size, Color color) override {
        use(color);
        cairo_set_font_size(cr, size);
        const bool loose = is_pdf() && pieces.empty();
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
            if (spec.format == PageFormat::png) {
                // Glyphs are drawn as shapes: an image surface would set each letter on a whole pixel.
                cairo_glyph_path(cr, placed.data(), static_cast<int>(placed.size()));
                cairo_fill(cr);
                continue;
            }
            if (loose) cairo_tag_begin(cr, "P", nullptr);
            cairo_show_text_glyphs(cr, utf8.data(), static_cast<int>(utf8.size()), placed.data(),
                                   static_cast<int>(placed.size()), clusters.data(),
                                   static_cast<int>(clusters.size()), {});
            if (loose) cairo_tag_end(cr, "P");
        }
    }
    [[nodiscard]] const TypeFaces& faces() const override { return *spec.faces; }
    void push_clip(Rect r) override {
        cairo_save(cr);
        cairo_rectangle(cr, r.x, r.y, r.w, r.h);
        cairo_clip(cr);
    }
    void pop_clip() override { cairo_restore(cr); }

    void begin_inset(Vec2 corner, float by) override {
        cairo_save(cr);
        cairo_translate(cr, corner.x, corner.y);
        cairo_scale(cr, by, by);
    }
    void end_inset() override { cairo_restore(cr); }

    void next() override { cairo_show_page(cr); }
    [[nodiscard]] bool is_pdf() const { return spec.format == PageFormat::pdf; }
    // Attributes of a link are texts, whose numbers have no comma in any locale.
    [[nodiscard]] static std::string points(float pixels) {
        return std::to_string(std::lround(static_cast<double>(pixels) * kPointsPerPixel));
    }
    [[nodiscard]] static std::string place_text(const PagePlace& to) {
        return "page=" + std::to_string(to.page) + " pos=[" + points(to.at.x) + " " + points(to.at.y) + "]";
    }
    int outline(std::string_view title, const PagePlace& to, int under) override {
        if (!is_pdf()) return 0;
        return cairo_pdf_surface_add_outline(surface, under, std::string(title).c_str(),
                                             place_text(to).c_str(), CAIRO_PDF_OUTLINE_FLAG_OPEN);
    }
    void link_with(Rect from, const std::string& to) const {
        if (!is_pdf()) return;
        // Cairo takes the rectangle in points at any scale.
        const std::string rect = " rect=[" + points(from.x) + " " + points(from.y) + " " + points(from.w)
                                 + " " + points(from.h) + "]";
        cairo_tag_begin(cr, CAIRO_TAG_LINK, (to + rect).c_str());
        cairo_tag_end(cr, CAIRO_TAG_LINK);
    }
    void link(Rect from, const PagePlace& to) override { link_with(from, place_text(to)); }
    void link(Rect from, std::string_view address) override {
        std::string quoted;
        for (const char c : address)
            quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        link_with(from, "uri='" + quoted + "'");
    }
    void begin_piece(std::string_view name, std::string_view instead) override {
        if (!is_pdf()) return;
        pieces.emplace_back(name);
        if (name == "Figure") instead_of.emplace_back(instead);
        cairo_tag_begin(cr, pieces.back().c_str(), nullptr);
    }
    void end_piece() override {
        if (!is_pdf() || pieces.empty()) return;
        cairo_tag_end(cr, pieces.back().c_str());
        pieces.pop_back();
    }

    std::string finish() override {
        std::string out;
        if (spec.format == PageFormat::png && cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
            std::vector<PngText> texts{{"Title", spec.title}};
            for (std::size_t i = 0; i < spec.embedded.size(); ++i)
                texts.push_back(
                    {"pentamesh.plan" + (i == 0 ? "" : "." + std::to_string(i + 1)), spec.embedded[i]});
            out = encode_png(image_of(surface), texts);
        }
        if (is_pdf()) {
            while (!pieces.empty()) end_piece();
            cairo_tag_end(cr, kDocument);
        }
        cairo_surface_finish(surface);
        if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
            throw Error(ErrorKind::io, "", "",
                        std::string("the page could not be written: ")
                            + cairo_status_to_string(cairo_surface_status(surface)));
        if (spec.format == PageFormat::png) return out;
        // Cairo numbers surfaces over the life of the process; nothing refers to the number of the whole
        // page.
        const bool svg = spec.format == PageFormat::svg_outlines;
        constexpr std::string_view kNumbered = "<g id=\"surface";
        const std::size_t group = svg ? bytes.find(kNumbered) : std::string::npos;
        if (group != std::string::npos) bytes.replace(group, bytes.find('>', group) - group, "<g");
        if (svg)
            embed_in_svg(bytes, spec.title, spec.embedded);
        else if (!attach_to_pdf(bytes, spec.embedded, {spec.language, instead_of}))
            throw Error(ErrorKind::io, "", "",
                        "this Cairo writes PDF files to which no plan can be attached");
        return std::move(bytes);
    }
};

}  // namespace

std::unique_ptr<Page::Impl> make_cairo_page(const PageSpec& spec) {
    return std::make_unique<CairoPage>(spec);
}

bool pages_available() {
    return true;
}

#else

std::unique_ptr<Page::Impl> make_cairo_page(const PageSpec&) {
    throw Error(ErrorKind::io, "", "",
                "this build writes no PDF and no PNG pages; build it where Cairo is installed (Debian: "
                "libcairo2-dev)");
}

bool pages_available() {
    return false;
}

#endif

}  // namespace pentamesh
