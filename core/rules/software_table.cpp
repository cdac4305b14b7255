#include "core/rules/software_table.h"

#include "core/pipeline/schedules/schedule.h"

#include <array>

namespace pentamesh {
namespace {

bool in_megatron(Schedule s) {
    return traits_of(s).in_megatron;
}
bool in_pytorch(Schedule s) {
    return !traits_of(s).torchtitan.empty();
}
bool in_nanotron(Schedule s) {
    return !traits_of(s).nanotron.empty();
}
bool is_plain(Schedule s) {
    return s == usual_schedule(1);
}
bool is_in_one_backward(Schedule s) {
    return !traits_of(s).splits_backward && traits_of(s).placement == StagePlacement::loop;
}

namespace orders {  // the axes' bare names stay in here

using enum Axis;
constexpr std::array<AxisOrder, 2> kMegatronOrders{
    {{tp, cp, ep, dp_shard, dp_replicate, pp}, {tp, cp, ep, pp, dp_shard, dp_replicate}}};
constexpr std::array<AxisOrder, 1> kTorchtitanOrders{{{tp, cp, ep, dp_shard, dp_replicate, pp}}};
constexpr std::array<AxisOrder, 1> kDeepspeedOrders{{{tp, cp, ep, dp_shard, dp_replicate, pp}}};
constexpr std::array<AxisOrder, 1> kNanotronOrders{{{tp, cp, dp_shard, dp_replicate, pp, ep}}};

}  // namespace orders

// Megatron-LM d98e8a6: core/pipeline_parallel/schedules.py (1F1B, interleaved), core/parallel_state.py and
// training/initialize.py --use-tp-pp-dp-mapping (orders), megatron_fsdp.py:761 (weights are given up),
// transformer_config.py recompute_modules.
constexpr SoftwareRuns kMegatron{.who = "Megatron",
                                 .schedule = in_megatron,
                                 .orders = orders::kMegatronOrders,
                                 .order_words = "tp-cp-ep-dp-pp or tp-cp-ep-pp-dp",
                                 .lets_go = true};
// torchtitan b5bcd76: distributed/pipeline_parallel.py (get_schedule_class of PyTorch 0138610
// pipelining/schedules.py), distributed/parallel_dims.py (order, ep inside dp_shard x cp x tp, no etp
// together with ep), distributed/fsdp.py:129 (FSDP2 shards parameters too, over cp always),
// components/activation_checkpoint.py (none, selective, full).
constexpr SoftwareRuns kTorchtitan{.who = "torchtitan",
                                   .schedule = in_pytorch,
                                   .orders = orders::kTorchtitanOrders,
                                   .order_words = "tp-cp-dp_shard-dp_replicate-pp, ep inside them",
                                   .zero = 0b1001,
                                   .etp = ExpertTensor::one_beside_ep,
                                   .heads = Heads::whole,
                                   .recomputes = Recomputes::words};
// DeepSpeed edaa722: runtime/pipe/schedule.py (TrainSchedule is 1F1B), runtime/pipe/topology.py (order),
// runtime/zero/mics.py (replicas of shards, only with ZeRO-3), stage3.py:1886 (weights are given up),
// sequence/layer.py (Ulysses), module_inject/auto_tp.py (no sequence parallelism with tp; experts are cut as
// the rest), module_inject/auto_ep_folding.py (experts of AutoEP are whole).
constexpr SoftwareRuns kDeepspeed{.who = "DeepSpeed",
                                  .schedule = is_plain,
                                  .orders = orders::kDeepspeedOrders,
                                  .order_words = "tp-cp-dp-pp",
                                  .replicas_at = 0b1001,
                                  .lets_go = true,
                                  .etp = ExpertTensor::one_beside_ep,
                                  .cp_kinds = bit(CpComm::ulysses),
                                  .sequence_parallel = false};
// nanotron 2411b02: parallel/pipeline_parallel/engine.py (afab, 1f1b), parallel/context.py (order),
// helpers.py:409 (any stage above 0 is ZeRO-1 over all of dp), models/base.py (stages by its own cost of a
// block), models/qwen.py (ring and gathered attention; num_key_value_heads >= tp).
constexpr SoftwareRuns kNanotron{.who = "nanotron",
                                 .schedule = in_nanotron,
                                 .orders = orders::kNanotronOrders,
                                 .order_words = "tp-cp-dp-pp",
                                 .zero = 0b0011,
                                 .replicas_at = 0b0001,
                                 .experts = false,
                                 .etp = ExpertTensor::as_tp,
                                 .cp_kinds = bit(CpComm::ring) | bit(CpComm::allgather),
                                 .heads = Heads::at_least_tp,
                                 .uneven_stages = false,
                                 .recomputes = Recomputes::layers};
// MaxText e591f30: layers/pipeline.py scans over micro-batches, with repeats in a circle, and differentiates
// the whole; JaxPP adds 1F1B and interleaved. None of them splits the backward or runs two ways.
constexpr SoftwareRuns kMaxtext{.who = "MaxText", .schedule = is_in_one_backward};
// Automodel 36044ad: components/distributed/pipelining/functional.py asks PyTorch's get_schedule_class.
constexpr SoftwareRuns kAutomodel{.who = "Automodel", .schedule = in_pytorch};
// This is a program of one's own.
constexpr SoftwareRuns kFsdp{.who = "PyTorch FSDP"};

}  // namespace

const SoftwareRuns& runs_of(Software s) {
    switch (s) {
    case Software::megatron:
    case Software::megatron_bridge: return kMegatron;
    case Software::torchtitan:
    case Software::torchtitan_2024: return kTorchtitan;
    case Software::deepspeed: return kDeepspeed;
    case Software::nanotron: return kNanotron;
    case Software::maxtext: return kMaxtext;
    case Software::automodel: return kAutomodel;
    case Software::fsdp: break;
    }
    return kFsdp;
}

}  // namespace pentamesh
