// Edits the plan: the panel on the left with its menus and popovers, rows written by hand for what people
// change most, and the sheet over the window, which shows every field of the table.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/menu.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"
#include "core/step/exposure.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct PlanEditorState {
    bool open = false;
    bool fresh = false;  // opened in this frame
    FieldTopic section = FieldTopic::size;
    ScrollState scroll;
    std::string editing, edit_text;  // pointer of the field that is typed
    bool edit_fresh = false;
    std::string wanted;  // pointer of the field that gets the keyboard first; empty: the first field
    // Fields whose last value was refused, by pointer, until they get a value that is right or are left with
    // Escape.
    struct Refused {
        std::string text, why;
    };
    std::map<std::string, Refused, std::less<>> refused;
    std::string choosing;  // pointer of the field whose choices are open
    Rect choices_anchor;
    MenuState choices;
    Kept<std::vector<PlanField>> fields;  // by revision
    // Holds the plan with the text being typed, by revision and text; nullopt where that is no value yet.
    Kept<std::optional<Plan>, std::pair<std::uint64_t, std::string>> tried;

    void open_at(FieldTopic at, std::string field = {}) {
        *this = {};
        open = fresh = true;
        section = at;
        wanted = std::move(field);
    }
};
[[nodiscard]] Effects draw_plan_editor(Ui& ui, const Scene& scene, PlanEditorState& state,
                                       std::uint64_t revision);

// Draws the plan panel: model, cluster, axes, order and modifiers, each of which may return an edit of the
// plan.

struct PlanPanelState {
    ScrollState scroll;
    int dragged_chip = -1;  // Axis
    // Names the open menu: "model", "cluster", "schedule", "order", or a popover: "batch", "precision",
    // "optimizer", "attention", "overlap", "offload"; empty where no menu is open.
    std::string menu;
    Rect menu_anchor;
    MenuState menu_state;
    TypedNumbers numbers;                 // by "tp", "gpus" ...
    bool spare_replicates = false;        // GPUs that come are replicas, not shards
    std::uint64_t revision = 0;           // of the evaluation that is shown
    Kept<std::string> largest;            // words of the largest micro-batch that fits; by revision
    bool all_axes = false;                // a lesson names rows: none is folded away
    std::uint64_t file = 0;               // that is open (Document::file)
    std::array<bool, kAxisCount> used{};  // by Axis: it was in use since that file was opened,
    std::uint64_t used_of = 0;            // whose number is kept here
};
// Returns true if the axis has a row of its own: it is in use or was, since the file was opened. The others
// share one line, so that a plan's factors are seen at once. A plan that cuts nothing yet has all rows.
[[nodiscard]] bool has_row(const Plan& plan, const PlanPanelState& state, Axis axis);
[[nodiscard]] Effects draw_plan_panel(Ui& ui, Rect panel, Scene& scene, PlanPanelState& state);
// Draws only the axes, each with its factor under its name, and a link to all settings: for a small room.
[[nodiscard]] Effects draw_plan_rail(Ui& ui, Rect rail, Scene& scene, PlanPanelState& state);
inline constexpr float kPlanRail = 92;  // its width
// The panel's menus are drawn after everything else.
// new_model_edit puts a model to be typed in, in the place of the plan's.
[[nodiscard]] PlanEdit new_model_edit(const Plan& plan);
[[nodiscard]] Effects draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state);

// Returns the edit that sets an axis' factor. With `drags` the edits of one drag are one step of undo.
[[nodiscard]] PlanEdit factor_edit(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus,
                                   bool drags = false);

// The plan panel's files share this: its blocks, its typed numbers and the words next to a refused one.

using MaybeEdit = std::optional<PlanEdit>;

// In a low window what explains is on hover.
[[nodiscard]] inline bool is_low(const Ui& ui) {
    constexpr float kLow = 760;
    return ui.frame().size.y < kLow;
}

// Returns the factor in force, 1 where the layout leaves it out.
[[nodiscard]] std::int64_t shown_factor(const Plan& plan, Axis axis);

// A whole number of the plan.
struct PlanNumber {
    std::string_view name{}, key{},
        pointer{};  // of the control; in PlanPanelState; of its field, whose range holds
    std::int64_t value = 0;
    std::string shown = thousands(value);
    bool can_up = true, on = true;
    std::function<std::int64_t(int by)> next{};  // the value of a step; empty: next_value
};
// Draws it, stepped or typed. Returns the new number; one out of its range is refused.
[[nodiscard]] std::optional<std::int64_t> plan_number(Ui& ui, Rect box, const PlanNumber& number,
                                                      PlanPanelState& state);
// Returns why a number is not taken of which the range does not allow it; empty: it does.
[[nodiscard]] std::string out_of_range(const FieldRange& range, double value);

void open_menu(PlanPanelState& state, std::string_view name, Rect anchor);

[[nodiscard]] MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
[[nodiscard]] MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
// Holds the full name of a method of context parallelism, and how its ranks meet.
struct CpWords {
    std::string_view name, how;
};
[[nodiscard]] const CpWords& words_of(CpComm comm);
// Draws the popovers of batch, precision, optimizer, attention, overlap and offload.
[[nodiscard]] MaybeEdit draw_plan_popover(Ui& ui, Scene& scene, PlanPanelState& state);

// Draws segments over an enum, and makes the edit of a choice.

template <typename Set>
[[nodiscard]] PlanEdit changed(const Scene& scene, std::string what, Set&& set) {
    Plan p = scene.plan;
    set(p);
    return PlanEdit{std::move(p), std::move(what), ""};
}

// Draws a segment for each value, by its name; returns the value that was clicked.
template <typename E>
[[nodiscard]] std::optional<E> choose_of(Ui& ui, std::string_view name, Rect box, std::span<const E> values,
                                         E current) {
    std::vector<std::string_view> labels;
    for (const E e : values) labels.push_back(name_of(e));
    const auto at = std::find(values.begin(), values.end(), current);
    const int now = at == values.end() ? -1 : static_cast<int>(at - values.begin());
    const int to = ui.segments(name, box, labels, now);
    return to == now ? std::nullopt : std::optional(values[to]);
}
template <typename E>
[[nodiscard]] constexpr auto all_values() {
    std::array<E, kNames<E>.size()> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<E>(i);
    return values;
}
template <typename E>
[[nodiscard]] std::optional<E> choose(Ui& ui, std::string_view name, Rect box, E current) {
    static constexpr auto kAll = all_values<E>();
    return choose_of<E>(ui, name, box, kAll, current);
}

// Lists the presets from which a model, a cluster or a GPU is picked: one's own first, then those that ship.

struct PresetMenu {
    std::vector<MenuItem> items;               // the presets, then what the caller adds
    std::vector<const Presets::Entry*> entry;  // of each preset
    [[nodiscard]] bool is_preset(std::size_t item) const { return item < entry.size(); }
};
// `current` is the id that the plan names; it may be empty. An own preset that is broken says why and cannot
// be picked.
[[nodiscard]] PresetMenu preset_menu(const Presets& presets, PresetKind kind, std::string_view current);
[[nodiscard]] bool has_own_presets(const Presets& presets);

// Returns "model", "GPU", "cluster", "plan".
[[nodiscard]] std::string_view word_of(PresetKind kind);
// Returns a preset's name, or its id where it cannot be read.
[[nodiscard]] std::string name_of_preset(const Presets& presets, PresetKind kind, std::string_view id);

// Edits layers per stage by hand: a bar for each chunk of the pipeline with its layers, its time and its
// stage's memory, in a sheet over the window.

// Holds the figures for any split of this plan's layers. `load` has no layers where the plan has other
// errors.
struct StageFigures {
    StageLoad load;
    std::vector<std::int64_t> now, even;  // layers of each chunk
    std::vector<int> device;              // of each chunk: the stage whose GPUs run it
    std::vector<int> chunk;               // the chunk's number among those of its device
    double balanced_s = 0;                // the busiest stage's, balanced; 0: that takes long to find
};

struct StageEditorState {
    bool open = false;
    bool fresh = false;           // opened in this frame
    bool neighbour_gives = true;  // false: what does not add up waits here until it does
    std::vector<std::int64_t> draft;
    std::uint64_t draft_of = 0;  // revision
    ScrollState scroll;
    TypedNumbers numbers;               // by chunk
    int dragged = -1;                   // chunk
    std::vector<std::int64_t> drag_of;  // the draft when the drag began
    double scale = 1;                   // logical pixels of the bars per second
    Kept<StageFigures> figures;         // by revision

    void open_now() {
        *this = {};
        open = fresh = true;
    }
};
[[nodiscard]] std::optional<PlanEdit> draw_stage_editor(Ui& ui, const Scene& scene, StageEditorState& state,
                                                        std::uint64_t revision);

}  // namespace pentamesh::ui
