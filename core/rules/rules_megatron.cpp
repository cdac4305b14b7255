// What Megatron-LM itself refuses of a plan that could be laid out: warnings where the plan's software is
// Megatron's. An order whose pipelines differ for experts is an error (rules_world.cpp). Sources: Megatron-LM
// megatron/training/arguments.py, megatron/core/transformer/transformer_config.py.
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"

namespace pentamesh {
namespace {

Problem& refusal(Rules& r, ProblemCode code, std::string_view pointer) {
    return r.add(Severity::warning, Rule::megatron, code, pointer);
}

// parallel_state.py, initialize_model_parallel: without pp outermost dense and expert meshes must have as
// many data-parallel ranks, or their pipeline groups may differ.
void order_of_experts(Rules& r) {
    const Layout& l = r.plan.layout;
    if (!r.mesh.has_experts || l.pp == 1 || l.order.back() == Axis::pp) return;
    const std::int64_t ranks = r.mesh.world / l.pp;
    const std::int64_t dense = ranks / (l.tp * l.cp), experts = ranks / (l.etp.value_or(l.tp) * l.ep);
    if (dense == experts) return;
    Problem& p = refusal(r, ProblemCode::megatron_expert_order, "/layout/order");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses an order with pp not outermost where experts and the rest have "
                         "different data-parallel sizes: here ",
                         experts, " and ", dense, ".");
    p.fix = fix_by(r.plan, pp_outermost);
}

// arguments.py: two ranks would have several messages between them at once.
void interleaved_messages(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.pp != 2 || l.virtual_stages == 1 || r.plan.training.overlap.pp) return;
    Problem& p = refusal(r, ProblemCode::megatron_p2p_overlap, "/training/overlap/pp");
    if (!r.messages) return;
    p.message =
        sentence("Megatron refuses the interleaved schedule on pp = 2 without overlap of its messages "
                 "(--no-overlap-p2p-communication).");
    p.fix = {{"/training/overlap/pp", true}};
}

void tensor_overlap(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.tp == 1 || l.sequence_parallel || !r.plan.training.overlap.tp) return;
    Problem& p = refusal(r, ProblemCode::megatron_tp_overlap, "/training/overlap/tp");
    if (!r.messages) return;
    p.message =
        "Megatron refuses overlap of tensor parallelism (--tp-comm-overlap) without sequence parallelism.";
    p.fix = {{"/layout/sequence_parallel", true}};
}

// transformer_config.py, overlap_moe_expert_parallel_comm.
std::string_view expert_overlap_lacks(const Plan& plan) {
    const Layout& l = plan.layout;
    const RecomputeChoice& again = plan.training.recompute;
    if (l.pp > 1 && l.virtual_stages == 1) return "virtual stages, where there is a pipeline";
    if (l.ep_comm == EpComm::allgather) return "an all-to-all of the tokens, not an all-gather";
    if (again.whole_layers()) return "layers that are not recomputed whole";
    if (again.any() && again.modules.has(RecomputeModule::moe)) return "MoE layers that are not recomputed";
    if (plan.model.mtp_layers > 1) return "one multi-token-prediction layer at most";
    return {};
}

void expert_overlap(Rules& r) {
    if (!r.plan.model.moe || r.plan.layout.ep == 1 || !r.plan.training.overlap.ep) return;
    // Schedules that Megatron has not overlap by themselves.
    if (r.plan.layout.pp > 1 && !traits_of(r.plan.layout.schedule).in_megatron) return;
    const std::string_view lacks = expert_overlap_lacks(r.plan);
    if (lacks.empty()) return;
    Problem& p = refusal(r, ProblemCode::megatron_ep_overlap, "/training/overlap/ep");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses overlap of the experts' exchange "
                         "(--overlap-moe-expert-parallel-comm): it wants ",
                         lacks, ".");
    p.fix = {{"/training/overlap/ep", false}};
}

// arguments.py: Megatron-FSDP, which ZeRO 2 and 3 need, has two optimizers.
void fsdp_optimizer(Rules& r) {
    if (r.plan.layout.zero < 2 || r.plan.training.optimizer != Optimizer::muon) return;
    Problem& p = refusal(r, ProblemCode::megatron_fsdp_optimizer, "/training/optimizer");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses muon with Megatron-FSDP, which ZeRO-", r.plan.layout.zero,
                         " needs: it takes Adam and SGD.");
    p.fix = {{"/layout/zero", std::int64_t{1}}};
}

// arguments.py: max_position_embeddings >= seq_length.
void learned_positions(Rules& r) {
    const Model& m = r.plan.model;
    if (m.positions != Positions::learned || m.max_positions == 0
        || m.max_positions >= r.plan.training.sequence_length)
        return;
    Problem& p = refusal(r, ProblemCode::megatron_positions, "/training/sequence_length");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses sequences of ", r.plan.training.sequence_length,
                         " tokens: the model has ", m.max_positions, " learned positions.");
    p.fix = {{"/training/sequence_length", m.max_positions}};
}

}  // namespace

void check_megatron(Rules& r) {
    const Software s = r.plan.training.software;
    if (s != Software::megatron && s != Software::megatron_bridge) return;
    order_of_experts(r);
    interleaved_messages(r);
    tensor_overlap(r);
    expert_overlap(r);
    fsdp_optimizer(r);
    learned_positions(r);
}

}  // namespace pentamesh
