// `mark` judges what pupils handed in: a line each, and how each question was answered.
#include "app/cli/output.h"
#include "app/ui/lesson/lesson_session.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

namespace pentamesh::cli {
namespace {

namespace fs = std::filesystem;

struct MarkOptions {
    std::vector<std::string> files, lessons;
    std::string plan = "llama-3.1-405b-16k";
    Forms forms;
};

struct MarkedHandIn {
    std::string file, learner, date;
    std::vector<MarkedLesson> lessons;
    std::vector<std::string> helped;
};

// Holds the lessons that are known, by title; the answers of one are worked out when it is first met.
class AnswerKeys {
  public:
    AnswerKeys(const Context& context, const MarkOptions& options)
        : presets_(context.presets), base_(context.presets.plan(options.plan)) {
        const fs::path shipped = context.data_folder / "assets" / "lessons";
        for (const fs::path& folder : {shipped, shipped / "courses"})
            for (const ui::LessonEntry& e : ui::list_lessons(folder)) files_.emplace(e.title, e.file);
        for (const std::string& file : options.lessons) {
            const ParsedLesson read = ui::read_lesson(file, &presets_);
            if (!read.errors.empty())
                throw Error(ErrorKind::invalid, file, "",
                            "is no lesson without a mistake: pentamesh lesson says which");
            files_[read.lesson.title] = file;
        }
    }
    // Returns null where no lesson has that title.
    const AnswerKey* of(const std::string& title) {
        const auto file = files_.find(title);
        if (file == files_.end()) return nullptr;
        const auto known = keys_.find(title);
        if (known != keys_.end()) return &known->second;
        const Lesson lesson = ui::read_lesson(file->second, &presets_).lesson;
        return &keys_.emplace(title, answer_key(lesson, base_, presets_)).first->second;
    }

  private:
    const Presets& presets_;
    Plan base_;
    std::map<std::string, fs::path> files_;
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
        for (const auto& entry : fs::directory_iterator(name, failed))
            if (entry.path().extension() == ".json") out.push_back(entry.path().string());
        if (failed) throw Error(ErrorKind::io, name, "", "cannot be read: " + failed.message());
    }
    std::sort(out.begin(), out.end());
    return out;
}

MarkedHandIn judged(const std::string& file, AnswerKeys& keys, const Presets& presets) {
    const HandIn read = read_hand_in(read_file(file), file);
    MarkedHandIn out{file,
                     read.learner.empty() ? fs::path(file).stem().string() : read.learner,
                     read.date,
                     {},
                     read.helped};
    for (const LessonProgress& p : read.lessons) {
        const AnswerKey* key = keys.of(p.title);
        out.lessons.push_back(
            key != nullptr ? mark_lesson(p, *key, presets)
                           : MarkedLesson{p.title, {}, "no lesson here has this title: --lesson FILE"});
    }
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

Table pupils_table(const std::vector<MarkedHandIn>& all, AnswerKeys& keys) {
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
        for (const MarkedLesson& l : h.lessons) {
            int helped = 0;
            if (l.refused.empty())
                for (const MarkedStep& s : l.steps)
                    helped +=
                        s.mark == Mark::done
                        && std::count(h.helped.begin(), h.helped.end(), keys.of(l.title)->steps[s.step].title)
                               > 0;
            t.rows.push_back({h.learner, l.title, l.count(Mark::right), l.count(Mark::second),
                              l.count(Mark::wrong), l.count(Mark::shown), l.count(Mark::none),
                              l.count(Mark::done), helped, l.refused});
        }
    return t;
}

// Counts how all pupils answered one question.
struct AskedStep {
    int right = 0, second = 0, wrong = 0, others = 0;
    std::map<std::string, int> given;  // wrong answers
    std::string mistake;               // of the one that came most often
};

Table questions_table(const std::vector<MarkedHandIn>& all, AnswerKeys& keys) {
    std::map<std::pair<std::string, std::size_t>, AskedStep> asked;
    const auto most = [](const AskedStep& a) {
        return std::max_element(a.given.begin(), a.given.end(),
                                [](const auto& x, const auto& y) { return x.second < y.second; });
    };
    for (const MarkedHandIn& h : all)
        for (const MarkedLesson& l : h.lessons)
            for (const MarkedStep& s : l.steps) {
                AskedStep& a = asked[{l.title, s.step}];
                (s.mark == Mark::right || s.mark == Mark::done ? a.right
                 : s.mark == Mark::second                      ? a.second
                 : s.mark == Mark::wrong                       ? a.wrong
                                                               : a.others)++;
                if (s.mark != Mark::wrong) continue;
                ++a.given[s.given];
                if (most(a)->first == s.given) a.mistake = s.mistake;
            }
    Table t;
    t.columns = {{"lesson"},
                 {"question"},
                 {"right at once", pentamesh::Shown::count, "right"},
                 {"at the second try", pentamesh::Shown::count, "second"},
                 {"wrong", pentamesh::Shown::count},
                 {"not answered", pentamesh::Shown::count, "others"},
                 {"given most often instead", pentamesh::Shown::words, "given"},
                 {"which is", pentamesh::Shown::words, "mistake"}};
    for (const auto& [place, a] : asked) {
        std::string given;
        if (!a.given.empty()) given = most(a)->first + " (" + std::to_string(most(a)->second) + ")";
        t.rows.push_back({place.first, keys.of(place.first)->steps[place.second].title, a.right, a.second,
                          a.wrong, a.others, given, a.mistake});
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
                if (!s.given.empty()) step["given"] = s.given;
                if (!s.mistake.empty()) step["mistake"] = s.mistake;
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
        } catch (const Error& e) {
            std::cerr << e.what() << "\n";
            status = 1;
        }
    }
    print_form(
        context, options.forms, [&] { return json_of_marks(all, keys); },
        [&] { return pupils_table(all, keys); },
        [&] {
            return Document{"What was handed in: " + with_commas(static_cast<std::int64_t>(all.size()))
                                + (all.size() == 1 ? " file" : " files"),
                            {{"Pupils", {}, pupils_table(all, keys)},
                             {"Questions and tasks", {}, questions_table(all, keys)}}};
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
