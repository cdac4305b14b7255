// One plan's stages share this: it is computed once, and multiplied by the contents of each stage.
#pragma once

#include "core/memory/memory.h"
#include "core/pipeline/stages.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Holds the range of a framework's other memory, from parts of known size and measured ranges.
struct BufferRange {
    double low = 0, mid = 0, high = 0;
    BufferRange& operator+=(const BufferRange& o) {
        low += o.low, mid += o.mid, high += o.high;
        return *this;
    }
};
// Holds tensors of a micro-batch that are in addition to the activations, the same on every stage.
struct SharedBuffers {
    BufferRange keys_and_values, dispatch, gradients;
};

struct MemoryCosts {
    Degrees degrees;
    HeldNumbers held;
    StateBytes parameter, gradient, optimizer;
    StateShards shards;
    LayerTypes types;
    const SoftwareFacts* software = nullptr;
    PerType<LayerSums> layer;  // of each type
    LayerSums head, embedding, mtp;
    double loss_other = 0;  // bytes at the head: SoftwareFacts::loss_bytes_other
    SharedBuffers shared;
    [[nodiscard]] const LayerSums& of(int type) const { return layer[type]; }
    // Calls sum(layers of a type, its LayerSums) over the stage's types.
    template <typename F>
    void each_type(const LayerCounts& counts, F&& sum) const {
        for (int t = 0; t < types.size(); ++t)
            if (counts[t] > 0) sum(static_cast<double>(counts[t]), of(t));
    }
    // Returns the bytes that the layers of a stage keep of one micro-batch.
    [[nodiscard]] double kept_by_layers(const StageMemory& s) const {
        double kept = -static_cast<double>(s.skipped) * layer_input();
        each_type(s.once(), [&](double layers, const LayerSums& one) { kept += layers * one.all; });
        each_type(s.recomputed, [&](double layers, const LayerSums& one) { kept += layers * one.kept; });
        return kept;
    }
    // Returns the input of a layer, which is as wide in all types.
    [[nodiscard]] double layer_input() const {
        double most = 0;
        for (int t = 0; t < types.size(); ++t) most = std::max(most, of(t).input);
        return most;
    }
};
[[nodiscard]] MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees);
// `held` is held_numbers of that model and those degrees, `parts` those of its layers.
[[nodiscard]] MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees, const LayerTypes& types,
                                       const HeldNumbers& held, const PartsByType& parts);

// Counts numbers of the stage's largest layer, and of its embedding and head, that ZeRO has cut. Their
// parameters have to be brought together; their gradients are not cut yet.
struct CutUnit {
    double layer = 0, ends = 0;
};
[[nodiscard]] CutUnit cut_unit(const MemoryCosts& costs, const StageMemory& stage,
                               const std::int64_t (&shard)[2]);

// Returns the bytes of the gradients that a run of micro-batches sums whole: a chunk's share of the stage,
// and a layer at least. It is 0 where gradients are reduced otherwise.
[[nodiscard]] double whole_in_a_run(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage);

// Returns the micro-batches whose head (logits, softmax) is held at once. Where the last chunk's backward
// follows its own forward, it is one; where the order or a late weight gradient holds it, it is as many as of
// the stage.
[[nodiscard]] double head_in_flight(Schedule schedule, double stage_in_flight);

void list_buffers(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage,
                  std::vector<BufferBytes>& out);

// Returns NCCL's buffers of so many process groups.
[[nodiscard]] BufferRange communicator_bytes(const Plan& plan, int groups);
[[nodiscard]] SharedBuffers shared_buffers(const Plan& plan, const Degrees& degrees,
                                           const PartsByType& parts);
// Holds the part that does not depend on micro-batches in flight: tensors that live at the peak in addition
// to model state and activations, and the memory outside the allocator.
struct FixedBuffers {
    BufferRange live, outside;
};
[[nodiscard]] FixedBuffers fixed_buffers(const Plan& plan, const MemoryCosts& costs,
                                         const StageMemory& stage);
// Returns the bytes that the allocator reserves beyond so many allocated ones.
[[nodiscard]] BufferRange reserved_beyond(const Training& training, const SoftwareFacts& software,
                                          double allocated);

// Says what each axis and modifier saved: the fullest GPU's bytes, from a single GPU to the plan.

// `axis` is one of the mesh, cut or copied; the others change how it is used.
enum class Saving : std::uint8_t { none, axis, sequence_parallel, zero, recompute, offload };

struct SavingStep {
    Saving what = Saving::none;  // none: the whole model on one GPU
    Axis axis = Axis::tp;
    std::int64_t ranks = 1;       // of the axis, or those that ZeRO cuts over
    int stage = 0;                // of ZeRO
    RecomputeChoice recompute{};  // the recomputed parts
    StageMemory fullest{};
    double saved = 0;  // against the step before; negative where it costs
};
// One axis or modifier is added at a time, in the order of layout.order, recompute last. With the
// `in_flight` that the plan's Memory was computed with, the last step is its peak, to the byte.
[[nodiscard]] std::vector<SavingStep> savings(const Plan& plan, const std::vector<double>& in_flight);
// Returns the same for the plan's own memory of every stage.
[[nodiscard]] std::vector<SavingStep> savings(const Plan& plan, const Memory& memory);

[[nodiscard]] std::string label_of(const SavingStep& step);        // "tp 8", "ZeRO-1 over 128"
[[nodiscard]] std::string_view reason_of(const SavingStep& step);  // its cut, a sentence without its end

}  // namespace pentamesh
