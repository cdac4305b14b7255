// Makes the page with a course inside: one file that a teacher mails.
#include "app/cli/lesson_web.h"

#include "core/base/error.h"
#include "core/base/files.h"

#include <nlohmann/json.hpp>

namespace pentamesh::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = R"(<script type="application/json" id="start">{}</script>)";

// Returns the page as scripts/web builds it, or as an installed tree has it.
fs::path page_file(const fs::path& data_folder) {
    std::error_code ignored;
    for (const fs::path& file :
         {data_folder / "web" / "pentamesh.html", data_folder / "build" / "web" / "pentamesh.html"})
        if (fs::is_regular_file(file, ignored)) return file;
    throw Error(ErrorKind::io, (data_folder / "build" / "web" / "pentamesh.html").string(), "",
                "is not there; scripts/web builds the page");
}

// In a page "<" could end the element that the text stands in.
std::string in_page(const nlohmann::json& value) {
    std::string out;
    for (const char c : value.dump()) c == '<' ? out += "\\u003c" : out += c;
    return out;
}

}  // namespace

fs::path write_course_page(const fs::path& data_folder, const fs::path& course, const fs::path& folder) {
    std::string page = read_file(page_file(data_folder));
    const std::size_t at = page.find(kStart);
    if (at == std::string::npos)
        throw Error(ErrorKind::invalid, page_file(data_folder).string(), "", "is no page of this version");
    const nlohmann::json start{
        {"course", {{"name", course.filename().string()}, {"text", read_file(course)}}}};
    const std::size_t hole = at + kStart.find("{}");
    page.replace(hole, 2, in_page(start));
    std::error_code error;
    fs::create_directories(folder, error);
    fs::path file = folder / (course.stem().string() + ".html");
    write_file(file, page);
    return file;
}

}  // namespace pentamesh::cli
