// A page keeps its drawing: SVG, PDF (one file of several pages) or PNG without a display, receiving the same
// primitives as the screen.
#pragma once

#include "render/canvas.h"
#include "render/surface.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class TypeFaces;

// In svg, text is <text>, in the font that the reader has, as wide as ours. In svg_outlines, text is shapes.
// With none, nothing is drawn and text is measured.
enum class PageFormat : std::uint8_t { svg, pdf, svg_outlines, png, none };

// Returns true if this build can write PDF, PNG and outlines (Cairo was there when it was configured). SVG is
// always possible.
[[nodiscard]] bool pages_available();
// Returns the text that was embedded in an SVG, HTML or PDF file that a Page wrote; nullopt for any other
// bytes.
[[nodiscard]] std::optional<std::string> read_embedded(std::string_view bytes);
// Returns every embedded text; nothing for any other bytes.
[[nodiscard]] std::vector<std::string> read_all_embedded(std::string_view bytes);
// Returns the same texts that read_all_embedded reads, for a place in an HTML page: an element that shows
// nothing.
[[nodiscard]] std::string html_embedded(const std::vector<std::string>& embedded);

struct PageSpec {
    PageFormat format = PageFormat::svg;
    Vec2 size{};  // logical pixels; 1 logical pixel = 0.75 pt
    std::shared_ptr<const TypeFaces> faces{};
    std::string title{};
    // These are put inside the file: SVG metadata, PDF attachments "plan.json", "plan-2.json", texts of a
    // PNG.
    std::vector<std::string> embedded{};
    float scale = 1;                            // pixels of a PNG per logical pixel
    std::vector<TextRun>* text_runs = nullptr;  // none: where its text goes, each page's behind the last's
    std::string language = "en";                // of its words, as is_language takes it; a PDF says it
};
[[nodiscard]] std::shared_ptr<const TypeFaces> load_faces(const FontFiles& fonts);

// Says where on which page something stands.
struct PagePlace {
    int page = 1;
    Vec2 at{};
};

class Page {
  public:
    explicit Page(const PageSpec& spec);
    Page(PageFormat format, Vec2 size, const FontFiles& fonts, std::string title, std::string embedded);
    struct Impl;
    explicit Page(std::unique_ptr<Impl> impl);  // of another kind than the formats (sink.h)
    ~Page();
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    // Ends a page and begins the next one of the same size; only a PDF can have one.
    void next();
    // A PDF keeps these, other files have no place for them. Pages count from 1.
    // outline adds a line to the table of contents, below the line `under` (0: below none); returns the
    // line's number.
    int outline(std::string_view title, const PagePlace& to, int under = 0);
    // link makes a part of this page lead to another place, or to an address.
    void link(Rect from, const PagePlace& to);
    void link(Rect from, std::string_view address);
    // All that is drawn between these is a piece of the document: "H1", "P", "Table", "TR", "TH", "TD",
    // "Figure". `instead` is read aloud in the place of a figure. Words in no piece are a paragraph each.
    void begin_piece(std::string_view name, std::string_view instead = {});
    void end_piece();
    // All that is drawn between these stands at the corner, by so much larger: a picture among words.
    void begin_inset(Vec2 corner, float scale);
    void end_inset();
    // Ends the page and returns the file's bytes; the same drawing gives the same bytes. Throws Error of kind
    // io.
    [[nodiscard]] std::string finish();
    [[nodiscard]] Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

// The plan is put inside an SVG or a PDF file, and found again.

// Returns the text with "&", "<" and ">" as XML says them, and without control characters.
[[nodiscard]] std::string xml_text(std::string_view text);
// Adds to an SVG a title, if it is not empty, and a metadata element for each text, base64 so that no
// character of the text can end it.
void embed_in_svg(std::string& svg, std::string_view title, const std::vector<std::string>& embedded);
// Adds to a PDF the attachments "plan.json", "plan-2.json" ..., appended as an incremental update (ISO
// 32000-1, 7.5.6 and 7.11.4). The file has a classic cross-reference table. Returns false where the file is
// not laid out so. The same update says what Cairo cannot: the language (14.9.2), and the words that stand
// for each figure (14.9.3), in the order in which the figures were drawn.
struct PdfSpeech {
    std::string language = "en";
    std::vector<std::string> figures{};
};
[[nodiscard]] bool attach_to_pdf(std::string& pdf, const std::vector<std::string>& embedded,
                                 const PdfSpeech& speech = {});

}  // namespace pentamesh
