// Shows why tensor parallelism needs a sum. Two matrices follow each other: the first is cut into columns,
// the second into rows, and each GPU ends with a summand of every number of the result (Shoeybi et al. 2019,
// Megatron-LM, section 3; with sequence parallelism Korthikanti et al. 2022, section 4.2).
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Says which two matrices of a layer are shown: the first of these that the model has.
enum class TpPair : std::uint8_t { mlp, shared_experts, attention };

// Says how the summands of one pass forward become a result, and what a GPU sends for it. Without sequence
// parallelism it is one all-reduce; with it the input is gathered, and the sum is a reduce-scatter.
struct TpSum {
    bool sliced = false;                    // with sequence parallelism
    double gather_bytes = 0, gather_s = 0;  // 0 where nothing is gathered
    double sum_bytes = 0, sum_s = 0;
    // Calls over tp of a layer and micro-batch, both passes: those of its ways in and out; gathers of inputs
    // once more for the gradients of weights; calls of the forward that recomputation repeats.
    double calls = 0, gathered_again = 0, repeated = 0;
    [[nodiscard]] double bytes() const { return gather_bytes + sum_bytes; }
    [[nodiscard]] double time_s() const { return gather_s + sum_s; }
};

// The same two matrices on another number of GPUs, without sequence parallelism.
struct TpOther {
    std::int64_t tp = 0;
    double sum_bytes = 0, sum_s = 0;
    int tier = 0;  // the slowest that its groups cross
};

struct TpMatrices {
    std::string why_not;              // empty: there are two such matrices
    std::vector<std::int64_t> ranks;  // the GPUs of the group, in their order
    TpPair pair = TpPair::mlp;
    std::string_view between;  // "gelu", "silu", "attention": what lies between the two products
    bool gated = false;        // there are two first matrices, whose products are multiplied
    // X is tokens x hidden, A hidden x columns, B rows x hidden, before the cut; each GPU has 1 / tp of
    // columns and rows.
    std::int64_t tokens = 0, hidden = 0, columns = 0, rows = 0;
    std::int64_t kv_copies = 1;      // attention: GPUs that hold the same keys and values
    double result_bytes = 0;         // of all of X, or Y, on the wire
    bool own_sliced = false;         // the plan has sequence parallelism
    TpSum whole, slices;             // without sequence parallelism, and with it
    double waited = -1;              // share of the plan's own calls that is waited for; < 0: it is not known
    int tier = 0;                    // the slowest that the group crosses
    std::string_view software;       // of the plan
    bool is_megatron = false;        // it is Megatron's, whose rule it is that inputs are gathered twice
    bool keeps_inputs = false;       // it keeps gathered inputs
    std::optional<TpOther> other{};  // nullopt: the model cannot be cut so

    [[nodiscard]] std::int64_t tp() const { return static_cast<std::int64_t>(ranks.size()); }
    [[nodiscard]] const TpSum& sum(bool sliced) const { return sliced ? slices : whole; }
};

// Returns the matrices of the group that holds `rank`. The plan is valid, and has tp > 1.
[[nodiscard]] TpMatrices tp_matrices(const Plan& plan, const Evaluation& evaluation, std::int64_t rank);

}  // namespace pentamesh
