// A review draws these figures. Those that a view has are drawn by the view on a part of the page.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/review/sheet.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/memory/view.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <array>
#include <functional>
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

// Draws the cells of the mesh, coloured by their group of that kind; without a kind one rank's groups of
// every axis stand out.
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

// Draws the way from one step to another: a bar for each part that differs, gains first, its cause below it.
// Precondition: the comparison is of two plans that have a step.
void draw_way_figure(ReviewSheet& sheet, Rect room, const PlanComparison& comparison, double a_s, double b_s);

using DrawView = std::function<void(Ui& ui, Rect room, Scene& scene)>;
// Draws a view, or a part of one, in a part of the page, its type as large as the page's. `instead` is what a
// PDF reads aloud in its place.
void draw_on_page(ReviewSheet& sheet, Rect room, const Reviewed& of, std::string_view instead,
                  const DrawView& draw);
// Returns how large a pixel of the window is on the page.
[[nodiscard]] float window_pixel(const ReviewSheet& sheet);

[[nodiscard]] float pipeline_height(const ReviewSheet& sheet, const Timeline& timeline);
void draw_pipeline(ReviewSheet& sheet, Rect room, const Reviewed& of);
// Draws what each GPU holds, or what each choice saves of it.
[[nodiscard]] float memory_height(const ReviewSheet& sheet, const Memory& memory,
                                  MemoryPage page = MemoryPage::stages);
void draw_held(ReviewSheet& sheet, Rect room, const Reviewed& of, MemoryPage page = MemoryPage::stages);
// Draws what each axis sends over which link, and how much of it the step waits for. Precondition: it has a
// step.
void draw_traffic(ReviewSheet& sheet, Rect room, const Reviewed& of);
// Draws one micro-batch on its lanes: what the step waits for of data parallelism's traffic. It takes its
// room from the sheet; nothing where no such traffic is. Precondition: it has a step.
void draw_lanes(ReviewSheet& sheet, const Reviewed& of);
// Draws what moves the step most, as many rows as the page has room for.
void draw_sensitivity(ReviewSheet& sheet, const Reviewed& of, const Sensitivity& s);

}  // namespace pentamesh::ui
