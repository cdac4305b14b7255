#include "app/ui/views/timeline/view.h"

namespace pentamesh::ui {

namespace {

// Replays the chosen timeline; does nothing where it is the evaluation's own.
void replay(const Evaluation& e, ShownTimeline& out) {
    const ScheduleShape& shape = e.timeline.shape;
    const Timeline* one = &e.timeline;
    if (out.choice.slow.any()) {
        run_timeline(shape, out.costs, out.slowed);
        one = &out.slowed;
    }
    const bool twice = out.choice.steps > 1;
    if (twice) run_iterations(shape, out.costs, 2, out.two);
    if (twice && out.choice.slow.any()) run_iterations(shape, e.costs, 2, out.before_two);
    out.bubble = measure_bubble(*one, out.costs, twice ? &out.two : nullptr);
    out.step_before_s = e.step ? e.step->time_s : 0;
    out.step_s = e.step ? step_with_makespan(*e.step, e.timeline.makespan, one->makespan) : 0;
    out.tail = {};
    if (!twice && e.step) {
        out.tail = step_tail(*e.step, e.comm);
        out.tail.straggler_s *= out.step_s / e.step->time_s;
    }
}

void make_shown(const Plan& plan, const Evaluation& e, const TimelineChoice& choice, ShownTimeline& out) {
    out.choice = choice;
    ++out.version;
    out.costs = e.costs;
    apply_slow(choice.slow, e.timeline.shape.devices, out.costs);
    replay(e, out);
    out.tail.of_each_microbatch = plan.layout.zero == 3 && e.microbatches > 1;
    const Timeline& t = out.timeline(e);
    build_work_index(t, out.index);
    exposed_in_chunks(e.comm.stages, e.work, out.exposed);
    hidden_in_chunks(e.comm, out.hidden);
    out.hidden_once = e.step && out.choice.steps == 1 ? hidden_in_step(e.comm) : HiddenComm{};
    out.hides = out.hides_once = false;
    for (const GroupKind axis : all_of<GroupKind>()) {
        out.hides_once = out.hides_once || out.hidden_once.all(axis) > 0;
        for (const HiddenComm& h : out.hidden) out.hides = out.hides || h.all(axis) > 0;
    }
    out.places = stage_places(plan, e.mesh, t.shape, e.comm.stages);
    out.has.fill(false);
    for (const Op& op : t.order.ops) out.has[static_cast<std::size_t>(op.kind)] = true;
}

}  // namespace

void keep_shown(const Plan& plan, const Evaluation& e, std::uint64_t revision, int schedule,
                const TimelineChoice& choice, KeptTimeline& kept) {
    TimelineChoice wanted = choice;
    if (wanted.slow.device >= e.timeline.shape.devices || !wanted.slow.any()) wanted.slow = {};
    kept.update({revision, schedule, wanted}, [&](ShownTimeline& out) { make_shown(plan, e, wanted, out); });
}

OpHalves halves_of(const Op& op, int device, int chunks) {
    const bool both = op.kind == OpKind::FB;
    const auto at = [&](int chunk) { return static_cast<std::size_t>(device * chunks + chunk); };
    return {both || op.kind == OpKind::F, both || op.kind == OpKind::B || op.kind == OpKind::I, at(op.chunk),
            at(both ? op.backward_chunk : op.chunk)};
}

std::size_t own_op(const Timeline& t, std::size_t op) {
    if (t.iterations <= 1) return op;
    const auto d = static_cast<std::size_t>(device_of_op(t, op));
    const std::size_t begin = t.order.begin[d];
    const std::size_t each = (t.order.begin[d + 1] - begin) / static_cast<std::size_t>(t.iterations);
    return begin / static_cast<std::size_t>(t.iterations) + (op - begin) % each;
}

}  // namespace pentamesh::ui
