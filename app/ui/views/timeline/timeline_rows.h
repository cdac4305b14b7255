// Draws a device's row of the timeline: ops a pixel wide or more one by one, the rest as shares.
#pragma once

#include "app/ui/views/timeline/timeline_overlay.h"
#include "app/ui/views/timeline/timeline_scale.h"
#include "app/ui/views/timeline/view.h"

namespace pentamesh::ui {

// Distinguishes F, B, I and W by shade and texture; an FB pair has both halves in one frame; a later chunk is
// fainter.
[[nodiscard]] Color shade_of(const Theme& theme, const Op& op, int chunks);
// Rows below this have no room for parts: one colour stands for all that a device does.
inline constexpr float kLowRow_px = 13;
// Returns the colour of a forward that is recomputed in a backward: between the two.
[[nodiscard]] Color recompute_color(const Theme& theme);
// Draws the texture over it: I is hatched, W dotted.
void texture(Canvas& canvas, const Theme& theme, OpKind kind, Rect r);

// Returns the height below the ops in which sends run; 0 where rows are low or sends cost nothing.
[[nodiscard]] float lane_height(const ShownTimeline& shown, int devices, float row_height);

// Below the blocks is communication that is hidden behind them, in each block and once a step; 0 where rows
// are low or nothing is hidden.
struct HiddenLanes {
    float each = 0, once = 0;
    [[nodiscard]] float sum() const { return each + once; }
};
[[nodiscard]] HiddenLanes hidden_lanes(const ShownTimeline& shown, float row_height);

class RowPainter {
  public:
    RowPainter(Ui& ui, const Evaluation& evaluation, const ShownTimeline& shown, const TimeScale& scale,
               SeenBlocks& blocks);

    int lit_microbatch = -1;  // >= 0: the others fade
    FadedParts fades;
    std::ptrdiff_t selected = -1;  // op of the evaluation's own timeline
    std::ptrdiff_t hovered = -1;   // out: the op under the mouse
    Block hovered_run;             // out: or the run of ops too narrow to see
    bool over_run = false;

    void row(Rect r, int device);
    // After the rows: the widest gap says what it is, where it has room for the word.
    void name_gap();
    // Says how many rows are drawn, before the first. If there are many low ones, wider ops are merged and
    // only wide ones numbered, so that a frame's cost has a bound.
    void expect_rows(int rows);
    [[nodiscard]] float lane_of(float row_height) const;

  private:
    void idle(Rect bar);
    void find_gap(Rect bar, double from_s, double to_s);
    struct Shares {  // of a block's time: collectives exposed on each axis, the recomputed forward
        std::array<float, UnitComm::kAxes> axis{};
        float recomputed = 0;
        [[nodiscard]] float sum() const { return axis[0] + axis[1] + axis[2] + axis[3] + recomputed; }
    };

    Ui& ui_;
    const Timeline& t_;
    const Timeline* before_;
    const ShownTimeline& shown_;
    const TimeScale& scale_;
    SeenBlocks& blocks_;
    int chunks_;
    float widest_number_;  // all blocks of a width are numbered or none
    Rect gap_;             // the widest in which a device does nothing
    Rect low_;             // of runs in a low row, not drawn yet
    Color low_color_;
    float least_numbered_px_ = 1e9f;  // narrower ops go without their number

    [[nodiscard]] float x(double time_s) const;  // kept near the plot: far away, floats are too coarse
    [[nodiscard]] Color faded(Color c, bool mine) const {
        return mine ? c : mix(c, ui_.theme().window, 0.65f);
    }
    [[nodiscard]] bool mine(const Op& op) const;
    [[nodiscard]] Shares shares(int device, const Op& op) const;
    // Takes the lanes off a row's lower edge, in which hidden calls of blocks are drawn.
    Rect cut_lanes(Rect& row) const;
    void hidden(Rect lane, int device, const Op& op, float x0, float x1, bool own);
    void hidden_once(Rect row, int device);
    void block(Rect row, int device, std::size_t i, float x0, float x1);
    void run(Rect row, int device, const Block& b, float x0, float x1);
    void strips(Rect r, const Shares& s, bool own);
    void low_run(Rect r, const Block& b);
    void end_low_run();
    void number(Rect r, std::int32_t microbatch, Color ground);
    void both_numbers(Rect r, const Op& op);
    void send(Rect lane, int device, std::size_t i);
    void waiting(Rect row, int device, const Block& b);
    void lit_ops(Rect row, int device);
};

}  // namespace pentamesh::ui
