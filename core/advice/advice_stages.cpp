// Says if all stages work equally long, and if not, which lists of layers were tried.
#include "core/advice/advice_rules.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr double kLargeUnevenness = 0.05;
constexpr int kMostMoves = 32;  // layers that go from one stage to another, one after the other

// Returns the chunk of a device with the most layers, or the fewest; in model order.
std::size_t chunk_of_device(const std::vector<std::int64_t>& layers, const ScheduleShape& shape, int device,
                            bool most) {
    std::size_t found = static_cast<std::size_t>(stage_of(shape, device, 0));
    for (int c = 1; c < chunks_of(shape); ++c) {
        const auto at = static_cast<std::size_t>(stage_of(shape, device, c));
        if (most ? layers[at] > layers[found] : layers[at] < layers[found]) found = at;
    }
    return found;
}

// Moves layers from the longest stage to the shortest, one by one. It ends where the shortest would become as
// long. Among equally short stages it takes the latest, which keeps the fewest micro-batches in flight.
void move_layers(Advice& a, const ScheduleShape& shape, std::vector<std::int64_t> layers, Fastest& fastest) {
    const int chunks = chunks_of(shape);
    for (int moves = 0; moves < kMostMoves; ++moves) {
        int longest = 0, shortest = 0;
        double most = 0, least = 0;
        for (int d = 0; d < shape.devices; ++d) {
            const double work = device_busy(a.trial.costs, d, chunks);
            if (d == 0 || work > most * (1 + 1e-9)) longest = d, most = work;
            if (d == 0 || work <= least * (1 + 1e-9)) shortest = d, least = work;
        }
        std::int64_t& giver = layers[chunk_of_device(layers, shape, longest, true)];
        std::int64_t& taker = layers[chunk_of_device(layers, shape, shortest, false)];
        if (giver < 1 || &giver == &taker) return;
        --giver, ++taker;
        fastest.consider([&](Plan& q) { q.layout.stage_layers = layers; });
        if (!a.trial.valid || !a.trial.step) return;
        if (device_busy(a.trial.costs, shortest, chunks) >= most * (1 - 1e-9)) return;
    }
}

}  // namespace

void advise_stages(Advice& a) {
    const Step& s = *a.now.step;
    const double share = s.uneven_s / s.time_s;
    if (a.plan.layout.pp == 1 || share <= kLargeUnevenness) return;
    const int stage = a.now.comm.busiest_device;
    const StageContents& contents = a.base.comm.stages.contents(stage);
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::stages_uneven, "/layout/stage_layers");
    say(p, "Stage ", stage, " computes ", a.before(Measure::uneven_s), " a step (",
        a.before(Measure::uneven_share), ") longer than the average of ", a.base.comm.stages.devices,
        " stages, which wait for it: it has ", count_text(contents.layers, "layer"),
        contents.head ? " and the head" : "", ".");
    // The even split is the start, for any list of the plan.
    Fastest fastest(a);
    fastest.consider([](Plan& q) { q.layout.stage_layers.clear(); });
    if (a.trial.valid && a.trial.step) {
        std::vector<std::int64_t> layers;
        layers_of_chunks(a.changed, layers);
        move_layers(a, shape_of(a.plan, a.base.microbatches), std::move(layers), fastest);
    }
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

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
