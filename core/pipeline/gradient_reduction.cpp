#include "core/pipeline/gradient_reduction.h"

#include "core/pipeline/one_stage.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/software.h"

#include <cmath>

namespace pentamesh {
namespace {

using When = GradientReduction;

// Sources for DeepSpeed: stage_1_and_2.py:1768. Megatron: schedules.py:814 (DistributedOptimizer),
// megatron_fsdp.py:761-767 (ZeRO-2, 3). MaxText: gradient_accumulation.py:110-164. torchtitan:
// trainer.py:880, under a pipeline PyTorch's pipelining/stage.py (REDUCE_GRAD), which other programs on FSDP
// use too. Automodel: defer_fsdp_grad_sync, config.py:318. nanotron: helpers.py:431.
When usual_reduction(const Plan& plan) {
    const bool cut = plan.layout.zero >= 2, pipeline = plan.layout.pp > 1;
    switch (plan.training.software) {
    case Software::nanotron:
    case Software::automodel: return When::step;
    case Software::torchtitan:
    case Software::torchtitan_2024:
        return !pipeline && plan.layout.zero != 1 ? When::micro_batch : When::step;
    case Software::fsdp: return cut && !pipeline ? When::micro_batch : When::step;
    case Software::megatron:
    case Software::megatron_bridge:
    case Software::deepspeed:
    case Software::maxtext: break;
    }
    return cut ? When::micro_batch : When::step;
}

bool on_pytorch_pipelines(Software software) {
    return is_torchtitan(software) || software == Software::fsdp || software == Software::automodel;
}

// FSDP2 all-reduces the shard with every reduction unless set_requires_all_reduce says otherwise, and so do
// FSDP1's HYBRID_SHARD and XLA under MaxText; Megatron's optimizer instances
// (param_and_grad_buffer.py:701-761), Megatron-FSDP (megatron_fsdp.py:782-786) and MiCS (mics.py:411) do it
// once a step.
bool replicas_every_time(Software software) {
    return on_pytorch_pipelines(software) || software == Software::maxtext;
}

}  // namespace

GradientReduction gradient_reduction_of(const Plan& plan) {
    const Layout& l = plan.layout;
    When when = l.gradient_reduction;
    if (when == When::by_software) when = usual_reduction(plan);
    if (l.zero < 2) return when;
    if (microbatches_of(plan) <= 1) return When::micro_batch;
    return when == When::run && virtual_stages_of(l) == 1 ? When::step : when;
}

// torchtitan b5bcd76, distributed/fsdp.py:129-132 (get_fsdp_reshard_after_forward_policy): by default weights
// are let go after a forward where there is no pipeline. Automodel: parallelizer.py:685.
Reshard reshard_of(const Plan& plan) {
    if (plan.layout.reshard != Reshard::by_software) return plan.layout.reshard;
    return plan.layout.pp > 1 && on_pytorch_pipelines(plan.training.software) ? Reshard::never
                                                                              : Reshard::after_forward;
}

// PyTorch 0138610, pipelining/stage.py, backward_maybe_with_nosync: set_requires_gradient_sync(False) and
// set_reshard_after_backward(False) until the last backward. Automodel resets both where each micro-batch
// reduces (fsdp_mixin.py:282).
bool holds_gathered(const Plan& plan) {
    if (reshard_of(plan) == Reshard::never) return true;
    return plan.layout.pp > 1 && on_pytorch_pipelines(plan.training.software)
           && gradient_reduction_of(plan) != When::micro_batch;
}

bool can_reduce(GradientReduction when, const Layout& layout) {
    switch (when) {
    case When::by_software:
    case When::step: return true;
    case When::micro_batch: return layout.zero != 1;
    case When::run:
        return layout.zero >= 2 && traits_of(schedule_of(layout)).placement == StagePlacement::loop;
    }
    return true;
}

// Sources for DeepSpeed: pipe/engine.py:76. nanotron: any zero_stage above 0 is ZeRO-1 (helpers.py:409).
ReductionSupport zero_support(Software software, int zero, std::int64_t pp) {
    if (zero < 2) return ReductionSupport::runs;
    if (software == Software::nanotron) return ReductionSupport::lacks;
    return software == Software::deepspeed && pp > 1 ? ReductionSupport::refuses : ReductionSupport::runs;
}

// Megatron-FSDP's grad_reduce_every_bprop has no way to switch it off. MaxText has
// pipeline_fsdp_ag_per_repeat.
ReductionSupport reduction_support(const Plan& plan) {
    const Layout& l = plan.layout;
    const Software software = plan.training.software;
    const bool cut = l.zero >= 2, pipeline = l.pp > 1;
    const When asked = l.gradient_reduction;
    if (const ReductionSupport zero = zero_support(software, l.zero, l.pp); zero != ReductionSupport::runs)
        return zero;
    if (asked == When::run && software != Software::maxtext) return ReductionSupport::lacks;
    const bool megatron = software == Software::megatron || software == Software::megatron_bridge;
    if (megatron && cut && asked == When::step) return ReductionSupport::lacks;
    if (is_torchtitan(software) && !pipeline && asked == When::step && l.zero != 1)
        return ReductionSupport::lacks;
    return ReductionSupport::runs;
}

void follow_software(const Plan& own, Plan& changed) {
    When& when = changed.layout.gradient_reduction;
    if (when == When::by_software) return;
    const bool lacks = reduction_support(changed) != ReductionSupport::runs
                       && reduction_support(own) == ReductionSupport::runs;
    if (lacks || !can_reduce(when, changed.layout)) when = When::by_software;
}

StateRounds state_rounds(const Plan& plan) {
    const Layout& l = plan.layout;
    const double m = microbatches_or_one(plan);
    const Rounds once, every{When::micro_batch, runs_of(schedule_of(l), m)};
    StateRounds out;
    switch (gradient_reduction_of(plan)) {
    case When::micro_batch: out.reductions = every; break;
    case When::run: {
        const auto group = static_cast<double>(l.microbatch_group.value_or(l.pp));
        out.reductions = {When::run, traits_of(schedule_of(l)).in_groups ? std::ceil(m / group) : 1};
        break;
    }
    case When::by_software:
    case When::step: break;
    }
    if (replicas_every_time(plan.training.software)) out.replicas = out.reductions;
    // A backward that lets nothing go leaves all weights to the forward after it: only the forwards before a
    // stage's first backward gather, and each backward behind a forward, m + 1 times in 1F1B and GPipe.
    const bool whole = l.pp > 1 && holds_gathered(plan) && out.reductions.each != When::micro_batch;
    out.forward = whole ? once : every;
    out.backward = reshard_of(plan) == Reshard::never ? Rounds{When::step, 0} : every;
    return out;
}

}  // namespace pentamesh
