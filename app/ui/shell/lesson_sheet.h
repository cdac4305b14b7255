// A step of a lesson on paper: its texts answered by its own plan, its picture with and without the answer.
#pragma once

#include "app/ui/shell/picture.h"
#include "core/io/presets.h"
#include "core/teach/lesson.h"
#include "render/surface.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct StepSheet {
    const LessonStep& step;
    Plan plan;
    Evaluation evaluation;
    std::string words;  // with every figure
    std::string asked;  // as they stand next to the open question
    std::string prompt, why;
    std::string
        runs;  // whose the step is, where the room's software does not run it: "This step is Megatron's: ..."
    std::vector<std::string> hints;
    Solution solution;
    HiddenAnswer hidden_answer;
    std::optional<Plan> against;  // Compare shows the step's plan next to it
};
// `base`: the plan of steps that open none. Throws an error if the step's plan cannot be made.
[[nodiscard]] StepSheet sheet_of(const Lesson& lesson, std::size_t i, const Plan& base,
                                 const Presets& presets);
[[nodiscard]] std::string answer_of(const StepSheet& sheet);
// Returns the same after the letter that it has among the choices on paper: "b) adding them up".
[[nodiscard]] std::string lettered_answer_of(const StepSheet& sheet);
// Returns what a question lets choose from: its options, or the cluster's tiers; nothing where one draws.
[[nodiscard]] std::vector<std::string> choices_of(const StepSheet& sheet);
// Returns the scale on which a guess is drawn, "Draw it on a line from 0 to 200 GiB."; empty for others.
[[nodiscard]] std::string scale_of(const StepSheet& sheet);
// Returns how high the empty scale is on which such an answer is drawn by hand; 0: it is not drawn.
[[nodiscard]] float scale_height(const StepSheet& sheet);
// Draws it: a line, or axes for a curve with the point that is given; with the answer all of the curve, on
// the axes that were drawn on.
void draw_scale(Canvas& canvas, Rect room, const StepSheet& sheet, const TextStyle& text, Color line,
                bool answered = false);
[[nodiscard]] bool asks_for_line(const StepSheet& sheet);
// Returns what a task wants and what it lets change, a line each.
[[nodiscard]] std::vector<std::string> goals_of(const StepSheet& sheet);
// Returns the solution of a task: "tp = 8, layout.zero = 1".
[[nodiscard]] std::string solution_of(const StepSheet& sheet);
// Requests a picture for print. `open`: it is next to the question and hides what would answer it.
[[nodiscard]] PictureRequest picture_request_of(const StepSheet& sheet, bool open);
// Returns true if the picture itself is the answer, as the layouts that Search finds are of a task: then it
// stands only with the answers, and nowhere where there are none.
[[nodiscard]] bool picture_answers(const StepSheet& sheet);
// Returns true if the picture next to the question leaves out what is asked: all of it stands with the
// answers.
[[nodiscard]] bool picture_leaves_out(const StepSheet& sheet);
struct StepPicture {
    std::string words;  // "With tp 16"; empty: it needs none
    Plan plan;
    PictureRequest request;
    bool both = false;  // it has the plan before as well, and needs the width of a page for the two
};
// Holds the pictures of a step; slides and the page have the same.
struct StepPictures {
    std::optional<StepPicture> open;  // next to the words, where it does not answer the question
    // With the answer: none, one, or the plan before and the one that was asked about, or that solves the
    // task. These two stand side by side on one page, on one scale, the first as an outline in the second.
    // A view that has both itself, as the fold, is one picture of them; of the dashboard, whose panes would
    // be too small, only the second is there.
    std::vector<StepPicture> answered;
};
[[nodiscard]] StepPictures pictures_of(const StepSheet& sheet, const Presets& presets);

// A lesson on paper: its words with the answers of the plans that its steps open, pictures of the scenes, the
// questions, and at the end their answers.

// Returns plain text, the answers below their questions. `base`: the plan of steps that open none. Throws
// an error where a step's plan cannot be made.
[[nodiscard]] std::string lesson_text(const Lesson& lesson, const Plan& base, const Presets& presets);
// Returns one self-contained HTML page. Throws an error of kind io where there is no EGL to draw with.
[[nodiscard]] std::string lesson_page(const Lesson& lesson, const Plan& base, const Presets& presets,
                                      const FontFiles& fonts);
// Returns the same as slides: words and question, their picture next to them where both have room, else on a
// page of its own; at the end the answers, each that has pictures on a slide with them. Throws an error of
// kind io where there is no EGL, or this build writes no PDF. `language` is the lesson's, for the file to
// say; empty: English.
[[nodiscard]] std::string lesson_pdf(const Lesson& lesson, const Plan& base, const Presets& presets,
                                     const FontFiles& fonts, std::string_view language = {});

}  // namespace pentamesh::ui
