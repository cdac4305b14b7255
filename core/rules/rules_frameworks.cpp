// Warns by rules that only one framework enforces, and names it. Sources are Megatron-LM arguments.py and
// parallel_state.py; torchtitan distributed/parallel_dims.py and models/*/infra/parallelize.py.
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"

namespace pentamesh {
namespace {

void megatron_moe_sequence_parallel(Rules& r) {
    if (!lacks(Lack::no_sequence_parallel, r.plan, r.plan.training.software)) return;
    Problem& p = r.add(Severity::warning, Rule::megatron, ProblemCode::megatron_moe_needs_sp,
                       "/layout/sequence_parallel");
    if (!r.messages) return;
    p.message = sentence("Megatron refuses experts with tp = ", r.plan.layout.tp,
                         " without sequence parallelism: every tp rank would route the same tokens.");
    p.fix = {{"/layout/sequence_parallel", true}};
}

void megatron_uneven_stages(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t chunks = pipeline_chunks(l), layers = r.plan.model.layers;
    if (!l.stage_layers.empty() || chunks > layers || layers % chunks == 0) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::uneven_stages, "/layout/stage_layers");
    if (!r.messages) return;
    p.message = sentence(layers, " layers over ", chunks, " chunks: ", layers % chunks, " hold ",
                         layers / chunks + 1, ", the others ", layers / chunks,
                         " (the first and last take the fewer). Megatron wants the stages listed "
                         "(--pipeline-model-parallel-layout) for this.");
}

// The vocabulary is padded, by the model's own multiple or by the software's.
void padded_vocabulary(Rules& r) {
    const std::int64_t multiple = vocab_multiple_of(r.plan), tp = r.plan.layout.tp;
    const std::int64_t unit = multiple * tp, vocab = r.plan.model.vocab;
    if (multiple == 1 || vocab % unit == 0) return;
    Problem& p = r.add(Severity::info, Rule::megatron, ProblemCode::vocab_padded, "/model/vocab");
    if (!r.messages) return;
    const std::int64_t padded = (vocab + unit - 1) / unit * unit;
    p.message = sentence(facts_of(r.plan.training.software).name, " pads the vocabulary of ", vocab, " to ",
                         padded, ", a multiple of ", multiple, " × tp ", tp, ": ", padded - vocab,
                         " rows that no token uses.");
}

// torchtitan parallel_dims.py: ep is taken out of dp_shard, cp and tp.
void torchtitan_expert_degree(Rules& r) {
    if (!lacks(Lack::expert_width, r.plan, r.plan.training.software)) return;
    const Layout& l = r.plan.layout;
    const std::int64_t width = l.dp_shard * l.cp * l.tp;
    Problem& p = r.add(Severity::warning, Rule::torchtitan, ProblemCode::torchtitan_ep, "/layout/ep");
    if (!r.messages) return;
    p.message = sentence("torchtitan takes ep out of dp_shard × cp × tp = ", width, ", which ep = ", l.ep,
                         " does not divide.");
    const auto folds = [&](const Plan& q) {
        const std::int64_t ranks = q.layout.dp_shard * l.cp * l.tp;
        return ranks % q.layout.ep == 0 && q.model.moe->experts % q.layout.ep == 0
               && build_mesh(q).has_experts;
    };
    p.fix = fix_by(r.plan, [&](Plan& q) {
        q.layout.dp_shard *= replicas_in_force(q);
        q.layout.dp_replicate = 1;
        if (folds(q)) return;
        q.layout = l;
        while (q.layout.ep > 1 && !folds(q)) --q.layout.ep;
    });
}

Rule rule_of(Software software) {
    if (is_torchtitan(software)) return Rule::torchtitan;
    const bool megatron = software == Software::megatron || software == Software::megatron_bridge;
    return megatron ? Rule::megatron : Rule::schedule;
}

// Names what the plan's software lacks or refuses, where no rule of its own warns of it.
void lacking_software(Rules& r) {
    const Software software = r.plan.training.software;
    const Lacks lacks = lacks_of(r.plan, software);
    // The rule of gradient_reduction names what Megatron lacks there first.
    const bool zero_is_told =
        rule_of(software) == Rule::megatron
            ? reduction_support(r.plan) != ReductionSupport::runs
            : zero_support(software, r.plan.layout.zero, r.plan.layout.pp) != ReductionSupport::runs;
    for (const Lack l : all_of<Lack>()) {
        if (!lacks.has(l) || kind_of(l) == LackKind::warned || l == Lack::expert_width) continue;
        if (l == Lack::zero && zero_is_told) continue;
        const bool refused = kind_of(l) == LackKind::refused;
        Problem& p = r.add(refused ? Severity::warning : Severity::info, rule_of(software), code_of(l),
                           std::string(pointer_of(l)));
        if (!r.messages) continue;
        p.message = words_of(l, r.plan, software) + (refused ? "." : "; it is laid out all the same.");
        if (l == Lack::exchange_ranks) p.fix = {{"/layout/ep_comm", std::string(name_of(EpComm::alltoall))}};
    }
}

// Warns of a reduction that can be laid out but not be run with the plan's software (sequence.cpp
// has the places in code).
void reduction_of_software(Rules& r) {
    const Plan& plan = r.plan;
    const Layout& l = plan.layout;
    const Software software = plan.training.software;
    const ReductionSupport support = reduction_support(plan);
    if (support == ReductionSupport::runs) return;
    const bool zero = zero_support(software, l.zero, l.pp) != ReductionSupport::runs;
    const bool refuses = support == ReductionSupport::refuses;
    const Rule rule = rule_of(software);
    Problem& p = r.add(refuses || zero ? Severity::warning : Severity::info, rule,
                       refuses ? ProblemCode::zero_refused : ProblemCode::no_such_reduction,
                       zero ? "/layout/zero" : "/layout/gradient_reduction");
    if (!r.messages) return;
    const std::string name = rule == Rule::megatron ? "Megatron-FSDP" : facts_of(software).name;
    if (refuses)
        p.message = sentence("DeepSpeed refuses zero = ", l.zero, " under a pipeline (pp = ", l.pp,
                             "): it would reduce the gradients of every micro-batch over the wire.");
    else if (zero)
        p.message = sentence(
            name, " has no such setting: any zero_stage above 0 is ZeRO-1 there, not zero = ", l.zero, ".");
    else
        p.message = sentence(name, " has no such setting: gradient_reduction ", name_of(l.gradient_reduction),
                             " with zero = ", l.zero, l.pp > 1 ? " and a pipeline" : "",
                             "; it is laid out all the same.");
    if (zero)
        p.fix = {{"/layout/zero", std::int64_t{1}}};
    else
        p.fix = {{"/layout/gradient_reduction", std::string(name_of(GradientReduction::by_software))}};
    if (zero && l.gradient_reduction != GradientReduction::by_software)
        p.fix.push_back({"/layout/gradient_reduction", std::string(name_of(GradientReduction::by_software))});
}

void leftover_replicas(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t replicas = replicas_in_force(r.plan);
    if (l.dp_replicate || replicas == 1) return;
    Problem& p =
        r.add(Severity::info, Rule::arithmetic, ProblemCode::leftover_replicas, "/layout/dp_replicate");
    if (!r.messages) return;
    p.message = sentence("tp ", l.tp, " × cp ", l.cp, " × dp_shard ", l.dp_shard, " × pp ", l.pp, " = ",
                         r.mesh.world / replicas, " GPUs; what is left of the ", r.plan.cluster.gpus,
                         " makes ", replicas, " replicas of that (dp_replicate = ", replicas, ").");
}

}  // namespace

void check_frameworks(Rules& r) {
    leftover_replicas(r);
    reduction_of_software(r);
    megatron_moe_sequence_parallel(r);
    torchtitan_expert_degree(r);
    lacking_software(r);
    megatron_uneven_stages(r);
    padded_vocabulary(r);
    check_megatron(r);
    check_mixers(r);
}

// Warns of Megatron-LM's own refusals of a plan that could be laid out, where the plan's software is
// Megatron's. An order whose pipelines differ for experts is an error (rules.cpp).

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
