#include "app/ui/panels/selection_words.h"

#include "app/ui/kit/format.h"
#include "core/pipeline/timeline_walk.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

// Returns "0 … 15", "0 … 7, 64 … 71 …: 16 runs of 8".
std::string stage_ranks_text(const Mesh& mesh, int stage) {
    const Factor& pp = mesh.dense[static_cast<std::size_t>(Axis::pp)];
    const std::int64_t run = pp.stride, all = pp.stride * std::max<std::int64_t>(1, pp.size);
    const std::int64_t runs = std::max<std::int64_t>(1, mesh.world / std::max<std::int64_t>(1, all));
    const std::int64_t first = stage * run;
    const auto one = [&](std::int64_t from) {
        return run == 1 ? thousands(from) : thousands(from) + " … " + thousands(from + run - 1);
    };
    if (pp.size <= 1) return "0 … " + thousands(mesh.world - 1);
    if (runs == 1) return one(first);
    std::string text = one(first) + ", " + one(first + all);
    if (runs > 2) text += " …: " + thousands(runs) + (run == 1 ? " GPUs" : " runs of " + thousands(run));
    return text;
}

double held_then(const Timeline& t, int device, double time) {
    double held = 0;
    for (const InFlightStep& s : in_flight(t, device)) {
        if (s.time > time) break;
        held = s.held;
    }
    return held;
}

// The stage's GPU holds this at its peak; only the layers' activations come and go with micro-batches.
std::string memory_then(const StageMemory& m, double held) {
    const double share = m.in_flight > 0 ? std::min(1.0, held / m.in_flight) : 1;
    return memory_text(m.total() - m.layer_activations * (1 - share)) + ", with activations of "
           + significant(held) + (held == 1 ? " micro-batch" : " micro-batches");
}

std::string message(const Evaluation& e, Phase phase, int to) {
    for (const Operation& o : e.comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::boundary && o.phase == phase)
            return traffic_text(o.message_bytes)
                   + (phase == Phase::forward ? " of activations" : " of gradients") + " to stage "
                   + std::to_string(to) + (o.call_s > 0 ? ", " + time_text(o.call_s) : "");
    return "to stage " + std::to_string(to);
}

}  // namespace

std::vector<CardLine> block_lines(const Plan&, const Evaluation& e, const Timeline& t, std::size_t i) {
    std::vector<CardLine> out;
    if (i >= t.order.ops.size()) return out;
    const int device = device_of_op(t, i);
    const Op& op = t.order.ops[i];
    out.push_back({"on ranks", stage_ranks_text(e.mesh, device)});
    const auto stage = static_cast<std::size_t>(device);
    if (stage < e.memory.stage.size())
        out.push_back({"holds then", memory_then(e.memory.stage[stage],
                                                 held_then(t, device, (t.start[i] + t.end[i]) / 2))});
    const SentTo to = sent_to(t, device, op);
    if (to.forward >= 0) out.push_back({"sends on", message(e, Phase::forward, to.forward)});
    if (to.backward >= 0) out.push_back({"sends back", message(e, Phase::backward, to.backward)});
    if (to.forward < 0 && to.backward < 0) out.push_back({"sends", "nothing to another stage"});
    return out;
}

}  // namespace pentamesh::ui
