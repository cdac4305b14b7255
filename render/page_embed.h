// The plan inside an SVG or a PDF file: put in, and found again.
#pragma once

#include <string>
#include <string_view>

namespace pentamesh {

// SVG: a title and a metadata element, base64 so that no character of the text can end it.
void embed_in_svg(std::string& svg, std::string_view title, std::string_view embedded);
// PDF: an attachment "plan.json", appended as an incremental update (ISO 32000-1, 7.5.6 and 7.11.4). The file
// has a classic cross-reference table. False where the file is not laid out so.
[[nodiscard]] bool attach_to_pdf(std::string& pdf, std::string_view embedded);

}  // namespace pentamesh
