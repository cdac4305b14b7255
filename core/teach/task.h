// A task is a plan to change until conditions on its evaluation hold. It is judged live, and says what is
// missing.
#pragma once

#include "core/teach/lesson_answers.h"

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
// Returns a goal's words before it is judged: "MFU: at least 40 %", "It fits".
[[nodiscard]] std::string wanted_of(const TaskGoal& goal);
// Keeps only the advice that the task allows: a fix of another field is removed with the words about it, and
// so is a problem that only advises such a fix.
void keep_to_task(const LessonTask& task, std::vector<Problem>& problems);
// Returns "the layout, `training.micro_batch`".
[[nodiscard]] std::string allowed_text(const LessonTask& task);

}  // namespace pentamesh
