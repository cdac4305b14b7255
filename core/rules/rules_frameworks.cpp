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

void uneven_stages(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t chunks = pipeline_chunks(l), layers = r.plan.model.layers;
    if (!l.stage_layers.empty() || chunks > layers || layers % chunks == 0) return;
    r.find(ProblemCode::uneven_stages, {{"layers", layers},
                                        {"chunks", chunks},
                                        {"fuller", layers % chunks},
                                        {"more", layers / chunks + 1},
                                        {"fewer", layers / chunks}});
}

// The vocabulary is padded, by the model's own multiple or by the software's.
void padded_vocabulary(Rules& r) {
    const std::int64_t multiple = vocab_multiple_of(r.plan), tp = r.plan.layout.tp;
    const std::int64_t unit = multiple * tp, vocab = r.plan.model.vocab;
    if (multiple == 1 || vocab % unit == 0) return;
    const std::int64_t padded = (vocab + unit - 1) / unit * unit;
    r.find(ProblemCode::vocab_padded, {{"software", facts_of(r.plan.training.software).name},
                                       {"vocab", vocab},
                                       {"padded", padded},
                                       {"multiple", multiple},
                                       {"tp", tp},
                                       {"more", padded - vocab}});
}

// torchtitan parallel_dims.py: ep is taken out of dp_shard, cp and tp.
void torchtitan_expert_degree(Rules& r) {
    if (!lacks(Lack::expert_width, r.plan, r.plan.training.software)) return;
    const Layout& l = r.plan.layout;
    const auto folds = [&](const Plan& q) {
        const std::int64_t ranks = q.layout.dp_shard * l.cp * l.tp;
        return ranks % q.layout.ep == 0 && q.model.moe->experts % q.layout.ep == 0
               && build_mesh(q).has_experts;
    };
    r.find(ProblemCode::torchtitan_ep, {{"width", l.dp_shard * l.cp * l.tp}, {"ep", l.ep}}, [&](Plan& q) {
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
    Problem& p = r.find(
        refuses ? ProblemCode::zero_refused : ProblemCode::no_such_reduction,
        {{"stage", zero},
         {"zero", l.zero},
         {"pp", l.pp},
         {"software", rule == Rule::megatron ? std::string_view("Megatron-FSDP") : facts_of(software).name},
         {"asked", name_of(l.gradient_reduction)},
         {"pipeline", l.pp > 1}});
    p.rule = rule;
    if (zero) p.severity = Severity::warning;
    if (!r.messages) return;
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
    r.find(ProblemCode::leftover_replicas, {{"tp", l.tp},
                                            {"cp", l.cp},
                                            {"shard", l.dp_shard},
                                            {"pp", l.pp},
                                            {"ranks", r.mesh.world / replicas},
                                            {"gpus", r.plan.cluster.gpus},
                                            {"replicas", replicas}});
}

}  // namespace

void check_frameworks(Rules& r) {
    leftover_replicas(r);
    reduction_of_software(r);
    if (lacks(Lack::no_sequence_parallel, r.plan, r.plan.training.software))
        r.find(ProblemCode::megatron_moe_needs_sp, {{"tp", r.plan.layout.tp}},
               {{"/layout/sequence_parallel", true}});
    torchtitan_expert_degree(r);
    lacking_software(r);
    uneven_stages(r);
    padded_vocabulary(r);
    check_megatron(r);
    check_mixers(r);
}

// Warns of Megatron-LM's own refusals of a plan that could be laid out, where the plan's software is
// Megatron's. An order whose pipelines differ for experts is an error (rules.cpp).
void check_megatron(Rules& r) {
    const Software s = r.plan.training.software;
    if (s != Software::megatron && s != Software::megatron_bridge) return;
    // software_runs.cpp has the sources.
    const auto refuses = [&](Lack what) { return lacks(what, r.plan, Software::megatron); };
    const Layout& l = r.plan.layout;
    const Model& m = r.plan.model;
    const std::int64_t ranks = r.mesh.world / l.pp, tokens = r.plan.training.sequence_length;
    if (r.mesh.has_experts && refuses(Lack::expert_order))
        r.find(ProblemCode::megatron_expert_order,
               {{"experts", ranks / (l.etp.value_or(l.tp) * l.ep)}, {"dense", ranks / (l.tp * l.cp)}},
               pp_outermost);
    if (refuses(Lack::message_overlap))
        r.find(ProblemCode::megatron_p2p_overlap, {}, {{"/training/overlap/pp", true}});
    if (refuses(Lack::tensor_overlap))
        r.find(ProblemCode::megatron_tp_overlap, {}, {{"/layout/sequence_parallel", true}});
    if (const std::string_view wants = expert_overlap_wants(r.plan); !wants.empty())
        r.find(ProblemCode::megatron_ep_overlap, {{"wants", wants}}, {{"/training/overlap/ep", false}});
    if (refuses(Lack::optimizer))
        r.find(ProblemCode::megatron_fsdp_optimizer, {{"zero", l.zero}}, {{"/layout/zero", 1}});
    // arguments.py: max_position_embeddings >= seq_length.
    if (m.positions == Positions::learned && m.max_positions != 0 && m.max_positions < tokens)
        r.find(ProblemCode::megatron_positions, {{"tokens", tokens}, {"positions", m.max_positions}},
               {{"/training/sequence_length", m.max_positions}});
}

}  // namespace pentamesh
