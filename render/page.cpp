#include "render/page.h"

#include "render/sink.h"
#include "render/type_faces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace pentamesh {

namespace {

// Measures text, draws nothing.
struct BlankPage final : Page::Impl {
    std::shared_ptr<const TypeFaces> type;
    std::vector<TextRun>* runs;
    Vec2 corner{};  // of an inset
    float scale = 1;
    explicit BlankPage(const PageSpec& spec) : type(spec.faces), runs(spec.text_runs) {}
    void polygon(std::span<const Vec2>, Color) override {}
    void rect(Rect, Color, float) override {}
    void fill_rects(std::span<const Rect>, Color) override {}
    void stroke(std::span<const Vec2>, Color, float, bool, Dash) override {}
    void stroke_pairs(std::span<const Vec2>, Color, float) override {}
    void glyphs(std::span<const PlacedGlyph>, float, Color) override {}
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override {
        if (runs == nullptr) return;
        const Vec2 at = corner + Vec2{pen.x, pen.y - style.size} * scale;
        runs->push_back({at, std::string(utf8)});
    }
    void begin_inset(Vec2 at, float by) override { corner = at, scale = by; }
    void end_inset() override { corner = {}, scale = 1; }
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
    : Page(PageSpec{format, size, load_faces(fonts), std::move(title),
                    embedded.empty() ? std::vector<std::string>{}
                                     : std::vector<std::string>{std::move(embedded)},
                    1, nullptr, "en"}) {}
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
void Page::begin_piece(std::string_view name, std::string_view instead) {
    impl_->begin_piece(name, instead);
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

namespace {

// The first is "pentamesh.plan", the second "pentamesh.plan.2".
constexpr std::string_view kSvgElement = "metadata id=\"pentamesh.plan", kSvgEnd = "</metadata>";
constexpr std::string_view kHtmlElement = "script type=\"application/octet-stream\" id=\"pentamesh.plan",
                           kHtmlEnd = "</script>";
// attach_to_pdf writes this and read_embedded looks for it; it is a comment, so any reader skips it.
constexpr std::string_view kPdfMark = "% pentamesh.plan";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::string_view in) {
    std::string out;
    for (std::size_t i = 0; i < in.size(); i += 3) {
        std::uint32_t v = 0;
        for (std::size_t k = 0; k < 3; ++k)
            v = v << 8U | (i + k < in.size() ? static_cast<unsigned char>(in[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k <= in.size() ? kLetters[v >> (18U - 6U * k) & 63U] : '=';
    }
    return out;
}

std::optional<std::string> from_base64(std::string_view in) {
    std::string out;
    std::uint32_t v = 0;
    unsigned bits = 0;
    for (const char c : in) {
        if (c == '=' || c == '\n' || c == '\r' || c == ' ') continue;
        const std::size_t digit = kLetters.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        v = v << 6U | static_cast<std::uint32_t>(digit);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out += static_cast<char>(v >> bits & 255U);
    }
    return out;
}

std::string behind_first(std::size_t index, std::string_view between) {
    return index == 0 ? "" : std::string(between) + std::to_string(index + 1);
}

// Returns where the next tag of that element is, from `from` on, or npos. A title may say the same words, but
// no "<" stands before them there. An XML writer may put the name of a namespace between: "<svg:metadata".
std::size_t find_element(std::string_view bytes, std::string_view element, std::size_t from) {
    for (std::size_t at = bytes.find(element, from); at != std::string_view::npos;
         at = bytes.find(element, at + 1)) {
        std::size_t before = at;
        if (before > from + 1 && bytes[before - 1] == ':')
            before = bytes.find_last_of("<>: \t\n", before - 2) + 1;
        if (before > from && bytes[before - 1] == '<') return at;
    }
    return std::string_view::npos;
}

// Appends the text of every such element, in their order in the file.
void read_elements(std::string_view bytes, std::string_view element, std::vector<std::string>& out) {
    std::size_t at = find_element(bytes, element, 0);
    while (at != std::string_view::npos) {
        const std::size_t from = bytes.find('>', at), end = bytes.find('<', from);
        if (from == std::string_view::npos || end == std::string_view::npos) return;
        const auto text = from_base64(bytes.substr(from + 1, end - from - 1));
        if (!text) return;
        out.push_back(*text);
        at = find_element(bytes, element, end);  // no part of the file is read twice
    }
}

std::optional<std::size_t> number_at(std::string_view s, std::size_t at) {
    while (at < s.size() && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r')) ++at;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(s.data() + at, s.data() + s.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

// Returns the number that follows the last `word`.
std::optional<std::size_t> last_number(std::string_view pdf, std::string_view word) {
    const std::size_t at = pdf.rfind(word);
    if (at == std::string_view::npos) return std::nullopt;
    return number_at(pdf, at + word.size());
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::string_view before = text;
        const bool known = take_character(text) != U'\xfffd';
        const std::string_view letter = before.substr(0, before.size() - text.size());
        const char c = letter[0];
        if (!known)
            out += "\xef\xbf\xbd";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += letter;
    }
    return out;
}

void embed_in_svg(std::string& svg, std::string_view title, const std::vector<std::string>& embedded) {
    const std::size_t tag = svg.find("<svg");
    if (tag == std::string::npos) return;
    std::string inside = title.empty() ? "" : "\n<title>" + xml_text(title) + "</title>";
    for (std::size_t i = 0; i < embedded.size(); ++i)
        inside += "\n<" + std::string(kSvgElement) + behind_first(i, ".") + "\">" + base64(embedded[i])
                  + std::string(kSvgEnd);
    svg.insert(svg.find('>', tag) + 1, inside);
}

std::string html_embedded(const std::vector<std::string>& embedded) {
    std::string out;
    for (std::size_t i = 0; i < embedded.size(); ++i)
        out += "<" + std::string(kHtmlElement) + behind_first(i, ".") + "\">" + base64(embedded[i])
               + std::string(kHtmlEnd) + "\n";
    return out;
}

namespace {

// Returns it as a text of PDF: UTF-16 in hexadecimal digits (ISO 32000-1, 7.9.2.2).
std::string pdf_text(std::string_view utf8) {
    std::string out = "<FEFF";
    const auto unit = [&](std::uint32_t v) {
        for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789ABCDEF"[v >> shift & 15U];
    };
    while (!utf8.empty()) {
        const auto c = static_cast<std::uint32_t>(take_character(utf8));
        if (c < 0x10000) {
            unit(c);
        } else {
            unit(0xd800U + ((c - 0x10000U) >> 10U));
            unit(0xdc00U + ((c - 0x10000U) & 0x3ffU));
        }
    }
    return out + '>';
}

struct PdfObject {
    std::size_t number = 0;
    std::string text{};  // between "obj" and "endobj"
};

// Returns the structure's figures by their numbers, which is the order in which they were drawn. `table` is
// where the cross-reference table stands: one section, an entry of 20 bytes an object.
std::vector<PdfObject> figures_of_pdf(std::string_view pdf, std::size_t table, std::size_t size) {
    constexpr std::size_t kEntry = 20;
    constexpr std::string_view kElement = "/Type /StructElem", kFigure = "/S /Figure";
    std::vector<PdfObject> out;
    const std::string section = "xref\n0 " + std::to_string(size) + "\n";
    if (pdf.compare(table, section.size(), section) != 0) return out;
    for (std::size_t n = 1; n < size; ++n) {
        const std::size_t entry = table + section.size() + n * kEntry;
        if (entry + kEntry > pdf.size() || pdf[entry + kEntry - 3] != 'n') continue;
        const auto at = number_at(pdf.substr(entry, 10), 0);
        const std::string head = std::to_string(n) + " 0 obj\n";
        if (!at || *at > pdf.size() || pdf.compare(*at, head.size(), head) != 0) continue;
        const std::size_t from = *at + head.size(), end = pdf.find("endobj", from);
        if (end == std::string_view::npos) continue;
        const std::string_view text = pdf.substr(from, end - from);
        // Its first lines say what it is; a stream's do not.
        if (text.substr(0, 24).find(kElement) == std::string_view::npos
            || text.substr(0, 60).find(kFigure) == std::string_view::npos)
            continue;
        out.push_back({n, std::string(text)});
    }
    return out;
}

}  // namespace

bool attach_to_pdf(std::string& pdf, const std::vector<std::string>& embedded, const PdfSpeech& speech) {
    const auto size = last_number(pdf, "/Size "), root = last_number(pdf, "/Root "),
               table = last_number(pdf, "startxref");
    if (!size || !root || !table || *table + 4 > pdf.size() || pdf.compare(*table, 4, "xref") != 0)
        return false;
    const std::string catalog_start = "\n" + std::to_string(*root) + " 0 obj";
    const std::size_t catalog = pdf.find(catalog_start);
    const std::size_t open = pdf.find("<<", catalog), close = pdf.find("endobj", catalog);
    if (catalog == std::string::npos || open > close || close == std::string::npos) return false;
    const std::string entries = pdf.substr(open + 2, pdf.rfind(">>", close) - open - 2);
    std::vector<PdfObject> figures = figures_of_pdf(pdf, *table, *size);
    if (figures.size() != speech.figures.size()) figures.clear();  // nobody knows which words are whose
    if (pdf.back() != '\n') pdf += '\n';
    std::vector<std::size_t> at;  // where each new object begins: a file and what describes it, by turns
    std::string names, marks;
    for (std::size_t i = 0; i < embedded.size(); ++i) {
        const std::size_t file = *size + 2 * i, spec = file + 1;
        const std::string length = std::to_string(embedded[i].size());
        const std::string name = "plan" + behind_first(i, "-") + ".json";
        at.push_back(pdf.size());
        pdf += std::to_string(file) + " 0 obj\n<< /Type /EmbeddedFile /Subtype /application#2Fjson /Length "
               + length + " /Params << /Size " + length + " >> >>\nstream\n";
        pdf.append(embedded[i]);
        pdf += "\nendstream\nendobj\n";
        marks += " " + std::to_string(at.back()) + " " + length;
        at.push_back(pdf.size());
        pdf += std::to_string(spec) + " 0 obj\n<< /Type /Filespec /F (" + name + ") /UF (" + name
               + ") /AFRelationship /Source /EF << /F " + std::to_string(file) + " 0 R >> >>\nendobj\n";
        names += (i == 0 ? "" : " ") + ("(" + name + ") ") + std::to_string(spec) + " 0 R";
    }
    std::vector<std::size_t> figure_at;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        std::string& text = figures[i].text;
        text.insert(text.rfind(">>"), "   /Alt " + pdf_text(speech.figures[i]) + "\n");
        figure_at.push_back(pdf.size());
        pdf += std::to_string(figures[i].number) + " 0 obj\n" + text + "endobj\n";
    }
    const std::size_t root_at = pdf.size();
    pdf += std::to_string(*root) + " 0 obj\n<<" + entries + " /Lang (" + speech.language
           + ") /ViewerPreferences << /DisplayDocTitle true >> /Names << /EmbeddedFiles << /Names [ " + names
           + " ] >> >> >>\nendobj\n";
    const std::size_t xref_at = pdf.size();
    std::array<char, 64> line{};
    const auto entry = [&](std::size_t offset) {
        std::snprintf(line.data(), line.size(), "%010zu 00000 n \n", offset);
        pdf += line.data();
    };
    pdf += "xref\n";
    for (std::size_t i = 0; i < figures.size(); ++i) {
        pdf += std::to_string(figures[i].number) + " 1\n";
        entry(figure_at[i]);
    }
    pdf += std::to_string(*root) + " 1\n";
    entry(root_at);
    if (!at.empty()) pdf += std::to_string(*size) + " " + std::to_string(at.size()) + "\n";
    for (const std::size_t offset : at) entry(offset);
    pdf +=
        "trailer\n<< /Size " + std::to_string(*size + at.size()) + " /Root " + std::to_string(*root) + " 0 R";
    if (const auto info = last_number(pdf, "/Info ")) pdf += " /Info " + std::to_string(*info) + " 0 R";
    pdf += " /Prev " + std::to_string(*table) + " >>\n" + std::string(kPdfMark) + marks + "\nstartxref\n"
           + std::to_string(xref_at) + "\n%%EOF\n";
    return true;
}

namespace {

void read_attached(std::string_view bytes, std::vector<std::string>& out) {
    std::size_t mark = bytes.rfind(kPdfMark);
    if (mark == std::string_view::npos) return;
    const std::string_view line =
        bytes.substr(0, std::min(bytes.find('\n', mark), bytes.size()));  // of pairs: offset, length
    std::size_t behind = 0;
    for (mark += kPdfMark.size(); mark < line.size() && line[mark] == ' ';) {
        const auto at = number_at(line, mark);
        const std::size_t space = line.find(' ', mark + 1);
        if (!at || space == std::string_view::npos || *at > bytes.size()) return;
        const auto length = number_at(line, space);
        constexpr std::string_view kStream = "stream\n";
        const std::size_t stream = bytes.find(kStream, *at);
        if (!length || stream == std::string_view::npos || *length > bytes.size() - stream - kStream.size())
            return;
        if (stream < behind) return;  // files lie one behind the other: no part of them is read twice
        behind = stream + kStream.size() + *length;
        out.emplace_back(bytes.substr(stream + kStream.size(), *length));
        mark = std::min(line.find(' ', space + 1), line.size());
    }
}

}  // namespace

std::vector<std::string> read_all_embedded(std::string_view bytes) {
    std::vector<std::string> out;
    if (bytes.starts_with("%PDF")) {
        read_attached(bytes, out);
        return out;
    }
    read_elements(bytes, kSvgElement, out);
    if (out.empty()) read_elements(bytes, kHtmlElement, out);
    return out;
}

std::optional<std::string> read_embedded(std::string_view bytes) {
    std::vector<std::string> all = read_all_embedded(bytes);
    if (all.empty()) return std::nullopt;
    return std::move(all.front());
}

}  // namespace pentamesh
