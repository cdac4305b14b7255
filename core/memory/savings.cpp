// Computes the waterfall: the fullest GPU's bytes from the whole model on a single GPU to the plan, step by
// step.
#include "core/memory/savings.h"

#include "core/memory/memory_costs.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/plan/names.h"

#include <utility>

namespace pentamesh {
namespace {

// Holds the plan so far, and how far each axis has been applied.
class Waterfall {
  public:
    Waterfall(const Plan& plan, const std::vector<double>& in_flight)
        : plan_(plan), now_(plan), goal_(degrees_of(plan, build_mesh(plan))), in_flight_(in_flight) {
        now_.layout = Layout{};
        now_.layout.dp_replicate = 1;
        now_.layout.zero = 0;
        now_.layout.sequence_parallel = false;
        now_.training.recompute = Recompute::none;
        now_.training.offload = {};
        if (goal_.pp == 1) apply_schedule();
    }

    std::vector<SavingStep> run() {
        add({}, false);
        for (const Axis a : plan_.layout.order) apply(a);
        recompute();
        if (plan_.training.offload.any()) {
            now_.training.offload = plan_.training.offload;
            add({.what = Saving::offload}, false);
        }
        return std::move(steps_);
    }

  private:
    void recompute() {
        const RecomputeChoice& choice = plan_.training.recompute;
        if (!choice.any()) return;
        now_.training.recompute = choice;
        add({.what = Saving::recompute, .recompute = choice}, false);
    }

    void apply(Axis a) {
        const auto cut = [&](std::int64_t ranks, bool new_group = true) {
            add({.what = Saving::axis, .axis = a, .ranks = ranks}, new_group);
        };
        switch (a) {
        case Axis::tp:
            if (goal_.tp == 1 && goal_.etp == 1) return;
            degrees_.tp = goal_.tp;
            degrees_.etp = goal_.etp;
            if (goal_.ep == 1) degrees_.communicators += goal_.expert_communicators;
            cut(goal_.tp, goal_.tp > 1);
            if (!goal_.sequence_parallel) return;
            degrees_.sequence_parallel = true;
            add({.what = Saving::sequence_parallel}, false);
            return;
        case Axis::cp:
            if (goal_.cp == 1) return;
            degrees_.cp = goal_.cp;
            // Gradients are summed over cp too: its second group, unless dp_shard has made that one.
            if (!reduces_) ++degrees_.communicators;
            reduces_ = true;
            now_.layout.cp_comm = plan_.layout.cp_comm;
            now_.layout.cp_inner = plan_.layout.cp_inner;
            cut(goal_.cp);
            return;
        case Axis::ep:
            if (goal_.ep == 1) return;
            degrees_.ep = goal_.ep;
            degrees_.etp = goal_.etp;
            degrees_.communicators += goal_.expert_communicators;
            now_.layout.ep_comm = plan_.layout.ep_comm;
            cut(goal_.ep, false);
            return;
        case Axis::dp_shard: return apply_shard();
        case Axis::dp_replicate:
            if (goal_.replicate == 1) return;
            cut(goal_.replicate);
            return;
        case Axis::pp:
            if (goal_.pp == 1) return;
            degrees_.pp = goal_.pp;
            apply_schedule();
            cut(goal_.pp);
            return;
        }
    }

    void apply_shard() {
        if (goal_.dense_shard == 1 && goal_.expert_shard == 1) return;
        degrees_.dense_shard = goal_.dense_shard;
        degrees_.expert_shard = goal_.expert_shard;
        now_.layout.zero = plan_.layout.zero;
        const bool new_group = goal_.dense_shard > 1 && !std::exchange(reduces_, true);
        // They are as the whole plan means them: here the pipeline and the micro-batches may still be
        // missing.
        now_.layout.reshard = reshard_of(plan_);
        now_.layout.gradient_reduction = gradient_reduction_of(plan_);
        const std::int64_t ranks = std::max(goal_.dense_shard, goal_.expert_shard);
        const int zero = plan_.layout.zero;
        add({.what = zero == 0 ? Saving::axis : Saving::zero,
             .axis = Axis::dp_shard,
             .ranks = ranks,
             .stage = zero},
            new_group);
    }

    void apply_schedule() {
        const Layout& l = plan_.layout;
        now_.layout.pp = l.pp;
        now_.layout.schedule = l.schedule;
        now_.layout.virtual_stages = l.virtual_stages;
        now_.layout.stage_layers = l.stage_layers;
        now_.layout.mtp_chunk = l.mtp_chunk;
    }

    void add(SavingStep step, bool new_group) {
        if (new_group && !steps_.empty()) ++degrees_.communicators;
        lay_stages(now_, shape_of(now_, 1), stages_);
        compute_memory(now_, degrees_, stages_, degrees_.pp == goal_.pp ? in_flight_ : std::vector<double>{1},
                       memory_);
        if (!memory_.stage.empty()) step.fullest = memory_.stage[memory_.peak_stage];
        if (!steps_.empty()) step.saved = steps_.back().fullest.total() - step.fullest.total();
        steps_.push_back(std::move(step));
    }

    const Plan& plan_;
    Plan now_;
    Degrees degrees_, goal_;
    const std::vector<double>& in_flight_;
    bool reduces_ = false;  // there is a group over which gradients of dense parameters are summed
    Stages stages_;
    Memory memory_;
    std::vector<SavingStep> steps_;
};

}  // namespace

std::vector<SavingStep> savings(const Plan& plan, const std::vector<double>& in_flight) {
    return Waterfall(plan, in_flight).run();
}

namespace {

std::string_view axis_reason(Axis axis) {
    switch (axis) {
    case Axis::tp: return "cuts weight matrices, and the activations between two cut ones";
    case Axis::cp: return "cuts every activation along the sequence; weights are copied";
    case Axis::ep: return "gives each rank a part of the experts";
    case Axis::dp_shard: return "copies everything: nothing is sharded at ZeRO stage 0";
    case Axis::dp_replicate: return "copies everything: no memory saved, a process group more";
    case Axis::pp: return "gives each stage a part of the layers, and keeps several micro-batches in flight";
    }
    return "";
}

std::string_view zero_reason(int stage) {
    return stage == 1   ? "cuts the optimizer state over data-parallel ranks"
           : stage == 2 ? "cuts optimizer state and gradients over data-parallel ranks"
                        : "cuts optimizer state, gradients and parameters over data-parallel ranks";
}

std::string_view recompute_reason(const RecomputeChoice& choice) {
    if (choice == Recompute::selective) return "makes the attention core again in the backward pass";
    return choice.whole_layers() ? "keeps the input of each layer, makes the rest again in the backward pass"
                                 : "makes these modules again in the backward pass";
}

}  // namespace

std::string label_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "single GPU";
    case Saving::axis: return std::string(name_of(s.axis)) + " " + std::to_string(s.ranks);
    case Saving::sequence_parallel: return "sequence parallel";
    case Saving::zero: return "ZeRO-" + std::to_string(s.stage) + " over " + std::to_string(s.ranks);
    case Saving::recompute:
        if (!s.recompute.is_plain()) return "recompute " + words_of(s.recompute);
        return s.recompute.whole_layers() ? "full recompute" : "selective recompute";
    case Saving::offload: return "offload";
    }
    return {};
}

std::string_view reason_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "the whole model on one GPU";
    case Saving::axis: return axis_reason(s.axis);
    case Saving::sequence_parallel: return "cuts along the sequence what tp copies: norms' inputs, masks";
    case Saving::zero: return zero_reason(s.stage);
    case Saving::recompute: return recompute_reason(s.recompute);
    case Saving::offload: return "keeps a part in host memory";
    }
    return {};
}

}  // namespace pentamesh
