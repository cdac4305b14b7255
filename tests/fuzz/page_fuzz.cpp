// Gives bytes to the reader of SVG and PDF pages with a plan inside; and text to put inside, which must come
// back.
#include "render/page.h"
#include "tests/fuzz/fuzz.h"

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

// This is the least that attach_to_pdf takes for a page.
constexpr std::string_view kPdf = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\nxref\n0 2\n"
                                  "0000000000 65535 f \n0000000009 00000 n \n"
                                  "trailer\n<< /Size 2 /Root 1 0 R >>\nstartxref\n45\n%%EOF\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    static_cast<void>(read_embedded(text));

    std::string svg = "<svg></svg>";
    embed_in_svg(svg, text.substr(0, 40), {std::string(text)});
    if (read_embedded(svg) != std::string(text)) complain("what is in an SVG page does not come back", text);
    std::string pdf(kPdf);
    if (!attach_to_pdf(pdf, {std::string(text)})) complain("nothing can be put into this PDF page", kPdf);
    if (read_embedded(pdf) != std::string(text)) complain("what is in a PDF page does not come back", text);
    return 0;
}
