// Says what each GPU holds: bytes by pipeline stage and category. docs/memory.md has the formulas.
#pragma once

#include "core/base/explain.h"
#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/pipeline/stages.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"
#include "core/plan/software.h"
#include "core/plan/tensor_id.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct PartsByType;
struct ResolvedPlan;

struct StageMemory : StageContents {
    int stage = 0;
    std::int64_t parameters_held = 0;  // numbers that it computes with: after tp, ep, pp; before ZeRO
    std::int64_t parameters_kept = 0;  // numbers that it keeps between steps: after ZeRO-3
    // All are bytes. Optimizer includes the master copy.
    double parameters = 0, gradients = 0, optimizer = 0, activations = 0;
    double buffers_low = 0, buffers = 0, buffers_high = 0;  // a framework's other memory: a range
    double in_flight = 0;                                   // micro-batches of a whole stage at the peak
    double activations_per_layer = 0;  // one layer, one micro-batch (a MoE layer where there is one)
    double layer_activations = 0;      // the layers' part of activations
    // These are parts of total(): tensors that live at the peak, and the same with the bytes that the
    // allocator holds beyond them. The rest are the driver's context and NCCL's buffers.
    double allocated = 0, reserved = 0;
    double loss_other = 0;  // in addition to total(), where the loss is of another library than is counted
    double host = 0;        // bytes that training.offload keeps in host memory instead
    // Returns the layers by type that are not recomputed.
    [[nodiscard]] LayerCounts once() const {
        LayerCounts n = types;
        for (int t = 0; t < n.size(); ++t) n[t] -= recomputed[t];
        return n;
    }
    [[nodiscard]] double total() const { return parameters + gradients + optimizer + activations + buffers; }
    [[nodiscard]] double least() const { return total() - buffers + buffers_low; }
    [[nodiscard]] double most() const { return total() - buffers + buffers_high; }
    bool operator==(const StageMemory&) const = default;
};

// Three answers are given, in these words everywhere: a plan fits, may not fit, does not fit. One that may
// not is `tight`, which fits by the sum but is_full or hangs_on_loss, or fits only `if_small` are its
// buffers.
enum class MemoryFit : std::uint8_t { yes, tight, if_small, no };
template <>
inline constexpr std::array<std::string_view, 4> kNames<MemoryFit>{"fits", "may not fit", "may not fit",
                                                                   "does not fit"};
[[nodiscard]] constexpr bool fits(MemoryFit fit) {
    return fit <= MemoryFit::tight;
}
[[nodiscard]] constexpr bool may_not_fit(MemoryFit fit) {
    return fit == MemoryFit::tight || fit == MemoryFit::if_small;
}
// Above this share of a GPU's memory 8 of 25 measured runs went out of memory that fit by the sum, below it
// 25 of 454 (docs/memory.md).
inline constexpr double kTightShare = 0.92;
// A layout that is proposed leaves this share of each GPU's memory free, at the middle of the buffers' range:
// a search keeps it, and so do the decision on a plan, advice, mends and what was tried. What makes a plan
// fit may leave less where nothing else does, and says so.
inline constexpr double kHeadroom = 0.05;

struct Memory {
    std::vector<StageMemory> stage;  // by stage, unless MemoryOf says otherwise
    int peak_stage = 0;              // a place in `stage`
    double hbm = 0;
    [[nodiscard]] double peak() const { return stage.empty() ? 0 : stage[peak_stage].total(); }
    // Returns true if every GPU holds the bytes commonly measured, the middle of the buffers' range.
    [[nodiscard]] bool fits() const {
        return std::ranges::all_of(stage, [&](const StageMemory& s) { return s.total() <= hbm; });
    }
    // Returns true if a GPU has little room left: it is above kTightShare, or the largest buffers that were
    // measured do not fit.
    [[nodiscard]] bool is_full() const {
        return std::ranges::any_of(
            stage, [&](const StageMemory& s) { return s.total() > kTightShare * hbm || s.most() > hbm; });
    }
    // Returns true if a GPU has no room for the loss of another library than is counted.
    [[nodiscard]] bool hangs_on_loss() const {
        return std::ranges::any_of(stage,
                                   [&](const StageMemory& s) { return s.total() + s.loss_other > hbm; });
    }
    // Returns true if every GPU holds the least that it may take: then a plan that does not fit by the sum
    // may still run, as under pressure an allocator gives back what it reserved beyond its tensors.
    [[nodiscard]] bool may_fit() const {
        return std::ranges::all_of(stage, [&](const StageMemory& s) { return s.least() <= hbm; });
    }
    [[nodiscard]] MemoryFit fit() const {
        if (fits()) return is_full() || hangs_on_loss() ? MemoryFit::tight : MemoryFit::yes;
        return may_fit() ? MemoryFit::if_small : MemoryFit::no;
    }
    void clear();
    bool operator==(const Memory&) const = default;
};
// Returns the bytes that a GPU may take after a change that is proposed of a plan with this memory: all but
// kHeadroom, or as many as now where the plan itself fits with less to spare.
[[nodiscard]] inline double most_after_change(const Memory& memory) {
    const double usual = (1 - kHeadroom) * memory.hbm;
    return memory.fits() ? std::max(usual, memory.peak()) : usual;
}
// Returns the share of a GPU's memory that such a change leaves free at least.
[[nodiscard]] inline double kept_free(const Memory& memory) {
    return memory.hbm > 0 ? 1 - most_after_change(memory) / memory.hbm : kHeadroom;
}
// Returns whether a plan fits; nullopt for a plan without figures.
[[nodiscard]] inline std::optional<MemoryFit> fit_of(const Memory& memory) {
    return memory.stage.empty() ? std::nullopt : std::optional(memory.fit());
}

// Every category is a whole number of bytes, so that sums reconcile exactly; shards are rounded up.
// `in_flight` has the peak micro-batches per stage (from schedule or timeline), size pp. Reuses out's
// capacity. Known parts of the plan, `stages` and `held` (held_numbers), are worked out anew where they are
// left out. `of` asks for every stage, or for the first of each run of equal stages that has most in flight.
enum class MemoryOf : std::uint8_t { every_stage, fullest_stages };
void compute_memory(const ResolvedPlan& resolved, const PartsByType& parts, const Stages& stages,
                    const HeldNumbers& held, const std::vector<double>& in_flight, MemoryOf of, Memory& out);
void compute_memory(const Plan& plan, const Mesh& mesh, const std::vector<double>& in_flight, Memory& out);

enum class MemoryCategory : std::uint8_t { parameters, gradients, optimizer, activations, buffers };
inline constexpr int kMemoryCategoryCount = 5;
[[nodiscard]] std::string_view name_of(MemoryCategory category);
[[nodiscard]] double bytes_of(const StageMemory& stage, MemoryCategory category);

// Names the parts of the buffers category.
enum class Buffer : std::uint8_t {
    gradient_copy,
    gathered_layers,
    unreduced_gradients,
    offloaded_layers,
    recomputed_layer,
    keys_and_values,
    token_dispatch,
    activation_gradients,
    fragmentation,
    communicators,
    context
};
template <>
inline constexpr std::array<std::string_view, 11> kNames<Buffer>{
    "gradients in 16 bits", "gathered layers", "unreduced gradients", "offloaded layers on their way",
    "recomputed layer",     "keys and values", "token dispatch",      "gradients of activations",
    "fragmentation",        "communicators",   "CUDA context"};
static_assert(kNames<Buffer>.size() == static_cast<std::size_t>(Buffer::context) + 1);
struct BufferBytes {
    Buffer buffer = Buffer::gathered_layers;
    std::string_view why;  // a sentence
    double low = 0, mid = 0, high = 0;
};
void list_buffers(const Plan& plan, const Mesh& mesh, const StageMemory& stage,
                  std::vector<BufferBytes>& out);

// Explains a bar's segment. `memory` must be the plan's.
[[nodiscard]] Explanation explain_memory(const Plan& plan, const Mesh& mesh, const Memory& memory, int stage,
                                         MemoryCategory category);

// Sums what layers keep for their backward (core/layer/parts.h), and lists what the ends of the model keep.
// docs/memory.md has the formulas and their sources.

// The ends of a model: its embedding, its head with the loss, and what a prediction layer has in addition to
// a whole layer.
enum class ModelEnd : std::uint8_t { embedding, head, mtp };
// Lists what an end keeps.
void list_kept(const Plan& plan, const Degrees& degrees, ModelEnd end, KeptList& out);

// Sums one layer's activations.
struct LayerSums {
    double all = 0;         // from forward to backward, where nothing is recomputed
    double kept = 0;        // the same of a layer that is recomputed
    double recomputed = 0;  // in addition, while that layer's backward runs
    double input = 0;       // of `all`: the layer's input
};
[[nodiscard]] LayerSums layer_sums(const Plan& plan, const Degrees& degrees, const KeptList& kept);
// Sums an end of the model.
[[nodiscard]] LayerSums layer_sums(const Plan& plan, const Degrees& degrees, ModelEnd end);

// Holds the parts that memory is summed from: degrees, and a rank's share of each place's parameters
// (activations: memory.h). The sum, its explanation and the placements share them; docs/memory.md has
// formulas and their sources.

// Does compute_memory over degrees instead of a mesh.
void compute_memory(const Plan& plan, const Degrees& degrees, const Stages& stages,
                    const std::vector<double>& in_flight, Memory& out);

// Holds the bytes of one number of each state, for the linear weights, the router's and the rest.
struct StateBytes {
    double linear = 0, router = 0, other = 0;
    [[nodiscard]] double of(const Numbers& n) const {
        return n.linear * linear + n.router * router + n.other * other;
    }
};
[[nodiscard]] StateBytes parameter_bytes(const Plan& plan);  // of all copies of a number
[[nodiscard]] StateBytes gradient_bytes(const Training& t);
[[nodiscard]] StateBytes optimizer_bytes(const Training& t);  // the states and the master copy
[[nodiscard]] StateBytes master_bytes(const Training& t);     // only of the master copy
// Returns the bytes of the 16-bit gradients that a software keeps in addition to their sum in fp32. ZeRO-2
// and 3 free a parameter's gradient once it is reduced (DeepSpeed stage_1_and_2.py:966).
[[nodiscard]] double gradient_copy_bytes(const Plan& plan, const StageNumbers& numbers);

// Says into how many shards ZeRO cuts each state: dense, experts. It is 1 below its stage, and for gradients
// where a step sums them whole (sequence.h). Where a pipeline holds two copies of the model, both
// share one optimizer state: each keeps half.
struct StateShards {
    std::int64_t parameter[2] = {1, 1}, gradient[2] = {1, 1}, optimizer[2] = {1, 1};
    int copies = 1;       // of the model that the pipeline holds
    double in_a_run = 0;  // share of the gradients, a chunk's, that is whole in addition to the shards until
                          // reduced
};
[[nodiscard]] StateShards shards_of(const Plan& plan, const Degrees& degrees);

}  // namespace pentamesh
