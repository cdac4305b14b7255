// Writes a lesson as text, or as a self-contained page with pictures of its scenes, or says what is wrong
// with it.
#include "app/cli/plan_argument.h"
#include "app/cli/streams.h"
#include "app/ui/lesson/lesson_session.h"
#include "app/ui/shell/lesson_sheet.h"
#include "app/ui/views/table.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <filesystem>
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

// Makes the page with a course inside: one file that a teacher mails.
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

struct LessonOptions {
    std::string file, course, output, web, plan = "llama-3.1-405b-16k";
    bool html = false, pdf = false, queries = false;
};

// Says which steps have more words than a room reads, for a lesson that its author can still change.
void warn_of_words(const std::filesystem::path& file, const Lesson& lesson) {
    for (const LessonStep& step : lesson.steps)
        if (const int words = words_before(step); words > kMostWords)
            say_error(file.string() + ":" + std::to_string(step.line) + ": " + std::to_string(words)
                      + " words before the answer of \"" + step.title + "\"; a room reads "
                      + std::to_string(kMostWords) + ". What stands below a line \"more:\" is folded");
}

std::string list_of(const std::vector<ui::LessonEntry>& lessons) {
    std::string text;
    for (const auto& l : lessons)
        text += l.id + std::string(l.id.size() < 26 ? 26 - l.id.size() : 1, ' ') + l.title
                + (l.minutes > 0 ? ", " + std::to_string(l.minutes) + " min" : "") + "\n";
    return text;
}

// Returns a file, or the lesson or course with that id that ships in `folder`.
std::filesystem::path find_lesson(const std::filesystem::path& folder, const std::string& name,
                                  std::string_view what) {
    std::error_code ignored;
    if (std::filesystem::exists(name, ignored)) return name;
    const auto lessons = ui::list_lessons(folder);
    std::vector<std::string_view> ids;
    for (const auto& l : lessons) {
        if (l.id == name) return l.file;
        ids.push_back(l.id);
    }
    throw Error(ErrorKind::io, name, "",
                "is no file and no " + std::string(what) + " that ships; the closest is \""
                    + std::string(nearest(name, ids)) + "\" (pentamesh lesson lists them)");
}

int lesson(const Context& context, const LessonOptions& options) {
    if (options.queries) {
        std::string text;
        for (const QueryHelp& q : lesson_queries())
            text += std::string(q.pattern)
                    + std::string(q.pattern.size() < 28 ? 28 - q.pattern.size() : 1, ' ')
                    + std::string(q.what) + "\n";
        print_to(options.output, text);
        return 0;
    }
    const std::filesystem::path lessons = context.data_folder / "assets" / "lessons";
    if (options.file.empty() && options.course.empty()) {
        print_to(options.output, list_of(ui::list_lessons(lessons)) + "\ncourses (--course)\n"
                                     + list_of(ui::list_lessons(lessons / "courses")));
        return 0;
    }
    if (options.pdf && options.output.empty())
        throw Error(ErrorKind::usage, "--pdf", "", "is written to a file: -o booklet.pdf");
    const std::filesystem::path file = options.course.empty()
                                           ? find_lesson(lessons, options.file, "lesson")
                                           : find_lesson(lessons / "courses", options.course, "course");
    note_input(file.string());
    static_cast<void>(read_file(file));  // one that cannot be read is no lesson with mistakes
    const ParsedLesson read = ui::read_lesson(file, &context.presets);
    for (const LessonError& e : read.errors)
        say_error(file.string() + ":" + std::to_string(e.line) + ": " + e.message);
    if (!read.errors.empty()) return 1;
    if (file.parent_path() != lessons && file.parent_path() != lessons / "courses")
        warn_of_words(file, read.lesson);
    if (!options.web.empty()) {
        print(write_course_page(context.data_folder, file, options.web).string() + "\n");
        return 0;
    }
    const Plan base = context.presets.plan(options.plan);
    if (options.pdf) {
        write_output(options.output,
                     ui::lesson_pdf(read.lesson, base, context.presets, find_fonts(context.data_folder)));
        return 0;
    }
    print_to(options.output, options.html ? ui::lesson_page(read.lesson, base, context.presets,
                                                            find_fonts(context.data_folder))
                                          : ui::lesson_text(read.lesson, base, context.presets));
    return 0;
}

}  // namespace

void add_lesson(Options& app, Context& context) {
    auto& options = run_with(app, context, lesson);
    app.add_option("FILE", options.file, "a lesson's file, or the id of one that ships; none: lists them");
    app.add_option("--course", options.course,
                   "a course's file, or the id of one that ships, instead of FILE")
        .excludes("FILE");
    app.add_flag("--html", options.html, "one page with pictures of the scenes, the answers at its end");
    app.add_flag("--pdf", options.pdf, "the same as slides in a PDF, with -o").excludes("--html");
    app.add_option("--web", options.web,
                   "a folder for the page (pentamesh.html) with the lesson or course opened in it")
        .type_name("FOLDER");
    app.add_flag("--queries", options.queries, "what a lesson may ask of a plan");
    app.add_option("-o,--output", options.output, "where to write; standard output by default")
        .type_name("FILE");
    app.add_option("--plan", options.plan, "the plan of steps that open none")
        .type_name("PLAN")
        .show_default();
}

}  // namespace pentamesh::cli
