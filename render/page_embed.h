// The plan is put inside an SVG or a PDF file, and found again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns the text with "&", "<" and ">" as XML says them, and without control characters.
[[nodiscard]] std::string xml_text(std::string_view text);
// Adds to an SVG a title, if it is not empty, and a metadata element for each text, base64 so that no
// character of the text can end it.
void embed_in_svg(std::string& svg, std::string_view title, const std::vector<std::string>& embedded);
// Adds to a PDF the attachments "plan.json", "plan-2.json" ..., appended as an incremental update (ISO
// 32000-1, 7.5.6 and 7.11.4). The file has a classic cross-reference table. Returns false where the file is
// not laid out so.
[[nodiscard]] bool attach_to_pdf(std::string& pdf, const std::vector<std::string>& embedded);

}  // namespace pentamesh
