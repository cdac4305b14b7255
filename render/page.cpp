#include "render/page_impl.h"

namespace pentamesh {

namespace {

// Measures text, draws nothing.
struct BlankPage final : Page::Impl {
    std::shared_ptr<const TypeFaces> type;
    std::vector<TextRun>* runs;
    explicit BlankPage(const PageSpec& spec) : type(spec.faces), runs(spec.text_runs) {}
    void polygon(std::span<const Vec2>, Color) override {}
    void rect(Rect, Color, float) override {}
    void fill_rects(std::span<const Rect>, Color) override {}
    void stroke(std::span<const Vec2>, Color, float, bool, Dash) override {}
    void stroke_pairs(std::span<const Vec2>, Color, float) override {}
    void glyphs(std::span<const PlacedGlyph>, float, Color) override {}
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override {
        if (runs != nullptr) runs->push_back({{pen.x, pen.y - style.size}, std::string(utf8)});
    }
    void pattern(Rect, Pattern, Color) override {}
    void cells(const CellGrid&) override {}
    [[nodiscard]] const TypeFaces& faces() const override { return *type; }
    void push_clip(Rect) override {}
    void pop_clip() override {}
    std::string finish() override { return {}; }
};

std::unique_ptr<Page::Impl> make_impl(const PageSpec& spec) {
    switch (spec.format) {
    case PageFormat::svg: return make_svg_page(spec);
    case PageFormat::none: return std::make_unique<BlankPage>(spec);
    case PageFormat::pdf:
    case PageFormat::svg_outlines:
    case PageFormat::png: break;
    }
    return make_cairo_page(spec);
}

}  // namespace

std::shared_ptr<const TypeFaces> load_faces(const FontFiles& fonts) {
    return std::make_shared<const TypeFaces>(fonts);
}

Page::Page(const PageSpec& spec) : impl_(make_impl(spec)) {}
Page::Page(PageFormat format, Vec2 size, const FontFiles& fonts, std::string title, std::string embedded)
    : Page(PageSpec{format, size, load_faces(fonts), std::move(title), {std::move(embedded)}, 1, nullptr}) {}
Page::Page(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Page::~Page() = default;

void Page::next() {
    impl_->next();
}
int Page::outline(std::string_view title, const PagePlace& to, int under) {
    return impl_->outline(title, to, under);
}
void Page::link(Rect from, const PagePlace& to) {
    impl_->link(from, to);
}
void Page::link(Rect from, std::string_view address) {
    impl_->link(from, address);
}
void Page::begin_piece(std::string_view name) {
    impl_->begin_piece(name);
}
void Page::end_piece() {
    impl_->end_piece();
}
void Page::begin_inset(Vec2 corner, float scale) {
    impl_->begin_inset(corner, scale);
}
void Page::end_inset() {
    impl_->end_inset();
}
std::string Page::finish() {
    return impl_->finish();
}
PageSink& sink_of(Page& page) {
    return page.impl();
}

}  // namespace pentamesh
