// How many numbers of the model does one rank of each pipeline device hold? Memory, the gradients that are
// reduced and the optimizer's time all ask here.
#pragma once

#include "core/model/local_shard.h"
#include "core/pipeline/stages.h"

namespace pentamesh {

// After tp, etp, ep and pp; before ZeRO. Experts apart: their gradients reduce over edp.
struct StageNumbers {
    Numbers dense, experts;
    bool operator==(const StageNumbers&) const = default;
};
[[nodiscard]] StageNumbers numbers_of(const Model& model, const HeldNumbers& held,
                                      const StageContents& contents);

// Whether the device holds a copy of the word embedding besides the one on the first stage. A tied head is
// the embedding, and a multi-token-prediction layer embeds tokens (Megatron-LM embedding group).
[[nodiscard]] bool copies_embedding(const Model& model, const StageContents& contents);

}  // namespace pentamesh
