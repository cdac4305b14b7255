// Draws the inspector: the selection and how its numbers came about, problems and advice.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/base/containers.h"
#include "core/base/explain.h"
#include "core/explain/verdict.h"
#include "core/memory/memory.h"
#include "core/pipeline/timeline.h"
#include "core/plan/problem.h"
#include "core/sharding/sharding.h"
#include "core/step/constants.h"
#include "core/teach/glossary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct InspectorState {
    ScrollState scroll;
    std::optional<ProblemCode> open;  // the problem whose reason is shown whole
    bool problems_open = false;       // the layer that the status line opens
    Rect problems_anchor;
    ScrollState problems_scroll;
};
// Returns "nemo/llama3-70b, at a distance of 0.4": the nearest of the measured runs; empty where the plan's
// own runs are known.
[[nodiscard]] std::string nearest_run_words(const Plan& plan, const Step& step);
// Says what the whole training takes, with the ranges of the step; nothing where the plan has no tokens.
struct TrainingRow {
    std::string name, value, unit;  // "cost", "12.5 M (10.3 M to 15.1 M)", "USD"
};
[[nodiscard]] std::vector<TrainingRow> training_rows(const Plan& plan, const Step& step);

[[nodiscard]] Effects draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state);

// Draws the problems with their fixes over the window, while they are open: for windows too small for the
// inspector.
[[nodiscard]] std::optional<PlanEdit> draw_problems_layer(Ui& ui, const Scene& scene, InspectorState& state);

// Describes what is selected: a GPU, a block of the timeline, how a figure came about.

struct CardLine {
    std::string_view name;
    std::string value;
};
// Returns its place, its place in each group with the others of it, its share of the compute and of the
// state, and who keeps the same. `rank` is one of the mesh's.
[[nodiscard]] std::vector<CardLine> rank_lines(const Plan& plan, const Evaluation& evaluation,
                                               std::int64_t rank);

// `t` is the evaluation's own timeline, or the same order with other times.
[[nodiscard]] std::vector<CardLine> block_lines(const Plan& plan, const Evaluation& e, const Timeline& t,
                                                std::size_t i);

[[nodiscard]] Explanation explain_selection(const Scene& scene);

// Returns the placement of the selected tensor or activation; nullopt where nothing is selected, or it no
// longer exists.
[[nodiscard]] std::optional<Placement> selected_tensor(const Scene& scene, Moment moment);

// Shows what some ranks share: as a block of the inspector, and in the panel in which a list of ranks is
// typed (core/explain/traffic.h).

// Returns true if there are groups to share: of a valid plan, or of the layout that a run's dumps tell.
[[nodiscard]] bool has_groups(const Scene& scene);
// Describes scene.selection.ranks, downwards in `room`. Of a run without its plan only the layout is said.
void draw_blame(Ui& ui, Rect& room, const Scene& scene);

struct BlamePanelState {
    bool open = false, fresh = true;
    std::string text{}, error{};
    ScrollState scroll{};
};
// Draws the panel while it is open. Enter selects the ranks that were typed: they are highlighted in the
// mesh.
void draw_blame_panel(Ui& ui, Scene& scene, BlamePanelState& state, HostNames& hosts);

// Selects the ranks of a list. Returns what is wrong with it; empty where nothing is.
[[nodiscard]] std::string select_ranks(Scene& scene, const std::string& list);

// Signs in front of verdicts and problems, so that colour is never the only sign.

enum class Sign : std::uint8_t { disc, triangle, square };

void draw_sign(Canvas& canvas, Vec2 center, Sign sign, Color color, float radius);
// Returns the colour of a verdict; nullopt is an impossible plan's.
[[nodiscard]] Color color_of(const Theme& theme, std::optional<MemoryFit> fit);
// Draws the sign in front of a verdict, in its colour.
void draw_fit(Canvas& canvas, const Theme& theme, Vec2 center, std::optional<MemoryFit> fit, float radius);
// Draws a red square for an error, an amber triangle for a warning and a grey dot for a notice. `at` is the
// top left of a line of 18 pixels.
void draw_severity(Ui& ui, Vec2 at, Severity severity);

// Three lines, one at a time, next to the control that each is about: for somebody who looks around for the
// first time.

inline constexpr int kFirstHints = 3;

// Draws the hint after `seen` of them. Returns how many are seen now: one is, when what it says was done. It
// waits where its control is not drawn.
[[nodiscard]] int draw_first_hint(Ui& ui, const Scene& scene, int seen);

// A card next to the plan panel says what the last edit made there changed.

// Draws it over everything for as long as the outlines of the plan before stay: next to the axis that was
// pressed, or to where else in the panel the press was. It takes no press itself.
void draw_change_card(Ui& ui, const PlanChange& change);

// Shows the constants of the time model: each with its meaning, its source, a stepper, and a way back.

struct ConstantsState {
    ScrollState scroll;
    TypedNumbers numbers;              // by id
    Kept<std::vector<Constant>> list;  // by revision
};
[[nodiscard]] std::optional<PlanEdit> draw_constants(Ui& ui, Rect room, const Scene& scene,
                                                     ConstantsState& state, std::uint64_t revision);
[[nodiscard]] std::string constant_text(Constant::Unit unit, double value);

// Draws the line at the bottom of the window: its figures, or what mouse and keys do.

// Draws a count of errors and warnings that opens their layer; a picture has no `state`, and nothing opens.
// `figures` is false where the verdict band has them: the line then says what mouse and keys do. `covered`: a
// lesson asks for them; `memory_said`: but its words say what the GPU holds.
void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered = false, bool figures = true, bool memory_said = false);

// Draws the verdict on the open plan over the whole window: one sentence, its reason, and five figures.
// Returns the height of the band in a window of that size; 0 where the window has no room for it.
// `small`: the window is a small room (is_small_room), whose band is the last thing to go.
[[nodiscard]] float verdict_band_height(Vec2 window, bool small = false);
// Returns true for a window of so few logical pixels that it shows one picture, chosen by tabs, the verdict
// over it and the axes next to it: large type on a projector.
[[nodiscard]] inline bool is_small_room(Vec2 window) {
    constexpr Vec2 kMost{900, 560};
    return window.x < kMost.x && window.y < kMost.y;
}

// `covered`: a lesson asks for what the band would say, so it says nothing. `measured`: what a published run
// that is this very plan measured.
void draw_verdict_band(Ui& ui, Rect room, const Scene& scene, bool covered,
                       const std::optional<MeasuredMfu>& measured);

// Shows a text as it was written, its lines numbered and marked; it scrolls. The text that an import reads
// and the text that an export writes are shown in one.

enum class LineMark : std::uint8_t { mapped, ignored, cannot_hold, not_known };

}  // namespace pentamesh::ui

template <>
inline constexpr std::size_t pentamesh::kEnumCount<pentamesh::ui::LineMark> = 4;

namespace pentamesh::ui {

// Returns "->", "·", "!", "?", so that colour is never the only mark.
[[nodiscard]] std::string_view sign_of(LineMark mark);
[[nodiscard]] Color color_of(const Theme& theme, LineMark mark);
[[nodiscard]] std::string_view words_of(LineMark mark);  // "mapped", "cannot hold"

struct MarkedText {
    std::vector<std::string_view> lines;  // of a text that outlives them
    std::vector<std::uint8_t> marks;      // a bit a LineMark, by line; may be empty
    void set_text(std::string_view text);
    void mark(int line, LineMark mark);  // from 1; 0: in no line
};

struct MarkedTextState {
    ScrollState scroll{};
    int highlighted = 0;  // line to light, from 1; 0: none
    int show = 0;         // line to scroll to in this frame
    int hovered = 0;      // under the mouse, as of this frame
};
void draw_marked_text(Ui& ui, std::string_view name, Rect room, const MarkedText& text,
                      MarkedTextState& state);

// Shows the glossary: a dotted term anywhere opens its card; a sheet with a search holds all of them.

// Draws text with a dotted line under it, as wide as it is drawn; a click or Enter opens the card of glossary
// entry `id`. `key` distinguishes several of one term on the screen. Returns true where the text was cut.
bool term(Ui& ui, Rect r, std::string_view id, std::string_view text, const TextStyle& style,
          std::uint64_t key = 0);

struct GlossaryState {
    bool open = false;  // the sheet
    bool fresh = false;
    std::string search;
    std::string picked;  // id
    ScrollState scroll;
    std::string card;  // id of the card that a term opened; empty: none
    Rect card_at;
};
// Draws the card and the sheet over the views. term() opens the card.
void draw_glossary(Ui& ui, Scene& scene, GlossaryState& state);

// Shows term, other names, meaning and what it is in the plan; returns its height, and draws unless
// `measure`.
float glossary_text(Ui& ui, Rect room, const Scene& scene, const GlossaryEntry& entry, bool measure);

}  // namespace pentamesh::ui
