// Notices fields of a plan that the figures leave out, or that a kernel cannot do.
#include "core/plan/names.h"
#include "core/rules/rules.h"

namespace pentamesh {
namespace {

// This is NUM_MAX_NVL_PEERS of deepseek-ai/DeepEP csrc/kernels/configs.cuh.
constexpr std::int64_t kDeepEpPeers = 8;

void deepep_domain(Rules& r) {
    const Plan& plan = r.plan;
    if (plan.layout.ep_comm != EpComm::deepep || !r.mesh.has_experts || plan.cluster.tiers.empty()) return;
    if (plan.layout.ep <= kDeepEpPeers || domain_of(plan.cluster, 0) <= kDeepEpPeers) return;
    Problem& p = r.add(Severity::warning, Rule::hardware, ProblemCode::deepep_domain, "/layout/ep_comm");
    if (!r.messages) return;
    p.message = sentence("DeepEP's kernels know ", kDeepEpPeers,
                         " NVLink peers and go over the network "
                         "beyond them; the figures let it use the whole domain of ",
                         domain_of(plan.cluster, 0), ". HybridEP knows larger domains.");
    p.fix = {{"/layout/ep_comm", std::string(name_of(EpComm::hybridep))}};
}

void exchange_kernels(Rules& r) {
    const EpComm how = r.plan.layout.ep_comm;
    if ((how != EpComm::deepep && how != EpComm::hybridep) || !r.mesh.has_experts || r.plan.layout.ep == 1)
        return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::ep_kernel_rate, "/layout/ep_comm");
    if (!r.messages) return;
    p.message = sentence(name_of(how),
                         " is counted by what it sends on each tier, at the rate of an "
                         "all-to-all; the multiprocessors that it takes from the products are not counted.");
}

void offload_time(Rules& r) {
    const Offload& away = r.plan.training.offload;
    if (!away.any()) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::offload_time, "/training/offload");
    if (!r.messages) return;
    p.message =
        "What lies in host memory leaves the GPU's memory; the time of its way over PCIe or C2C and of "
        "an optimizer on the CPU is not counted.";
    if (away.optimizer > 0) p.message += " Gradients are counted on the GPU.";
}

// Megatron-LM transformer_config.py, __post_init__.
void megatron_offload(Rules& r) {
    const bool pipeline = r.plan.layout.pp > 1, again = r.plan.training.recompute.any();
    if (r.plan.training.offload.activations_layers == 0 || (!pipeline && !again)) return;
    Problem& p = r.add(Severity::warning, Rule::megatron, ProblemCode::megatron_offload,
                       "/training/offload/activations_layers");
    if (!r.messages) return;
    p.message = sentence("Megatron keeps activations in host memory (--cpu-offloading-num-layers) neither "
                         "with recomputation nor with a pipeline; here ",
                         pipeline ? "pp = " : "recompute is ",
                         pipeline ? with_commas(r.plan.layout.pp) : words_of(r.plan.training.recompute), ".");
    p.fix = {{"/training/offload/activations_layers", std::int64_t{0}}};
}

void small_modules(Rules& r) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const RecomputeModules small(RecomputeModule::layernorm, RecomputeModule::moe_act,
                                 RecomputeModule::mla_up_proj);
    if (!choice.modules.any_of(small)) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::recompute_launches, "/training/recompute");
    if (!r.messages) return;
    p.message = "Modules that are recomputed are counted with their work, not with the host's time to launch "
                "their kernels again: where the host is the slower one, a step takes a few per cent more.";
}

void reshard_without_gathering(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.reshard != Reshard::never || l.zero == 3) return;
    Problem& p =
        r.add(Severity::info, Rule::arithmetic, ProblemCode::reshard_without_zero_3, "/layout/reshard");
    if (!r.messages) return;
    p.message = sentence("reshard says what ZeRO-3 does with gathered weights; with zero = ", l.zero,
                         " nothing is gathered.");
}

void weight_shards(Rules& r) {
    const std::int64_t shards = r.plan.layout.weight_shards.value_or(1);
    if (shards == 1) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::weight_shards_not_counted,
                       "/layout/weight_shards");
    if (!r.messages) return;
    p.message = sentence("Weights in ", shards,
                         " further shards, gathered for each pass, are not in the "
                         "figures yet: memory is too high by them, communication too low.");
}

// Megatron lays them next to tp in any order (parallel_state.py, _inject_gtp_remat_axis).
void weight_shards_outside(Rules& r) {
    const GroupFactors shards = group_factors(r.mesh, GroupKind::gtp_remat);
    const bool together =
        shards.count < 2 || shards.factor[1].stride == shards.factor[0].size * shards.factor[0].stride;
    if (shards.count == 0 || (together && shards.factor[0].stride == r.mesh.dense[Axis::tp].size)) return;
    Problem& p =
        r.add(Severity::warning, Rule::megatron, ProblemCode::weight_shards_outside, "/layout/weight_shards");
    if (!r.messages) return;
    p.message =
        sentence("Megatron lays the ", r.mesh.weight_shards,
                 " ranks that share a matrix (gtp_remat) next to tp, ", r.mesh.dense[Axis::tp].size,
                 " ranks apart. Here they lie among the ranks of data parallelism, the first two ",
                 shards.factor[0].stride, " ranks apart", together ? "" : ", and not next to each other",
                 ": groups of gtp_remat, cp, pp and dp have other ranks than in Megatron.");
}

void prediction_message(Rules& r) {
    const Plan& plan = r.plan;
    const std::int64_t last = pipeline_chunks(plan.layout) - 1;
    if (plan.model.mtp_layers == 0 || plan.layout.mtp_chunk.value_or(last) >= last) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::mtp_message, "/layout/mtp_chunk");
    if (!r.messages) return;
    p.message = sentence("From chunk ", *plan.layout.mtp_chunk, " on a message carries the states of ",
                         count_text(plan.model.mtp_layers, "prediction"),
                         " besides; they are not counted in the pipeline's messages.");
}

// MLA's configurations have one switch, attention_bias, and no biases only of queries, keys and values.
void bias_of_latents(Rules& r) {
    const Model& m = r.plan.model;
    if (!m.qkv_bias || m.attention != AttentionKind::mla || m.attention_bias) return;
    Problem& p = r.add(Severity::info, Rule::advice, ProblemCode::mla_qkv_bias, "/model/qkv_bias");
    if (!r.messages) return;
    p.message = "qkv_bias does nothing with attention mla: biases of its projections are attention_bias.";
    p.fix = {{"/model/qkv_bias", false}};
}

// A GPU's preset has no peak of its vector units.
void full_precision(Rules& r) {
    if (r.plan.training.compute != Dtype::fp32) return;
    Problem& p = r.add(Severity::warning, Rule::hardware, ProblemCode::fp32_as_tf32, "/training/compute");
    if (!r.messages) return;
    const bool tf32 = r.plan.cluster.gpu.flops.tf32 > 0;
    p.message = sentence("fp32 products are timed at the peak of ", tf32 ? "tf32" : "bf16",
                         ", as where a framework allows that. Without it they run on the vector units, many "
                         "times slower, which is not counted.");
    if (tf32) p.fix = {{"/training/compute", std::string(name_of(Dtype::tf32))}};
}

}  // namespace

void check_notices(Rules& r) {
    check_modules(r);
    deepep_domain(r);
    megatron_offload(r);
    exchange_kernels(r);
    offload_time(r);
    small_modules(r);
    reshard_without_gathering(r);
    weight_shards(r);
    weight_shards_outside(r);
    prediction_message(r);
    bias_of_latents(r);
    full_precision(r);
}

}  // namespace pentamesh
