#include "core/step/recompute_work.h"

#include "core/model/mixer_flops.h"
#include "core/model/model_tensors.h"
#include "core/pipeline/one_stage.h"
#include "core/pipeline/schedules/schedule.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Returns the forward seconds of the recomputed modules. A recomputed MoE layer recomputes its parts.
double module_time(const RecomputeChoice& choice, const ModuleTimes& times) {
    double sum = 0;
    for (const RecomputeModule m : all_of<RecomputeModule>()) {
        const bool part = m == RecomputeModule::moe_act || m == RecomputeModule::shared_experts;
        if (choice.modules.has(m) && !(part && choice.modules.has(RecomputeModule::moe))) sum += times[m];
    }
    return sum;
}

bool makes_again(const RecomputeChoice& choice, const Model& model, const Tensor& t) {
    if (choice.whole_layers()) return true;
    const bool latent = model.attention == AttentionKind::mla;
    const bool up = t.id == TensorId::attention_q_up || t.id == TensorId::attention_kv_up
                    || t.id == TensorId::attention_q;
    if (latent && up) return choice.makes(RecomputeModule::mla_up_proj);
    const TensorModule module = module_of(t.id);
    if (module == TensorModule::mlp) return choice.makes(RecomputeModule::mlp);
    const bool shared = module == TensorModule::shared_expert;
    if (shared && choice.makes(RecomputeModule::shared_experts)) return true;
    const bool experts = shared || module == TensorModule::experts || module == TensorModule::router;
    return experts && choice.makes(RecomputeModule::moe);
}

}  // namespace

void find_recompute(const ResolvedPlan& r, StepWork& work) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const double share = r.software.selective_share;
    const bool by_operation = share > 0 && choice == RecomputeChoice(Recompute::selective);
    for (int t = 0; t < work.times.layer.size(); ++t) {
        const LayerTime& time = work.times.of(t);
        work.layer[t].recompute.input_grad = by_operation            ? share * time.all.forward
                                             : choice.whole_layers() ? time.all.forward
                                             : choice.any()          ? module_time(choice, time.module)
                                                                     : 0;
    }
}

double recomputed_flops(const ResolvedPlan& r, const Stages& stages) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const Model& m = r.plan.model;
    if (!choice.any()) return 0;
    const LayerTypes& types = r.types;
    const PerType<double> share = shares_recomputed(stages);
    const auto tokens = static_cast<double>(r.plan.training.sequence_length);
    PerType<double> recomputed(types.size());  // layers of each type, the prediction layers among them
    double flops = 0, mtp_recomputed = 0;
    for (int t = 0; t < types.size(); ++t) {
        const double mtp = t == types.mtp ? static_cast<double>(m.mtp_layers) : 0;
        recomputed[t] = (r.counts[t] + mtp) * share[t];
        mtp_recomputed += mtp * share[t];
        const MixerFlops mixer = mixer_flops(m, types[t], tokens, recomputed[t]);
        if (choice.makes(RecomputeModule::core_attn)) flops += mixer.attention;
        if (choice.whole_layers()) flops += mixer.scan;
    }
    visit_tensors(m, types, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        if (!makes_again(choice, m, t)) return;
        double copies = static_cast<double>(t.copies), layers = t.place == Place::mtp ? mtp_recomputed : 0;
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        for (int k = 0; k < types.size(); ++k)
            if (has(t.types, k)) layers += recomputed[k];
        flops += 2 * tokens * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies * layers;
    });
    return flops;
}

void wait_for_host(const Plan& plan, StepWork& work) {
    const Efficiency& e = plan.cluster.gpu.efficiency;
    const double launch = launch_time(plan);
    const double repeats = plan.training.recompute.whole_layers() ? 1 : 0;
    const bool split = traits_of(schedule_of(plan.layout)).splits_backward;
    for (int k = 0; k < work.times.layer.size(); ++k) {
        LayerTime& time = work.times.layer[k];
        LayerWork& layer = work.layer[k];
        PassTime& t = time.all;
        const double host = time.launches * launch;
        const double forward = std::max(host - t.forward - layer.comm.sum(Phase::forward), 0.0);
        // This is the pass that recomputes: the input gradient, or the whole backward where it is one.
        const double least = split ? host : kBackwardLaunches * host;
        const double own = t.input_grad + (split ? 0 : t.weight_grad) + layer.comm.sum(Phase::backward);
        const double backward = std::max(least - own, 0.0);
        const double late = split ? std::max(host - t.weight_grad, 0.0) : 0;
        t.forward += forward;
        t.input_grad += backward;
        t.weight_grad += late;
        time.waiting = forward + backward + late;
        // Launches of recomputed modules first take the host's idle time.
        double& again = layer.recompute.input_grad;
        const double launches = repeats * host - std::max(own - least, 0.0);
        const double wait = std::max(launches - again - layer.recomputed.sum(Phase::backward), 0.0);
        again += wait;
        // In all of these the device has nothing to do: all of their time can hide transfers, of compute only
        // the share `overlap`.
        const double free = 1 - e.overlap;
        layer.busy.forward -= free * forward;
        layer.busy.input_grad -= free * (backward + late);
        layer.recompute.forward += free * wait;
    }
}

}  // namespace pentamesh
