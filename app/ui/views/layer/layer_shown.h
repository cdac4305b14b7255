// Says which layer is shown, of the plan or of a small plan with only one axis, and what follows from it.
#pragma once

#include "app/tables/layer.h"
#include "app/ui/kit/kept.h"
#include "app/ui/scene/scene.h"
#include "core/evaluate.h"
#include "core/layer/layer.h"

#include <array>
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
    bool dense = false;  // the dense layers of a model that has MoE layers too
    LayerPart part = LayerPart::both;
    Notation notation = Notation::jax;
    bool operator==(const LayerChoice&) const = default;
};

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
// Returns the tensors kept after step `at` (index), in the order in which they came.
[[nodiscard]] std::vector<KeptTensor> stash_at(const LayerList& list, int at);
[[nodiscard]] std::vector<Tally> tally_at(const LayerList& list, int at);
// Returns the bytes that a rank sends of a layer's activations over tp, without a second gather: they are the
// same with sequence parallelism and without, because an all-reduce is a reduce-scatter and an all-gather.
[[nodiscard]] double sent_over_tp_once(const LayerList& list);
// Returns the name of a box in the graph: "gather", "q k v".
[[nodiscard]] std::string short_name(const LayerStep& step);

}  // namespace pentamesh::ui
