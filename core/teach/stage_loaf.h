// Shows a pipeline as a loaf cut between layers: what a GPU of each stage holds, which micro-batches are in
// flight there at a moment, and what passes the cuts. All figures are the evaluation's own.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <vector>

namespace pentamesh {

// The layers that a device runs in a row, begin .. end-1 in model order.
struct StagePiece {
    int stage = 0;  // the device
    int chunk = 0;
    std::int64_t begin = 0, end = 0;  // the same where the piece is only an end of the model
    int most_kept = 0;                // micro-batches that it keeps at most; 0: no timeline says it
    [[nodiscard]] std::int64_t layers() const { return end - begin; }
    bool operator==(const StagePiece&) const = default;
};

// One GPU of a stage, at its peak. Bytes; its crust, bread and buffers are StageMemory::total().
struct StageBox {
    int stage = 0;
    std::int64_t rank = 0;
    std::vector<StagePiece> pieces;  // by chunk
    std::int64_t layers = 0;
    bool embedding = false, head = false;
    bool copied_table = false;  // it holds the word embedding once more
    double optimizer = 0, gradients = 0, parameters = 0, buffers = 0;
    double slice_bytes = 0;  // that a micro-batch leaves in one chunk
    double slices = 0;       // at the peak: pairs of a chunk and a micro-batch in flight there
    double head_bytes = 0;   // of the bread: logits and what else the head keeps, at the peak
    [[nodiscard]] double crust() const { return optimizer + gradients + parameters; }
    [[nodiscard]] double bread() const { return slices * slice_bytes + head_bytes; }
    [[nodiscard]] double total() const { return crust() + bread() + buffers; }
    bool operator==(const StageBox&) const = default;
};

// A round is the micro-batches of each replica that a GPU keeps at once: one, in a pipeline several.
struct LoafRound {
    std::int64_t at_once = 1, microbatches = 1;  // of a round; of the step
};
[[nodiscard]] LoafRound round_of(const Plan& plan, const Evaluation& evaluation);

// Says what passes a cut: the message of a GPU, in bytes.
struct StageCut {
    double activation_bytes = 0, gradient_bytes = 0;  // of one micro-batch, forward and backward
    bool closes = false;     // the last stage hands on to the first, which runs a later chunk
    double table_bytes = 0;  // that a holder of the word embedding sends once a step; 0: one stage has it
    std::int64_t table_stages = 1;  // so many hold it
    bool operator==(const StageCut&) const = default;
};

struct StageLoaf {
    std::int64_t stages = 1;
    std::vector<StageBox> boxes;     // of all stages; of more than `most` the first three and the last
    std::int64_t left_out = 0;       // stages between the last two boxes
    std::vector<StagePiece> pieces;  // of the whole model, in model order
    StageCut cut;
    bool grows_to_first = false;  // each stage keeps min(stages - stage, micro-batches) at its peak
    // These are seconds of the timeline; 0 where it is not known.
    double fullest_s = 0;  // the moment at which the stages, each against its peak, hold most
    double shown_s = 0;    // so much of it tells the rest: all of a short one, else the first round
    bool operator==(const StageLoaf&) const = default;
};
// `evaluation` is that of the plan and valid; pp is above 1. The boxes are those of the pipeline that holds
// `rank`. `most` is at least 4.
[[nodiscard]] StageLoaf stage_loaf_of(const Plan& plan, const Evaluation& evaluation, std::int64_t rank,
                                      std::size_t most);

// A micro-batch that a chunk keeps: its forward has begun, and its backward has not ended (where the weight
// gradient is an op of its own, that has not).
struct KeptSlice {
    int chunk = 0;
    std::int32_t microbatch = 0;
    bool operator==(const KeptSlice&) const = default;
};
// Returns those of a device at a time, in seconds, in the order in which their forwards began. It takes
// O(ops of the device before that time).
[[nodiscard]] std::vector<KeptSlice> kept_at(const Timeline& timeline, int device, double time_s);
// Returns the chunk of a box that comes last in the model: the head's, where the box has it.
[[nodiscard]] int chunk_of_head(const StageBox& box);
// Returns the bytes of `box` that its head keeps while these are in flight.
[[nodiscard]] double head_bytes_at(const Plan& plan, const StageBox& box, const std::vector<KeptSlice>& kept);

}  // namespace pentamesh
