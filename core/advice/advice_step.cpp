// Advises on the step's time: bubble, stragglers, communication that could be hidden.
#include "core/advice/advice_rules.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/changes.h"

#include <algorithm>

namespace pentamesh {
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
        const std::size_t from = p.message.size();
        say(p, " A global batch of ", m * (a.plan.training.global_batch / a.base.microbatches), " (", m,
            " micro-batches) would bring it to ", a.after(Measure::bubble_share));
        if (!a.shown.memory.fits())
            say(p, ", and take ", a.after(Measure::memory), " of ", a.before(Measure::hbm), " instead of ",
                a.before(Measure::memory), ": it ", name_of(a.shown.memory.fit()), ".");
        else
            say(p, ".");
        if (a.shown_memory_allows()) set_fix(p, edits, from);
    }
    Fastest fastest(a);
    consider_interleaving(a, fastest);
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c || !a.show(c->edits) || !a.shown_is_faster() || !a.shown_memory_allows()) return;
    const std::size_t from = p.message.size();
    say(p, " With the same batch, ", words_of(c->edits), " takes ", a.after(Measure::step_s),
        " a step instead of ", a.before(Measure::step_s), " (bubble ", a.after(Measure::bubble_share), ").");
    if (bubble_share(a.shown) < kLargeBubble) set_fix(p, c->edits, from);
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
        " and gathers its tokens besides.");
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
