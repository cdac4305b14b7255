// Holds what each framework keeps, reserves and holds back, beyond the plan's own fields: the figures of
// presets/software/, each with its source there; built into the program, so that evaluate reads no file.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/tensor_id.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// This is a figure that varies from run to run, as commonly measured.
struct MeasuredRange {
    double low = 0, mid = 0, high = 0;
};

// NCCL takes these bytes for each process group; docs/memory.md has the source.
inline constexpr MeasuredRange kCommunicatorBytes{100.0 * 1024 * 1024, 200.0 * 1024 * 1024,
                                                  400.0 * 1024 * 1024};

struct SoftwareFacts {
    std::string name;  // "Megatron-LM"
    // Counts the bytes of all tensors of one logit that live at once between head and loss, the logit's own
    // among them; where tp cuts the vocabulary, the second applies.
    double loss_bytes = 6, loss_bytes_cut = 6;
    // Counts the bytes of a logit that a loss of another library may keep in addition, whole on each tensor
    // rank; 0: which loss runs is known.
    double loss_bytes_other = 0;
    std::int64_t vocab_multiple = 1;  // vocabularies are padded to a multiple of this times tp
    bool inputs_whole = false;        // under sequence parallelism a product keeps its gathered input
    double attention_copies = 0;      // further kept tensors as wide as attention's output
    bool activation_apart = false;    // an MLP keeps its activation's output and the product with the gate
    // Lists tensors (of LayerParts::kept) that plain selective recomputation keeps of attention and a
    // dense MLP. Where it is empty, all but the attention core are kept.
    std::vector<TensorId> selective_keeps;
    double gradient_copy_bytes = 0;  // of a number, in 16 bits in addition to an fp32 sum
    double working_hidden = 0;       // 16-bit tensors of the hidden width that live at a layer's backward
    MeasuredRange reserved{1.03, 1.04, 1.09};  // bytes that the allocator reserves, over those allocated
    MeasuredRange reserved_bytes;              // bytes in addition to that share, for any allocated bytes
    MeasuredRange context_bytes;               // the driver's context and libraries
    double backward_layer = 0;  // of a recomputed layer: its gradients, in units of the recomputed tensors

    // These are rates relative to the GPU's efficiencies, which are Megatron's.
    double products = 1, grouped = 1, attention = 1;
    double element_wise = 1;  // passes over memory of element-wise kernels, over those of fused ones
    double launches = 1;      // host time of a layer's launches, over Megatron's
    // Counts how often the host waits for the router of a MoE layer, where the plan does not say that the
    // sizes of routing are known on the device.
    double routing_syncs = 0;
    // The rate of products, but for grouped ones, on GPUs with fp4 units, over that of later software:
    // kernels of a new GPU mature.
    double new_gpu_products = 1;
    // A graph of each layer leaves this share of that; a graph of an iteration leaves this share of what the
    // GPU takes once a step.
    double graphs_layers = 1, graphs_step = 1;
    double fp8_rowwise = 1, fp8_blockwise = 1, fp8_mxfp8 = 1;  // rate of fp8 products over tensorwise ones
    // An overlap switch lets transfers hide: this share of them does.
    double tp_hidden = 1, cp_hidden = 1, dp_hidden = 1;
    // ZeRO-3 gathers the weights of a layer so many layers before it computes.
    std::int64_t gathers_ahead = 1;
    // Gradients and parameters that move once a step go in buckets of the larger of these: of so many
    // numbers, and of so many times the data-parallel ranks. 0: a bucket a layer.
    double bucket_numbers = 0, bucket_numbers_of_rank = 0;
    double step_s = 0;                  // once a step, in addition to the GPU's
    EpComm ep_comm = EpComm::alltoall;  // its recipes exchange tokens so where a plan file does not say
    double selective_share = 0;         // of a layer's forward that plain selective recomputation repeats
    // This is the same as its file has it: the window and docs/accuracy.md show it.
    struct Figure {
        std::string key, value, source;  // value: JSON
        // Says whether code, a log or a paper states it; it is fitted to the software's own runs; or to
        // Megatron's, with the GPU's efficiencies.
        enum class From : std::uint8_t { source, own_runs, gpu } from = From::source;
    };
    std::vector<Figure> figures;
};

[[nodiscard]] const SoftwareFacts& facts_of(Software software);

// Returns the software of today where one of an earlier year is meant: what it runs is the same.
[[nodiscard]] constexpr Software framework_of(Software software) {
    return software == Software::torchtitan_2024        ? Software::torchtitan
           : software == Software::megatron_bridge_2025 ? Software::megatron_bridge
                                                        : software;
}
// Returns true for what runs on Megatron Core, of any age.
[[nodiscard]] constexpr bool is_megatron(Software software) {
    return software == Software::megatron || framework_of(software) == Software::megatron_bridge;
}
[[nodiscard]] constexpr bool is_torchtitan(Software software) {
    return framework_of(software) == Software::torchtitan;
}

// Returns the unit of padding: the vocabulary is padded to a multiple of this times tp. It is the model's
// own, or, where the model does not state it, the software's.
[[nodiscard]] inline std::int64_t vocab_multiple_of(const Plan& plan) {
    const std::int64_t own = plan.model.vocab_multiple;
    return own > 0 ? own : facts_of(plan.training.software).vocab_multiple;
}

// Holds bytes of a logit: those of all tensors that live at once between head and loss, and those that a loss
// of another library may keep in addition, whole on each tensor rank.
struct LossBytes {
    double all = 0, other = 0;
};
// `cut`: tp cuts the vocabulary. A kernel that the plan names takes what it takes in the software that has it
// by default: eager in torchtitan of 2024, fp32 in Megatron, in place in FSDP's recipes (flash-attn), in
// chunks in torchtitan.
[[nodiscard]] LossBytes loss_bytes_of(const Training& training, bool cut);

// Reads a file of presets/software. Throws Error naming the file and the place where a figure or its source
// is missing.
[[nodiscard]] SoftwareFacts read_software(std::string_view text, const std::string& path);

// This is only for tools/fit: sets the value that facts_of returns from now on. No thread may evaluate
// meanwhile.
void set_facts(Software software, const SoftwareFacts& facts);

}  // namespace pentamesh
