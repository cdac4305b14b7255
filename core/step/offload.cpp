#include "core/step/offload.h"

#include "core/model/model.h"

#include <algorithm>
#include <cstdint>

namespace pentamesh {
namespace {

// Returns the layers of a chunk without the prediction layers, which are not offloaded.
StageContents own_layers(const ChunkLayers& k, int mtp_type) {
    StageContents out;
    out.layers = static_cast<std::int64_t>(k.layers() - k.mtp);
    out.types = k.types, out.recomputed = k.recomputed;
    if (k.mtp > 0 && mtp_type < out.types.size()) {
        out.types[mtp_type] -= static_cast<std::uint32_t>(k.mtp);
        out.recomputed[mtp_type] -= static_cast<std::uint32_t>(k.mtp_recomputed);
    }
    out.skipped = static_cast<std::int64_t>(k.skipped);
    return out;
}

double sharded_numbers(const StageNumbers& n, const std::int64_t (&shards)[2]) {
    return n.dense.all() / static_cast<double>(shards[0]) + n.experts.all() / static_cast<double>(shards[1]);
}

// Returns true if every pass of a micro-batch gathers the parameters, which ZeRO-3 then brings from the host.
bool gathered_in_passes(const Plan& plan) {
    return state_rounds(plan).forward.each == GradientReduction::micro_batch;
}
bool gathered_again(const Plan& plan) {
    const Rounds backward = state_rounds(plan).backward;
    return backward.times > 0 && backward.each == GradientReduction::micro_batch;
}

}  // namespace

// DeepSpeed makes gradients fp32 before the copy (runtime/zero/stage_1_and_2.py at 38327e0,
// async_inplace_copy_grad_to_fp32_buffer_from_gpu: src_tensor.float()) and copies updated weights back in
// their own type (step: bit16_partitions.data.copy_). Megatron copies each gradient into a tensor like the
// host's parameter, and the parameter back after the host's update
// (megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py, _set_sub_optimizer_grads and
// param_copy_back_gpu_hook). Parameters that lie in host memory are updated where they are; those whose
// states are not there go to it after the GPU's update.
double offloaded_update_time(const Plan& plan, const StageNumbers& numbers, const StateShards& shards) {
    if (!counts_offload(plan)) return 0;
    const Training& t = plan.training;
    const double n = sharded_numbers(numbers, shards.optimizer);
    const double parameter = bytes_of(t.parameters);
    const double gradient = std::max(bytes_of(t.master_weights), parameter);
    const double moved = t.offload.optimizer * gradient
                         + std::max(t.offload.optimizer - t.offload.parameters, 0.0) * parameter
                         + std::max(t.offload.parameters - t.offload.optimizer, 0.0) * parameter;
    return n * moved / plan.cluster.gpu.host_bytes_per_s;
}

HostLink::HostLink(const ResolvedPlan& resolved, const PartsByType& parts, const Comm& comm, bool state_waits)
    : r_(resolved), comm_(comm) {
    if (!counts_offload(r_.plan)) return;
    const Offload& away = r_.plan.training.offload;
    if (away.activations_layers > 0)
        activations_ = memory_costs(r_.plan, r_.degrees, r_.types, comm.held, parts);
    parameters_ = state_waits && away.parameters > 0 && gathered_in_passes(r_.plan);
}

// As many layers of each of a GPU's chunks: of a GPU with one chunk they are those that the memory counts.
double HostLink::activation_bytes(const ChunkLayers& layers) const {
    if (!activations_) return 0;
    StageMemory own;
    static_cast<StageContents&>(own) = own_layers(layers, r_.types.mtp);
    if (own.layers <= 0) return 0;
    const double each = static_cast<double>(r_.plan.training.offload.activations_layers)
                        / static_cast<double>(std::max(comm_.stages.chunks, 1));
    const double share = std::min(each / static_cast<double>(own.layers), 1.0);
    return share * activations_->kept_by_layers(own);
}

// TransformerEngine copies a layer's tensors on a stream of its own as soon as they are made; the first k of
// N layers have to be gone when layer N - k + i begins, so that all but the ends of the pass hide the copies,
// and they come back in the same way (transformer_engine/pytorch/cpu_offload.py at 00382b9,
// OffloadSynchronizer). DeepSpeed and FSDP bring a rank's shard before it is gathered.
void HostLink::wait_in_passes(const ChunkLayers& layers, ChunkWork& chunk) const {
    const double rate = r_.plan.cluster.gpu.host_bytes_per_s;
    const double activations = activation_bytes(layers) / rate;
    const double parameters = parameters_ ? offloaded_parameter_bytes(r_, comm_.held, layers) / rate : 0;
    const double comes = activations + (gathered_again(r_.plan) ? parameters : 0);
    chunk.offload.forward = std::max(std::max(activations, parameters) - chunk.cost.forward, 0.0);
    chunk.offload.backward = std::max(comes - chunk.cost.input_grad - chunk.cost.weight_grad, 0.0);
    chunk.cost.forward += chunk.offload.forward;
    chunk.cost.input_grad += chunk.offload.backward;
}

double offloaded_parameter_bytes(const ResolvedPlan& r, const HeldNumbers& held, const ChunkLayers& layers) {
    StageContents own = own_layers(layers, r.types.mtp);
    own.mtp_layers = static_cast<std::int64_t>(layers.mtp);
    own.embedding = layers.first, own.head = layers.last;
    const StageNumbers n = numbers_of(r.plan.model, held, own);
    const StateShards shards = shards_of(r.plan, r.degrees);
    const StateBytes bytes = parameter_bytes(r.plan);
    return r.plan.training.offload.parameters
           * (bytes.of(n.dense) / static_cast<double>(shards.parameter[0])
              + bytes.of(n.experts) / static_cast<double>(shards.parameter[1]));
}

double parameters_once_a_step(const ResolvedPlan& r, const TimelineCosts& costs, const Comm& comm) {
    if (!counts_offload(r.plan) || r.plan.training.offload.parameters <= 0 || gathered_in_passes(r.plan))
        return 0;
    const Stages& stages = comm.stages;
    double bytes = 0, forward = 0;
    for (int c = 0; c < stages.chunks; ++c) {
        bytes += offloaded_parameter_bytes(r, comm.held, stages.chunk(comm.busiest_device, c));
        forward += costs.chunk[static_cast<std::size_t>(comm.busiest_device * stages.chunks + c)].forward;
    }
    return std::max(bytes / r.plan.cluster.gpu.host_bytes_per_s - forward, 0.0);
}

}  // namespace pentamesh
