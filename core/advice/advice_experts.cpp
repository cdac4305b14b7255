// Experts that several GPUs keep alike: cut over them, each GPU keeps fewer.
#include "core/advice/advice_rules.h"

#include <algorithm>

namespace pentamesh {

namespace {

// The ranks of another ep stand next to each other, so that its all-to-all stays as near as it can.
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
    const bool fits = a.now.memory.has_room();
    Fastest fastest(a);
    for (std::int64_t ep = 2; ep <= std::min(experts, copies.degree); ++ep) {
        if (experts % ep != 0) continue;
        for (const bool near : {false, true})
            fastest.consider([&](Plan& q) { with_ep(q.layout, ep, near); }, true);
    }
    const Candidate* c = fits ? fastest.better_than(a.base.step->time_s) : fastest.any();
    if (!c) return;
    Problem& p = a.add(Severity::warning, Rule::advice, "experts-copied", "/layout/ep");
    p.message = sentence("ep = 1: ", copies.degree, " GPUs keep the same ", experts,
                         " experts each. Expert parallelism deals them out.");
    if (fits) return offer(a, p, *c);
    const Candidate shown = a.as_shown(*c);
    p.message += sentence(" With ", words_of(shown.edits), " the fullest GPU takes ",
                          memory_text(shown.peak_bytes), " instead of ", memory_text(a.now.memory.peak()),
                          ", which fits; a step takes ", time_text(shown.time_s), ".");
    p.fix = shown.edits;
}

}  // namespace pentamesh
