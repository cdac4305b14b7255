#include "app/cli/document.h"

#include "app/tables/markdown.h"
#include "app/tables/table.h"
#include "core/base/text.h"

namespace pentamesh::cli {
namespace {

constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 Inter, system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; border-radius: 6px; }
@media print { body { max-width: none; margin: 0; } figure, tr { break-inside: avoid; } }
</style>)";

}  // namespace

std::string to_text(const Document& document, std::size_t width) {
    std::string out = document.title.empty() ? "" : document.title + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "" : "\n") + s.title + "\n";
        for (const std::string& line : s.lines) out += "  " + line + "\n";
        if (s.table.rows.empty()) continue;
        constexpr std::size_t kIndent = 2;
        const std::string table = write_text(worded(s.table), width > kIndent ? width - kIndent : 0);
        for (const std::string_view line : split_lines(table)) out += "  " + std::string(line) + "\n";
    }
    return out;
}

std::string to_markdown(const Document& document) {
    std::string out = document.title.empty() ? "" : "# " + markdown_text(document.title) + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "## " : "\n## ") + markdown_text(s.title) + "\n";
        for (const std::string& line : s.lines) out += "\n" + markdown_text(line) + "\n";
        if (s.table.rows.empty()) continue;
        out += "\n" + write_table(worded(s.table), TableFormat::markdown);
    }
    return out;
}

std::string to_html(const Document& document) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>"
                      + html_text(document.title) + "</title>\n" + kStyle + "\n<h1>"
                      + html_text(document.title) + "</h1>\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += "<h2>" + html_text(s.title) + "</h2>\n";
        for (const std::string& line : s.lines) out += "<p>" + html_text(line) + "</p>\n";
        if (!s.svg.empty()) out += "<figure>\n" + s.svg + "</figure>\n";
        if (s.table.rows.empty()) continue;
        out += write_table(worded(s.table), TableFormat::html);
    }
    return out + "</html>\n";
}

}  // namespace pentamesh::cli
