// Shows one layer on its lanes: which of its calls are waited for, and what hides the others.
#include "core/base/text.h"
#include "core/explain/lane_picture.h"
#include "core/layer/layer.h"
#include "core/plan/names.h"
#include "core/step/compute.h"
#include "core/step/exposure.h"

#include <algorithm>
#include <span>
#include <utility>

namespace pentamesh {
namespace {

constexpr double kNoTime = 1e-12;  // seconds

// Names the part of a layer that a kernel belongs to.
std::string part_name(const LayerType& type, const LayerStep& s) {
    if (s.block == LayerBlock::mixer) return type.attends() ? "attention" : "scan";
    switch (s.work.part) {
    case LayerPart::shared_experts: return "shared experts";
    case LayerPart::experts: return "experts";
    default: break;
    }
    return type.is_moe() ? "experts" : "MLP";
}

// Names a call by one word that fits into a block.
std::string short_name(const LayerStep& s) {
    const std::string words(words_of(s.what));
    if (s.group == GroupKind::ep) return words.substr(0, words.find(' '));
    return std::string(words_of(collective_of(s.op)));
}

// Puts the kernels and calls of a pass on the lanes, one after the other.
class LayerPassDrawer {
  public:
    // `comm` has its times, and `covered` are those of its calls.
    LayerPassDrawer(const ResolvedPlan& r, const Comm& comm, CoveredTimes& covered, int type,
                    LanePicture& out)
        : r_(r), comm_(comm), covered_(covered), type_(type), out_(out) {}

    // `unit` has the times of the whole pass. Returns the end of the pass, which begins at `from_s`.
    double draw(std::span<const LayerStep> steps, const LaneUnit& unit, double slowed_s, bool forward,
                double from_s) {
        at_ = begun_ = from_s, forward_ = forward;
        part_.clear();
        calls_.clear(), used_.clear(), next_ = 0;
        double works = 0;
        std::vector<Call> own;
        for (const LayerStep& s : steps)
            if (is_collective(s.op)) {
                const Call call = call_of(s);
                (call.paired ? calls_ : own).push_back(call);
            } else {
                works += s.time_s;
            }
        stretch_ = works > 0 ? (works + slowed_s) / works : 1;
        if (!calls_.empty()) begin_call();
        auto next_own = own.begin();
        for (const LayerStep& s : steps)
            if (!is_collective(s.op))
                compute(part_name(r_.types[type_], s), s.time_s * stretch_);
            else if (next_own != own.end() && next_own->step == &s)
                own_call(*next_own++);
        // The rest of the pass is the host's; calls of another micro-batch go on meanwhile.
        double waits_s = 0;
        for (std::size_t i = next_; i < calls_.size(); ++i) waits_s += calls_[i].waits_s;
        const double end_s = from_s + unit.compute, host_s = end_s - at_ - waits_s;
        if (host_s > kHostShare * unit.compute)
            out_.marks.push_back(
                {at_, at_ + host_s, "host-bound: " + time_text(host_s, Zeros::kept),
                 forward ? "launches of the forward take longer" : "launches of the backward take longer"});
        compute({}, host_s);
        end_compute();
        while (next_ < calls_.size()) end_call();  // rounding left it
        out_.slowed_s += slowed_s;
        return std::max(end_s, at_);
    }

  private:
    static constexpr double kHostShare = 0.01;
    struct Call {
        const LayerStep* step = nullptr;
        TrafficLane lane = TrafficLane::fast;
        double hidden_s = 0, waits_s = 0;
        bool paired = false;  // it hides behind another micro-batch
    };

    // Returns the row of the table that a step is a part of. Of two rows with the same words the recomputed
    // one is that of the earlier step.
    [[nodiscard]] const Operation* row_of(const LayerStep& s) {
        const Operation* found = nullptr;
        const auto first = [&](const Operation& o) {
            return std::pair(std::find(used_.begin(), used_.end(), &o) == used_.end(), o.recomputed);
        };
        for (const Operation& o : comm_.operations)
            if (o.what == s.what && o.group == s.group && (o.types >> type_ & 1) != 0
                && (o.phase == Phase::forward) == forward_ && (found == nullptr || first(o) > first(*found)))
                found = &o;
        used_.push_back(found);
        return found;
    }
    [[nodiscard]] Call call_of(const LayerStep& s) {
        Call call{.step = &s, .lane = TrafficLane::fast, .hidden_s = 0, .waits_s = s.time_s, .paired = false};
        const Operation* row = row_of(s);
        if (row == nullptr) return call;
        const Cover cover = cover_of(*row);
        const bool forward = row->phase == Phase::forward || row->recomputed;
        call.lane = lane_of(*row);
        call.waits_s *= covered_.of(type_, cover, forward).exposed_share();
        call.hidden_s = s.time_s - call.waits_s;
        call.paired = cover == Cover::layer && call.hidden_s > kNoTime;
        return call;
    }

    void put_call(const Call& call, double start_s) {
        LanePiece p;
        p.kind = LanePieceKind::call, p.lane = call.lane, p.axis = call.step->group;
        // Calls that hide behind the layer's own products may stand next to those of another micro-batch.
        p.call = call.paired ? LaneCall::gather : LaneCall::scatter;
        p.unit = short_name(*call.step), p.what = words_of(call.step->what);
        if (p.what.empty()) p.what = p.unit;
        p.forward = forward_;
        p.start_s = start_s, p.end_s = start_s + call.hidden_s + call.waits_s, p.hidden_s = call.hidden_s;
        out_.waits_s += call.waits_s, out_.hidden_s += call.hidden_s;
        out_.pieces.push_back(std::move(p));
    }
    void put_compute(double end_s) {
        if (end_s <= begun_ || part_.empty()) return;
        LanePiece p;
        p.unit = part_, p.forward = forward_, p.start_s = begun_, p.end_s = end_s;
        out_.pieces.push_back(std::move(p));
    }
    void end_compute() {
        put_compute(at_);
        part_.clear();
        begun_ = at_;
    }
    // Nothing computes for so long.
    void wait(double seconds) {
        if (seconds <= 0) return;
        put_compute(at_);
        at_ += seconds;
        begun_ = at_;
    }
    void end_call() {
        put_call(calls_[next_], call_began_);
        wait(calls_[next_].waits_s);
        if (++next_ < calls_.size()) begin_call();
    }
    void begin_call() { left_ = calls_[next_].hidden_s, call_began_ = at_; }
    // Goes on to compute; the calls of another micro-batch run next to it, and the compute waits for what of
    // them it does not hide.
    void compute(std::string part, double seconds) {
        if (seconds <= 0) return;
        if (part != part_) {
            end_compute();
            part_ = std::move(part);
        }
        while (next_ < calls_.size() && left_ <= seconds) {
            at_ += left_, seconds -= left_;
            end_call();
        }
        at_ += seconds;
        if (next_ < calls_.size()) left_ -= seconds;
    }
    // A reduction hides behind the product before it, all else behind what comes next.
    void own_call(const Call& call) {
        const bool after = call.step->op == LayerOp::reduce_scatter || call.step->op == LayerOp::all_reduce;
        put_call(call, after ? at_ - call.hidden_s : at_);
        wait(call.waits_s);
    }

    const ResolvedPlan& r_;
    const Comm& comm_;
    CoveredTimes& covered_;
    int type_;
    LanePicture& out_;
    double at_ = 0, begun_ = 0, stretch_ = 1;
    bool forward_ = true;
    std::string part_;         // that computes; empty: the host
    std::vector<Call> calls_;  // of another micro-batch, in their order
    std::size_t next_ = 0;
    std::vector<const Operation*> used_;  // rows of the calls of this pass
    double left_ = 0, call_began_ = 0;    // of the call that runs
};

void say(const LayerType& type, bool pairs, double rate, LanePicture& p) {
    const double all = p.waits_s + p.hidden_s;
    const std::string layer = sentence("a layer with ", words_of(type));
    if (p.waits_s <= 1e-3 * p.end_s)
        p.title = sentence("Its traffic hides: ", layer, " takes ", time_text(p.end_s, Zeros::kept),
                           ", and next to nothing waits.");
    else if (p.hidden_s <= 1e-3 * all)
        p.title = sentence("It has nowhere to hide: ", layer, " waits ", time_text(p.waits_s, Zeros::kept),
                           " of ", time_text(p.end_s, Zeros::kept), ".");
    else
        p.title = sentence("A part of it hides: ", layer, " waits ", time_text(p.waits_s, Zeros::kept),
                           " of ", time_text(p.end_s, Zeros::kept), ".");
    EnumArray<GroupKind, double> waits{}, calls{};
    for (const LanePiece& piece : p.pieces)
        if (piece.kind == LanePieceKind::call) {
            calls[piece.axis] += piece.end_s - piece.start_s;
            waits[piece.axis] += piece.end_s - piece.start_s - piece.hidden_s;
        }
    for (const GroupKind k : all_of<GroupKind>()) {
        if (calls[k] <= 0) continue;
        p.sentence += sentence(p.sentence.empty() ? "" : " ", name_of(k), " sends for ",
                               time_text(calls[k], Zeros::kept));
        p.sentence += waits[k] <= kNoTime ? sentence(", all of it hidden.")
                      : waits[k] >= calls[k] * (1 - 1e-9)
                          ? sentence(", and all of it is waited for.")
                          : sentence("; ", time_text(waits[k], Zeros::kept), " of it is waited for.");
    }
    if (p.slowed_s > kNoTime)
        p.sentence += sentence(" Compute beside it takes ", time_text(p.slowed_s, Zeros::kept), " longer.");
    p.assumed = sentence("Times and waits are the program's. ",
                         pairs ? "Calls that hide are those of another micro-batch; their order beside the "
                                 "compute is drawn, not known. "
                               : "",
                         "Compute beside traffic is taken to run at ", percent_text(rate), " of its speed.");
}

}  // namespace

std::optional<LanePicture> layer_picture(const Plan& plan, const Evaluation& e, int stage) {
    if (!e.valid || !e.step) return std::nullopt;
    const Stages& stages = e.comm.stages;
    LanePicture out;
    out.stage = stage >= 0 && stage < stages.devices ? stage : e.comm.busiest_device;
    const ResolvedPlan r(plan, e.mesh, e.groups);
    // The type whose calls wait longest, and, where none waits, are longest.
    int type = -1;
    double most = -1;
    bool recomputed = false;
    for (int t = 0; t < r.types.size(); ++t) {
        double layers = 0, again = 0;
        for (int c = 0; c < stages.chunks; ++c) {
            const ChunkLayers& k = stages.chunk(out.stage, c);
            layers += k.types[t], again += k.recomputed[t];
        }
        double calls = 0, waits = 0;
        for (const Operation& o : e.comm.operations)
            if ((o.types >> t & 1) != 0) calls += o.call_s * o.calls;
        for (const bool forward : {true, false})
            waits += e.work.of(t).comm.sum(forward ? Phase::forward : Phase::backward);
        if (layers <= 0 || calls <= 0) continue;
        if (const double weight = layers * (waits + kNoTime * calls); weight > most)
            most = weight, type = t, out.layers = static_cast<std::int64_t>(layers), recomputed = again > 0;
    }
    if (type < 0) return std::nullopt;
    for (const TrafficLane lane : all_of<TrafficLane>())
        out.tier[lane] = tier_of(plan, e, lane, LayerMask{1} << type);
    Comm comm = e.comm;
    StepWork work = e.work;
    for (LayerTime& t : work.times.layer) t.all += t.waiting * -1;  // calls hide behind kernels only
    CoveredTimes covered(r.types.size());
    time_operations(r, comm, work, covered);
    const LayerList list = timed_layer(plan, e.mesh, e.groups, type);
    const StateTraffic traffic(r, e.comm, e.work);
    LayerPassDrawer drawer(r, comm, covered, type, out);
    for (const bool forward : {true, false}) {
        std::vector<LayerStep> steps;
        for (const LayerStep& s : list.steps)
            if ((s.phase == LayerPass::forward) == forward && s.block != LayerBlock::weights && !s.per_step
                && (!s.recomputed || recomputed || plan.training.recompute != Recompute::full))
                steps.push_back(s);
        const LayerWork& own = e.work.of(type);
        const double slowed =
            forward ? own.slowed.forward : own.slowed.backward + (recomputed ? own.slowed_again : 0);
        const LaneUnit unit = traffic.layer_unit(type, forward, !forward && recomputed);
        out.end_s = drawer.draw(steps, unit, slowed, forward, out.end_s);
        if (forward) out.forward_s = out.end_s;
    }
    const bool pairs = std::any_of(out.pieces.begin(), out.pieces.end(), [](const LanePiece& p) {
        return p.kind == LanePieceKind::call && p.call == LaneCall::gather;
    });
    say(r.types[type], pairs, traffic.rules().rate, out);
    return out;
}

}  // namespace pentamesh
