#include "app/cli/web_page.h"

#include "app/tables/table.h"
#include "core/base/files.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

namespace pentamesh::cli {

std::string base64(std::string_view bytes) {
    constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c), held += 8;
        for (; held >= 6; held -= 6) out += kSigns[bits >> static_cast<unsigned>(held - 6) & 63U];
    }
    if (held > 0) out += kSigns[bits << static_cast<unsigned>(6 - held) & 63U];
    while (out.size() % 4 != 0) out += '=';
    return out;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = R"(<script type="application/json" id="start">{}</script>)";
constexpr std::string_view kNotice = R"(<p id="notice")", kTitle = "<title>Pentamesh</title>";

// In a page "<" could end the element that the text stands in.
std::string in_page(const nlohmann::json& value) {
    std::string out;
    for (const char c : value.dump()) c == '<' ? out += "\\u003c" : out += c;
    return out;
}

[[noreturn]] void refuse_page() {
    throw Error(ErrorKind::invalid, "pentamesh.html", "",
                "is no page of this version; scripts/web builds it anew");
}

// Returns a text as a value between quotes of an element.
std::string attribute_text(const std::string& text) {
    std::string out;
    for (const char c : html_text(text)) c == '"' ? out += "&quot;" : out += c;
    return out;
}

// Puts `text` in front of a mark of the page, or in its place.
void put(std::string& page, std::string_view mark, const std::string& text, bool in_place) {
    const std::size_t at = page.find(mark);
    if (at == std::string::npos) refuse_page();
    page.replace(at, in_place ? mark.size() : 0, text);
}

}  // namespace

std::string read_page(const fs::path& data_folder, std::string_view else_words) {
    std::error_code ignored;
    for (const fs::path& file :
         {data_folder / "web" / "pentamesh.html", data_folder / "build" / "web" / "pentamesh.html"})
        if (fs::is_regular_file(file, ignored)) return read_file(file);
    throw Error(ErrorKind::io, (data_folder / "build" / "web" / "pentamesh.html").string(), "",
                "is not there; scripts/web builds the page" + std::string(else_words));
}

std::string page_beginning_with(std::string page, const nlohmann::json& start) {
    const std::size_t at = page.find(kStart);
    if (at == std::string::npos) refuse_page();
    page.replace(at + kStart.find("{}"), 2, in_page(start));
    return page;
}

// The rules of the page let it show pictures that it holds, and run no style of a picture's: so the picture
// is an image by itself.
std::string live_figure(std::string page, const FigureFile& figure) {
    page = page_beginning_with(std::move(page), {{"link", figure.link}});
    put(page, kTitle, "<title>" + html_text(figure.title) + "</title>", true);
    put(page, kNotice,
        "<img id=\"still\"" + std::string(figure.light ? " class=\"light\"" : "") + " alt=\""
            + attribute_text(figure.title) + "\" src=\"data:image/svg+xml;base64," + base64(figure.svg)
            + "\">\n",
        false);
    return page;
}

std::string still_figure(const FigureFile& figure) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
           + html_text(figure.title)
           + "</title>\n<style>body, figure { margin: 0 } figure > svg { display: block; width: 100%; "
             "height: "
             "auto }</style>\n</head>\n<body>\n<figure>\n"
           + figure.svg.substr(figure.svg.find("<svg")) + "</figure>\n</body>\n</html>\n";
}

}  // namespace pentamesh::cli
