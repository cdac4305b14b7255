#include "core/step/step_trace.h"

#include "core/step/exposure.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Names the track of an axis, and its group as DeviceMesh would.
struct AxisTrack {
    std::string_view track, kernel, group;
};
AxisTrack track_of(GroupKind kind) {
    switch (kind) {
    case GroupKind::tp: return {"tp", "nccl tp", "mesh_tp"};
    case GroupKind::cp: return {"cp", "nccl cp", "mesh_cp"};
    case GroupKind::pp: return {"pp", "nccl pp", "mesh_pp"};
    case GroupKind::ep: return {"ep", "nccl ep", "mesh_ep"};
    case GroupKind::etp: return {"etp", "nccl etp", "mesh_etp"};
    default: return {"dp", "nccl dp", "mesh_dp"};
    }
}

// Puts slices on tracks; none of a track begins before the one before it has ended.
class Placer {
  public:
    explicit Placer(std::vector<TraceSlice>& out) : out_(out) {}
    // Returns the end.
    double communication(GroupKind kind, double from, double seconds) {
        if (!(seconds > 0)) return from;
        const AxisTrack t = track_of(kind);
        out_.push_back({t.track, t.kernel, t.group, from, from + seconds});
        return from + seconds;
    }
    double kernel(std::string_view name, double from, double seconds) {
        if (!(seconds > 0)) return from;
        out_.push_back({"kernels", name, "", from, from + seconds});
        return from + seconds;
    }

  private:
    std::vector<TraceSlice>& out_;
};

bool goes_forward(const Op& op) {
    return op.kind == OpKind::F || op.kind == OpKind::FB;
}
bool goes_backward(const Op& op) {
    return op.kind == OpKind::B || op.kind == OpKind::I || op.kind == OpKind::FB;
}

}  // namespace

StepTrace::StepTrace(const Plan& plan, const Timeline& timeline, const Comm& comm, const StepWork& work,
                     const Step& step)
    : plan_(plan), timeline_(timeline), comm_(comm), work_(work), tail_(step_tail(step, comm)),
      once_(hidden_in_step(comm)) {
    exposed_in_chunks(comm.stages, work, exposed_);
    hidden_in_chunks(comm, hidden_);
}

// Returns the seconds of an op in which it sends, where nothing hides that.
double StepTrace::send_of(int device, const Op& op) const {
    if (plan_.training.overlap.pp) return 0;
    double send = 0;
    if (goes_forward(op) && !comm_.stages.chunk(device, op.chunk).last) send += work_.send_s;
    const int backward = op.kind == OpKind::FB ? op.backward_chunk : op.chunk;
    if (goes_backward(op) && !comm_.stages.chunk(device, backward).first) send += work_.send_s;
    return send;
}

void StepTrace::add_op(int device, std::size_t i, std::vector<TraceSlice>& out) const {
    const Op& op = timeline_.order.ops[i];
    const double from = timeline_.start[i], to = timeline_.end[i];
    const auto place = [&](int chunk) {
        return static_cast<std::size_t>(device * comm_.stages.chunks + chunk);
    };
    const std::size_t forward = place(op.chunk),
                      backward = place(op.kind == OpKind::FB ? op.backward_chunk : op.chunk);
    std::array<double, UnitComm::kAxes> exposed{};
    EnumArray<GroupKind, double> hidden{};
    for (std::size_t a = 0; a < exposed.size(); ++a) {
        if (goes_forward(op)) exposed[a] += exposed_[forward].comm.forward[a];
        if (goes_backward(op)) exposed[a] += exposed_[backward].comm.backward[a];
    }
    for (const GroupKind k : all_of<GroupKind>()) {
        if (goes_forward(op)) hidden[k] += hidden_[forward].forward[k];
        if (goes_backward(op)) hidden[k] += hidden_[backward].backward[k];
    }
    double waits = send_of(device, op);
    for (const double t : exposed) waits += t;
    // A pair of ops may take less than both one after the other.
    const double scale = waits > to - from ? (to - from) / waits : 1;
    const double computed = std::max(to - from - waits * scale, 0.0);
    Placer placer(out);
    double at = placer.kernel(goes_forward(op) ? "forward" : "backward", from, computed);
    for (const GroupKind k : all_of<GroupKind>())
        placer.communication(k, from, std::min(hidden[k], computed));
    for (std::size_t a = 0; a < exposed.size(); ++a)
        at = placer.communication(kUnitAxes[a], at, exposed[a] * scale);
    placer.communication(GroupKind::pp, at, send_of(device, op) * scale);
}

void StepTrace::add_tail(std::vector<TraceSlice>& out) const {
    Placer placer(out);
    double at = timeline_.makespan;
    for (const GroupKind k : all_of<GroupKind>()) at = placer.communication(k, at, tail_.exposed_s[k]);
    placer.kernel("optimizer (multi_tensor_apply)", at, tail_.optimizer_s);
}

void StepTrace::add(int device, std::size_t i, std::vector<TraceSlice>& out) const {
    const auto d = static_cast<std::size_t>(device);
    Placer placer(out);
    // Parameters are gathered behind the first ops, gradients reduced behind the last ones.
    if (i == timeline_.order.begin[d])
        for (const GroupKind k : all_of<GroupKind>())
            placer.communication(k, timeline_.start[i], once_.forward[k]);
    add_op(device, i, out);
    if (i + 1 < timeline_.order.begin[d + 1]) return;
    for (const GroupKind k : all_of<GroupKind>())
        placer.communication(k, std::max(timeline_.end[i] - once_.backward[k], 0.0), once_.backward[k]);
    add_tail(out);
}

}  // namespace pentamesh
