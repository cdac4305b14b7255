// Checks that numbers mean something at all. A plan that fails here is asked nothing else.
#include "core/rules/rules.h"

#include <algorithm>

namespace pentamesh {
namespace {

void at_least_one(Rules& r, std::int64_t value, std::string_view pointer, std::int64_t instead) {
    if (value >= 1) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::below_one, pointer);
    if (!r.messages) return;
    p.message = sentence(pointer, " is ", value, "; it must be at least 1.");
    if (instead >= 1) p.fix = {{std::string(pointer), instead}};
}

void check_layout_fields(Rules& r) {
    const Layout& l = r.plan.layout;
    at_least_one(r, l.tp, "/layout/tp", 1);
    at_least_one(r, l.cp, "/layout/cp", 1);
    at_least_one(r, l.pp, "/layout/pp", 1);
    at_least_one(r, l.ep, "/layout/ep", 1);
    at_least_one(r, l.etp.value_or(1), "/layout/etp", 1);
    at_least_one(r, l.dp_shard, "/layout/dp_shard", 1);
    at_least_one(r, l.dp_replicate.value_or(1), "/layout/dp_replicate", 1);
    at_least_one(r, l.virtual_stages, "/layout/virtual_stages", 1);
    if (l.zero < 0 || l.zero > 3) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::zero_out_of_range, "/layout/zero");
        if (r.messages) {
            p.message = sentence("zero = ", l.zero, "; ZeRO has the stages 0, 1, 2 and 3.");
            p.fix = {{"/layout/zero", std::int64_t{std::clamp(l.zero, 0, 3)}}};
        }
    }
    unsigned seen = 0;
    for (const Axis a : l.order) seen |= 1U << static_cast<unsigned>(a);
    if (seen != (1U << kAxisCount) - 1) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::order_not_a_permutation, "/layout/order");
        if (r.messages) {
            p.message = "The order must name each of tp, cp, ep, dp_shard, dp_replicate and pp exactly once.";
            p.fix = fix_by(r.plan, [](Plan& q) { q.layout.order = Layout{}.order; });
        }
    }
}

void check_model_fields(Rules& r) {
    const Model& m = r.plan.model;
    at_least_one(r, m.layers, "/model/layers", 0);
    at_least_one(r, m.hidden, "/model/hidden", 0);
    at_least_one(r, m.heads, "/model/heads", 0);
    at_least_one(r, m.kv_heads, "/model/kv_heads", m.heads);
    at_least_one(r, m.vocab, "/model/vocab", 0);
    check_pattern(r);
    if (!m.moe) return;
    at_least_one(r, m.moe->experts, "/model/moe/experts", 0);
    at_least_one(r, m.moe->top_k, "/model/moe/top_k", 0);
    if (m.moe->top_k > m.moe->experts) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::top_k_exceeds_experts, "/model/moe/top_k");
        if (r.messages)
            p.message = sentence("A token uses top_k = ", m.moe->top_k, " experts, but the model has ",
                                 m.moe->experts, ".");
    }
}

void check_training_fields(Rules& r) {
    const Training& t = r.plan.training;
    const Training usual;
    at_least_one(r, t.sequence_length, "/training/sequence_length", usual.sequence_length);
    at_least_one(r, t.micro_batch, "/training/micro_batch", usual.micro_batch);
    at_least_one(r, t.global_batch, "/training/global_batch", usual.global_batch);
    if (!(t.router_imbalance >= 1)) {
        Problem& p =
            r.error(Rule::arithmetic, ProblemCode::imbalance_below_one, "/training/router_imbalance");
        if (r.messages) {
            p.message = sentence("router_imbalance is ", three_digits(t.router_imbalance),
                                 "; the busiest expert rank carries at least the mean, so it is 1 or more.");
            p.fix = {{"/training/router_imbalance", 1.0}};
        }
    }
    if (!(t.straggler_cv >= 0)) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::negative_variation, "/training/straggler_cv");
        if (r.messages) {
            p.message = "straggler_cv is a coefficient of variation: 0 or more.";
            p.fix = {{"/training/straggler_cv", 0.0}};
        }
    }
}

}  // namespace

bool check_fields(Rules& r) {
    const std::size_t before = r.out.size();
    at_least_one(r, r.plan.cluster.gpus, "/cluster/gpus", std::max<std::int64_t>(r.mesh.world, 1));
    check_layout_fields(r);
    check_model_fields(r);
    check_training_fields(r);
    return r.out.size() == before;
}

}  // namespace pentamesh
