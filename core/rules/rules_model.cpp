// Checks that the model can be cut that way: heads and widths by tp and etp, experts by ep, layers by pp.
#include "core/rules/rules.h"

#include "core/pipeline/one_stage.h"
#include "core/pipeline/stages.h"
#include "core/plan/factors.h"

#include <algorithm>

namespace pentamesh {
namespace {

bool has_kv_heads(const Model& m) {
    return m.attention == AttentionKind::mha_gqa;
}
// kv heads are shared out, or copied where there are fewer of them than tp ranks (Megatron-LM attention.py).
bool kv_heads_fit(const Model& m, std::int64_t tp) {
    return !has_kv_heads(m) || m.kv_heads % tp == 0 || tp % m.kv_heads == 0;
}
std::int64_t shared_ffn(const Model& m) {
    return m.moe && m.moe->shared_experts > 0 ? m.moe->shared_expert_ffn : 0;
}
bool tp_fits(const Model& m, std::int64_t tp) {
    return m.heads % tp == 0 && kv_heads_fit(m, tp) && m.ffn % tp == 0 && shared_ffn(m) % tp == 0
           && mixers_fit(m, tp);
}

// Takes the largest that fits the model and leaves whole replicas of the cluster; data parallelism takes the
// rest.
std::vector<Edit> smaller_tp(const Rules& r) {
    return fix_by(r.plan, [&](Plan& q) {
        std::int64_t best = 1, filling = 0;
        for (std::int64_t tp = std::min(q.layout.tp - 1, q.model.heads); tp > 0 && filling == 0; --tp) {
            if (tp > 1 && !tp_fits(q.model, tp)) continue;
            best = std::max(best, tp);
            const Plan with = with_factor(q, Axis::tp, tp, true);
            if (ranks_laid_out(with) == q.cluster.gpus) filling = tp;
        }
        q = with_factor(q, Axis::tp, filling > 0 ? filling : best, true);
    });
}

void check_tp(Rules& r) {
    const Model& m = r.plan.model;
    const std::int64_t tp = r.plan.layout.tp;
    if (tp == 1) return;
    if (m.heads % tp != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::tp_heads, "/layout/tp");
        if (r.messages) {
            p.message = sentence("tp = ", tp, " cannot share out ", m.heads,
                                 " attention heads evenly; tp may be ", divisors_text(m.heads, m.heads), ".");
            p.fix = smaller_tp(r);
        }
    } else if (!kv_heads_fit(m, tp)) {
        Problem& p = r.error(Rule::megatron, ProblemCode::tp_kv_heads, "/layout/tp");
        if (r.messages) {
            p.message = sentence("tp = ", tp, " and ", m.kv_heads,
                                 " key-value heads: neither divides the other, so they can be neither shared "
                                 "out nor copied evenly.");
            p.fix = smaller_tp(r);
        }
    }
    for (const std::int64_t width : {m.ffn, shared_ffn(m)}) {
        if (width % tp == 0) continue;
        Problem& p = r.error(Rule::arithmetic, ProblemCode::tp_ffn, "/layout/tp");
        if (r.messages) {
            p.message = sentence("tp = ", tp, " cannot cut the MLP's width of ", width, " into equal parts.");
            p.fix = smaller_tp(r);
        }
        break;
    }
}

void check_experts(Rules& r) {
    const Layout& l = r.plan.layout;
    if (!r.plan.model.moe) {
        if (l.ep == 1) return;
        Problem& p = r.error(Rule::arithmetic, ProblemCode::ep_without_experts, "/layout/ep");
        if (r.messages) {
            p.message = sentence("ep = ", l.ep, " on a dense model: there are no experts to share out.");
            p.fix = {{"/layout/ep", std::int64_t{1}}};
        }
        return;
    }
    const Moe& moe = *r.plan.model.moe;
    if (moe.experts % l.ep != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::ep_experts, "/layout/ep");
        if (r.messages) {
            const std::int64_t ep = largest_divisor(moe.experts, l.ep);
            p.message = sentence("ep = ", l.ep, " cannot share out ", moe.experts,
                                 " experts evenly; ep may be ", divisors_text(moe.experts, moe.experts), ".");
            p.fix = {{"/layout/ep", ep}};
        }
    }
    const std::int64_t etp = l.etp.value_or(l.tp);
    if (moe.expert_ffn % etp != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::etp_ffn, "/layout/etp");
        if (r.messages) {
            p.message = sentence("etp = ", etp, l.etp ? "" : " (left out, so it is tp)",
                                 " cannot cut an expert's width of ", moe.expert_ffn, " into equal parts.");
            p.fix = {{"/layout/etp", largest_divisor(moe.expert_ffn, etp)}};
        }
    }
}

void check_stage_layers(Rules& r, std::int64_t chunks) {
    const std::vector<std::int64_t>& layers = r.plan.layout.stage_layers;
    if (layers.empty()) return;
    const bool negative = std::any_of(layers.begin(), layers.end(), [](std::int64_t n) { return n < 0; });
    const bool counted = static_cast<std::int64_t>(layers.size()) == chunks;
    std::uint64_t sum = 0;
    for (const std::int64_t n : layers) sum += static_cast<std::uint64_t>(n);
    if (!negative && counted && sum == static_cast<std::uint64_t>(r.plan.model.layers)) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::stage_layers, "/layout/stage_layers");
    if (!r.messages) return;
    if (negative)
        p.message = "stage_layers holds a negative number of layers.";
    else if (!counted)
        p.message = sentence("stage_layers names ", layers.size(),
                             " chunks, but pp x virtual_stages = ", chunks, ".");
    else
        p.message =
            sentence("stage_layers adds up to ", sum, " layers, the model has ", r.plan.model.layers, ".");
    p.fix = fix_by(r.plan, [](Plan& q) { q.layout.stage_layers.clear(); });
}

void too_many_chunks(Rules& r, std::int64_t chunks) {
    if (chunks <= kMostChunks) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::too_many_chunks, "/layout/pp");
    if (r.messages) {
        p.message = sentence("pp × virtual_stages = ", chunks, " chunks are more than the ", kMostChunks,
                             " that can be laid out.");
        p.fix = fix_by(r.plan, [](Plan& q) {
            q.layout.virtual_stages = 1;
            q.layout.pp = std::min(q.layout.pp, std::max<std::int64_t>(q.model.layers, 1));
        });
    }
}

void check_depth(Rules& r) {
    const Layout& l = r.plan.layout;
    const std::int64_t chunks = pipeline_chunks(l), layers = r.plan.model.layers;
    check_stage_layers(r, chunks);
    // A list of stages may leave a stage without layers (one for only the embedding or the loss).
    if (!l.stage_layers.empty() || chunks <= layers) {
        too_many_chunks(r, chunks);
        return;
    }
    Problem& p = r.error(Rule::arithmetic, ProblemCode::pp_exceeds_layers, "/layout/pp");
    if (!r.messages) return;
    const bool virtual_too_many = l.pp <= layers;
    p.message = l.virtual_stages == 1
                    ? sentence("pp = ", l.pp, " stages for ", layers, " layers leaves stages empty.")
                    : sentence("pp = ", l.pp, " x virtual_stages = ", l.virtual_stages,
                               " are more chunks than the ", layers, " layers.");
    p.fix = fix_by(r.plan, [&](Plan& q) {
        if (virtual_too_many)
            q.layout.virtual_stages = std::max<std::int64_t>(1, layers / l.pp);
        else
            q.layout.pp = largest_divisor(layers, layers / l.virtual_stages);
    });
}

}  // namespace

void check_model_cuts(Rules& r) {
    const Model& m = r.plan.model;
    if (has_kv_heads(m) && m.heads % m.kv_heads != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::kv_heads, "/model/kv_heads");
        if (r.messages)
            p.message =
                sentence(m.heads, " query heads cannot share ", m.kv_heads, " key-value heads evenly.");
    }
    check_tp(r);
    if (r.plan.layout.tp > 1) check_mixer_cuts(r);
    check_experts(r);
    check_depth(r);
}

std::int64_t pipeline_chunks(const Layout& l) {
    const std::int64_t v = virtual_stages_of(l);
    return l.pp > kMaxWorld / v ? kMaxWorld : l.pp * v;
}

std::int64_t largest_divisor(std::int64_t n, std::int64_t limit) {
    // Beyond the bound a number has no meaning, so further divisors are not needed.
    constexpr std::int64_t kMostTried = 1 << 16;
    std::int64_t best = 1;
    for (std::int64_t d = 1; d <= n / d && d <= kMostTried; ++d) {
        if (n % d != 0) continue;
        if (d <= limit) best = std::max(best, d);
        if (n / d <= limit) best = std::max(best, n / d);
    }
    return best;
}

std::string divisors_text(std::int64_t n, std::int64_t limit) {
    constexpr int kShown = 12;
    constexpr std::int64_t kMostTried = 1 << 16;
    std::string out;
    int shown = 0;
    for (std::int64_t d = 1; d <= std::min({n, limit, kMostTried}) && shown <= kShown; ++d) {
        if (n % d != 0) continue;
        if (++shown > kShown)
            out += ", …";
        else
            out += (out.empty() ? "" : ", ") + with_commas(d);
    }
    return out;
}

}  // namespace pentamesh
