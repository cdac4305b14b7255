// Warns of Megatron-LM's own refusals of a plan that could be laid out, where the plan's software is
// Megatron's. An order whose pipelines differ for experts is an error (rules_world.cpp).
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"

namespace pentamesh {
namespace {

Problem& refusal(Rules& r, ProblemCode code, std::string_view pointer) {
    return r.add(Severity::warning, Rule::megatron, code, pointer);
}

// Asks the table of software_runs.h, which has the sources.
bool refuses(const Rules& r, Lack what) {
    return lacks(what, r.plan, Software::megatron);
}

void order_of_experts(Rules& r) {
    if (!r.mesh.has_experts || !refuses(r, Lack::expert_order)) return;
    Problem& p = refusal(r, ProblemCode::megatron_expert_order, "/layout/order");
    if (!r.messages) return;
    const Layout& l = r.plan.layout;
    const std::int64_t ranks = r.mesh.world / l.pp;
    const std::int64_t dense = ranks / (l.tp * l.cp), experts = ranks / (l.etp.value_or(l.tp) * l.ep);
    p.message = sentence("Megatron refuses an order with pp not outermost where experts and the rest have "
                         "different data-parallel sizes: here ",
                         experts, " and ", dense, ".");
    p.fix = fix_by(r.plan, pp_outermost);
}

void interleaved_messages(Rules& r) {
    if (!refuses(r, Lack::message_overlap)) return;
    Problem& p = refusal(r, ProblemCode::megatron_p2p_overlap, "/training/overlap/pp");
    if (!r.messages) return;
    p.message =
        sentence("Megatron refuses the interleaved schedule on pp = 2 without overlap of its messages "
                 "(--no-overlap-p2p-communication).");
    p.fix = {{"/training/overlap/pp", true}};
}

void tensor_overlap(Rules& r) {
    if (!refuses(r, Lack::tensor_overlap)) return;
    Problem& p = refusal(r, ProblemCode::megatron_tp_overlap, "/training/overlap/tp");
    if (!r.messages) return;
    p.message =
        "Megatron refuses overlap of tensor parallelism (--tp-comm-overlap) without sequence parallelism.";
    p.fix = {{"/layout/sequence_parallel", true}};
}

void expert_overlap(Rules& r) {
    const std::string_view wants = expert_overlap_wants(r.plan);
    if (wants.empty()) return;
    Problem& p = refusal(r, ProblemCode::megatron_ep_overlap, "/training/overlap/ep");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses overlap of the experts' exchange "
                         "(--overlap-moe-expert-parallel-comm): it wants ",
                         wants, ".");
    p.fix = {{"/training/overlap/ep", false}};
}

void fsdp_optimizer(Rules& r) {
    if (!refuses(r, Lack::optimizer)) return;
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
