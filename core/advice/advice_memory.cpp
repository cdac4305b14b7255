// Says if the plan fits, and if not, which smallest change makes it fit.
#include "core/advice/advice_rules.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

// This is one change that saves memory. Returns false if it does not apply to this plan.
using Saving = bool (*)(Plan&);

// Doubles an axis at the cost of data parallelism, so that the GPUs stay. Returns false if its factors are
// odd.
bool double_at_cost_of_dp(Layout& l, std::int64_t& axis) {
    if (l.dp_replicate.value_or(1) % 2 == 0)
        l.dp_replicate = *l.dp_replicate / 2;
    else if (l.dp_shard % 2 == 0)
        l.dp_shard /= 2;
    else
        return false;
    axis *= 2;
    return true;
}

bool sequence_parallel(Plan& q) {
    if (q.layout.tp == 1 || q.layout.sequence_parallel) return false;
    return q.layout.sequence_parallel = true;
}
bool selective_recompute(Plan& q) {
    if (q.training.recompute.any()) return false;
    q.training.recompute = Recompute::selective;
    return true;
}
bool full_recompute(Plan& q) {
    if (q.training.recompute == Recompute::full) return false;
    q.training.recompute = Recompute::full;
    return true;
}
bool flash_attention(Plan& q) {
    if (q.training.attention == AttentionImpl::flash) return false;
    q.training.attention = AttentionImpl::flash;
    return true;
}
bool half_micro_batch(Plan& q) {
    if (q.training.micro_batch % 2 != 0) return false;
    q.training.micro_batch /= 2;
    return true;
}
bool shard_optimizer(Plan& q) {
    if (q.layout.zero > 0 || q.layout.dp_shard == 1) return false;
    q.layout.zero = 1;
    return true;
}
bool shard_everything(Plan& q) {
    if (q.layout.zero >= 3 || q.layout.dp_shard == 1) return false;
    q.layout.zero = 3;
    return true;
}
bool shard_over_replicas(Plan& q) {
    if (q.layout.dp_replicate.value_or(1) == 1) return false;
    q.layout.dp_shard *= *q.layout.dp_replicate;
    q.layout.dp_replicate = 1;
    if (q.layout.zero == 0) q.layout.zero = 1;
    return true;
}
bool double_tp(Plan& q) {
    return double_at_cost_of_dp(q.layout, q.layout.tp);
}
bool double_pp(Plan& q) {
    q.layout.stage_layers.clear();
    return double_at_cost_of_dp(q.layout, q.layout.pp);
}
bool double_cp(Plan& q) {
    return double_at_cost_of_dp(q.layout, q.layout.cp);
}
bool double_ep(Plan& q) {  // fewer experts a GPU, on the same GPUs
    q.layout.ep *= 2;
    return q.model.moe.has_value();
}

bool one_chunk_a_stage(Plan& q) {
    if (q.layout.schedule == usual_schedule(1)) return false;
    q = with_schedule(q, usual_schedule(1), 1);
    return true;
}

constexpr std::array<Saving, 13> kSavings{
    sequence_parallel, selective_recompute, full_recompute,      flash_attention, half_micro_batch,
    shard_optimizer,   shard_everything,    shard_over_replicas, double_tp,       double_pp,
    double_cp,         double_ep,           one_chunk_a_stage};
// These cost no GPUs and hardly any time.
constexpr std::array<Saving, 3> kCheapSavings{sequence_parallel, selective_recompute, flash_attention};
constexpr std::array<Saving, 4> kDoublings{double_tp, double_pp, double_cp, double_ep};

// Makes the plan invalid, so that it is not considered.
void rule_out(Plan& q) {
    q.cluster.gpus = 0;
}

// States the replicas that the cluster leaves, so that a saving can trade them.
void state_replicas(Plan& q) {
    q.layout.dp_replicate = replicas_in_force(q);
}

void consider_single_savings(Fastest& fastest) {
    for (const Saving save : kSavings)
        fastest.consider(
            [&](Plan& q) {
                state_replicas(q);
                if (!save(q)) rule_out(q);
            },
            true);
}

// Tries experts dealt over more GPUs, as far as they divide.
void consider_more_ep(Fastest& fastest, const Plan& plan) {
    const std::int64_t experts = plan.model.moe ? plan.model.moe->experts : 0;
    for (std::int64_t ep = plan.layout.ep + 1; ep <= std::min(experts, plan.cluster.gpus); ++ep)
        if (experts % ep == 0)
            fastest.consider(
                [&](Plan& q) {
                    state_replicas(q);
                    q.layout.ep = ep;
                },
                true);
}

// Tries each saving at most twice (tp doubled, and doubled again).
void consider_pairs(Fastest& fastest) {
    for (std::size_t i = 0; i < kSavings.size(); ++i)
        for (std::size_t j = i; j < kSavings.size(); ++j)
            fastest.consider(
                [&](Plan& q) {
                    state_replicas(q);
                    if (!kSavings[i](q) || !kSavings[j](q)) rule_out(q);
                },
                true);
}

// Tries everything that costs no GPUs at once, then tp, pp, cp or ep doubled as often as needed.
void consider_all_out(Fastest& fastest) {
    constexpr int kMostDoublings = 6;
    for (int doublings = 0; doublings <= kMostDoublings; ++doublings)
        for (const Saving twice : kDoublings)
            for (const bool full : {false, true})
                fastest.consider(
                    [&](Plan& q) {
                        state_replicas(q);
                        for (const Saving save : kCheapSavings) save(q);
                        if (full) full_recompute(q);
                        if (q.layout.pp == 1) shard_everything(q);
                        for (int d = 0; d < doublings; ++d)
                            if (!twice(q)) rule_out(q);
                    },
                    true);
}

// Names the fastest change of one choice that makes it fit; else of two; else of as many as needed. Where
// none leaves kHeadroom free, one may leave less.
void say_what_fits(Advice& a, Advised& p) {
    Fastest fastest(a);
    for (const double most : {a.allowed_bytes, a.now.memory.hbm}) {
        a.allowed_bytes = most;
        consider_single_savings(fastest);
        consider_more_ep(fastest, a.plan);
        if (!fastest.any()) consider_pairs(fastest);
        if (!fastest.any()) consider_all_out(fastest);
        if (fastest.any()) break;
    }
    a.allowed_bytes = most_after_change(a.now.memory);
    const Candidate* c = fastest.any();
    if (c == nullptr || !a.show(c->edits) || !a.shown.memory.fits()) {
        say(p, " No small change of the layout makes it fit; it takes more GPUs, a smaller model, or states "
               "in the host's memory.");
        return;
    }
    say_help(p, "A small change that fits: ", words_of(c->edits), ", ", a.after(Measure::memory), " and ");
    say_change(p.help, p, a.after(Measure::step_s), a.before(Measure::step_s), " a step");
    say_help(p, a.shown.memory.fit() == MemoryFit::yes ? "." : "; even so it may not fit.");
    p.fix = c->edits;
}

void does_not_fit(Advice& a) {
    const Memory& m = a.now.memory;
    if (m.stage.empty() || m.hbm <= 0 || m.fits()) return;
    const StageMemory& s = m.stage[m.peak_stage];
    Advised& p = a.add(Severity::warning, Rule::hardware, ProblemCode::memory_does_not_fit, "/cluster/gpu");
    const bool one = m.stage.size() == 1;
    say(p, one ? std::string("The GPUs") : sentence("The GPUs of stage ", s.stage), " need ",
        a.before(Measure::memory), ", ", a.before(Measure::memory_over), " more than the ",
        a.before(Measure::hbm), " they have (parameters ", a.before(Measure::parameters), ", gradients ",
        a.before(Measure::gradients), ", optimizer ", a.before(Measure::optimizer), ", activations ",
        a.before(Measure::activations), ", buffers ", a.before(Measure::buffers), ").");
    if (m.may_fit())
        say(p, " It may fit if buffers stay small: with the smallest that were measured it is ",
            a.before(Measure::memory_least), ".");
    say_what_fits(a, p);
}

void recomputes_without_need(Advice& a) {
    if (!a.plan.training.recompute.any() || !a.base.memory.fits()) return;
    Fastest fastest(a);
    for (const Recompute r : {Recompute::none, Recompute::selective}) {
        if (r >= a.plan.training.recompute.kind) continue;
        // A tenth must be spare: a framework's buffers are a range.
        if (a.works([&](Plan& q) { q.training.recompute = r; })
            && a.trial.memory.peak() <= 0.9 * a.trial.memory.hbm)
            fastest.consider([&](Plan& q) { q.training.recompute = r; }, true);
    }
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c) return;
    if (!a.show(c->edits) || !a.shown.memory.fits()) return;
    Advised& p =
        a.add(Severity::info, Rule::advice, ProblemCode::recompute_not_needed, "/training/recompute");
    say(p, "Activations would fit with less recomputation: ", a.after(Measure::memory), " of ",
        a.before(Measure::hbm), " per GPU.");
    offer_or_withdraw(a, p, *c);
}

void nearly_full(Advice& a) {
    const Memory& m = a.now.memory;
    if (m.hbm <= 0 || m.stage.empty() || m.fit() != MemoryFit::tight) return;
    const StageMemory& s = m.stage[m.peak_stage];
    Advised& p = a.add(Severity::info, Rule::hardware, ProblemCode::memory_nearly_full, "/cluster/gpu");
    const std::string who = m.stage.size() == 1 ? "Each GPU" : sentence("Stage ", s.stage);
    say(p, who, " holds ", a.before(Measure::memory), " of ", a.before(Measure::hbm), ". ");
    if (s.most() > m.hbm)
        say(p, "It does not fit if the framework's own buffers take the upper end of their range (",
            a.before(Measure::buffers_high), " instead of ", a.before(Measure::buffers), ").");
    else if (s.total() > kTightShare * m.hbm)
        say(p, "Runs that are so full by the sum often go out of memory.");
    else
        say(p, "A loss of another library than is counted may keep the logits whole, which do not fit then.");
}

void sequence_parallel_left_off(Advice& a) {
    if (a.plan.layout.tp == 1 || a.plan.layout.sequence_parallel) return;
    const std::vector<Edit> edits{{"/layout/sequence_parallel", true}};
    if (!a.show(edits)) return;
    const Stated saved = a.after(Measure::memory_saved);
    if (saved.value < 0.01 * a.now.memory.peak()) return;
    Advised& p =
        a.add(Severity::info, Rule::advice, ProblemCode::sequence_parallel_off, "/layout/sequence_parallel");
    say(p, "With tp = ", a.plan.layout.tp,
        " every tp rank computes and keeps the same norms and dropouts. Sequence parallelism cuts them and "
        "saves ",
        saved, " per GPU");
    say_price(a, p, p.message);
    say(p, ".");
    p.fix = edits;
}

}  // namespace

void advise_memory(Advice& a) {
    does_not_fit(a);
    recomputes_without_need(a);
    nearly_full(a);
    sequence_parallel_left_off(a);
}

// Advises on the step's time: bubble, stragglers, communication that could be hidden.

namespace {

constexpr double kLargeBubble = 0.10;

double bubble_share(const Evaluation& e) {
    return schedule_bubble_s(*e.step) / e.step->time_s;
}

std::vector<Edit> batch_of(const Advice& a, std::int64_t m) {
    const std::int64_t sequences = a.plan.training.global_batch / a.base.microbatches;
    return {{"/training/global_batch", m * sequences}};
}

// Returns true if m micro-batches per step work and leave a small bubble, by the closed form.
bool small_estimate(Advice& a, std::int64_t m) {
    const std::int64_t sequences = a.plan.training.global_batch / a.base.microbatches;
    return a.works([&](Plan& q) { q.training.global_batch = m * sequences; })
           && bubble_share(a.trial) < kLargeBubble;
}
bool small_shown(Advice& a, std::int64_t m) {
    return a.show(batch_of(a, m)) && bubble_share(a.shown) < kLargeBubble;
}

// Returns the smallest multiple of pp micro-batches, above the plan's number, whose bubble is small as a
// report shows it; 0 where a thousand rounds are not enough. The closed form says how far to look: near its
// answer each multiple is replayed, far below it they are halved.
std::int64_t enough_microbatches(Advice& a) {
    constexpr std::int64_t kMost = 1024, kEach = 24;
    const std::int64_t p = a.plan.layout.pp, first = a.base.microbatches / p + 1;
    std::int64_t high = first, low = first;
    while (high <= kMost && !small_estimate(a, high * p)) {
        low = high + 1;
        high *= 2;
    }
    if (high > kMost) return 0;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (small_estimate(a, middle * p))
            high = middle;
        else
            low = middle + 1;
    }
    low = first;
    while (high - low > kEach) {
        const std::int64_t middle = (low + high) / 2;
        if (small_shown(a, middle * p))
            high = middle;
        else
            low = middle + 1;
    }
    // The estimate may lie below the replay.
    for (; low <= std::min(high + kEach, kMost); ++low)
        if (small_shown(a, low * p)) return low * p;
    return 0;
}

// Makes several chunks a device of one. Numbers that divide the layers go first: uneven chunks need a list of
// stages in Megatron.
void consider_interleaving(Advice& a, Fastest& fastest) {
    const Layout& l = a.plan.layout;
    if (l.schedule != usual_schedule(1)) return;
    for (const bool even : {true, false}) {
        for (const std::int64_t v : {2, 3, 4, 5, 6, 8, 10})
            if (a.plan.model.layers >= l.pp * v && (a.plan.model.layers % (l.pp * v) == 0) == even)
                fastest.consider([&](Plan& q) {
                    q = with_schedule(q, usual_schedule(v), v);
                    // An edit cannot take a field away: it states the value that holds without it.
                    if (l.microbatch_group) q.layout.microbatch_group = l.pp;
                });
        if (fastest.any()) return;
    }
}

void large_bubble(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.pp == 1 || bubble_share(a.now) <= kLargeBubble) return;
    Advised& p =
        a.add(Severity::warning, Rule::advice, ProblemCode::bubble_too_large, "/training/global_batch");
    say(p, "The pipeline idles ", a.before(Measure::bubble_s), " of each ", a.before(Measure::step_s),
        " step (", a.before(Measure::bubble_share), "): ", a.base.microbatches, " micro-batches for ", l.pp,
        " stages.");
    if (const std::int64_t m = enough_microbatches(a); m > 0) {
        const std::vector<Edit> edits = batch_of(a, m);
        say_help(p, "A global batch of ", m * (a.plan.training.global_batch / a.base.microbatches), " (", m,
                 " micro-batches) would bring it to ", a.after(Measure::bubble_share));
        if (!a.shown.memory.fits() || !a.shown_memory_allows()) {
            const Stated then = a.after(Measure::memory), was = a.before(Measure::memory);
            say_help(p, ", and take ", then, " of ", a.before(Measure::hbm));
            if (text_of(then) == text_of(was))
                say_help(p, ", as before");
            else
                say_help(p, " instead of ", was);
            say_help(p, ": it ", name_of(a.shown.memory.fit()), ".");
        } else {
            say_help(p, ".");
        }
        if (a.shown_memory_allows()) p.fix = edits;
    }
    Fastest fastest(a);
    consider_interleaving(a, fastest);
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c || !a.show(c->edits) || !a.shown_is_faster() || !a.shown_memory_allows()) return;
    say_help(p, p.help.empty() ? "" : " ", "With the same batch, ", words_of(c->edits), " takes ",
             a.after(Measure::step_s), " a step instead of ", a.before(Measure::step_s), " (bubble ",
             a.after(Measure::bubble_share), ").");
    if (bubble_share(a.shown) < kLargeBubble) p.fix = c->edits;
}

void stragglers(Advice& a) {
    const Step& s = *a.now.step;
    const double cv = a.plan.training.straggler_cv;
    if (cv <= 0 || s.straggler_s <= 0) return;
    const double share = s.straggler_s / (s.time_s - s.straggler_s);
    Advised& p = a.add(share > 0.05 ? Severity::warning : Severity::info, Rule::advice,
                       ProblemCode::straggler_tax, "/training/straggler_cv");
    say(p, "Every step waits for the slowest of ", a.base.mesh.world, " GPUs: with a variation of ",
        a.before(Measure::straggler_cv), " that is ", a.before(Measure::straggler_s), " a step, ",
        a.before(Measure::straggler_share), " (the bound cv √(2 ln N) would say ",
        a.before(Measure::straggler_bound), ").");
}

void overlap_left_off(Advice& a) {
    const Overlap& o = a.plan.training.overlap;
    struct Switch {
        bool on;
        std::string_view name;
    };
    for (const Switch& s : {Switch{o.dp, "dp"}, Switch{o.pp, "pp"}, Switch{o.cp, "cp"}}) {
        if (s.on) continue;
        const std::string pointer = sentence("/training/overlap/", s.name);
        const std::vector<Edit> edits{{pointer, true}};
        if (!a.show(edits) || !a.shown_is_faster()) continue;
        Advised& p = a.add(Severity::info, Rule::advice, ProblemCode::overlap_off, pointer);
        say(p, "Communication on ", s.name, " is not hidden behind compute; hiding it saves ",
            a.after(Measure::step_saved_s), " of ", a.before(Measure::step_s), " a step.");
        p.fix = edits;
    }
}

void expert_tensor_parallel(Advice& a) {
    const Layout& l = a.plan.layout;
    const std::int64_t etp = l.etp.value_or(l.tp);
    if (!a.base.mesh.has_experts || etp == 1) return;
    Fastest fastest(a);
    fastest.consider([](Plan& q) { q.layout.etp = 1; });
    fastest.consider([&](Plan& q) {
        q.layout.etp = 1;
        q.layout.ep *= etp;
    });
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c) return;
    Advised& p = a.add(Severity::info, Rule::advice, ProblemCode::etp_cuts_small_experts, "/layout/etp");
    say(p, "etp = ", etp, l.etp ? "" : " (left out, so it is tp)", " cuts each expert of width ",
        a.plan.model.moe->expert_ffn, " to ", a.plan.model.moe->expert_ffn / etp,
        " and gathers its tokens too.");
    offer_or_withdraw(a, p, *c);
}

}  // namespace

void advise_step(Advice& a) {
    large_bubble(a);
    advise_stages(a);
    stragglers(a);
    overlap_left_off(a);
    expert_tensor_parallel(a);
}

}  // namespace pentamesh
