// `mark` judges what pupils handed in: a line each, and how each question was answered.
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/ui/lesson/lesson_session.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

namespace pentamesh::cli {
namespace {

namespace fs = std::filesystem;

struct MarkOptions {
    std::vector<std::string> files, lessons;
    std::string plan;
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
        if (!options.plan.empty()) base_ = load_plan(context, {options.plan, {}, {}});
        const fs::path shipped = context.data_folder / "assets" / "lessons";
        for (const fs::path& folder : {shipped, shipped / "courses"})
            for (const ui::LessonEntry& e : ui::list_lessons(folder)) files_.emplace(e.title, e.file);
        for (const std::string& file : options.lessons) {
            static_cast<void>(read_file(file));  // one that cannot be read is no lesson with mistakes
            const ParsedLesson read = ui::read_lesson(file, &presets_);
            if (!read.errors.empty())
                throw Error(ErrorKind::invalid, file, "",
                            "is no lesson without a mistake: pentamesh lesson says which");
            add(read.lesson);
        }
    }
    // Returns null where no lesson has that title.
    const AnswerKey* of(const std::string& title) {
        if (const auto known = keys_.find(title); known != keys_.end()) return &known->second;
        const auto file = files_.find(title);
        return file == files_.end() ? nullptr : add(ui::read_lesson(file->second, &presets_).lesson);
    }

  private:
    const AnswerKey* add(const Lesson& lesson) {
        AnswerKey key = answer_key(lesson, base_ ? &*base_ : nullptr, presets_);
        return &keys_.insert_or_assign(lesson.title, std::move(key)).first->second;
    }

    const Presets& presets_;
    std::optional<Plan> base_;               // of steps that open none
    std::map<std::string, fs::path> files_;  // of those that ship
    std::map<std::string, AnswerKey> keys_;
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
        const AnswerKey* key = keys.of(p.title);
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

std::map<std::pair<std::string, std::size_t>, AskedStep> count_answers(const std::vector<MarkedHandIn>& all) {
    std::map<std::pair<std::string, std::size_t>, AskedStep> asked;
    for (const MarkedHandIn& h : all)
        for (const MarkedLesson& l : h.lessons)
            for (const MarkedStep& s : l.steps) {
                AskedStep& a = asked[{l.title, s.step}];
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
        const AnswerKey::Step& step = keys.of(place.first)->steps[place.second];
        const bool asks = step.question && step.unjudged.empty();
        const std::string answer = asks ? answer_words(*step.question, step.solution) : "";
        t.rows.push_back(
            {place.first, step.title, a.right, a.second, a.wrong, a.others, answer, given, mistake});
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
                Json step{{"title", keys.of(l.title)->steps[s.step].title}, {"mark", words_of(s.mark)}};
                const auto add = [&](const char* name, const std::string& text) {
                    if (!text.empty()) step[name] = text;
                };
                add("missed", s.missed), add("given", s.given), add("mistake", s.mistake),
                    add("note", s.note);
                if (s.helped) step["helped"] = true;
                steps.push_back(std::move(step));
            }
            Json lesson{{"title", l.title}, {"steps", std::move(steps)}};
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
    int status = 0;
    for (const std::string& file : hand_ins_in(options.files)) {
        try {
            all.push_back(judged(file, keys, context.presets));
        } catch (const std::exception& e) {  // the other files are judged all the same
            const std::string words = e.what();
            say_error((words.starts_with(file) ? "" : file + ": ") + words);
            status = 1;
        }
    }
    print_form(
        context, options.forms, [&] { return json_of_marks(all, keys); }, [&] { return pupils_table(all); },
        [&] {
            return Document{
                "What was handed in: " + with_commas(static_cast<std::int64_t>(all.size()))
                    + (all.size() == 1 ? " file" : " files"),
                {{"Pupils", {}, pupils_table(all)}, {"Questions and tasks", {}, questions_table(all, keys)}}};
        });
    return status;
}

}  // namespace

void add_mark(Options& app, Context& context) {
    auto& options = run_with(app, context, mark);
    app.add_option("FILE", options.files, "files that pupils handed in, and folders of them").required();
    app.add_option("--lesson", options.lessons, "lessons and courses of your own that they answered")
        .type_name("FILE");
    app.add_option("--plan", options.plan, "the plan of steps that open none").type_name("PLAN");
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
