// Writes a lesson as text, or as a self-contained page with pictures of its scenes, or says what is wrong
// with it.
#include "app/cli/output.h"
#include "app/cli/web_page.h"
#include "app/platform/platform.h"
#include "app/ui/lesson/lesson_session.h"
#include "app/ui/shell/lesson_sheet.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/teach/translation.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::cli {
namespace {

namespace fs = std::filesystem;

// Makes the page with a course inside: one file that a teacher mails.
fs::path write_course_page(const fs::path& data_folder, const fs::path& course, const fs::path& folder) {
    const nlohmann::json start{
        {"course", {{"name", course.filename().string()}, {"text", read_file(course)}}}};
    const std::string page = page_beginning_with(read_page(data_folder), start);
    std::error_code error;
    fs::create_directories(folder, error);
    fs::path file = folder / (course.stem().string() + ".html");
    write_file(file, page);
    return file;
}

// Returns the folders of lessons, with the one of --lessons or of PENTAMESH_LESSONS for one's own.
ui::LessonFolders folders_of(const Context& context, const std::string& named) {
    return ui::lesson_folders(context.presets, own_lessons_folder(named));
}

struct LessonOptions {
    std::string file, course, output, web, software, lessons, language;
    PlanArgument plan{"llama-3.1-405b-16k", {}};
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
                + (l.minutes > 0 ? ", " + std::to_string(l.minutes) + " min" : "")
                + (l.language.empty() ? "" : ", --language " + l.language) + (l.own ? ", your own" : "")
                + "\n";
    return text;
}

// Returns a file, or the lesson or course with that id: in that language, or the first of them.
std::filesystem::path find_lesson(const std::vector<ui::LessonEntry>& lessons, const std::string& name,
                                  const std::string& language, std::string_view what) {
    std::error_code ignored;
    if (language.empty() && std::filesystem::exists(name, ignored)) return name;
    std::vector<std::string_view> ids, languages;
    for (const auto& l : lessons) {
        if (l.id == name && (language.empty() || l.language == language)) return l.file;
        ids.push_back(l.id);
        if (l.id == name && !l.language.empty()) languages.push_back(l.language);
    }
    if (!languages.empty())
        throw Error(ErrorKind::usage, "--language " + shown_text(language), "",
                    "there is " + name + " in " + join(languages, ", "));
    if (std::find(ids.begin(), ids.end(), name) != ids.end())
        throw Error(ErrorKind::usage, "--language " + shown_text(language), "",
                    name + " is in English only (docs/lessons.md says how to translate it)");
    throw Error(ErrorKind::io, name, "",
                "is no file and no " + std::string(what) + " that ships or is your own; the closest is \""
                    + std::string(nearest(name, ids)) + "\" (pentamesh lesson lists them)");
}

// Says of a page in which language it is, for what reads it aloud or breaks its words.
std::string in_language(std::string page, const std::string& language) {
    constexpr std::string_view kEnglish = "<html lang=\"en\">";
    const std::size_t at = page.find(kEnglish);
    if (!language.empty() && at != std::string::npos)
        page.replace(at, kEnglish.size(), "<html lang=\"" + language + "\">");
    return page;
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
    const ui::LessonFolders folders = folders_of(context, options.lessons);
    if (options.file.empty() && options.course.empty()) {
        print_to(options.output, list_of(ui::list_lessons(folders)) + "\ncourses (--course)\n"
                                     + list_of(ui::list_courses(folders)));
        return 0;
    }
    if (options.pdf && options.output.empty())
        throw Error(ErrorKind::usage, "--pdf", "", "is written to a file: -o booklet.pdf");
    const std::filesystem::path file =
        options.course.empty()
            ? find_lesson(ui::list_lessons(folders), options.file, options.language, "lesson")
            : find_lesson(ui::list_courses(folders), options.course, options.language, "course");
    note_input(file.string());
    static_cast<void>(read_file(file));  // one that cannot be read is no lesson with mistakes
    ParsedLesson read = ui::read_lesson(file, &context.presets);
    read.lesson.software = parse_name<Software>(options.software);
    for (const LessonError& e : read.errors)
        say_error(file.string() + ":" + std::to_string(e.line) + ": " + e.message);
    if (!read.errors.empty()) return 1;
    if (file.parent_path() != folders.shipped && file.parent_path() != folders.shipped / "courses")
        warn_of_words(file, read.lesson);
    if (!options.web.empty()) {
        print(write_course_page(context.data_folder, file, options.web).string() + "\n");
        return 0;
    }
    const Plan base = load_plan(context, options.plan);
    if (options.pdf) {
        write_output(options.output,
                     ui::lesson_pdf(read.lesson, base, context.presets, find_fonts(context.data_folder),
                                    language_of(read_file(file))));
        return 0;
    }
    print_to(options.output, options.html ? in_language(ui::lesson_page(read.lesson, base, context.presets,
                                                                        find_fonts(context.data_folder)),
                                                        language_of(read_file(file)))
                                          : ui::lesson_text(read.lesson, base, context.presets));
    return 0;
}

}  // namespace

fs::path own_lessons_folder(const std::string& named) {
    fs::path folder = named.empty() ? environment("PENTAMESH_LESSONS") : named;
    std::error_code ignored;
    if (folder.empty() || fs::is_directory(folder, ignored)) return folder;
    throw Error(ErrorKind::io, folder.string(), "",
                "is no folder; lessons of your own lie in one ("
                    + std::string(named.empty() ? "PENTAMESH_LESSONS" : "--lessons") + ")");
}

void add_lessons(Options& app, std::string& folder) {
    app.add_option("--lessons", folder,
                   "a folder with lessons, courses/ and glossary.json of your own; else that of "
                   "PENTAMESH_LESSONS, or lessons/ beside your presets")
        .type_name("FOLDER");
}

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
    add_lessons(app, options.lessons);
    app.add_option("--language", options.language, "of two with the same id the one in this language: de")
        .type_name("TAG");
    app.add_option("--plan", options.plan.name, "the plan of steps that open none")
        .type_name("PLAN")
        .show_default();
    add_plan_options(app, options.plan);
    std::vector<std::string> software;
    for (const RoomSoftware& r : kRoomSoftware) software.emplace_back(name_of(r.software));
    app.add_option("--software", options.software,
                   "what the room runs: answers, bytes and words follow; by default what each plan says")
        .one_of(software);
}

// `mark` judges what pupils handed in: a line each, and how each question was answered.

namespace {

namespace fs = std::filesystem;

struct MarkOptions {
    std::vector<std::string> files, lessons;
    PlanArgument plan;
    std::string folder;
    Forms forms;
};

struct MarkedHandIn {
    std::string file, learner, date;
    std::vector<MarkedLesson> lessons;
};

// Holds the lessons that are known, by title; the answers of one are worked out when it is first met.
class AnswerKeys {
  public:
    AnswerKeys(const Context& context, const MarkOptions& options) : presets_(context.presets) {
        if (!options.plan.name.empty()) base_ = load_plan(context, options.plan);
        const ui::LessonFolders folders = folders_of(context, options.folder);
        for (const auto& all : {ui::list_lessons(folders), ui::list_courses(folders)})
            for (const ui::LessonEntry& e : all) files_.emplace(e.title, e.file);
        for (const std::string& file : options.lessons) {
            static_cast<void>(read_file(file));  // one that cannot be read is no lesson with mistakes
            const ParsedLesson read = ui::read_lesson(file, &presets_);
            if (!read.errors.empty())
                throw Error(ErrorKind::invalid, file, "",
                            "is no lesson without a mistake: pentamesh lesson says which");
            own_.insert_or_assign(read.lesson.title, read.lesson);
        }
    }
    // Returns null where no lesson has that title.
    // `software` runs the plans of its steps, where one chose it.
    const AnswerKey* of(const std::string& title, const std::string& software) {
        if (const auto known = keys_.find({title, software}); known != keys_.end()) return &known->second;
        const auto own = own_.find(title);
        const auto file = files_.find(title);
        if (own == own_.end() && file == files_.end()) return nullptr;
        Lesson lesson = own != own_.end() ? own->second : ui::read_lesson(file->second, &presets_).lesson;
        lesson.software = parse_name<Software>(software);
        AnswerKey key = answer_key(lesson, base_ ? &*base_ : nullptr, presets_);
        return &keys_.emplace(std::pair(title, software), std::move(key)).first->second;
    }

  private:
    const Presets& presets_;
    std::optional<Plan> base_;               // of steps that open none
    std::map<std::string, fs::path> files_;  // of those that ship, and of one's own folder
    std::map<std::string, Lesson> own_;      // of the teacher's own files
    std::map<std::pair<std::string, std::string>, AnswerKey> keys_;  // by title and software
};

std::vector<std::string> hand_ins_in(const std::vector<std::string>& given) {
    std::vector<std::string> out;
    for (const std::string& name : given) {
        std::error_code failed;
        if (!fs::is_directory(name, failed)) {
            out.push_back(name);
            continue;
        }
        fs::directory_iterator it(name, failed);
        for (; !failed && it != fs::directory_iterator(); it.increment(failed))
            if (it->path().extension() == ".json") out.push_back(it->path().string());
        if (failed) throw Error(ErrorKind::io, name, "", "cannot be read: " + failed.message());
    }
    if (out.empty())
        throw Error(ErrorKind::usage, given.front(), "", "has no file that was handed in (.json)");
    std::sort(out.begin(), out.end());
    return out;
}

MarkedHandIn judged(const std::string& file, AnswerKeys& keys, const Presets& presets) {
    const HandIn read = read_hand_in(read_input(file), file);
    MarkedHandIn out{
        file, read.learner.empty() ? fs::path(file).stem().string() : read.learner, read.date, {}};
    for (const LessonProgress& p : read.lessons) {
        const AnswerKey* key = keys.of(p.title, p.software);
        out.lessons.push_back(
            key != nullptr ? mark_lesson(p, *key, presets, read.helped)
                           : MarkedLesson{p.title, {}, "no lesson here has this title: --lesson FILE"});
    }
    if (out.lessons.empty()) out.lessons.push_back({"", {}, "nothing was answered"});
    return out;
}

std::string_view words_of(Mark mark) {
    switch (mark) {
    case Mark::none: return "open";
    case Mark::right: return "right";
    case Mark::second: return "second";
    case Mark::wrong: return "wrong";
    case Mark::shown: return "shown";
    case Mark::done: return "done";
    }
    return "";
}

// Returns the row of a lesson that could be judged; the others have only their note.
Table::Row row_of(const std::string& learner, const MarkedLesson& l) {
    if (!l.refused.empty()) return {learner, l.title, {}, {}, {}, {}, {}, {}, {}, l.refused};
    const auto count = [&](auto&& holds) { return std::count_if(l.steps.begin(), l.steps.end(), holds); };
    const auto false_claims = count([](const MarkedStep&s) { return s.overclaimed; }),
               unjudged = count([](const MarkedStep&s) { return !s.note.empty() && !s.overclaimed; });
    std::string note;
    if (false_claims > 0)
        note = count_text(false_claims, "claim") + (false_claims == 1 ? " does" : " do") + " not hold";
    if (unjudged > 0)
        note += (note.empty() ? "" : "; ") + count_text(unjudged, "answer") + " not judged: see --json";
    return {learner,
            l.title,
            l.count(Mark::right),
            l.count(Mark::second),
            l.count(Mark::wrong),
            l.count(Mark::shown),
            l.count(Mark::none),
            l.count(Mark::done),
            count([](const MarkedStep& s) { return s.helped; }),
            note};
}

Table pupils_table(const std::vector<MarkedHandIn>& all) {
    Table t;
    t.columns = {{"pupil"},
                 {"lesson"},
                 {"right at once", pentamesh::Shown::count, "right"},
                 {"at the second try", pentamesh::Shown::count, "second"},
                 {"wrong", pentamesh::Shown::count},
                 {"shown", pentamesh::Shown::count},
                 {"open", pentamesh::Shown::count},
                 {"tasks done", pentamesh::Shown::count, "done"},
                 {"with help", pentamesh::Shown::count, "helped"},
                 {"note"}};
    for (const MarkedHandIn& h : all)
        for (const MarkedLesson& l : h.lessons) t.rows.push_back(row_of(h.learner, l));
    return t;
}

// Counts how all pupils answered one question.
struct AskedStep {
    int right = 0, second = 0, wrong = 0, others = 0;
    std::map<std::string, int> given;             // wrong answers, of two the first
    std::map<std::string, std::string> mistakes;  // that lead to them
};

// The place of a question: the title of its lesson, the software that its plan is run by, its step.
using AskedPlace = std::tuple<std::string, std::string, std::size_t>;

std::map<AskedPlace, AskedStep> count_answers(const std::vector<MarkedHandIn>& all) {
    std::map<AskedPlace, AskedStep> asked;
    for (const MarkedHandIn& h : all)
        for (const MarkedLesson& l : h.lessons)
            for (const MarkedStep& s : l.steps) {
                AskedStep& a = asked[{l.title, l.software, s.step}];
                (s.mark == Mark::right || s.mark == Mark::done ? a.right
                 : s.mark == Mark::second                      ? a.second
                 : s.mark == Mark::wrong                       ? a.wrong
                                                               : a.others)++;
                if (s.wrong.empty()) continue;
                ++a.given[s.wrong];
                if (!s.mistake.empty()) a.mistakes[s.wrong] = s.mistake;
            }
    return asked;
}

Table questions_table(const std::vector<MarkedHandIn>& all, AnswerKeys& keys) {
    Table t;
    t.columns = {{"lesson"},
                 {"question"},
                 {"right at once", pentamesh::Shown::count, "right"},
                 {"at the second try", pentamesh::Shown::count, "second"},
                 {"wrong", pentamesh::Shown::count},
                 {"not answered", pentamesh::Shown::count, "others"},
                 {"the answer", pentamesh::Shown::words, "answer"},
                 {"given most often instead", pentamesh::Shown::words, "given"},
                 {"mistake", pentamesh::Shown::words, "mistake"}};
    for (const auto& [place, a] : count_answers(all)) {
        const auto most = std::max_element(a.given.begin(), a.given.end(),
                                           [](const auto& x, const auto& y) { return x.second < y.second; });
        std::string given, mistake;
        if (most != a.given.end()) {
            given = most->first + " (" + std::to_string(most->second) + ")";
            if (const auto known = a.mistakes.find(most->first); known != a.mistakes.end())
                mistake = known->second;
        }
        const auto& [title, software, at] = place;
        const AnswerKey::Step& step = keys.of(title, software)->steps[at];
        const bool asks = step.question && step.unjudged.empty();
        const std::string answer = asks ? answer_words(*step.question, step.solution) : "";
        t.rows.push_back({title + (software.empty() ? "" : " (" + software + ")"), step.title, a.right,
                          a.second, a.wrong, a.others, answer, given, mistake});
    }
    return t;
}

Json json_of_marks(const std::vector<MarkedHandIn>& all, AnswerKeys& keys) {
    Json out = Json::array();
    for (const MarkedHandIn& h : all) {
        Json lessons = Json::array();
        for (const MarkedLesson& l : h.lessons) {
            Json steps = Json::array();
            for (const MarkedStep& s : l.steps) {
                Json step{{"title", keys.of(l.title, l.software)->steps[s.step].title},
                          {"mark", words_of(s.mark)}};
                const auto add = [&](const char* name, const std::string& text) {
                    if (!text.empty()) step[name] = text;
                };
                add("missed", s.missed), add("given", s.given), add("mistake", s.mistake),
                    add("note", s.note);
                if (s.helped) step["helped"] = true;
                steps.push_back(std::move(step));
            }
            Json lesson{{"title", l.title}, {"software", l.software}, {"steps", std::move(steps)}};
            if (!l.refused.empty()) lesson["refused"] = l.refused;
            lessons.push_back(std::move(lesson));
        }
        out.push_back(
            {{"file", h.file}, {"learner", h.learner}, {"date", h.date}, {"lessons", std::move(lessons)}});
    }
    return out;
}

int mark(const Context& context, const MarkOptions& options) {
    AnswerKeys keys(context, options);
    std::vector<MarkedHandIn> all;
    std::vector<std::string> errors;
    for (const std::string& file : hand_ins_in(options.files)) {
        try {
            all.push_back(judged(file, keys, context.presets));
        } catch (const std::exception& e) {  // the other files are judged all the same
            const std::string words = e.what();
            errors.push_back((words.starts_with(file) ? "" : file + ": ") + words);
        }
    }
    const Table pupils = pupils_table(all);
    Document document{"What was handed in: " + with_commas(static_cast<std::int64_t>(all.size()))
                          + (all.size() == 1 ? " file" : " files"),
                      {{"Pupils", {}, pupils}, {"Questions and tasks", {}, questions_table(all, keys)}}};
    return print_answer(context, options.forms,
                        {json_of_marks(all, keys), pupils, std::move(document), std::move(errors)});
}

}  // namespace

void add_mark(Options& app, Context& context) {
    auto& options = run_with(app, context, mark);
    app.add_option("FILE", options.files, "files that pupils handed in, and folders of them").required();
    app.add_option("--lesson", options.lessons, "lessons and courses of your own that they answered")
        .type_name("FILE");
    add_lessons(app, options.folder);
    app.add_option("--plan", options.plan.name, "the plan of steps that open none").type_name("PLAN");
    add_plan_options(app, options.plan);
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
