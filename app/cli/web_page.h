// The page of scripts/web as commands write it: with a course or a bare view that it begins with.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace pentamesh::cli {

// Returns bytes as text (RFC 4648, section 4), as pages and messages carry a picture.
[[nodiscard]] std::string base64(std::string_view bytes);

// Returns the text of the page, out of an installed tree or of build/web/. Throws Error (io) where it is not
// there; `else_words` says what else can be done ("" or "; ...").
[[nodiscard]] std::string read_page(const std::filesystem::path& data_folder,
                                    std::string_view else_words = "");
// Returns the page that begins with this (app/web/page.js and page.cpp read it). Throws Error (invalid) where
// the text is no page of this version.
[[nodiscard]] std::string page_beginning_with(std::string page, const nlohmann::json& start);

// A view for the page of somebody else (docs/web.md).
struct FigureFile {
    std::string title;  // what a reader hears who sees no picture
    std::string svg;    // the view as a picture
    std::string link;   // "#plan=...&view=mesh&bare"
    bool light = false;
};
// Returns one file of the page and the picture, which is shown until the program runs and where it cannot.
[[nodiscard]] std::string live_figure(std::string page, const FigureFile& figure);
// Returns the picture in a page that needs no script.
[[nodiscard]] std::string still_figure(const FigureFile& figure);

}  // namespace pentamesh::cli
