// The view Memory shows what each GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/batch_room.h"
#include "core/memory/memory_costs.h"
#include "core/teach/wire_race.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

enum class MemoryPage : std::uint8_t { stages, saved, sheds };

struct MemoryViewState {
    std::uint32_t hidden = 0;  // categories switched off, by bit
    MemoryPage page = MemoryPage::stages;
    std::int64_t microbatches = 0;  // that the rungs of ZeRO have instead of the plan's; 0: the plan's
    Kept<std::vector<SavingStep>> savings;                          // by revision
    Kept<std::vector<BatchRoom>> rooms;                             // by revision
    Kept<ZeroRungs, std::pair<std::uint64_t, std::int64_t>> rungs;  // by revision and micro-batches
};
[[nodiscard]] std::optional<PlanEdit> draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  MemoryViewState& state, std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table memory_data(const Scene& scene, int part);

inline constexpr std::size_t kCategoryCount = kMemoryCategoryCount;
// The first categories are parameters, gradients and optimizer states: what is known of an impossible plan
// too.
inline constexpr std::size_t kStates = static_cast<std::size_t>(MemoryCategory::activations);
inline constexpr std::size_t kBuffers = static_cast<std::size_t>(MemoryCategory::buffers);

[[nodiscard]] inline std::string_view category_name(std::size_t i) {
    return name_of(static_cast<MemoryCategory>(i));
}
[[nodiscard]] inline double bytes_at(const StageMemory& s, std::size_t i) {
    return bytes_of(s, static_cast<MemoryCategory>(i));
}
// Fills a bar of a category: buffers are hatched, everything else is solid.
void fill_memory(Canvas& canvas, const Theme& theme, Rect bar, MemoryCategory category, float alpha = 1,
                 float radius = 0);
// Holds where each category lies in a bar, one after another: from its foot up, or from its left on.
using MemoryParts = std::array<Rect, kCategoryCount>;
[[nodiscard]] MemoryParts memory_parts(Rect bar, const StageMemory& s, double px_per_byte, bool upright,
                                       std::uint32_t hidden = 0);
void fill_memory(Canvas& canvas, const Theme& theme, const MemoryParts& parts, float alpha = 1);
// Hatches what of a bar is over the line of what a GPU has.
void hatch_over(Canvas& canvas, const Theme& theme, Rect over);
// Draws a category's mark in a legend.
inline void swatch(Ui& ui, Rect box, std::size_t category, float alpha) {
    fill_memory(ui.canvas(), ui.theme(), box, static_cast<MemoryCategory>(category), alpha, 2);
}

// Returns what is drawn: the figures, or, of an impossible plan, what still holds of them.
[[nodiscard]] inline const Memory& shown_memory(const Evaluation& e) {
    return e.valid ? e.memory : e.states;
}

struct StageBars {
    Rect plot, labels;  // the bars, and the names of the stages below them
    float line_y = 0;   // of what the GPU has
};
// Draws the memory of a GPU as a lying bar: its categories with their figures where they fit, what of it is
// over the line of what the GPU has, and the range of its buffers. `whole` is what the bar's width stands
// for.
void draw_memory_bar(const Ink& ink, Rect bar, const StageMemory& s, double hbm, double whole);
inline constexpr double kTebibyte = 1024.0 * 1024 * 1024 * 1024;  // from here on totals are in TiB

// Returns the bytes at the end of a plot that is so long. What was there before, or what a lesson asks about,
// counts for it too, unless the plan's own bar would be a sliver next to it: then it follows the plan's own
// bytes and what the GPU has, and the outline of the other is cut.
[[nodiscard]] double memory_axis(double own, double before, double hbm, float length, bool pair = false);
// Returns what the width of a single stage's bar stands for at least.
[[nodiscard]] double single_bar_bytes(const Scene& scene, const MemoryViewState& state, float width);
// Draws a single stage as a bar that lies over the whole width, which stands for so many bytes at least; the
// bar is at most so high.
struct BarSize {
    double bytes = 0;
    float height = 56;
};
void draw_single_bar(Ui& ui, Rect room, Scene& scene, const MemoryViewState& state, BarSize size = {});
// Draws what a GPU holds as one bar with its names and figures: on the scale of what it has, or over all of
// the bar where it holds little of that.
void draw_gpu_bar(Ui& ui, Rect bar, const StageMemory& s, double hbm);
// Draws the same once more where it is a small part of what the GPU has: over all of the room, under a beam
// from its place `from`.
void draw_enlarged_bar(Ui& ui, Rect room, Rect from, const StageMemory& s);
// Draws the bars from the left, `step` apart, with their totals, ranges and free room.
StageBars draw_stage_bars(Ui& ui, Rect room, float step, Scene& scene, const MemoryViewState& state);
// Returns where the parts are of the bar that stands for most stages.
[[nodiscard]] MemoryParts widest_parts(Ui& ui, Rect room, float step, const Scene& scene,
                                       const MemoryViewState& state);
// A lower segment of a bar has no figure.
inline constexpr float kLeastFigure = 15;

// Draws the page that puts the four stages of ZeRO side by side: copies that shed what the others keep.
// A click on a stage makes it the plan's.
[[nodiscard]] std::optional<PlanEdit> draw_sheds(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                 MemoryViewState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
