// Every view reads the scene: the plan, its evaluation, and the selection. A view may return an edit of the
// plan; selecting in one view highlights in all.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/colors.h"
#include "core/evaluate.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"
#include "core/mesh/places.h"
#include "core/plan/model_fields.h"
#include "core/runs/hang.h"
#include "core/runs/measured.h"
#include "core/sharding/sharding.h"
#include "core/teach/glossary.h"
#include "render/input.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct RealRun;

struct Selection {
    GroupKind group = GroupKind::tp;
    bool all_axes = true;               // the mesh lights the groups of every axis, not only those of `group`
    bool pp_of_experts = false;         // pp is in both meshes: the expert mesh is the one shown
    std::int64_t rank = -1;             // -1: none
    std::vector<std::int64_t> ranks{};  // ascending, each once: what do they share? (Topic::ranks)
    int stage = -1;
    int operation = -1;      // index into comm.operations
    std::ptrdiff_t op = -1;  // index into timeline.order.ops
    int tensor = -1;         // index into list_placements of parameters
    int activation = -1;     // of activations while computing; >= 0: the tensor is an activation
    TensorState tensor_state = TensorState::parameters;
    int memory_category = -1;
    int step_part = 0;  // StepPart
    enum class Topic : std::uint8_t {
        none,
        rank,
        operation,
        memory,
        op,
        tensor,
        step,
        ranks
    } topic = Topic::none;

    // Returns true if the expert mesh is shown over the cells.
    [[nodiscard]] bool expert() const {
        return is_expert(group) || (group == GroupKind::pp && pp_of_experts);
    }
    // Selects a GPU; < 0 selects no GPU. Its stage is highlighted with it, in the place of one that was
    // picked by itself.
    void pick_rank(std::int64_t of) {
        rank = of < 0 ? -1 : of;
        stage = memory_category = -1;
        topic = rank >= 0 ? Topic::rank : Topic::none;
    }
    // The mesh that is shown stays for pp.
    void choose(GroupKind kind) {
        pp_of_experts = expert();
        group = kind;
        all_axes = false;
    }
    void show_mesh(bool experts) {
        if (experts != expert()) group = experts ? GroupKind::ep : GroupKind::tp;
    }
    // Returns a selection of nothing, with the same groups coloured.
    [[nodiscard]] Selection cleared() const {
        return {.group = group, .all_axes = all_axes, .pp_of_experts = pp_of_experts};
    }
    bool operator==(const Selection&) const = default;
};

// The mouse is over this in the frame; the other views highlight it in the next one.
struct Hover {
    std::int64_t rank = -1;
    int stage = -1;
    std::optional<GroupKind> group;
    std::string message;  // an error of this frame, for the line that passes by
    bool operator==(const Hover&) const = default;
};

struct PlanEdit {
    Plan plan;
    std::string what;               // "tp 8" for the undo menu
    std::string merge_key;          // edits in a row of one drag are one step
    bool other_model = false;       // another model was chosen, not this one changed
    std::optional<Axis> touched{};  // the axis whose factor was pressed
};

// A click asks this of the window. The view, panel or sheet that was clicked returns it, and Shell::take does
// it once all is drawn.
struct Effects {
    // A sheet, a dialog, or a page of a view.
    enum class Opens : std::uint8_t { nothing, fields, stages, own_presets, preset_name, lanes };
    // The plan that becomes A of Compare; `open`: A then takes its place.
    enum class Pins : std::uint8_t { nothing, open, before_last_edit };

    std::optional<PlanEdit> edit{};
    Opens opens = Opens::nothing;
    FieldTopic topic = FieldTopic::size;    // where the sheet of all fields opens
    PresetKind preset = PresetKind::model;  // the part of the plan that is to be kept under a name
    Pins pins = Pins::nothing;

    Effects() = default;
    // Most clicks only edit the plan.
    Effects(std::optional<PlanEdit> made) : edit(std::move(made)) {}
    Effects(PlanEdit made) : edit(std::move(made)) {}
    explicit Effects(Opens what) : opens(what) {}
    explicit Effects(Pins what) : pins(what) {}
    // Later wishes go first.
    void add(Effects later) {
        if (later.edit) edit = std::move(later.edit);
        if (later.opens != Opens::nothing) opens = later.opens, topic = later.topic, preset = later.preset;
        if (later.pins != Pins::nothing) pins = later.pins;
    }
};

// A layout that a search found better than the open plan.
struct BetterLayout {
    PlanEdit edit;
    std::string gain;     // "−3.4 %, and it fits"
    std::string changes;  // "cp 1 → 2"
    std::string reason;
};

// The keyboard goes to one view at a time: the one that fills the window, has the focus or is under the
// mouse.
struct ViewKeys {
    bool here = false;         // the view that is drawn has it
    bool took_escape = false;  // a view used Escape in this frame: nothing else may
    [[nodiscard]] bool pressed(Chord chord, bool repeat = false) const {
        return here && pentamesh::pressed(chord, repeat);
    }
};

// This is a stage that was slowed by hand in the timeline: what is not the plan's own, wherever the step is
// said.
struct InjectedStage {
    std::string words;  // "stage 0 × 2"
    double step_s = 0;  // with it
};

// Says how far scales of time and memory reach at least, so that several plans stand on the same.
struct CommonAxes {
    double time_s = 0, bytes = 0;
    bool of_pair = false;  // a picture stands next to another on them
};

struct Scene {
    const Plan& plan;
    const Evaluation& evaluation;
    const Presets& presets;
    Selection& selection;
    const Hover& hover;  // of the last frame
    Hover& next_hover;
    double time_cursor_s = -1;                 // of the timeline; < 0: none
    const Timeline* shown_timeline = nullptr;  // the one on the screen, which the cursor is of
    const Glossary* glossary = nullptr;
    ViewKeys keys{};
    const Hosts* hosts = nullptr;          // the hosts' names; it may hold none
    const interop::Tool* flags = nullptr;  // the tool whose settings fields show on hover; null:
                                           // of none
    const Evaluation* pinned = nullptr;    // of A, which figures carry their difference to; null: none
    std::string_view changed{};            // effect of the last edit on the main figures
    const PlanChange* change = nullptr;    // what the last edit changed, for a few seconds; null: none
    bool another_model = false;            // A has another model than the plan
    bool has_before = false;               // there is a plan before the last edit
    const RealRun* run = nullptr;          // a real run of the plan; null: none
    bool asked = false;                    // a question is open: figures of other plans than this one may
                                           // be its answer
    bool in_lesson = false;                // a lesson shows its own plan
    // Scales of time and memory reach at least so far: a lesson's plan and the one that it asks about, or
    // that somebody made of it, stand on one. The outline of this one stays then; null: of none.
    CommonAxes axes{};
    const Evaluation* outlined = nullptr;
    double guess_bytes = 0;  // what a room draws as the answer, in the plot of the memory; 0: nothing
    int guess_zero = -1;     // the stage of ZeRO that it is drawn for; -1: the plan as it is
    std::function<void(double)> move_guess{};  // takes the bytes drawn instead; null: it stays as it is
    std::optional<InjectedStage> injected{};
    std::span<const BetterLayout>
        better{};  // layouts that fit and are much faster, where a search knows some
};

// Returns "gpu004"; empty where it has no name.
[[nodiscard]] std::string host_of(const Scene& scene, std::int64_t rank);
// Returns the pipeline stage of a GPU; -1 where there is no such rank, or only one stage.
[[nodiscard]] int stage_of_rank(const Mesh& mesh, std::int64_t rank);
// Returns the stage that was picked, by itself or with a GPU of it, or -1.
[[nodiscard]] int chosen_stage(const Scene& scene);
[[nodiscard]] inline bool is_highlighted(const Scene& scene, int stage) {
    return scene.hover.stage == stage || chosen_stage(scene) == stage;
}
// Returns the GPU that was picked, or the first of the stage that was, or -1.
[[nodiscard]] std::int64_t chosen_rank(const Scene& scene);
// Returns "rank 5", "stage 2"; empty where nothing was picked.
[[nodiscard]] std::string chosen_name(const Scene& scene);

// Returns the name of an axis kind; the axis switch offers those that the plan uses, dense or expert.
[[nodiscard]] std::string axis_label(GroupKind kind);  // "tp", "dp_shard", "etp x ep"
// Returns the kind called "dp_shard" and the like; nullopt where no kind of groups is called so.
[[nodiscard]] std::optional<GroupKind> axis_named(std::string_view name);

// Lets scales of time and memory reach as far as a plan does.
void extend_axes(const Evaluation& of, CommonAxes& axes);
// Keeps the outline of a plan on the scene's scales, which reach as far as the longer step and the fuller
// GPU.
void keep_outline(Scene& scene, const Evaluation& of);
// Returns the time of the step before the last edit while its outline stays, else that of the outlined plan;
// `name` is that of the glide.
[[nodiscard]] std::optional<double> step_before(const Ui& ui, std::string_view name, const Scene& scene);

// Places a view's own controls and words: in the row of its head, or in a row of their own.

struct Scene;

// Returns the place for a view's own control of this width: in the head's row, or, where that is short, in a
// row of its own cut off `room`, which is the head's row then. It is squeezed only where `room` is too low
// for that.
[[nodiscard]] Rect head_place(Rect& head_row, Rect& room, float width);
// Returns the width at which segments show all of their labels, at least `least`; in a picture, which has no
// switches, that of the selected label, of the longest where none is named.
[[nodiscard]] float segments_width(Ui& ui, std::span<const std::string_view> labels, float least = 0,
                                   int selected = -1);
// Returns a row for words of this width: the rest of the head's row, or a row of its own where that is short.
[[nodiscard]] Rect head_words(Rect head_row, Rect& room, float width);
// Writes the sentence of a view: in the head's row, or as a paragraph cut off `room` where the row is too
// short and the room higher than `least_height`; else cut, with a tooltip.
void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height = 150);

// Returns true if Space was pressed for what plays in `room`: the keyboard has not gone to a control that it
// presses. The mouse leaves the focus on the control it clicked last: in the room that does not choose one.
[[nodiscard]] bool takes_space(Ui& ui, Rect room, const Scene& scene);
// Lets Space play and Left and Right step, and goes on; `space`: it was taken.
void answer_player_keys(Ui& ui, const Scene& scene, Playback& played, const Film& film, bool space);

// Hatches the place of figures that a plan with errors does not have, and says which rule fails and what
// mends it.
void draw_void(Ui& ui, Rect room, const Scene& scene);

// Holds a second plan next to the open one, with the figures that follow from it.

struct OtherPlan {
    Plan plan;
    Evaluation evaluation;
};
using KeptOtherPlan = Kept<OtherPlan, std::pair<std::uint64_t, int>>;  // by revision and choice

// Holds what a real run left behind, as it stands next to the open plan.

// Parts have the colours that they have in the predicted step; what no axis has is grey.
[[nodiscard]] Color color_of(const Theme& theme, runs::RunPart part);

// Returns a table as people read it: "3.51 s", at the right end of its column.
[[nodiscard]] Table as_read(Table table);

struct RealRun {
    std::string name;                           // of its files: "dumps", "train.log and 2 files"
    std::shared_ptr<const runs::HangRun> hang;  // null: there are no dumps
    std::vector<runs::RunFile> files;           // traces, logs, timelines
    std::filesystem::path settings{};           // the log that says its settings too; empty: none
    // Compares the files with the plan of this revision; null while that is worked out.
    std::shared_ptr<const runs::Measured> measured;
    std::uint64_t measured_of = 0;

    // Returns one line: the verdict, or where the difference sits.
    [[nodiscard]] std::string words() const;
};

// Returns the part of the measured step to which a part of the predicted one belongs; nullopt where the run
// is not divided. `group` is the axis of what is exposed.
[[nodiscard]] std::optional<runs::RunPart> run_part_of(const RealRun& run, StepPart part, GroupKind group);
// The part of a real run that is selected: chosen in its own rows, or by the predicted step.
[[nodiscard]] std::optional<runs::RunPart> selected_part(const Scene& scene);
// Selects in all views what a part of a real run is of the predicted step; nothing for one that no plan has.
void select_part(Scene& scene, runs::RunPart part);

// Holds the hosts that the plan's ranks run on, as the user typed them or an imported job names them.

class HostNames {
  public:
    // Holds a node list of SLURM, "gpu[001-064]"; empty where there are no names.
    std::string list;

    // Returns the hosts of these GPUs; no hosts where the list does not fit them: error() says why.
    [[nodiscard]] const Hosts& of(const Plan& plan, const Mesh& mesh);
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    std::tuple<std::string, std::int64_t, std::int64_t> known_;  // list, GPUs, GPUs of a node
    Hosts hosts_;
    std::string error_;
};

}  // namespace pentamesh::ui
