// Draws the loaf cut between layers: a tile for each stage of the pipeline, the whole with its knives, and
// the timeline that says which micro-batches are in flight.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/pipeline/stages.h"
#include "core/teach/stage_loaf.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct StagesShown {
    StageLoaf loaf;
    std::vector<StagePlace> places;  // by stage
};
struct StagesPageState {
    // By revision, and the first rank of the pipeline.
    Kept<StagesShown, std::pair<std::uint64_t, std::int64_t>> shown;
    double now_s = -1;         // dragged to; < 0: the moment at which most is in flight
    std::uint64_t now_of = 0;  // the revision that it was dragged in
};
// Draws below the view's sentence. `whole` is the loaf of the same plan. Returns the edit of a knife.
[[nodiscard]] std::optional<PlanEdit> draw_stages(Ui& ui, Rect room, Scene& scene, const Loaf& whole,
                                                  StagesPageState& state, std::uint64_t revision,
                                                  std::int64_t rank);

// These are of the loaf's own drawing (shards_loaf.cpp).

// Says what is drawn of the uncut loaf beyond itself.
struct WholeLook {
    const StagesShown* stages =
        nullptr;           // only the cuts of the pipeline, where they are; null: of every axis
    int highlighted = -1;  // a stage whose layers stand out
    // The scale of the tiles, which the loaf takes where it has room for that; null: one of its own.
    const LoafScale* scale = nullptr;
    bool only_one = false;  // it is the GPU that does all of the work: no other is drawn
};
// Draws the loaf uncut with a knife for each axis: a click on its chip cuts further, a right click less.
[[nodiscard]] std::optional<PlanEdit> draw_whole(Ui& ui, Rect room, Scene& scene, const Loaf& loaf,
                                                 const WholeLook& look);

// A length goes to the right and up by these shares of it.
inline constexpr float kLoafAcross = 0.80f, kLoafUp = 0.36f;
// A box of the loaf: shares across and upright, its length in pixels from the front.
struct LoafSolid {
    double left = 0, right = 1, top = 0, bottom = 1;
    float from = 0, to = 0;
};
void draw_solid(Canvas& c, const Theme& theme, const LoafPlace& place, const LoafSolid& b, Color base,
                bool copied = false);
// Returns how many stripes of whole layers a front of so many shows: all up to 16, then at most eight.
[[nodiscard]] int stripes_of(std::int64_t layers);

// Draws how many micro-batches of a step are in work at once: a mark each, the first `at_once` filled. More
// than have room are a number.
void draw_rounds(Ui& ui, Rect row, std::int64_t at_once, std::int64_t all, Color color);

}  // namespace pentamesh::ui
