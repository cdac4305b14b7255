// A review draws these figures: the mesh, memory by stage, the waterfall, the timeline, the tornado. They
// have the window's colours, and numbers in them where they fit.
#pragma once

#include "app/ui/review/sheet.h"
#include "app/ui/scene/scene.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Holds a plan and its evaluation.
struct Reviewed {
    const Plan& plan;
    const Evaluation& evaluation;
    const Presets& presets;
};

// The scene of a page: nothing is selected, and nobody points at anything.
struct PrintedScene {
    explicit PrintedScene(const Reviewed& of)
        : scene{.plan = of.plan,
                .evaluation = of.evaluation,
                .presets = of.presets,
                .selection = selection,
                .hover = none,
                .next_hover = next} {}
    PrintedScene(const PrintedScene&) = delete;
    PrintedScene& operator=(const PrintedScene&) = delete;

    Selection selection{};
    Hover none{}, next{};
    Scene scene;
};

// Draws every GPU in its node, coloured by its group of that kind; without a kind one rank's groups of every
// axis stand out.
void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, std::optional<GroupKind> kind);
// Draws the axis' name on its colour, its sentence below; returns the height. With `draw` false, it only
// measures.
float draw_axis_words(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind, bool draw = true);

// Holds stages that follow one another and hold the same.
struct StageRun {
    std::size_t first = 0, last = 0;
};
[[nodiscard]] std::vector<StageRun> stage_runs(const Memory& memory);
[[nodiscard]] std::string name_of(const StageRun& run);  // "1 to 7"

// Draws a bar for each stage, or for stages that hold the same, over as many pages as needed, with the GPU's
// memory as a line.
void draw_memory_bars(ReviewSheet& sheet, const Reviewed& of);

// Draws the memory of a stage's GPU as one bar with its line, its range and what is over the line; `whole` is
// what the room's width stands for.
void draw_memory_bar(ReviewSheet& sheet, Rect row, const StageMemory& s, double hbm, double whole);

// Draws the way from one step to another: a bar for each part that differs, gains first, its cause below it.
// Precondition: the comparison is of two plans that have a step.
void draw_way_figure(ReviewSheet& sheet, Rect room, const PlanComparison& comparison, double a_s, double b_s);

// Shows what a figure becomes, one choice after another: a bar from what it was to what it is then.
struct Course {
    struct Row {
        std::string name, why{};
        double to = 0;
        std::array<std::string, 2> figures{};  // in the columns at the right
        Color color{}, ink{};                  // of the bar; of the last figure
    };
    std::array<std::string, 3> heads{};  // over the names and the figures
    std::vector<Row> rows{};             // the first has no bar: there it begins
    bool logarithmic = false;
    std::optional<double> limit{};
    std::string limit_words{};
};
[[nodiscard]] float course_height(const ReviewSheet& sheet, const Course& course);
void draw_course(ReviewSheet& sheet, Rect room, const Course& course);

[[nodiscard]] float waterfall_height(const ReviewSheet& sheet, const Step& step);
// `whole_s` is the time that the room's width stands for, >= the step's.
void draw_waterfall_figure(ReviewSheet& sheet, Rect room, const Step& step, double whole_s);

// Draws for each axis the time of what its GPU sends: what the step waits for, and what compute hides.
// Precondition: it has a step.
[[nodiscard]] float traffic_height(const ReviewSheet& sheet, const Evaluation& e);
void draw_traffic_figure(ReviewSheet& sheet, Rect room, const Evaluation& e);

// Draws devices downwards, time to the right.
[[nodiscard]] float timeline_height(const ReviewSheet& sheet, const Timeline& timeline);
void draw_timeline_figure(ReviewSheet& sheet, Rect room, const Timeline& timeline);

// Draws the choices that fit and gain most, and the constants that change the step most, a bar to each side.
void draw_tornado(ReviewSheet& sheet, const Reviewed& reviewed, const Sensitivity& of);

}  // namespace pentamesh::ui
