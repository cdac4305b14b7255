// Says of a lesson what its author cannot read off the text: a task that is met before anybody acts, a sample
// solution that does not meet it, goals that exclude each other, words that say what is to be guessed.
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh {
namespace {

class LessonCheck {
  public:
    LessonCheck(const Lesson& lesson, const Presets& presets) : lesson_(lesson), presets_(presets) {}

    std::vector<LessonError> run() {
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
            if (plan_of_step(lesson_, i).open.empty()) continue;  // it asks about the plan that is open
            try {
                const Plan start = plan_shown(lesson_, i, Plan(), presets_);
                const Evaluation e = assess(start);
                const LessonStep& step = lesson_.steps[i];
                if (step.task) check_task(*step.task, start, e);
                if (step.question) check_words(step, start, e);
            } catch (const Error&) {  // the reader said it, at its line
            }
        }
        return std::move(out_);
    }

  private:
    void check_task(const LessonTask& task, const Plan& start, const Evaluation& e) {
        for (const TaskGoal& goal : task.goals)
            if (const std::string unit = missing_unit(goal, start, e, presets_); !unit.empty())
                out_.push_back({goal.line, "a goal for " + goal.field + " has a unit: \"" + goal.value + " "
                                               + unit + "\", not \"" + goal.value + "\""});
        for (const std::string& both : excluding_goals(task, start, e, presets_))
            out_.push_back({task.line, both + " exclude each other: no plan meets both goals"});
        const TaskState before = judge_task(task, start, start, e, presets_);
        if (before.passed)
            out_.push_back({task.line, "the task is met before anybody acts (" + before.goals.front().text
                                           + "): begin with another plan, or ask for more"});
        if (task.solution.empty()) return;
        try {
            const Plan solved = plan_with(start, task.solution, presets_);
            const TaskState after = judge_task(task, start, solved, assess(solved), presets_);
            const auto open = std::ranges::find_if(after.goals, [](const GoalState& g) { return !g.met; });
            if (open != after.goals.end())
                out_.push_back({task.line, "its own solution does not meet the task (" + open->text
                                               + "): change a line \"solution:\", or the goal"});
        } catch (const Error& error) {
            out_.push_back({task.line, std::string("solution: ") + error.what()});
        }
    }

    // A {{query}} that has the answer is covered until it is given; a figure that is typed stays readable.
    void check_words(const LessonStep& step, const Plan& start, const Evaluation& e) {
        const LessonQuestion& q = *step.question;
        if (q.kind != QuestionKind::number && q.kind != QuestionKind::curve) return;
        const Solution s = solve(q, start, e, presets_);
        if (!s.solvable(q.kind)) return;
        std::vector<Answer> hidden{s.answer};
        if (q.kind == QuestionKind::curve) {
            hidden = s.options;
            if (q.given >= 0) hidden.erase(hidden.begin() + q.given);
        }
        for (const std::string& text : {step.title, step.words, step.more, q.prompt})
            for (const Answer& answer : hidden)
                if (const std::string said = figure_of(on_screen(text), answer); !said.empty())
                    out_.push_back({q.line, "the words say \"" + said
                                                + "\", which is what is asked: a {{query}} in its place is "
                                                  "covered until the answer is given"});
    }

    // Returns the figure in a text that is the answer, with its unit; empty where the text has no such
    // figure.
    static std::string figure_of(std::string_view text, const Answer& answer) {
        constexpr double kSame = 0.005;  // as three digits are
        if (answer.unit.empty() || answer.number == 0) return {};
        const std::vector<Placeholder> queries = placeholders(text);
        for (std::size_t i = 0; i < text.size();) {
            const auto query = std::ranges::find_if(
                queries, [&](const Placeholder& p) { return i >= p.begin && i < p.end; });
            if (query != queries.end()) {
                i = query->end;
                continue;
            }
            const std::size_t begin = i;
            while (i < text.size()
                   && (is_digit(text[i]) || (i > begin && (text[i] == '.' || text[i] == ','))))
                ++i;
            if (i == begin) {
                ++i;
                continue;
            }
            std::size_t end = i;
            while (end < text.size() && text[end] == ' ') ++end;
            const std::string_view unit = text.substr(end, answer.unit.size());
            const bool ends = end + unit.size() >= text.size() || !is_name_char(text[end + unit.size()]);
            if (unit != answer.unit || !ends) continue;
            const std::string_view said = text.substr(begin, end + unit.size() - begin);
            const auto value = parse_guess(said, answer.unit);
            if (value && std::abs(*value - answer.number) <= kSame * std::abs(answer.number))
                return std::string(said);
        }
        return {};
    }

    const Lesson& lesson_;
    const Presets& presets_;
    std::vector<LessonError> out_;
};

}  // namespace

std::vector<LessonError> check_lesson(const Lesson& lesson, const Presets& presets) {
    return LessonCheck(lesson, presets).run();
}

}  // namespace pentamesh
