// The timeline is put together from these parts: a device's row of ops, what is drawn over the rows, their
// names, the curve of what a stage holds, the controls, and what is said of a block.
#pragma once

#include "app/ui/views/timeline/view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::runs {
struct RunFile;
}  // namespace pentamesh::runs

namespace pentamesh::ui {

// Places the rows: device d has its top at plot.y + d * row_h - scroll.
// Returns a row's height where the next begins so far below. Rows without lanes below their blocks are parted
// by a gap.
[[nodiscard]] constexpr float row_height(float pitch) {
    return pitch - (pitch >= 16 && pitch < 24 ? 3.0f : pitch > 8 ? 1.5f : pitch > 4 ? 1.0f : 0.0f);
}
struct RowPlace {
    Rect plot;
    float row_h = 0, scroll = 0;
    float above = 0;  // of each row: another plan's track stands there
    [[nodiscard]] Rect row(int device) const {
        return {plot.x, top(device) + above, plot.w, row_height(row_h) - above};
    }
    [[nodiscard]] float top(int device) const { return plot.y + static_cast<float>(device) * row_h - scroll; }
    [[nodiscard]] float middle(int device) const {
        return plot.y + (static_cast<float>(device) + 0.5f) * row_h - scroll + above / 2;
    }
};

// Draws arrows from the ops whose output `op` needs, and to those that need its own; the one it waited for
// last is strong.
void draw_arrows(Ui& ui, const Timeline& t, const TimelineCosts& costs, std::size_t op, const RowPlace& rows,
                 const TimeScale& scale);
void draw_critical(Ui& ui, const Timeline& t, const std::vector<std::size_t>& path, const RowPlace& rows,
                   const TimeScale& scale);
// Draws a stair through the rows where one step ends and the next begins.
void draw_step_end(Ui& ui, const Timeline& t, const RowPlace& rows, const TimeScale& scale);
// Says what is not of the part of a real run that is selected.
struct FadedParts {
    bool work = false, optimizer = false, stragglers = false;
    EnumArray<GroupKind, bool> axis{};
};
// A part of the step after the pipeline: an axis' exposed time (hatched), the optimizer, stragglers.
// Parts of the step that have the colors of the view Step.
inline constexpr StepSlice kOptimizer{StepPart::optimizer, GroupKind::tp, 0, 0};
inline constexpr StepSlice kSlowed{StepPart::slowed, GroupKind::tp, 0, 0};
inline constexpr StepSlice kHostBound{StepPart::starts, GroupKind::tp, 0, 0};
inline constexpr StepSlice kHostMemory{StepPart::offload, GroupKind::tp, 0, 0};

struct TailPart {
    std::string name;
    Color color;
    double seconds = 0;
    TimelineMark mark = TimelineMark::waits;
    GroupKind axis = GroupKind::tp;  // of `waits`
    bool faded = false;
    [[nodiscard]] bool hatched() const {
        return mark == TimelineMark::waits || mark == TimelineMark::stragglers;
    }
    void mark_in(TimelineMarks& marks) const {
        mark == TimelineMark::waits ? marks.add(mark, axis) : marks.add(mark);
    }
};
[[nodiscard]] std::vector<TailPart> tail_parts(const Theme& theme, const StepTail& tail,
                                               const FadedParts& fades = {});
// Draws gradients that nothing hides, the optimizer and stragglers, after the makespan. Returns what is seen
// of them.
TimelineMarks draw_tail(Ui& ui, const StepTail& tail, double from_s, Rect plot, const TimeScale& scale,
                        const FadedParts& fades = {});
void draw_ruler(Ui& ui, Rect row, const TimeScale& scale);
// Draws where the step ended before the last edit, and how far the end moved: between two of the rows, clear
// of their numbers; without rows in the middle of the plot.
void draw_moved_end(Ui& ui, double before_s, double now_s, const TimeScale& scale,
                    const RowPlace* rows = nullptr);
// Returns true if plan A, which was there before the question, has rows to be drawn over those that are
// shown.
[[nodiscard]] bool has_track_of_a(const Scene& scene);
// Draws A's blocks on one row as outlines.
inline constexpr float kTrackOfA = 12, kTrackPitch = 15, kLeastTracked = 38;
void draw_track_of_a(Ui& ui, Rect track, const Scene& scene, int device, const TimeScale& scale);
// Returns true if the bubble is as long as in A: it then stands under the rows once more, from 0, A over B.
[[nodiscard]] bool bubble_stays(const Scene& scene);
inline constexpr float kSameBubble = 56;
// Precondition: it stays.
void draw_same_bubble(Ui& ui, Rect band, const Scene& scene, const TimeScale& scale);
void draw_cursor(Ui& ui, double at_s, Rect plot, Rect ruler, const TimeScale& scale);

// Distinguishes F, B, I and W by shade and texture; an FB pair has both halves in one frame; a later chunk is
// fainter.
[[nodiscard]] Color shade_of(const Theme& theme, const Op& op, int chunks);
// Rows below this have no room for parts: one colour stands for all that a device does.
inline constexpr float kLowRow_px = 13;
// Less of a mark is not drawn: of its width, and of the height of a strip at the foot of a block.
inline constexpr float kLeastMark_px = 0.5f, kLeastStrip_px = 0.75f;
// Time in which a stage does nothing.
inline constexpr Pattern kIdlePattern = Pattern::sparse;
inline constexpr float kIdleStrength = 0.55f;
// Returns the colour of a forward that is recomputed in a backward: between the two.
[[nodiscard]] Color recompute_color(const Theme& theme);
// Draws the texture over it: I is hatched, W dotted.
void texture(Canvas& canvas, const Theme& theme, OpKind kind, Rect r);

// Below the blocks is communication that is hidden behind them, in each block and once a step.
struct HiddenLanes {
    float each = 0, once = 0;
    [[nodiscard]] float sum() const { return each + once; }
};
// Says how high the parts of a row are. Lanes are 0 where rows are low, nothing is hidden, or sends cost
// nothing.
struct RowParts {
    float bar = 0;  // the blocks
    HiddenLanes hidden;
    float sends = 0;
};
[[nodiscard]] RowParts parts_of_row(const ShownTimeline& shown, int devices, float height);

// Returns what a block's time goes to.
[[nodiscard]] BlockShares block_shares(const ShownTimeline& shown, int chunks, int device, const Op& op);

class RowPainter {
  public:
    RowPainter(Ui& ui, const Evaluation& evaluation, const ShownTimeline& shown, const TimeScale& scale,
               SeenBlocks& blocks);

    int highlighted_microbatch = -1;  // >= 0: the others fade
    TimelineMarks drawn;              // out
    FadedParts fades;
    std::ptrdiff_t selected = -1;  // op of the evaluation's own timeline
    std::ptrdiff_t hovered = -1;   // out: the op under the mouse
    Block hovered_run;             // out: or the run of ops too narrow to see
    bool over_run = false;

    void row(Rect r, int device);
    [[nodiscard]] const TimeScale& scale() const { return scale_; }
    // After the rows: the widest gap says what it is, where it has room for the word.
    void name_gap();
    // Says which rows are drawn and how high they are, before the first. If there are many low ones, wider
    // ops are merged and only wide ones numbered, so that a frame's cost has a bound.
    void expect_rows(int first, int last, float height);

  private:
    void idle(Rect bar);
    void find_gap(Rect bar, double from_s, double to_s);
    Ui& ui_;
    const Timeline& t_;
    const Timeline* before_;
    const ShownTimeline& shown_;
    const TimeScale& scale_;
    SeenBlocks& blocks_;
    int chunks_;
    RowParts parts_;
    Rect gap_;  // the widest in which a device does nothing
    Rect low_;  // of runs in a low row, not drawn yet
    Color low_color_;
    float least_numbered_px_ = 0;         // narrower ops go without their number
    std::array<float, 5> number_size_{};  // of each kind of op, by OpKind; 0: it goes without

    [[nodiscard]] float x(double time_s) const;  // kept near the plot: far away, floats are too coarse
    [[nodiscard]] Color faded(Color c, bool mine) const {
        return mine ? c : mix(c, ui_.theme().window, 0.65f);
    }
    [[nodiscard]] bool mine(const Op& op) const;
    // Takes off a row's lower edge the lane of sends, then those of hidden calls: the last is of blocks.
    struct Lanes {
        Rect sends, once, each;
    };
    Lanes cut_lanes(Rect& row) const;
    void choose_numbers(int first, int last);
    [[nodiscard]] std::array<float, 2> number_room(int device, const Op& op) const;
    void hidden(Rect lane, int device, const Op& op, float x0, float x1, bool own);
    void hidden_once(Rect row, int device);
    void block(Rect row, int device, std::size_t i, float x0, float x1);
    void run(Rect row, int device, const Block& b, float x0, float x1);
    void strips(Rect r, const BlockShares& s, bool own);
    void low_run(Rect r, const Block& b);
    void end_low_run();
    void number(Rect r, OpKind kind, std::int32_t microbatch, Color ground);
    void both_numbers(Rect r, const Op& op);
    void send(Rect lane, int device, std::size_t i);
    void waiting(Rect row, int device, const Block& b);
    void highlighted_ops(Rect row, int device);
};

// Draws the lanes of the selected block in a card over the plot, joined to it by a beam; `windows` are those
// that show the timeline, and the card stays in `room`.
void draw_block_card(Ui& ui, Rect room, const RowPlace& rows, std::span<const TimeScale> windows,
                     const Scene& scene, TimelineViewState& state);
// Takes the mouse and the keyboard for the card of the last frame, before what lies under it does. Returns
// true if all lanes are wanted.
[[nodiscard]] bool take_card(Ui& ui, const Scene& scene, const TimelineViewState& state);

// Writes stages by number, and by layers and nodes where the rows are high enough; a click selects the stage,
// and moves the slow one here where there is one.
void draw_labels(Ui& ui, Rect labels, const RowPlace& rows, Scene& scene, TimelineViewState& state);
// Returns the width that the labels take in this room.
[[nodiscard]] float labels_width(Ui& ui, Rect room, bool tall, const ShownTimeline& shown);

// Draws what a GPU of a pipeline of one stage holds at each moment, over `hbm` that it has, by category and
// unit by unit of the model: the highest moment is marked, and is Memory's figure. `names` is the room left
// of the plot.
void draw_memory_through(Ui& ui, Rect room, Rect names, const Scene& scene, const Timeline& t,
                         const TimeScale& scale, TimelineViewState& state);

// Draws one device of the shown timeline; the value at the cursor is marked. `labelled`: what the curve
// is, and the values, are written above it.
void draw_memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale,
                       TimelineViewState& state, bool labelled);

// Returns the files of a real run that say how long a step was: each has a row below those of the plan.
[[nodiscard]] std::vector<const runs::RunFile*> measured_files(const Scene& scene);
inline constexpr float kMeasuredRow = 22;
// Draws those rows on the plan's axis of time: what a trace was busy with, or a log's sums one after another.
// A click selects a part; all else fades, in the plan's rows too.
void draw_measured_rows(Ui& ui, Rect labels, Rect rows, const std::vector<const runs::RunFile*>& files,
                        const TimeScale& scale, Scene& scene);
// Returns what fades in the plan's rows, as a part of a real run is selected.
[[nodiscard]] FadedParts faded_parts(const Scene& scene);

[[nodiscard]] std::string op_tooltip(const Timeline& t, const ShownTimeline& shown, std::size_t i);
[[nodiscard]] std::string run_tooltip(const Block& b);

// Draws back, play, forward: it needs 84 x 24.
void draw_transport(Ui& ui, Rect row, const Timeline& t, TimelineViewState& state, int stage);
void draw_critical_switch(Ui& ui, Rect box, TimelineViewState& state);
// Draws one row: transport, critical path, one step or two, the slow stage, the second schedule.
void draw_controls(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state, std::uint64_t revision);
// Writes "bubble 6.14 % of the step ...", or the cost of the injected slow stage, with its removal. The
// tooltip has every other measure of idle time by its name, and the closed form.
void draw_sentence(Ui& ui, Rect row, const Scene& scene, TimelineViewState& state);
// Returns the marks that rows at this distance from one another show, at so many pixels a second.
[[nodiscard]] TimelineMarks marks_of(const Theme& theme, const ShownTimeline& shown, const Timeline& t,
                                     float row_h, double px_per_s);
// Names the marks, in as many lines as they need; lines below `room` are left out. Returns the number of
// lines; with `draw` false, they are only counted.
inline constexpr float kLegendRow = 18;
int timeline_legend(Ui& ui, Rect room, const TimelineMarks& marks, bool draw);

// Returns "zb-h1 under 1f1b's costs: 43 % less idle ...".
[[nodiscard]] std::string comparison_text(const Timeline& own, const Timeline& other);
// Slows the next device, or no device, as a click on its row or the stepper asks.
void inject(TimelineViewState& state, int device, int by);

}  // namespace pentamesh::ui
