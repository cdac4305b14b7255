#include "core/teach/hand_in.h"

#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/mesh/rank_list.h"
#include "core/teach/task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kFormat = "pentamesh-hand-in";
constexpr std::size_t kMostLessons = 1000;

std::string text_at(const json& object, const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::vector<std::string> texts_at(const json& object, const char* key) {
    std::vector<std::string> out;
    const auto at = object.find(key);
    if (at == object.end() || !at->is_array()) return out;
    for (const json& text : *at) out.push_back(text.is_string() ? text.get<std::string>() : std::string());
    return out;
}

// A name is one line, and no formula where it comes into a sheet of cells.
std::string plain_name(std::string text) {
    constexpr std::size_t kLongest = 120;
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    text.erase(0, text.find_first_not_of(" =+-@"));
    if (text.size() > kLongest) text.resize(kLongest);
    return as_utf8(text);  // the cut may go through a letter
}

// Returns an answer in the one form of all that mean the same.
std::string one_form(const AnswerKey::Step& step, const Given& given, std::string_view typed) {
    std::string out;
    for (const double x : given.numbers) {
        out += (out.empty() ? "" : ", ") + three_digits(x);
        if (step.question->kind == QuestionKind::number) break;  // the others are what it may mean too
    }
    const std::string& unit = step.solution.answer.unit;
    if (!out.empty()) return out + (unit.empty() ? "" : " ") + unit;
    const std::string text = given_text(*step.question, given, step.plan);
    return plain_name(text.empty() ? std::string(typed) : text);
}

void mark_answer(const AnswerKey::Step& step, Mark claimed, MarkedStep& out) {
    const auto read = [&](const std::string& typed) {
        return given_as_typed(*step.question, step.solution, typed, step.plan);
    };
    const auto say_wrong = [&](const std::string& typed) {
        const Given given = read(typed);
        out.wrong = one_form(step, given, typed);
        out.mistake = mistake_made(*step.question, step.mistakes, step.solution, given, step.plan);
    };
    if (is_right(*step.question, step.solution, read(out.given))) {
        out.mark = claimed == Mark::right ? Mark::right : Mark::second;
        if (!out.missed.empty()) say_wrong(out.missed);
        return;
    }
    out.mark = Mark::wrong;
    out.overclaimed = claimed == Mark::right || claimed == Mark::second;
    say_wrong(out.given);
}

void mark_task(const AnswerKey::Step& step, const std::string& text, const Presets& presets,
               MarkedStep& out) {
    if (text.empty()) return;
    try {
        const Plan plan = parse_plan(text, "", presets);
        const TaskState judged = judge_task(*step.task, step.plan, plan, assess(plan), presets);
        if (judged.passed)
            out.mark = Mark::done;
        else
            out.note = "its plan does not pass";
    } catch (const Error&) {
        out.note = "its plan cannot be read";
    }
}

// Works out the answer of a step, or why it has none.
void solve_step(const Lesson& lesson, std::size_t i, const Plan* base, const Presets& presets,
                AnswerKey::Step& step) {
    if (base == nullptr && plan_of_step(lesson, i).open.empty()) {
        step.unjudged = "it is about the plan that was open: --plan PLAN";
        return;
    }
    try {
        step.plan = plan_shown(lesson, i, base != nullptr ? *base : Plan(), presets);
    } catch (const Error& e) {
        step.unjudged = e.what();
        return;
    }
    if (!step.question) return;
    const Evaluation e = assess(step.plan);
    step.solution = solve(*step.question, step.plan, e, presets);
    if (!step.solution.solvable(step.question->kind)) step.unjudged = "this plan has no answer to it";
    for (const LessonQuestion::Mistake& m : step.question->mistakes)
        step.mistakes.push_back(
            {expand(m.given, step.plan, e, presets), expand(m.because, step.plan, e, presets), m.line});
}

}  // namespace

std::string version_of(const Lesson& lesson) {
    constexpr std::size_t kDigits = 16;
    std::string asked;
    const auto add = [&](const std::string& text) { asked += text + '\n'; };
    for (const LessonStep& step : lesson.steps) {
        add(step.title);
        add(step.scene.open);
        for (const std::string& set : step.scene.sets) add(set);
        if (step.question) {
            add(step.question->query);
            for (const LessonQuestion::Option& o : step.question->options) add(o.label), add(o.value);
        }
        if (step.task)
            for (const TaskGoal& g : step.task->goals) add(g.field), add(g.op), add(g.value);
    }
    return sha256_of(asked).substr(0, kDigits);
}

ordered_json progress_to_json(const std::vector<LessonProgress>& lessons) {
    ordered_json out = ordered_json::array();
    for (const LessonProgress& p : lessons)
        out.push_back({{"title", p.title},
                       {"step", p.step},
                       {"marks", p.marks},
                       {"version", p.version},
                       {"given", p.given},
                       {"missed", p.missed}});
    return out;
}

std::vector<LessonProgress> progress_from_json(const json& list) {
    std::vector<LessonProgress> out;
    if (!list.is_array()) return out;
    for (const json& one : list) {
        if (!one.is_object() || out.size() >= kMostLessons) continue;
        LessonProgress p{text_at(one, "title"),  0,
                         text_at(one, "marks"),  text_at(one, "version"),
                         texts_at(one, "given"), texts_at(one, "missed")};
        if (const auto step = one.find("step"); step != one.end() && step->is_number_unsigned())
            p.step = step->get<std::size_t>();
        if (p.title.empty() || p.marks.find_first_not_of("-rswvt ") != std::string::npos) continue;
        if (std::none_of(out.begin(), out.end(), [&](const auto& q) { return q.title == p.title; }))
            out.push_back(std::move(p));
    }
    return out;
}

std::string summary_of(const std::string& marks, int tasks) {
    const auto count = [&](Mark m) {
        return static_cast<int>(std::count(marks.begin(), marks.end(), static_cast<char>(m)));
    };
    const int steps =
        static_cast<int>(marks.size()) - static_cast<int>(std::count(marks.begin(), marks.end(), ' '));
    if (count(Mark::none) == steps && tasks == 0) return {};
    const int asked = steps - count(Mark::done), at_once = count(Mark::right),
              right = at_once + count(Mark::second);
    const auto of = [](int n, int all) { return std::to_string(n) + " of " + std::to_string(all); };
    std::string out;
    if (asked > 0) {
        out = of(right, asked) + (asked == 1 ? " question right" : " questions right");
        if (at_once < right) out += ", " + std::to_string(at_once) + " at the first try";
    }
    if (tasks > 0)
        out += (out.empty() ? "" : "; ") + of(count(Mark::done), tasks)
               + (tasks == 1 ? " task done" : " tasks done");
    return out;
}

std::string write_hand_in(const HandIn& h) {
    const ordered_json out{{"format", kFormat},
                           {"learner", h.learner},
                           {"date", h.date},
                           {"lessons", progress_to_json(h.lessons)},
                           {"tasks_helped", h.helped}};
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

HandIn read_hand_in(std::string_view text, const std::string& source) {
    const json read = json::parse(text, nullptr, false);
    if (!read.is_object() || text_at(read, "format") != kFormat)
        throw Error(ErrorKind::invalid, source, "",
                    "is no file that was handed in: Learn > Results of the tasks > Hand in writes one");
    HandIn out{plain_name(text_at(read, "learner")),
               plain_name(text_at(read, "date")),
               {},
               texts_at(read, "tasks_helped")};
    if (const auto lessons = read.find("lessons"); lessons != read.end())
        out.lessons = progress_from_json(*lessons);
    for (LessonProgress& p : out.lessons) p.title = plain_name(std::move(p.title));
    return out;
}

Given given_as_typed(const LessonQuestion& q, const Solution& solution, std::string_view typed,
                     const Plan& plan) {
    Given out;
    switch (q.kind) {
    case QuestionKind::number: out.numbers = guesses_of(typed, solution.answer.unit); break;
    case QuestionKind::curve:
        out.numbers = parse_points(typed, solution.answer.unit, q.options.size());
        break;
    case QuestionKind::ranks: out.ranks = parse_ranks(typed).value_or(std::vector<std::int64_t>{}); break;
    case QuestionKind::choose:
        for (std::size_t i = 0; i < q.options.size(); ++i)
            if (q.options[i].label == typed) out.option = static_cast<int>(i);
        break;
    case QuestionKind::tier:
        for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i)
            if (plan.cluster.tiers[i].name == typed) out.option = static_cast<int>(i);
        break;
    }
    return out;
}

std::string given_text(const LessonQuestion& q, const Given& given, const Plan& plan) {
    const auto at = static_cast<std::size_t>(given.option);
    if (q.kind == QuestionKind::ranks) return ranks_text(given.ranks);
    if (q.kind == QuestionKind::tier && at < plan.cluster.tiers.size()) return plan.cluster.tiers[at].name;
    if (q.kind == QuestionKind::choose && at < q.options.size()) return q.options[at].label;
    return {};
}

AnswerKey answer_key(const Lesson& lesson, const Plan* base, const Presets& presets) {
    AnswerKey out{lesson.title, version_of(lesson), {}};
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& from = lesson.steps[i];
        AnswerKey::Step& step = out.steps.emplace_back();
        step.title = from.title;
        step.question = from.question;
        step.task = from.task;
        if (step.question || step.task) solve_step(lesson, i, base, presets, step);
    }
    return out;
}

int MarkedLesson::count(Mark mark) const {
    return static_cast<int>(
        std::count_if(steps.begin(), steps.end(), [&](const MarkedStep& s) { return s.mark == mark; }));
}

MarkedLesson mark_lesson(const LessonProgress& progress, const AnswerKey& key, const Presets& presets,
                         const std::vector<std::string>& helped) {
    MarkedLesson out{progress.title, {}, {}};
    if (progress.version != key.version || progress.marks.size() != key.steps.size()) {
        out.refused = "it was answered in another version of the lesson";
        return out;
    }
    const auto of = [](const std::vector<std::string>& texts, std::size_t i) {
        return i < texts.size() ? texts[i] : std::string();
    };
    for (std::size_t i = 0; i < key.steps.size(); ++i) {
        const AnswerKey::Step& step = key.steps[i];
        if (!step.task && !step.question) continue;
        const auto claimed = static_cast<Mark>(progress.marks[i]);
        MarkedStep& marked = out.steps.emplace_back();
        marked.step = i;
        marked.note = step.unjudged;
        if (!step.unjudged.empty()) continue;
        if (step.task) {
            mark_task(step, of(progress.given, i), presets, marked);
            marked.overclaimed = claimed == Mark::done && marked.mark != Mark::done;
            marked.helped = marked.mark == Mark::done
                            && std::find(helped.begin(), helped.end(), step.title) != helped.end();
            continue;
        }
        marked.given = of(progress.given, i), marked.missed = of(progress.missed, i);
        if (claimed == Mark::shown)
            marked.mark = claimed;
        else if (claimed != Mark::none && !marked.given.empty())
            mark_answer(step, claimed, marked);
    }
    return out;
}

}  // namespace pentamesh
