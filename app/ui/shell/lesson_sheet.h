// A step of a lesson on paper: its texts answered by its own plan, its picture with and without the answer.
#pragma once

#include "app/ui/shell/picture.h"
#include "core/io/presets.h"
#include "core/teach/lesson_answers.h"
#include "core/teach/veil.h"

#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

struct StepSheet {
    const LessonStep& step;
    Plan plan;
    Evaluation evaluation;
    std::string words;  // with every figure
    std::string asked;  // as they stand beside the open question
    std::string prompt, why;
    std::vector<std::string> hints;
    Solution solution;
    Veil veil;
    std::optional<Plan> against;  // that Compare shows it beside
};
// `base`: the plan of steps that open none. Error where the step's plan cannot be made.
[[nodiscard]] StepSheet sheet_of(const Lesson& lesson, std::size_t i, const Plan& base,
                                 const Presets& presets);
[[nodiscard]] std::string answer_of(const StepSheet& sheet);
// What there is to choose from: the options, or the cluster's tiers.
[[nodiscard]] std::vector<std::string> choices_of(const StepSheet& sheet);
// Of a task: what is wanted, a line each.
[[nodiscard]] std::vector<std::string> goals_of(const StepSheet& sheet);
// "tp = 8, layout.zero = 1".
[[nodiscard]] std::string solution_of(const StepSheet& sheet);
// A picture of the scene for print. `open`: beside the question, without what would answer it.
[[nodiscard]] PictureRequest picture_request_of(const StepSheet& sheet, bool open);
// The picture itself is the answer: it stands with the answers alone.
[[nodiscard]] bool picture_answers(const StepSheet& sheet);

}  // namespace pentamesh::ui
