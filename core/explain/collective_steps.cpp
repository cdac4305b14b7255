#include "core/explain/collective_steps.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

using Shape = CollectivePhase::Shape;

// Goes as collective_time's ring_pass: from the inside out for a reduce-scatter, from the outside in for an
// all-gather.
std::vector<CollectivePhase> rings(const Route& r, Shape shape, double buffer) {
    std::vector<CollectivePhase> out;
    double inside = 1;
    for (int i = 0; i < r.parts; ++i) {
        const RoutePart& p = r.part[i];
        if (p.ways > 1) {
            // If domains cut a group unevenly `ways` is their mean, and the longest ring is shown.
            const double ring = std::ceil(p.ways - 1e-9), even = (p.ways - 1) / (ring - 1);
            out.push_back({shape, i, std::llround(ring), std::llround(inside), std::llround(ring) - 1,
                           even * buffer / inside / p.ways, pass_time(p, buffer / inside) / (ring - 1)});
        }
        inside *= p.ways;
    }
    if (shape == Shape::ring_gather) std::reverse(out.begin(), out.end());
    return out;
}

// A tier whose switches add up takes one step up and one down where that is less than its two rings.
std::vector<CollectivePhase> all_reduce(const Route& r, double buffer) {
    std::vector<CollectivePhase> out = rings(r, Shape::ring_reduce, buffer);
    std::vector<CollectivePhase> down = rings(r, Shape::ring_gather, buffer);
    const auto through_switch = [&](CollectivePhase& phase, bool up) {
        const RoutePart& p = r.part[phase.tier];
        const double share = phase.chunk_bytes * static_cast<double>(phase.steps) * p.ways / (p.ways - 1);
        const double ring_s = static_cast<double>(phase.steps) * phase.step_s;
        const double switch_s = p.latency_s + share / p.bytes_per_s / 2;
        if (!p.in_network_reduction || switch_s >= ring_s) return;
        phase.shape = up ? Shape::switch_up : Shape::switch_down;
        phase.steps = 1;
        phase.chunk_bytes = share;
        phase.step_s = switch_s;  // up and down run side by side in the wire's two directions
    };
    for (CollectivePhase& p : out) through_switch(p, true);
    for (CollectivePhase& p : down) through_switch(p, false);
    out.insert(out.end(), down.begin(), down.end());
    return out;
}

}  // namespace

std::string_view name_of(Shape shape) {
    switch (shape) {
    case Shape::ring_gather: return "gather along the ring";
    case Shape::ring_reduce: return "add up along the ring";
    case Shape::switch_up: return "up to the switches, which add";
    case Shape::switch_down: return "the sum comes down";
    case Shape::exchange: return "everyone to everyone";
    case Shape::pass: return "to the next";
    }
    return "";
}

namespace {

std::vector<CollectivePhase> phases_over(const Route& r, const Evaluation& e, const Operation& o) {
    const double n = static_cast<double>(o.group_size);
    const std::int64_t stages = e.groups[o.group].degree;
    switch (o.collective) {
    case Collective::all_gather: return rings(r, Shape::ring_gather, o.message_bytes);
    case Collective::reduce_scatter: return rings(r, Shape::ring_reduce, o.message_bytes);
    case Collective::all_reduce: return all_reduce(r, o.message_bytes);
    case Collective::all_to_all:
        return {{Shape::exchange, o.tier, o.group_size, 1, o.group_size - 1, o.message_bytes / n,
                 o.call_s / (n - 1)}};
    case Collective::send_recv:
        return {{Shape::pass, o.tier, o.group == GroupKind::pp ? stages : o.group_size, 1, 1, o.message_bytes,
                 o.call_s}};
    }
    return {};
}

}  // namespace

std::vector<CollectivePhase> collective_phases(const Plan& plan, const Evaluation& e, const Operation& o) {
    const Route whole = find_route(plan, e.mesh, e.groups[o.group]);
    if (whole.degree <= 1 || whole.parts == 0 || o.group_size <= 1) return {};
    // The call is a part of expert data parallelism: shards are inside, replicas one set of shards apart.
    if (o.group_size >= e.groups[o.group].degree || o.group == GroupKind::pp) return phases_over(whole, e, o);
    const double n = static_cast<double>(o.group_size);
    if (o.collective != Collective::all_reduce) return phases_over(within(whole, n), e, o);
    std::vector<CollectivePhase> out = phases_over(beyond(whole, whole.degree / n), e, o);
    for (CollectivePhase& p : out) p.stride *= std::llround(whole.degree / n);
    return out;
}

}  // namespace pentamesh
