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
           && mixers_fit(m, tp) && !compresses_keys(m);
}

// Takes the largest that fits the model and leaves whole replicas of the cluster; data parallelism takes the
// rest.
void smaller_tp(Plan& q) {
    std::int64_t best = 1, filling = 0;
    for (std::int64_t tp = std::min(q.layout.tp - 1, q.model.heads); tp > 0 && filling == 0; --tp) {
        if (tp > 1 && !tp_fits(q.model, tp)) continue;
        best = std::max(best, tp);
        const Plan with = with_factor(q, Axis::tp, tp, true);
        if (ranks_laid_out(with) == q.cluster.gpus) filling = tp;
    }
    q = with_factor(q, Axis::tp, filling > 0 ? filling : best, true);
}

void check_tp(Rules& r) {
    const Model& m = r.plan.model;
    const std::int64_t tp = r.plan.layout.tp;
    if (tp == 1) return;
    // Megatron-LM deepseek_v4_hybrid_attention.py asserts it; transformers, configuration_deepseek_v4.py,
    // says why it has no base_model_tp_plan.
    if (compresses_keys(m)) {
        r.find(ProblemCode::compressed_tp, {{"tp", tp}}, smaller_tp);
        return;
    }
    if (m.heads % tp != 0)
        r.find(ProblemCode::tp_heads,
               {{"tp", tp},
                {"heads", m.heads},
                {"may", r.messages ? divisors_text(m.heads, m.heads) : std::string()}},
               smaller_tp);
    else if (!kv_heads_fit(m, tp))
        r.find(ProblemCode::tp_kv_heads, {{"tp", tp}, {"kv_heads", m.kv_heads}}, smaller_tp);
    for (const std::int64_t width : {m.ffn, shared_ffn(m)}) {
        if (width % tp == 0) continue;
        r.find(ProblemCode::tp_ffn, {{"tp", tp}, {"width", width}}, smaller_tp);
        break;
    }
}

void check_experts(Rules& r) {
    const Layout& l = r.plan.layout;
    if (!r.plan.model.moe) {
        if (l.ep != 1) r.find(ProblemCode::ep_without_experts, {{"ep", l.ep}}, {{"/layout/ep", 1}});
        return;
    }
    const Moe& moe = *r.plan.model.moe;
    if (moe.experts % l.ep != 0)
        r.find(ProblemCode::ep_experts,
               {{"ep", l.ep},
                {"experts", moe.experts},
                {"may", r.messages ? divisors_text(moe.experts, moe.experts) : std::string()}},
               {{"/layout/ep", largest_divisor(moe.experts, l.ep)}});
    const std::int64_t etp = l.etp.value_or(l.tp);
    if (moe.expert_ffn % etp != 0)
        r.find(ProblemCode::etp_ffn, {{"etp", etp}, {"as_tp", !l.etp}, {"width", moe.expert_ffn}},
               {{"/layout/etp", largest_divisor(moe.expert_ffn, etp)}});
}

void check_stage_layers(Rules& r, std::int64_t chunks) {
    const std::vector<std::int64_t>& layers = r.plan.layout.stage_layers;
    if (layers.empty()) return;
    const bool negative = std::any_of(layers.begin(), layers.end(), [](std::int64_t n) { return n < 0; });
    const bool counted = static_cast<std::int64_t>(layers.size()) == chunks;
    std::uint64_t sum = 0;
    for (const std::int64_t n : layers) sum += static_cast<std::uint64_t>(n);
    if (!negative && counted && sum == static_cast<std::uint64_t>(r.plan.model.layers)) return;
    r.find(ProblemCode::stage_layers,
           {{"which", negative   ? 0
                      : !counted ? 1
                                 : 2},
            {"named", static_cast<std::int64_t>(layers.size())},
            {"chunks", chunks},
            {"sum", r.messages ? sentence(sum) : std::string()},
            {"layers", r.plan.model.layers}},
           [](Plan& q) { q.layout.stage_layers.clear(); });
}

void too_many_chunks(Rules& r, std::int64_t chunks) {
    if (chunks <= kMostChunks) return;
    r.find(ProblemCode::too_many_chunks, {{"chunks", chunks}, {"most", kMostChunks}}, [](Plan& q) {
        q.layout.virtual_stages = 1;
        q.layout.pp = std::min(q.layout.pp, std::max<std::int64_t>(q.model.layers, 1));
    });
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
    const auto fewer_chunks = [&](Plan& q) {
        if (l.pp <= layers)
            q.layout.virtual_stages = std::max<std::int64_t>(1, layers / l.pp);
        else
            q.layout.pp = largest_divisor(layers, layers / l.virtual_stages);
    };
    r.find(
        ProblemCode::pp_exceeds_layers,
        {{"pp", l.pp}, {"whole", l.virtual_stages == 1}, {"virtual", l.virtual_stages}, {"layers", layers}},
        fewer_chunks);
}

}  // namespace

void check_model_cuts(Rules& r) {
    const Model& m = r.plan.model;
    if (has_kv_heads(m) && m.heads % m.kv_heads != 0)
        r.find(ProblemCode::kv_heads, {{"heads", m.heads}, {"kv_heads", m.kv_heads}});
    check_tp(r);
    if (r.plan.layout.tp > 1 && !compresses_keys(m)) check_mixer_cuts(r);
    // Megatron-LM deepseek_v4_hybrid_attention.py wants qkv_format thd and a contiguous partition.
    if (compresses_keys(m) && r.plan.layout.cp > 1)
        r.find(ProblemCode::compressed_cp, {{"cp", r.plan.layout.cp}},
               [](Plan& q) { q = with_factor(q, Axis::cp, 1, true); });
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

// Finds out if a scan has a tensor of no numbers.
struct Sizes : ScanVisitor {
    bool complete = true;
    void keeps(Id, i64 heads, i64 dim) { complete &= heads >= 1 && dim >= 1; }
};

void check_linear(Rules& r, const Linear& a) {
    Sizes sizes;
    visit_scan(a, r.plan.model.hidden, sizes);
    if (!sizes.complete) r.find(ProblemCode::linear_sizes);
}

void check_mamba(Rules& r, const Mamba& a) {
    Sizes sizes;
    visit_scan(a, r.plan.model.hidden, sizes);
    if (sizes.complete && (a.version == 1 || a.inner % a.heads == 0)) return;
    r.find(ProblemCode::mamba_sizes, {{"first", a.version == 1}, {"heads", a.heads}, {"inner", a.inner}});
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

}  // namespace

void check_pattern(Rules& r) {
    const Model& m = r.plan.model;
    if (m.pattern.empty()) return;
    if (!r.resolved.types.complete) r.find(ProblemCode::layer_kinds, {{"most", kMostLayerTypes}});
    if (any_run(m, MixerKind::linear) && !m.linear) r.find(ProblemCode::pattern_linear);
    if (any_run(m, MixerKind::mamba) && !m.mamba) r.find(ProblemCode::pattern_mamba);
    for (const LayerRun& run : m.pattern) {
        if (run.ffn == LayerFfn::moe && !m.moe) {
            r.find(ProblemCode::pattern_moe);
            break;
        }
        if (run.kind == MixerKind::window && run.window == 0 && m.sliding_window == 0) {
            r.find(ProblemCode::pattern_window);
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
    const auto fit = [](Plan& q) {
        const Model& model = q.model;
        while (q.layout.tp > 1
               && !(mixers_fit(model, q.layout.tp) && model.heads % q.layout.tp == 0
                    && model.ffn % q.layout.tp == 0))
            --q.layout.tp;
    };
    Problem& p =
        r.find(ProblemCode::tp_layers, {{"tp", tp}, {"size", uncut.size}, {"name", uncut.name}}, fit);
    if (uncut.megatron) p.rule = Rule::megatron;
}

void check_mixers(Rules& r) {
    const Model& m = r.plan.model;
    const bool linear = m.linear && any_run(m, MixerKind::linear),
               mamba = m.mamba && any_run(m, MixerKind::mamba);
    if (linear || mamba) r.find(ProblemCode::scan_not_measured);
    if (mamba && m.mamba->version == 1) r.find(ProblemCode::selective_scan);
    if ((linear || mamba) && r.plan.layout.cp > 1) r.find(ProblemCode::scan_context_parallel);
    if (any_run(m, MixerKind::window) && r.plan.layout.cp > 1) r.find(ProblemCode::window_context_parallel);
    if (picks_keys(m)) r.find(ProblemCode::indexer_not_modelled);
    if (compresses_keys(m)) r.find(ProblemCode::compressed_not_measured);
    if (m.hyper_streams > 0) r.find(ProblemCode::hyper_not_measured, {{"streams", m.hyper_streams}});
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
    r.find(ProblemCode::sequence_exceeds_positions, {{"tokens", s}, {"positions", m.max_positions}},
           [&](Plan& q) { q.training.sequence_length = m.max_positions; });
}

void check_ulysses(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.cp == 1 || l.cp_comm != CpComm::ulysses || r.plan.model.heads % (l.tp * l.cp) == 0) return;
    r.find(ProblemCode::ulysses_heads, {{"heads", r.plan.model.heads}, {"ranks", l.tp * l.cp}},
           {{"/layout/cp_comm", name_of(CpComm::ring)}});
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
    const Refusal why = r.messages ? refuse(shape) : Refusal();
    r.find(ProblemCode::schedule_refuses, {{"field", why.pointer}, {"why", why.message}},
           [&](Plan& q) { satisfy_schedule(q, why, sequences); });
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
    const int why = l.cp == 1 ? 0 : l.cp_comm == CpComm::ulysses ? 1 : 2;
    const bool by_tp = l.cp > 1 && l.sequence_parallel && l.tp > 1;
    r.find(ProblemCode::sequence_does_not_divide,
           {{"tokens", s}, {"unit", unit}, {"tp", l.tp}, {"cp", l.cp}, {"why", why}, {"by_tp", by_tp}},
           fit_sequence);
}

void check_batch(Rules& r) {
    const Training& t = r.plan.training;
    const std::int64_t dp = data_parallel(r.plan);
    // The product is the sequences of one micro-batch on every replica. Both are bounded where they matter:
    // dp by the world.
    const std::int64_t sequences = t.micro_batch > kMaxWorld ? 0 : t.micro_batch * dp;
    if (sequences == 0 || t.global_batch % sequences != 0) {
        const auto nearest_batch = [&](Plan& q) {
            if (sequences == 0) q.training.micro_batch = 1;
            const std::int64_t each = sequences == 0 ? dp : sequences;
            const std::int64_t nearest = std::max<std::int64_t>(1, (t.global_batch + each / 2) / each);
            q.training.global_batch = std::min(nearest, kMaxWorld) * each;
        };
        r.find(ProblemCode::batch_does_not_divide,
               {{"batch", t.global_batch}, {"micro", t.micro_batch}, {"dp", dp}}, nearest_batch);
    } else if (const std::int64_t number = t.global_batch / sequences; number > kMaxWorld) {
        // It is half, so that a schedule which rounds up to whole groups still finds room.
        r.find(ProblemCode::too_many_microbatches,
               {{"batch", t.global_batch}, {"number", number}, {"most", kMaxWorld}},
               {{"/training/global_batch", kMaxWorld / 2 * sequences}});
    } else {
        check_schedule(r, sequences);
    }
}

void check_precision(Rules& r) {
    const Flops& f = r.plan.cluster.gpu.flops;
    const Dtype t = r.plan.training.compute;
    if (f.bf16 <= 0 || flops_of(f, t) > 0) return;
    r.find(ProblemCode::compute_type_unsupported, {{"gpu", r.plan.cluster.gpu.name}, {"type", name_of(t)}},
           {{"/training/compute", name_of(Dtype::bf16)}});
}

}  // namespace pentamesh
