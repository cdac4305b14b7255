// A report is data: sections of sentences and a table, written as text, Markdown or HTML.
#pragma once

#include "app/tables/table.h"
#include "app/ui/review/report_pictures.h"

#include <optional>
#include <string>
#include <vector>

namespace pentamesh::cli {

struct Section {
    std::string title;
    std::vector<std::string> lines;  // a paragraph each
    Table table;
    std::string svg{};                         // a picture above the table, only in HTML
    std::optional<ui::ReportFigure> figure{};  // the figure that the picture shows; empty: no picture
};

struct Document {
    std::string title;
    std::vector<Section> sections;
};

// Figures of the tables are written as people read them. Tables wider than `width` letters wrap their words;
// 0: no limit.
[[nodiscard]] std::string to_text(const Document& document, std::size_t width = 0);
[[nodiscard]] std::string to_markdown(const Document& document);
// Returns one file that needs no other, light or dark as the reader's system is.
[[nodiscard]] std::string to_html(const Document& document);

}  // namespace pentamesh::cli
