// Says what sequence parallelism sends in place of tensor parallelism's all-reduces: the same bytes, and what
// is gathered once more.
#pragma once

#include "core/evaluate.h"
#include "core/layer/layer_words.h"
#include "core/plan/plan.h"

#include <optional>
#include <string>

namespace pentamesh {

// Returns true for an all-gather of an input that the forward had gathered, for the gradient of the weights.
[[nodiscard]] bool is_gathered_again(What what);

// Counts bytes that leave a GPU for its tensor peers, forward and backward of one layer of one micro-batch;
// what is recomputed is not sent twice here. An all-reduce of S bytes over n ranks sends 2 (n - 1) / n S, an
// all-gather and a reduce-scatter (n - 1) / n S each: Korthikanti et al. 2022 (Reducing Activation
// Recomputation in Large Transformer Models), section 4.2.
struct SequenceParallelBytes {
    bool on = false;           // the plan has it
    bool one_kind = true;      // of layers; else these are those of the kind with most layers
    double all_reduces = 0;    // calls without it
    double without_bytes = 0;  // in these
    double with_bytes = 0;     // with it, of the gathers and scatters in their place
    double again_bytes = 0;    // with it, inputs that are gathered once more for the gradients of the weights
    bool operator==(const SequenceParallelBytes&) const = default;
};
// Returns nullopt where tensor peers are one, where the layers do not talk to them, and for a plan that
// cannot be built.
[[nodiscard]] std::optional<SequenceParallelBytes> sequence_parallel_bytes(const Plan& plan,
                                                                           const Evaluation& evaluation);
// Says it in a sentence: "A layer of a micro-batch without SP: four all-reduces send 1.88 GB; with it, as
// here, gathers and scatters send the same 1.88 GB, and 470 MB gather inputs again for weight gradients."
[[nodiscard]] std::string words_of(const SequenceParallelBytes& bytes);

}  // namespace pentamesh
