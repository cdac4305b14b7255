#include "core/teach/hand_in.h"

#include "core/advice/advice.h"
#include "core/base/error.h"
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

Mark mark_answer(const AnswerKey::Step& step, Mark claimed, std::string_view typed, std::string& mistake) {
    const Given given = given_as_typed(*step.question, step.solution, typed, step.plan);
    if (is_right(*step.question, step.solution, given))
        return claimed == Mark::right ? claimed : Mark::second;
    mistake = mistake_made(*step.question, step.mistakes, step.solution, given, step.plan);
    return Mark::wrong;
}

Mark mark_task(const AnswerKey::Step& step, const std::string& text, const Presets& presets) {
    try {
        const Plan plan = parse_plan(text, "", presets);
        const TaskState judged = judge_task(*step.task, step.plan, plan, assess(plan), presets);
        return judged.passed ? Mark::done : Mark::none;
    } catch (const Error&) {
        return Mark::none;  // no plan was handed in
    }
}

}  // namespace

ordered_json progress_to_json(const std::vector<LessonProgress>& lessons) {
    ordered_json out = ordered_json::array();
    for (const LessonProgress& p : lessons)
        out.push_back({{"title", p.title}, {"step", p.step}, {"marks", p.marks}, {"given", p.given}});
    return out;
}

std::vector<LessonProgress> progress_from_json(const json& list) {
    std::vector<LessonProgress> out;
    if (!list.is_array()) return out;
    for (const json& one : list) {
        if (!one.is_object() || out.size() >= kMostLessons) continue;
        LessonProgress p{text_at(one, "title"), 0, text_at(one, "marks"), texts_at(one, "given")};
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
    HandIn out{text_at(read, "learner"), text_at(read, "date"), {}, texts_at(read, "tasks_helped")};
    if (const auto lessons = read.find("lessons"); lessons != read.end())
        out.lessons = progress_from_json(*lessons);
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

AnswerKey answer_key(const Lesson& lesson, const Plan& base, const Presets& presets) {
    AnswerKey out{lesson.title, {}};
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& from = lesson.steps[i];
        AnswerKey::Step& step = out.steps.emplace_back();
        step.title = from.title;
        step.question = from.question;
        step.task = from.task;
        if (!step.question && !step.task) continue;
        step.plan = plan_shown(lesson, i, base, presets);
        if (!step.question) continue;
        const Evaluation e = assess(step.plan);
        step.solution = solve(*step.question, step.plan, e, presets);
        for (const LessonQuestion::Mistake& m : step.question->mistakes)
            step.mistakes.push_back(
                {expand(m.given, step.plan, e, presets), expand(m.because, step.plan, e, presets), m.line});
    }
    return out;
}

int MarkedLesson::count(Mark mark) const {
    return static_cast<int>(
        std::count_if(steps.begin(), steps.end(), [&](const MarkedStep& s) { return s.mark == mark; }));
}

MarkedLesson mark_lesson(const LessonProgress& progress, const AnswerKey& key, const Presets& presets) {
    MarkedLesson out{progress.title, {}, {}};
    if (progress.marks.size() != key.steps.size()) {
        out.refused = "it has " + std::to_string(key.steps.size()) + " steps here and "
                      + std::to_string(progress.marks.size()) + " where it was answered: another version";
        return out;
    }
    for (std::size_t i = 0; i < key.steps.size(); ++i) {
        const AnswerKey::Step& step = key.steps[i];
        const auto claimed = static_cast<Mark>(progress.marks[i]);
        const std::string given = i < progress.given.size() ? progress.given[i] : std::string();
        MarkedStep marked{i, Mark::none, {}, {}};
        if (step.task) {
            marked.mark = mark_task(step, given, presets);
        } else if (step.question) {
            marked.given = given;
            if (claimed == Mark::shown)
                marked.mark = claimed;
            else if (!given.empty())
                marked.mark = mark_answer(step, claimed, given, marked.mistake);
        } else {
            continue;
        }
        out.steps.push_back(std::move(marked));
    }
    return out;
}

}  // namespace pentamesh
