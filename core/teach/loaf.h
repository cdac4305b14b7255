// Shows a step of training as a loaf. Its crust is the model's state, its bread the activations of one round
// of micro-batches. Across lies the width of the model, upright its layers, lengthwise the tokens. Each GPU
// has a slice; the volume of a block is its bytes.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// From the front of the loaf to its end.
enum class LoafPart : std::uint8_t { optimizer, gradients, parameters, bread };
template <>
inline constexpr std::size_t kEnumCount<LoafPart> = 4;
template <>
inline constexpr std::array<std::string_view, 4> kNames<LoafPart>{"optimizer", "gradients", "parameters",
                                                                  "activations"};

// One block of a slice. Its edges are shares: across, of the width of the model (the experts' tensors stand
// right of the others); upright, of its layers, the first on top.
struct LoafBlock {
    LoafPart part = LoafPart::bread;
    bool experts = false;  // a drawer: tensors of experts
    double left = 0, right = 1, top = 0, bottom = 1;
    double bytes = 0;
    // GPUs that hold the same numbers. Activations count as copied where tp ranks hold the same ones.
    std::int64_t copies = 1;
};

struct LoafSlice {
    std::int64_t rank = 0;
    int stage = 0;
    double total = 0;               // bytes of the GPU: its blocks and the buffers
    std::vector<LoafBlock> blocks;  // from the front, upper ones first
    [[nodiscard]] double bytes_of(LoafPart part) const;
    [[nodiscard]] double crust() const;  // bytes of all parts but the bread
};

struct Loaf {
    LoafSlice whole;           // what one GPU would hold that does all of it
    bool whole_known = true;   // false: the plan on one GPU breaks a rule, `whole` has no blocks
    std::int64_t samples = 1;  // of one round over all replicas
    std::int64_t layers = 1;
    double drawers_from = 1;  // the place across at which the experts' tensors begin; 1: there are none
    // The slices that are drawn: those of all ranks where these are `most` at the most, else of a group.
    GroupKind group = GroupKind::tp;
    bool all_ranks = true;
    std::int64_t left_out = 0;  // ranks of the group that stand in the gap before the last slice
    std::vector<LoafSlice> slices;
};

// `evaluation` is that of the plan and valid. Where the ranks are more than `most`, the group of `kind` that
// holds `rank` is shown; of more ranks than `most` its first three and its last.
[[nodiscard]] Loaf loaf_of(const Plan& plan, const Evaluation& evaluation, GroupKind kind, std::int64_t rank,
                           std::size_t most);

// Returns the axis whose cuts a loaf shows first: `kind` where it is in use, else the first in use.
[[nodiscard]] GroupKind kind_of_loaf(const GroupSummaries& groups, GroupKind kind);

}  // namespace pentamesh
