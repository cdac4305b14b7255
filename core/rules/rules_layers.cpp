// Checks layers that differ: if they have their sizes, if tp can cut them, which parts of them are not
// modelled.
#include "core/model/scan_visitor.h"
#include "core/rules/rules.h"

namespace pentamesh {
namespace {

bool any_run(const Model& m, MixerKind kind) {
    for (const LayerRun& r : m.pattern)
        if (r.kind == kind || (kind == MixerKind::mamba && r.mamba_beside)) return true;
    return false;
}

void missing(Rules& r, ProblemCode code, std::string_view pointer, std::string_view what) {
    Problem& p = r.error(Rule::arithmetic, code, pointer);
    if (r.messages) p.message = sentence("The pattern has ", what, ", but ", pointer, " is not there.");
}

// Finds out if a scan has a tensor of no numbers.
struct Sizes : ScanVisitor {
    bool complete = true;
    void keeps(Id, i64 heads, i64 dim) { complete &= heads >= 1 && dim >= 1; }
};

void check_linear(Rules& r, const Linear& a) {
    Sizes sizes;
    visit_scan(a, r.plan.model.hidden, sizes);
    if (sizes.complete) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::linear_sizes, "/model/linear");
    if (r.messages)
        p.message = "Linear attention needs key_heads, value_heads, key_head_dim and value_head_dim of 1 "
                    "or more.";
}

void check_mamba(Rules& r, const Mamba& a) {
    Sizes sizes;
    visit_scan(a, r.plan.model.hidden, sizes);
    if (sizes.complete && (a.version == 1 || a.inner % a.heads == 0)) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::mamba_sizes, "/model/mamba");
    if (!r.messages) return;
    p.message = a.version == 1
                    ? "Mamba of version 1 needs inner, state and dt_rank of 1 or more."
                    : sentence("Mamba-2 needs state, groups and heads of 1 or more, and heads = ", a.heads,
                               " must divide inner = ", a.inner, ".");
}

// Names the size of a pattern's layers that tp does not divide, or nothing.
struct Uncut {
    std::string_view name;
    std::int64_t size = 0;
    bool megatron = false;
};
struct ScanCuts : ScanVisitor {
    std::int64_t tp = 1;
    Uncut uncut;
    void divides(i64 size, std::string_view words, bool megatron = false) {
        if (uncut.name.empty() && size % tp != 0) uncut = {words, size, megatron};
    }
};
Uncut first_uncut(const Model& m, const LayerTypes& types, std::int64_t tp) {
    if (m.pattern.empty()) return {};
    bool linear = false, mamba = false;
    for (int t = 0; t < types.size(); ++t) {
        const LayerType& type = types[t];
        linear |= type.mixer == MixerKind::linear;
        mamba |= type.has_mamba();
        if (type.ffn_width % tp != 0) return {"MLP widths", type.ffn_width};
        if (!type.attends()) continue;
        if (type.heads % tp != 0) return {"attention heads", type.heads};
        const bool kv =
            m.attention == AttentionKind::mha_gqa && type.kv_heads % tp != 0 && tp % type.kv_heads != 0;
        if (kv) return {"key-value heads", type.kv_heads, true};
    }
    ScanCuts cuts{{}, tp, {}};
    if (linear && m.linear) visit_scan(*m.linear, m.hidden, cuts);
    if (mamba && m.mamba) visit_scan(*m.mamba, m.hidden, cuts);
    return cuts.uncut;
}

void notice(Rules& r, ProblemCode code, std::string_view pointer, std::string_view text) {
    Problem& p = r.add(Severity::info, Rule::advice, code, pointer);
    if (r.messages) p.message = text;
}

}  // namespace

void check_pattern(Rules& r) {
    const Model& m = r.plan.model;
    if (m.pattern.empty()) return;
    if (!r.resolved.types.complete) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::layer_kinds, "/model/pattern");
        if (r.messages)
            p.message = sentence("The pattern has more kinds of layers than the ", kMostLayerTypes,
                                 " that can be laid out.");
    }
    if (any_run(m, MixerKind::linear) && !m.linear)
        missing(r, ProblemCode::pattern_linear, "/model/linear", "linear layers");
    if (any_run(m, MixerKind::mamba) && !m.mamba)
        missing(r, ProblemCode::pattern_mamba, "/model/mamba", "Mamba layers");
    for (const LayerRun& run : m.pattern) {
        if (run.ffn == LayerFfn::moe && !m.moe) {
            missing(r, ProblemCode::pattern_moe, "/model/moe", "MoE layers");
            break;
        }
        if (run.kind == MixerKind::window && run.window == 0 && m.sliding_window == 0) {
            missing(r, ProblemCode::pattern_window, "/model/sliding_window", "layers with a window");
            break;
        }
    }
    if (m.linear) check_linear(r, *m.linear);
    if (m.mamba) check_mamba(r, *m.mamba);
}

bool mixers_fit(const Model& model, std::int64_t tp) {
    return first_uncut(model, layer_types(model), tp).name.empty();
}

void check_mixer_cuts(Rules& r) {
    const Model& m = r.plan.model;
    const std::int64_t tp = r.plan.layout.tp;
    const Uncut uncut = first_uncut(m, r.resolved.types, tp);
    if (uncut.name.empty()) return;
    Problem& p =
        r.error(uncut.megatron ? Rule::megatron : Rule::arithmetic, ProblemCode::tp_layers, "/layout/tp");
    if (!r.messages) return;
    p.message = sentence("tp = ", tp, " cannot share out the ", uncut.size, " ", uncut.name,
                         " of some layers of the pattern evenly.");
    p.fix = fix_by(r.plan, [&](Plan& q) {
        const Model& model = q.model;
        while (q.layout.tp > 1
               && !(mixers_fit(model, q.layout.tp) && model.heads % q.layout.tp == 0
                    && model.ffn % q.layout.tp == 0))
            --q.layout.tp;
    });
}

void check_mixers(Rules& r) {
    const Model& m = r.plan.model;
    const bool linear = m.linear && any_run(m, MixerKind::linear),
               mamba = m.mamba && any_run(m, MixerKind::mamba);
    if (linear || mamba)
        notice(r, ProblemCode::scan_not_measured, "/model/pattern",
               "Linear and Mamba layers: the scan takes its published operations at the rate of fused "
               "attention and "
               "keeps what the published kernels save; no measured run stands behind these figures.");
    if (mamba && m.mamba->version == 1)
        notice(r, ProblemCode::selective_scan, "/model/mamba",
               "Mamba of version 1 scans outside the matrix units: only its traffic to memory is timed.");
    if ((linear || mamba) && r.plan.layout.cp > 1)
        notice(
            r, ProblemCode::scan_context_parallel, "/layout/cp_comm",
            "Context parallelism exchanges heads for tokens around each scan (all-to-all), whatever cp_comm "
            "says: so Megatron does.");
    if (any_run(m, MixerKind::window) && r.plan.layout.cp > 1)
        notice(r, ProblemCode::window_context_parallel, "/layout/cp",
               "Layers with a window send their keys and values to all cp ranks here, as layers over all "
               "keys do.");
    if (m.attention == AttentionKind::mla && m.mla && m.mla->index_heads > 0)
        notice(r, ProblemCode::indexer_not_modelled, "/model/mla",
               "Sparse attention: the indexer's scores are counted, the choice of keys and its own loss are "
               "not.");
}

}  // namespace pentamesh
