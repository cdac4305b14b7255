// Counts the numbers of the model that one rank of each pipeline device holds. Memory, the gradients that are
// reduced and the optimizer's time all ask here.
#pragma once

#include "core/model/local_shard.h"
#include "core/pipeline/stages.h"

namespace pentamesh {

// These are after tp, etp, ep and pp, and before ZeRO. Experts are separate: their gradients reduce over edp.
struct StageNumbers {
    Numbers dense, experts;
    bool operator==(const StageNumbers&) const = default;
};
[[nodiscard]] StageNumbers numbers_of(const Model& model, const HeldNumbers& held,
                                      const StageContents& contents);

// Returns true if the device holds a copy of the word embedding in addition to the one on the first stage. A
// tied head is the embedding, and a multi-token-prediction layer embeds tokens (Megatron-LM embedding group).
[[nodiscard]] bool copies_embedding(const Model& model, const StageContents& contents);

}  // namespace pentamesh
