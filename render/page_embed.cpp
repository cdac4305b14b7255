#include "render/page_embed.h"

#include "render/page.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace pentamesh {

namespace {

constexpr std::string_view kSvgStart = "<metadata id=\"pentamesh.plan\">", kSvgEnd = "</metadata>";
// Written by attach_to_pdf and looked for by read_embedded; comments, so any reader skips it.
constexpr std::string_view kPdfMark = "% pentamesh.plan ";
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

std::string escaped(std::string_view s) {
    std::string out;
    for (const char c : s) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
    }
    return out;
}

std::optional<std::size_t> number_at(std::string_view s, std::size_t at) {
    while (at < s.size() && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r')) ++at;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(s.data() + at, s.data() + s.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

// The number that follows the last `word`.
std::optional<std::size_t> last_number(std::string_view pdf, std::string_view word) {
    const std::size_t at = pdf.rfind(word);
    if (at == std::string_view::npos) return std::nullopt;
    return number_at(pdf, at + word.size());
}

}  // namespace

void embed_in_svg(std::string& svg, std::string_view title, std::string_view embedded) {
    const std::size_t tag = svg.find("<svg");
    if (tag == std::string::npos) return;
    const std::string inside = "\n<title>" + escaped(title) + "</title>\n" + std::string(kSvgStart)
                               + base64(embedded) + std::string(kSvgEnd);
    svg.insert(svg.find('>', tag) + 1, inside);
}

bool attach_to_pdf(std::string& pdf, std::string_view embedded) {
    const auto size = last_number(pdf, "/Size "), root = last_number(pdf, "/Root "),
               table = last_number(pdf, "startxref");
    if (!size || !root || !table || pdf.compare(*table, 4, "xref") != 0) return false;
    const std::string catalog_start = "\n" + std::to_string(*root) + " 0 obj";
    const std::size_t catalog = pdf.find(catalog_start);
    const std::size_t open = pdf.find("<<", catalog), close = pdf.find("endobj", catalog);
    if (catalog == std::string::npos || open > close || close == std::string::npos) return false;
    const std::string entries = pdf.substr(open + 2, pdf.rfind(">>", close) - open - 2);
    const std::size_t file = *size, spec = *size + 1;
    if (pdf.back() != '\n') pdf += '\n';
    const std::size_t file_at = pdf.size();
    pdf += std::to_string(file) + " 0 obj\n<< /Type /EmbeddedFile /Subtype /application#2Fjson /Length "
           + std::to_string(embedded.size()) + " /Params << /Size " + std::to_string(embedded.size())
           + " >> >>\nstream\n";
    pdf.append(embedded);
    pdf += "\nendstream\nendobj\n";
    const std::size_t spec_at = pdf.size();
    pdf += std::to_string(spec)
           + " 0 obj\n<< /Type /Filespec /F (plan.json) /UF (plan.json) /AFRelationship /Source"
           + " /EF << /F " + std::to_string(file) + " 0 R >> >>\nendobj\n";
    const std::size_t root_at = pdf.size();
    pdf += std::to_string(*root) + " 0 obj\n<<" + entries
           + " /Names << /EmbeddedFiles << /Names [ (plan.json) " + std::to_string(spec)
           + " 0 R ] >> >> >>\nendobj\n";
    const std::size_t xref_at = pdf.size();
    std::array<char, 64> line{};
    const auto entry = [&](std::size_t offset) {
        std::snprintf(line.data(), line.size(), "%010zu 00000 n \n", offset);
        pdf += line.data();
    };
    pdf += "xref\n" + std::to_string(*root) + " 1\n";
    entry(root_at);
    pdf += std::to_string(file) + " 2\n";
    entry(file_at);
    entry(spec_at);
    pdf += "trailer\n<< /Size " + std::to_string(*size + 2) + " /Root " + std::to_string(*root) + " 0 R";
    if (const auto info = last_number(pdf, "/Info ")) pdf += " /Info " + std::to_string(*info) + " 0 R";
    pdf += " /Prev " + std::to_string(*table) + " >>\n" + std::string(kPdfMark) + std::to_string(file_at)
           + " " + std::to_string(embedded.size()) + "\nstartxref\n" + std::to_string(xref_at) + "\n%%EOF\n";
    return true;
}

std::optional<std::string> read_embedded(std::string_view bytes) {
    if (bytes.starts_with("%PDF")) {
        const std::size_t mark = bytes.rfind(kPdfMark);
        if (mark == std::string_view::npos) return std::nullopt;
        const auto at = number_at(bytes, mark + kPdfMark.size());
        const std::size_t space = bytes.find(' ', mark + kPdfMark.size());
        if (!at || space == std::string_view::npos || *at > bytes.size()) return std::nullopt;
        const auto length = number_at(bytes, space);
        constexpr std::string_view kStream = "stream\n";
        const std::size_t stream = bytes.find(kStream, *at);
        if (!length || stream == std::string_view::npos || *length > bytes.size() - stream - kStream.size())
            return std::nullopt;
        return std::string(bytes.substr(stream + kStream.size(), *length));
    }
    const std::size_t start = bytes.find(kSvgStart);
    if (start == std::string_view::npos) return std::nullopt;
    const std::size_t from = start + kSvgStart.size(), end = bytes.find(kSvgEnd, from);
    if (end == std::string_view::npos) return std::nullopt;
    return from_base64(bytes.substr(from, end - from));
}

}  // namespace pentamesh
