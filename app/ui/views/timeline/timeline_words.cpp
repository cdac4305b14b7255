#include "app/ui/views/timeline/timeline_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

// Returns "hidden behind it: cp 1.2 ms, ep 3 ms"; empty where nothing is hidden.
std::string hidden_text(const ShownTimeline& shown, int device, int chunks, const Op& op) {
    const bool forward = op.kind == OpKind::F || op.kind == OpKind::FB;
    const bool backward = op.kind == OpKind::B || op.kind == OpKind::I || op.kind == OpKind::FB;
    const auto f = static_cast<std::size_t>(device * chunks + op.chunk);
    const auto b = op.kind == OpKind::FB ? static_cast<std::size_t>(device * chunks + op.backward_chunk) : f;
    if (std::max(f, b) >= shown.hidden.size()) return {};
    std::string text;
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto axis = static_cast<GroupKind>(k);
        const double s =
            (forward ? shown.hidden[f].forward[axis] : 0) + (backward ? shown.hidden[b].backward[axis] : 0);
        if (s > 0)
            text += (text.empty() ? "\nhidden behind it: " : ", ") + axis_label(axis) + " " + time_text(s);
    }
    return text;
}

}  // namespace

std::string op_tooltip(const Timeline& t, const ShownTimeline& shown, std::size_t i) {
    const TimelineCosts& costs = shown.costs;
    const Op& op = t.order.ops[i];
    const int device = device_of_op(t, i), m = t.shape.microbatches;
    std::string s = std::string(name_of(op.kind)) + ", micro-batch " + std::to_string(op.microbatch % m);
    if (t.iterations > 1) s += " of step " + std::to_string(op.microbatch / m + 1);
    if (t.shape.devices > 1) s += "\nstage " + std::to_string(device);
    if (chunks_of(t.shape) > 1) s += ", chunk " + std::to_string(op.chunk);
    if (op.kind == OpKind::FB)
        s += "\nwith the backward of micro-batch " + std::to_string(op.backward_microbatch % m) + ", chunk "
             + std::to_string(op.backward_chunk);
    s += "\nstarts " + time_text(t.start[i]) + ", takes " + time_text(t.end[i] - t.start[i]);
    s += hidden_text(shown, device, chunks_of(t.shape), op);
    const bool first = i == t.order.begin[device];
    const double idle = t.start[i] - (first ? 0 : t.end[i - 1]);
    const std::ptrdiff_t last = waited_for(t, costs, i);
    if (idle > 0 && last >= 0) {
        const auto from = static_cast<std::size_t>(last);
        s += "\nthe stage idled " + time_text(idle) + " for the "
             + std::string(name_of(t.order.ops[from].kind)) + " of stage "
             + std::to_string(device_of_op(t, from));
    }
    return s;
}

std::string run_tooltip(const Block& b) {
    const double all = std::max(b.work.all(), 1e-300);
    std::string s = plural(static_cast<std::int64_t>(b.last - b.first + 1), "op", "ops")
                    + " too narrow to draw: zoom in\nbusy " + percent(std::min(1.0, b.density()));
    s += "\nforward " + percent(b.work.forward / all) + ", backward " + percent(b.work.backward / all);
    if (b.work.weight > 0) s += ", weight gradients " + percent(b.work.weight / all);
    return s;
}

}  // namespace pentamesh::ui
