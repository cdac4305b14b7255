// Checks that the model can be cut that way: heads and widths by tp and etp, experts by ep, layers by pp.
#include "core/model/model.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"

#include <algorithm>
#include <numeric>

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

// Checks layers that differ: if they have their sizes, if tp can cut them, which parts of them are not
// modelled.

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

// Checks tokens, micro-batches and number formats: if the sequence can be cut, the batch divides, the
// schedule accepts it, the GPU can compute in that type.

namespace {

// Returns the unit of which the sequence must be a multiple. Causal masks are balanced by giving each cp rank
// two chunks, one from either end (Megatron-LM, Llama 3): 2 cp; ulysses cuts plainly. Sequence parallelism
// cuts by tp as well.
std::int64_t sequence_unit(const Layout& l) {
    const std::int64_t halves = l.cp == 1 ? 1 : l.cp_comm == CpComm::ulysses ? l.cp : 2 * l.cp;
    return l.sequence_parallel ? std::lcm(halves, l.tp * l.cp) : halves;
}

// Rounds the sequence to the unit, or lowers cp, or gives up sequence parallelism, the first of these that is
// possible.
void fit_sequence(Plan& q) {
    Layout& l = q.layout;
    std::int64_t& s = q.training.sequence_length;
    while (l.cp > 1 && sequence_unit(l) > s) l.cp = largest_divisor(l.cp, l.cp - 1);
    if (sequence_unit(l) > s) l.sequence_parallel = false;
    const std::int64_t unit = sequence_unit(l), down = s / unit * unit, up = down + unit;
    const bool limited = q.model.positions == Positions::learned && q.model.max_positions > 0;
    const bool may_grow = !limited || up <= q.model.max_positions;
    if (down != s) s = may_grow && up - s < s - down ? up : down;
}

void check_positions(Rules& r) {
    const Model& m = r.plan.model;
    const std::int64_t s = r.plan.training.sequence_length;
    if (m.positions != Positions::learned || m.max_positions < 1 || s <= m.max_positions) return;
    Problem& p =
        r.error(Rule::arithmetic, ProblemCode::sequence_exceeds_positions, "/training/sequence_length");
    if (!r.messages) return;
    p.message =
        sentence("sequence_length = ", s, ", but the model has learned ", m.max_positions, " positions.");
    p.fix = fix_by(r.plan, [&](Plan& q) { q.training.sequence_length = m.max_positions; });
}

void check_ulysses(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.cp == 1 || l.cp_comm != CpComm::ulysses || r.plan.model.heads % (l.tp * l.cp) == 0) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::ulysses_heads, "/layout/cp");
    if (!r.messages) return;
    p.message = sentence("Ulysses hands each rank whole heads: ", r.plan.model.heads,
                         " heads do not divide by tp × cp = ", l.tp * l.cp, ". The ring has no such limit.");
    p.fix = {{"/layout/cp_comm", std::string(name_of(CpComm::ring))}};
}

// Sets the values that the schedule asks for, or takes the plain one where the model has too few layers for
// it.
void satisfy_schedule(Plan& q, const Refusal& why, std::int64_t sequences) {
    Layout& l = q.layout;
    if (why.microbatches > 0) {
        q.training.global_batch = why.microbatches * sequences;
    } else if (why.group > 0) {
        l.microbatch_group = why.group;
    } else if (why.chunks > 0 && why.chunks * l.pp <= q.model.layers) {
        l.virtual_stages = why.chunks;
        l.stage_layers.clear();
    } else {
        if (l.virtual_stages != 1) l.stage_layers.clear();
        l.schedule = usual_schedule(1);
        l.virtual_stages = 1;
    }
}

void check_schedule(Rules& r, std::int64_t sequences) {
    const ScheduleShape& shape = r.resolved.shape;
    if (accepts(shape)) return;
    Problem& p = r.error(Rule::schedule, ProblemCode::schedule_refuses, "/layout/schedule");
    if (!r.messages) return;
    const Refusal why = refuse(shape);
    p.message = why.message;
    if (!why.pointer.empty()) p.pointer = why.pointer;
    p.fix = fix_by(r.plan, [&](Plan& q) { satisfy_schedule(q, why, sequences); });
}

double flops_of(const Flops& f, Dtype t) {
    switch (t) {
    case Dtype::bf16: return f.bf16;
    case Dtype::fp16: return f.fp16;
    case Dtype::fp8: return f.fp8;
    case Dtype::fp4: return f.fp4;
    case Dtype::tf32: return f.tf32;
    case Dtype::fp32: return f.bf16;  // runs on the vector units of every GPU
    }
    return 0;
}

}  // namespace

void check_sequence(Rules& r) {
    check_positions(r);
    check_ulysses(r);
    const Layout& l = r.plan.layout;
    const std::int64_t s = r.plan.training.sequence_length;
    const std::int64_t unit = sequence_unit(l);
    if (s % unit == 0) return;
    Problem& p =
        r.error(Rule::arithmetic, ProblemCode::sequence_does_not_divide, "/training/sequence_length");
    if (!r.messages) return;
    const std::string_view why = l.cp == 1 ? "sequence parallelism cuts it by tp"
                                 : l.cp_comm == CpComm::ulysses
                                     ? "cp cuts it"
                                     : "each cp rank holds one chunk from either end";
    p.message = sentence(
        "sequence_length = ", s, " is not a multiple of ", unit, " (tp ", l.tp, ", cp ", l.cp, "): ", why,
        l.cp > 1 && l.sequence_parallel && l.tp > 1 ? ", sequence parallelism cuts that by tp" : "", ".");
    p.fix = fix_by(r.plan, fit_sequence);
}

void check_batch(Rules& r) {
    const Training& t = r.plan.training;
    const std::int64_t dp = data_parallel(r.plan);
    // The product is the sequences of one micro-batch on every replica. Both are bounded where they matter:
    // dp by the world.
    const std::int64_t sequences = t.micro_batch > kMaxWorld ? 0 : t.micro_batch * dp;
    if (sequences == 0 || t.global_batch % sequences != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::batch_does_not_divide, "/training/global_batch");
        if (!r.messages) return;
        p.message =
            sentence("global_batch = ", t.global_batch, " sequences is not a multiple of micro_batch ",
                     t.micro_batch, " × ", dp, " data-parallel replicas.");
        p.fix = fix_by(r.plan, [&](Plan& q) {
            if (sequences == 0) q.training.micro_batch = 1;
            const std::int64_t each = sequences == 0 ? dp : sequences;
            const std::int64_t nearest = std::max<std::int64_t>(1, (t.global_batch + each / 2) / each);
            q.training.global_batch = std::min(nearest, kMaxWorld) * each;
        });
        return;
    }
    if (t.global_batch / sequences > kMaxWorld) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::too_many_microbatches, "/training/global_batch");
        if (!r.messages) return;
        p.message = sentence("global_batch = ", t.global_batch, " makes ", t.global_batch / sequences,
                             " micro-batches per step, more than ", kMaxWorld, ".");
        // It is half, so that a schedule which rounds up to whole groups still finds room.
        p.fix = {{"/training/global_batch", kMaxWorld / 2 * sequences}};
        return;
    }
    check_schedule(r, sequences);
}

void check_precision(Rules& r) {
    const Flops& f = r.plan.cluster.gpu.flops;
    const Dtype t = r.plan.training.compute;
    if (f.bf16 <= 0 || flops_of(f, t) > 0) return;
    Problem& p = r.error(Rule::hardware, ProblemCode::compute_type_unsupported, "/training/compute");
    if (!r.messages) return;
    p.message = sentence(r.plan.cluster.gpu.name, " has no ", name_of(t), " matrix units; bf16 it has.");
    p.fix = {{"/training/compute", std::string(name_of(Dtype::bf16))}};
}

}  // namespace pentamesh
