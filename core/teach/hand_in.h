// A task is a plan to change until conditions on its evaluation hold. It is judged live, and says what is
// missing.
#pragma once

#include "core/teach/lesson.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Reads "step.mfu >= 40 %", "groups.tp.slowest_tier == NVLink", "memory.fits". Without an operator it is "==
// yes". A goal that cannot be read has an empty field.
[[nodiscard]] TaskGoal parse_goal(std::string_view text);
// Returns what is wrong with a goal, for any plan; empty where nothing is. A field is one of goal_fields(), a
// field of the plan ("layout.tp") or any query of lessons ("bubble share").
[[nodiscard]] std::string check_goal(const TaskGoal& goal);
// Returns the unit that a goal's number needs and does not have, "GiB" of "memory.fullest <= 70"; empty where
// it lacks none. A share may be 0.4.
[[nodiscard]] std::string missing_unit(const TaskGoal& goal, const Plan& plan, const Evaluation& evaluation,
                                       const Presets& presets);
// Returns what a task of a lesson lacks: goals, three hints, a solution, words.
[[nodiscard]] std::vector<std::string> task_mistakes(const LessonTask& task);

struct GoalField {
    std::string_view field, query, name;  // "step.mfu", "mfu", "MFU"; AXIS stands for an axis
};
[[nodiscard]] std::vector<GoalField> goal_fields();

struct GoalState {
    bool met = false;
    std::string text;  // "MFU: 31.2 %, at least 40 % is wanted"
};
struct TaskState {
    bool passed = false;
    std::vector<GoalState> goals;  // in the task's order; then the limits that are broken, none met
    int edits = 0;                 // choices that differ from the start
};
// Judges a plan that began as `start`. A change of data parallelism that follows another axis' change is no
// choice of its own.
[[nodiscard]] TaskState judge_task(const LessonTask& task, const Plan& start, const Plan& plan,
                                   const Evaluation& evaluation, const Presets& presets);
// Returns pairs of goals that no plan meets both, as "step.time <= 5 s and step.time >= 9 s". Units are those
// of the plan's answers.
[[nodiscard]] std::vector<std::string> excluding_goals(const LessonTask& task, const Plan& plan,
                                                       const Evaluation& evaluation, const Presets& presets);
// Returns a goal's words before it is judged: "MFU: at least 40 %", "It fits".
[[nodiscard]] std::string wanted_of(const TaskGoal& goal);
// Keeps only the advice that the task allows: a fix of another field is removed with the words about it, and
// so is a problem that only advises such a fix.
void keep_to_task(const LessonTask& task, std::vector<Problem>& problems);
// Returns "the layout, `training.micro_batch`".
[[nodiscard]] std::string allowed_text(const LessonTask& task);

// The answers that somebody gave in lessons and courses: they are kept between runs of the program, handed in
// as a file, and judged again by a teacher. Nothing in the file says what is right: the lessons do.

// The result of a step.
enum class Mark : char { none = '-', right = 'r', second = 's', wrong = 'w', shown = 'v', done = 't' };

// Says how far somebody came in a lesson or course.
struct LessonProgress {
    std::string title;
    std::size_t step = 0;  // that was shown last
    std::string marks;     // one letter a step: Mark; a blank where nothing is asked
    // Answers to the lesson of this version (version_of), by step, as they would be typed: an option's label,
    // "820 ms", "0, 2, 4-7"; of a task the plan, as its file has it. `missed` is the first of two answers.
    std::string version{};
    std::vector<std::string> given{}, missed{};
    std::string software{};  // that ran the plans of its steps; empty: their own
    bool operator==(const LessonProgress&) const = default;
};
// Returns a checksum of what a lesson asks: answers are of one version.
[[nodiscard]] std::string version_of(const Lesson& lesson);
[[nodiscard]] nlohmann::ordered_json progress_to_json(const std::vector<LessonProgress>& lessons);
// Reads what it can of a list; each title once.
[[nodiscard]] std::vector<LessonProgress> progress_from_json(const nlohmann::json& list);

// Returns "12 of 15 questions right, 10 at the first try; 1 of 1 tasks done"; empty where nothing was
// answered.
[[nodiscard]] std::string summary_of(const std::string& marks, int tasks);

struct HandIn {
    std::string learner, date;
    std::vector<LessonProgress> lessons;
    std::vector<std::string> helped;  // titles of tasks that hints or the solution helped with
};
[[nodiscard]] std::string write_hand_in(const HandIn& hand_in);
// Throws Error for a text that is no such file. Names and titles come without what a terminal or a sheet of
// cells could take for a command.
[[nodiscard]] HandIn read_hand_in(std::string_view text, const std::string& source);

// Reads an answer as it is typed; `plan` names the tiers. A text that answers nothing has no option and no
// numbers.
[[nodiscard]] Given given_as_typed(const LessonQuestion& question, const Solution& solution,
                                   std::string_view typed, const Plan& plan);
// Returns an answer as it is typed, where it was not typed: an option, a tier, ranks.
[[nodiscard]] std::string given_text(const LessonQuestion& question, const Given& given, const Plan& plan);

// A lesson's right answers, worked out once for all that are handed in.
struct AnswerKey {
    struct Step {
        std::string title;
        std::optional<LessonQuestion> question;
        std::optional<LessonTask> task;
        Plan plan;  // the step's own
        Solution solution;
        std::vector<LessonQuestion::Mistake> mistakes;  // with their queries answered
        std::string unjudged;                           // why no answer to it can be judged; empty: one can
    };
    std::string title, version;
    std::vector<Step> steps;
};
// `base` is the plan of steps that open none; without one these are not judged. It does not throw.
[[nodiscard]] AnswerKey answer_key(const Lesson& lesson, const Plan* base, const Presets& presets);

struct MarkedStep {
    std::size_t step = 0;
    Mark mark = Mark::none;
    bool helped = false;        // of a task that is done: by hints or the solution
    bool overclaimed = false;   // the file says that it was right, or done
    std::string given, missed;  // of a question
    std::string wrong;          // the answer that is wrong, in one form: "1,000 GB" of "1000"
    std::string mistake;        // that leads to it, where it is known
    std::string note;           // why it could not be judged; of a task, why its plan is not accepted
};
struct MarkedLesson {
    std::string title;
    std::vector<MarkedStep> steps;  // those that ask something
    std::string refused;            // why it could not be judged; empty: it was
    std::string software{};         // that ran the plans of its steps; empty: their own
    [[nodiscard]] int count(Mark mark) const;
};
// Judges each answer anew. That it was the first try, was shown or had help, only the file says.
[[nodiscard]] MarkedLesson mark_lesson(const LessonProgress& progress, const AnswerKey& key,
                                       const Presets& presets, const std::vector<std::string>& helped = {});

}  // namespace pentamesh
