// Advises on experts of which several GPUs keep copies: cut over them, each GPU keeps fewer.
#include "core/advice/advice_rules.h"

#include <algorithm>

namespace pentamesh {

namespace {

// Puts the ranks of another ep next to each other, so that its all-to-all stays as near as possible.
void with_ep(Layout& l, std::int64_t ep, bool near) {
    l.ep = ep;
    if (!near) return;
    for (const Axis first : {Axis::ep, Axis::tp})
        std::stable_partition(l.order.begin(), l.order.end(), [&](Axis a) { return a == first; });
}

}  // namespace

void advise_experts(Advice& a) {
    if (!a.plan.model.moe || a.plan.layout.ep != 1) return;
    const GroupSummary& copies = a.base.groups[GroupKind::edp];
    if (copies.degree <= 1) return;
    const std::int64_t experts = a.plan.model.moe->experts;
    const bool fits = a.now.memory.fits();
    Fastest fastest(a);
    for (std::int64_t ep = 2; ep <= std::min(experts, copies.degree); ++ep) {
        if (experts % ep != 0) continue;
        for (const bool near : {false, true})
            fastest.consider([&](Plan& q) { with_ep(q.layout, ep, near); }, true);
    }
    const Candidate* c = fits ? fastest.better_than(a.base.step->time_s) : fastest.any();
    if (!c) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::experts_copied, "/layout/ep");
    say(p, "ep = 1: ", copies.degree, " GPUs keep the same ", experts,
        " experts each. Expert parallelism deals them out.");
    if (fits) {
        offer_or_withdraw(a, p, *c);
        return;
    }
    if (!a.show(c->edits) || !a.shown.memory.fits()) return;
    const std::size_t from = p.message.size();
    say(p, " With ", words_of(c->edits), " the fullest GPU takes ", a.after(Measure::memory), " instead of ",
        a.before(Measure::memory), ", which fits; a step takes ", a.after(Measure::step_s), " instead of ",
        a.before(Measure::step_s), ".");
    set_fix(p, c->edits, from);
}

}  // namespace pentamesh
