// How the step's time goes: bubble, stragglers, communication that could be hidden.
#include "core/advice/advice_rules.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/changes.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

constexpr double kLargeBubble = 0.10;

double bubble_share(const Evaluation& e) {
    return schedule_bubble_s(*e.step) / e.step->time_s;
}

// Whether m micro-batches per step work and leave a small bubble.
bool small_bubble(Advice& a, std::int64_t m) {
    const std::int64_t sequences = a.plan.training.global_batch / a.base.microbatches;
    return a.works([&](Plan& q) { q.training.global_batch = m * sequences; })
           && bubble_share(a.trial) < kLargeBubble;
}

// The smallest multiple of pp micro-batches whose bubble is small; 0 where a thousand rounds do not do it.
std::int64_t enough_microbatches(Advice& a) {
    const std::int64_t p = a.plan.layout.pp;
    std::int64_t low = a.base.microbatches / p, high = low + 1;
    while (high <= 1024 && !small_bubble(a, high * p)) {
        low = high;
        high *= 2;
    }
    if (high > 1024) return 0;
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (small_bubble(a, middle * p) ? high : low) = middle;
    }
    return high * p;
}

// One chunk a device becomes several. Numbers that divide the layers go first: uneven chunks need a list of
// stages in Megatron.
void consider_interleaving(Advice& a, Fastest& fastest) {
    const Layout& l = a.plan.layout;
    if (l.schedule != usual_schedule(1)) return;
    for (const bool even : {true, false}) {
        for (const std::int64_t v : {2, 3, 4, 5, 6, 8, 10})
            if (a.plan.model.layers >= l.pp * v && (a.plan.model.layers % (l.pp * v) == 0) == even)
                fastest.consider([&](Plan& q) {
                    q = with_schedule(q, usual_schedule(v), v);
                    // An edit cannot take a field away: it states what holds without it.
                    if (l.microbatch_group) q.layout.microbatch_group = l.pp;
                });
        if (fastest.any()) return;
    }
}

void large_bubble(Advice& a) {
    const Layout& l = a.plan.layout;
    const Evaluation& shown = a.now.step ? a.now : a.base;
    if (l.pp == 1 || bubble_share(shown) <= kLargeBubble || bubble_share(a.base) <= kLargeBubble) return;
    Problem& p = a.add(Severity::warning, Rule::advice, "bubble-too-large", "/training/global_batch");
    p.message = sentence("The pipeline idles ", time_text(schedule_bubble_s(*shown.step)), " of each ",
                         time_text(shown.step->time_s), " step (", percent_text(bubble_share(shown)),
                         "): ", a.base.microbatches, " micro-batches for ", l.pp, " stages.");
    const std::int64_t m = enough_microbatches(a);
    if (m > 0 && small_bubble(a, m)) {
        p.message += sentence(" A global batch of ", a.changed.training.global_batch, " (", m,
                              " micro-batches) would bring it to ", percent_text(bubble_share(a.trial)), ".");
        p.fix = edits_between(a.plan, a.changed);
    }
    Fastest fastest(a);
    consider_interleaving(a, fastest);
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c) return;
    const Candidate best = a.as_shown(*c);
    p.message += sentence(" With the same batch, ", words_of(best.edits), " takes ", time_text(best.time_s),
                          " a step instead of ", time_text(a.step().time_s), " (bubble ",
                          percent_text(best.bubble_s / best.time_s), ").");
    if (best.bubble_s < kLargeBubble * best.time_s) p.fix = best.edits;
}

void stragglers(Advice& a) {
    const Step& s = a.step();
    const double cv = a.plan.training.straggler_cv;
    if (cv <= 0 || s.straggler_s <= 0) return;
    const double share = s.straggler_s / (s.time_s - s.straggler_s);
    Problem& p = a.add(share > 0.05 ? Severity::warning : Severity::info, Rule::advice, "straggler-tax",
                       "/training/straggler_cv");
    p.message =
        sentence("Every step waits for the slowest of ", a.base.mesh.world, " GPUs: with a variation of ",
                 percent_text(cv), " that is ", time_text(s.straggler_s), " a step, ", percent_text(share),
                 " (the bound cv √(2 ln N) would say ", percent_text(s.straggler_bound), ").");
}

void overlap_left_off(Advice& a) {
    const Overlap& o = a.plan.training.overlap;
    struct Switch {
        bool on;
        bool Overlap::*field;
        std::string_view name;
    };
    for (const Switch& s : {Switch{o.dp, &Overlap::dp, "dp"}, Switch{o.pp, &Overlap::pp, "pp"},
                            Switch{o.cp, &Overlap::cp, "cp"}}) {
        if (s.on || !a.works([&](Plan& q) { q.training.overlap.*s.field = true; })) continue;
        if (a.trial.step->time_s > 0.99 * a.base.step->time_s) continue;
        const double saved = a.step().time_s - a.as_shown(a.candidate()).time_s;
        Problem& p =
            a.add(Severity::info, Rule::advice, "overlap-off", sentence("/training/overlap/", s.name));
        p.message = sentence("Communication on ", s.name, " is not hidden behind compute; hiding it saves ",
                             time_text(saved), " of ", time_text(a.step().time_s), " a step.");
        p.fix = {{sentence("/training/overlap/", s.name), true}};
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
    Problem& p = a.add(Severity::info, Rule::advice, "etp-cuts-small-experts", "/layout/etp");
    p.message = sentence("etp = ", etp, l.etp ? "" : " (left out, so it is tp)",
                         " cuts each expert of width ", a.plan.model.moe->expert_ffn, " to ",
                         a.plan.model.moe->expert_ffn / etp, " and gathers its tokens besides.");
    offer(a, p, *c);
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
