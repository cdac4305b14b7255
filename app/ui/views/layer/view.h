// The view Layer shows the way through one layer, step by step: the block as a graph, forward above and
// backward below; each tensor with its cuts on the ranks of a group side by side; the tensors kept, the
// communication, the program.
#pragma once

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/evaluate.h"
#include "core/layer/layer.h"
#include "core/teach/tp_matrices.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Only this axis is used, on a few GPUs.
enum class AloneAxis : std::uint8_t { dp, fsdp, tp, tp_sp, cp_ring, cp_allgather, cp_ulysses, ep };
inline constexpr int kAloneCount = 8;
inline constexpr std::array<std::string_view, kAloneCount> kAloneNames{
    "DP", "FSDP", "TP", "TP + SP", "CP ring", "CP all-gather", "CP Ulysses", "EP"};

enum class LayerPart : std::uint8_t { attention, mlp, both };

struct LayerChoice {
    bool alone = false;
    AloneAxis axis = AloneAxis::tp_sp;
    bool steps = false;  // tp goes step by step; else it is drawn as two matrices
    bool dense = false;  // the dense layers of a model that has MoE layers too
    LayerPart part = LayerPart::both;
    Notation notation = Notation::jax;
    bool operator==(const LayerChoice&) const = default;
};

// Returns true if tensor parallelism is drawn as two matrices and their sum.
[[nodiscard]] inline bool shows_matrices(const LayerChoice& c) {
    return c.alone && !c.steps && (c.axis == AloneAxis::tp || c.axis == AloneAxis::tp_sp);
}

inline constexpr std::int64_t kMostRanks = 8;  // side by side

struct Tally {
    GroupKind group = GroupKind::tp;
    LayerOp op = LayerOp::all_gather;
    bool recomputed = false;
    double calls = 0, sent_bytes = 0;          // of all steps
    double calls_so_far = 0, sent_so_far = 0;  // up to the step at hand
};

struct ShownLayer {
    LayerChoice choice;
    std::string why_not;  // empty: there is a layer
    Plan plan;            // of only one axis
    Evaluation evaluation;
    LayerList list;
    bool has_dense = false, has_moe = false, dp = false, alone = false;
    std::int64_t layers = 0;                // of this kind
    std::vector<int> forward, backward;     // steps, of the part that is chosen
    std::vector<std::string> lines, marks;  // of the program: text, what waits to be summed
    bool tally_equals = true;               // the plan's own list says the same
    double plan_calls = 0, plan_sent_bytes = 0;

    // Returns the steps of both passes.
    [[nodiscard]] std::vector<int> steps() const {
        std::vector<int> all = forward;
        all.insert(all.end(), backward.begin(), backward.end());
        return all;
    }
    [[nodiscard]] const Plan& plan_of(const Scene& scene) const { return alone ? plan : scene.plan; }
    [[nodiscard]] const Evaluation& evaluation_of(const Scene& scene) const {
        return alone ? evaluation : scene.evaluation;
    }
};
// Everything in ShownLayer follows from this. The part of the tensors on `rank` is highlighted.
struct ShownLayerOf {
    std::uint64_t revision = 0;
    LayerChoice choice;
    std::int64_t rank = -1;
    bool operator==(const ShownLayerOf&) const = default;
};
using KeptLayer = Kept<ShownLayer, ShownLayerOf>;
void make_shown(const Scene& scene, const LayerChoice& choice, ShownLayer& out);
void keep_shown(const Scene& scene, const LayerChoice& choice, std::uint64_t revision, KeptLayer& kept);
// The matrices of a plan follow from its revision, the axis, and the rank whose group is shown.
struct TpMatricesOf {
    std::uint64_t revision = 0;
    AloneAxis axis = AloneAxis::tp;
    std::int64_t rank = 0;
    bool operator==(const TpMatricesOf&) const = default;
};
// Returns the tensors kept after step `at` (index), in the order in which they came.
[[nodiscard]] std::vector<KeptTensor> stash_at(const LayerList& list, int at);
[[nodiscard]] std::vector<Tally> tally_at(const LayerList& list, int at);
// Returns the bytes that a rank sends of a layer's activations over tp, without a second gather: they are the
// same with sequence parallelism and without, because an all-reduce is a reduce-scatter and an all-gather.
[[nodiscard]] double sent_over_tp_once(const LayerList& list);
// Returns the name of a box in the graph: "gather", "q k v".
[[nodiscard]] std::string short_name(const LayerStep& step);

struct LayerViewState {
    LayerChoice choice;
    bool notation_chosen = false;  // by a hand; until then it is that of the plan's software
    static constexpr int kFirst = -1, kTelling = -2;  // kTelling: where the first summands are added up
    int at = kFirst;                                  // step
    float part = 1;                                   // of the step at hand that is done
    bool playing = false;
    bool program_shown = false;  // in a narrow room, in the place of the ranks
    double played_at = 0;
    ScrollState program;
    int program_at = -1;  // the step that the program was scrolled to
    KeptLayer shown;
    Kept<TpMatrices, TpMatricesOf> matrices;
    std::int64_t path = -1;  // the GPU of a small example whose way through the matrices is highlighted
};
void draw_layer(Ui& ui, Rect head_row, Rect room, Scene& scene, LayerViewState& state,
                std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table layer_data(const Scene& scene, const LayerViewState& state, int part);

// Goes to the next step, or back.
void step_layer(LayerViewState& state, int by);
void play_or_pause(LayerViewState& state);

// Draws tensor parallelism as two matrices; before an open question is answered, without its sum.
void draw_matrices(Ui& ui, Rect room, Scene& scene, LayerViewState& state, std::uint64_t revision);
// Draws the boxes of both passes, and from kGraphHeight on their legend; a click sets the play head. Returns
// the height used: long passes go on over several lines where these have room.
float draw_graph(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kGraphHeight = 128;
// Draws the slider with back, play, forward.
void draw_play_head(Ui& ui, Rect room, LayerViewState& state);
inline constexpr float kHeadHeight = 46;
// Draws the program, the tensors kept, the communication so far.
void draw_side(Ui& ui, Rect room, const Scene& scene, LayerViewState& state);
// Draws tensors in and out, a row a rank; collectives move pieces between the rows.
void draw_ranks(Ui& ui, Rect room, Scene& scene, LayerViewState& state);

// Returns the colour of a step: its axis', its pass', or a neutral one.
[[nodiscard]] Color color_of_step(const Theme& theme, const LayerStep& step);
// Returns "all-gather over tp".
[[nodiscard]] std::string collective_words(const LayerStep& step);

}  // namespace pentamesh::ui
