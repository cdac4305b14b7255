#include "core/step/recompute_work.h"

#include "core/model/model_tensors.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Forward seconds of the modules that are made again. A MoE layer made again makes its parts again.
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
    const bool up = t.name == "attention.q_up" || t.name == "attention.kv_up" || t.name == "attention.q";
    if (latent && up) return choice.makes(RecomputeModule::mla_up_proj);
    if (t.place == Place::dense_layer) return choice.makes(RecomputeModule::mlp);
    if (t.place != Place::moe_layer) return false;
    return choice.makes(RecomputeModule::moe)
           || (t.name.starts_with("shared_expert") && choice.makes(RecomputeModule::shared_experts));
}

// Shares of the layers that run again.
struct Again {
    double dense = 0, moe = 0, all = 0;
};
Again share_again(const Stages& stages) {
    ChunkLayers sum;
    for (const ChunkLayers& k : stages.chunk) {
        sum.dense += k.dense, sum.moe += k.moe;
        sum.dense_again += k.dense_again, sum.moe_again += k.moe_again;
    }
    const auto share = [](double again, double of) { return of > 0 ? again / of : 0; };
    return {share(sum.dense_again, sum.dense), share(sum.moe_again, sum.moe),
            share(sum.dense_again + sum.moe_again, sum.layers())};
}

}  // namespace

void find_recompute(const Plan& plan, StepWork& work) {
    const RecomputeChoice& choice = plan.training.recompute;
    work.dense_recompute = work.moe_recompute = {};
    if (choice.whole_layers()) {
        work.dense_recompute.input_grad = work.times.dense.forward;
        work.moe_recompute.input_grad = work.times.moe.forward;
    } else if (choice.any()) {
        work.dense_recompute.input_grad = module_time(choice, work.times.dense_module);
        work.moe_recompute.input_grad = module_time(choice, work.times.moe_module);
    }
}

double recomputed_flops(const Plan& plan, const Stages& stages, const ForwardFlops& forward) {
    const RecomputeChoice& choice = plan.training.recompute;
    const Model& m = plan.model;
    if (!choice.any()) return 0;
    const Again again = share_again(stages);
    double flops = choice.makes(RecomputeModule::core_attn) ? forward.attention * again.all : 0;
    const auto tokens = static_cast<double>(plan.training.sequence_length);
    visit_tensors(m, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        if (!makes_again(choice, m, t)) return;
        double copies = static_cast<double>(t.copies);
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        const double share = t.place == Place::dense_layer ? again.dense
                             : t.place == Place::moe_layer ? again.moe
                                                           : again.all;
        flops += 2 * tokens * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies
                 * static_cast<double>(times(m, t.place)) * share;
    });
    return flops;
}

void wait_for_host(const Plan& plan, StepWork& work) {
    const RecomputeChoice& choice = plan.training.recompute;
    const double launch = plan.cluster.gpu.efficiency.launch_s;
    const auto wait = [&](PassTime& t, PassTime& repeated, const UnitComm& comm, const UnitComm& again,
                          double launches, bool whole) {
        const double forward = t.forward + comm.sum(Phase::forward);
        const double own = t.input_grad + t.weight_grad + comm.sum(Phase::backward);
        const double with = own + repeated.input_grad + again.sum(Phase::backward);
        const double host = launches * launch, host_again = (kBackwardLaunches + (whole ? 1 : 0)) * host;
        t.forward += std::max(host - forward, 0.0);
        if (choice.some_layers()) {
            const double missing = std::max(kBackwardLaunches * host - own, 0.0);
            t.input_grad += missing;
            repeated.input_grad += std::max(host_again - with - missing, 0.0);
        } else {
            t.input_grad += std::max(host_again - with, 0.0);
        }
    };
    wait(work.times.dense, work.dense_recompute, work.dense, work.dense_again, work.times.dense_launches,
         choice.whole_layers());
    wait(work.times.moe, work.moe_recompute, work.moe, work.moe_again, work.times.moe_launches,
         choice.whole_layers());
}

}  // namespace pentamesh
