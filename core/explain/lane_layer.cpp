// Shows one layer on its lanes: which of its calls are waited for, and what hides the others.
#include "core/base/text.h"
#include "core/explain/lane_picture.h"
#include "core/layer/layer.h"
#include "core/plan/names.h"
#include "core/step/compute.h"
#include "core/step/exposure.h"

#include <algorithm>
#include <array>
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
    case LayerPart::experts: return is_routed(s.work.part, s.work.what) ? "experts" : "routing";
    default: break;
    }
    return type.is_moe() ? "routing" : "MLP";  // of a MoE layer: its norm and the addition
}

// Names a call by one word that fits into a block.
std::string short_name(const LayerStep& s) {
    const std::string words(words_of(s.what));
    if (s.group == GroupKind::ep) return words.substr(0, words.find(' '));
    return std::string(words_of(collective_of(s.op)));
}

// Says what a step of a pass is here: a kernel, or a call with its waits.
struct LayerItem {
    const LayerStep* step = nullptr;
    bool calls = false;
    TrafficLane lane = TrafficLane::fast;
    double hidden_s = 0, waits_s = 0;  // of a call
    std::optional<PairCall> pair;      // it may hide behind another micro-batch
    double mean_hidden_s = 0;  // of such a call: over the passes with a second micro-batch and without
    [[nodiscard]] double call_s() const { return hidden_s + waits_s; }
};

// Holds what a pass of a layer does, in its order.
struct LayerPassItems {
    bool forward = true;
    std::vector<LayerItem> items;
    double whole_s = 0;  // of the pass, with its wait for launches
    double stretch = 1;  // of its kernels, next to calls that they hide themselves
};

bool is_paired(const LayerItem& i) {
    return i.pair && i.hidden_s > kNoTime;
}

// Finds how long each call of a pass waits: what the step's estimate says of its row.
class CallFinder {
  public:
    // `comm` has its times, and `covered` are those of its calls.
    CallFinder(const Comm& comm, CoveredTimes& covered, int type, bool forward)
        : comm_(comm), covered_(covered), type_(type), forward_(forward) {}
    [[nodiscard]] LayerItem find(const LayerStep& s) {
        LayerItem out;
        out.step = &s, out.calls = true, out.waits_s = s.time_s;
        const Operation* row = row_of(s);
        if (row == nullptr) return out;
        const Cover cover = cover_of(*row);
        const bool forward = row->phase == Phase::forward || row->recomputed;
        const CoveredTime& covered = covered_.of(type_, cover, forward);
        out.lane = lane_of(*row);
        out.hidden_s = s.time_s * (1 - covered.exposed_share());
        if (is_paired(cover)) {
            out.pair = pair_call(cover, forward);
            out.mean_hidden_s = out.hidden_s;
            if (covered.paired > 0) out.hidden_s /= covered.paired;
        }
        out.waits_s = s.time_s - out.hidden_s;
        return out;
    }

  private:
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

    const Comm& comm_;
    CoveredTimes& covered_;
    int type_;
    bool forward_;
    std::vector<const Operation*> used_;  // rows of the calls of this pass
};

// Parts the items of a pass by the window of a pair that they stand in; calls that hide behind the other
// micro-batch are apart.
struct PairParts {
    std::vector<LayerItem> again, before, experts, weights, after, calls;
    explicit PairParts(const LayerPassItems& pass) {
        const auto routed = [](const LayerItem& i) {
            return !i.calls && !i.step->recomputed && is_routed(i.step->work.part, i.step->work.what);
        };
        bool begun = false;
        for (const LayerItem& i : pass.items) {
            begun = begun || routed(i);
            if (is_paired(i))
                calls.push_back(i);
            else if (routed(i))
                (i.step->work.pass == KernelPass::weight_grad ? weights : experts).push_back(i);
            else
                (i.step->recomputed ? again : begun ? after : before).push_back(i);
        }
    }
};

// Puts kernels and calls of a layer on the lanes, one after the other.
class LayerDrawer {
  public:
    // Next to a call of another micro-batch kernels run at `rate` of their speed.
    LayerDrawer(const LayerType& type, double rate, LanePicture& out) : type_(type), rate_(rate), out_(out) {}

    // Draws a pass by itself: each call stands where it is issued.
    void draw_pass(const LayerPassItems& pass) {
        const double began_s = at_;
        run(pass, pass.items);
        wait_for_host(began_s + pass.whole_s - at_, pass.forward ? "launches of the forward take longer"
                                                                 : "launches of the backward take longer");
    }

    // Draws a forward and a backward together, window by window (core/step/pair.h). What follows the experts
    // in a forward, and goes before them in a backward, is that of the next layer: it stands in the same
    // window as the rest of the layer.
    void draw_pair(const LayerPassItems& forward, const LayerPassItems& backward, bool splits) {
        const double began_s = at_;
        const PairParts f(forward), b(backward);
        issue(b, PairCall::gradients_to_experts, false);
        run(forward, f.after);
        run(forward, f.before);
        end_calls();

        for (const LayerItem& i : b.calls)  // a recomputed way goes first
            if (i.step->recomputed) issued_.push_back({i, false, i.hidden_s});
        issue(f, PairCall::tokens_to_experts, true);
        run(backward, b.again);
        run(backward, b.experts);
        if (splits) issue(b, PairCall::gradients_from_experts, false);
        run(backward, b.weights, "weights");
        end_calls(splits ? 1 : 0);
        if (!splits) issue(b, PairCall::gradients_from_experts, false);
        run(forward, f.experts);
        end_calls();

        issue(f, PairCall::tokens_from_experts, true);
        run(backward, b.after);
        run(backward, b.before);
        end_calls();
        wait_for_host(began_s + forward.whole_s + backward.whole_s - at_,
                      "launches of the two passes take longer");
    }
    [[nodiscard]] double end_s() const { return at_; }

  private:
    static constexpr double kHostShare = 0.01;
    struct Issued {
        LayerItem item;
        bool forward = true;
        double left_s = 0;  // of what hides
    };

    // Draws items one after the other; `name` stands for the parts that they belong to.
    void run(const LayerPassItems& pass, const std::vector<LayerItem>& items, std::string_view name = {}) {
        forward_ = pass.forward;
        for (const LayerItem& i : items)
            if (!i.calls)
                compute(name.empty() ? part_name(type_, *i.step) : std::string(name),
                        i.step->time_s * pass.stretch);
            else
                own_call(i);
        end_compute();
    }
    void put_call(const LayerItem& call, bool forward, double start_s) {
        LanePiece p;
        p.kind = LanePieceKind::call, p.lane = call.lane, p.axis = call.step->group;
        p.unit = short_name(*call.step), p.what = words_of(call.step->what);
        if (p.what.empty()) p.what = p.unit;
        // Calls that hide behind the layer's own products may stand next to those of another micro-batch.
        p.call = is_paired(call) ? LaneCall::gather : LaneCall::scatter;
        p.forward = forward;
        p.start_s = start_s, p.end_s = start_s + call.call_s(), p.hidden_s = call.hidden_s;
        out_.waits_s += call.waits_s, out_.hidden_s += call.hidden_s;
        out_.busy_s[call.lane] += call.call_s();
        out_.pieces.push_back(std::move(p));
    }
    void end_compute() {
        if (at_ > begun_ && !part_.empty()) {
            LanePiece p;
            p.unit = part_, p.forward = forward_, p.start_s = begun_, p.end_s = at_;
            out_.pieces.push_back(std::move(p));
        }
        part_.clear();
        begun_ = at_;
    }
    // Nothing computes for so long, within a part.
    void wait(double seconds) {
        if (seconds <= 0) return;
        const std::string part = part_;
        end_compute();
        at_ += seconds;
        begun_ = at_;
        part_ = part;
    }
    // Goes on to compute, slower while a call of another micro-batch runs next to it.
    void compute(std::string part, double seconds) {
        if (part != part_) {
            end_compute();
            part_ = std::move(part);
        }
        while (seconds > 0 && !issued_.empty() && issued_.front().left_s > 0) {
            Issued& call = issued_.front();
            const double span = std::min(call.left_s, seconds / rate_);
            at_ += span;
            call.left_s = span < call.left_s ? call.left_s - span : 0;
            seconds -= span * rate_;
            if (call.left_s <= 0 && call.item.waits_s <= kNoTime) end_call();
        }
        at_ += std::max(seconds, 0.0);
    }
    // A reduction hides behind the product before it, all else behind what comes next.
    void own_call(const LayerItem& call) {
        const bool after = call.step->op == LayerOp::reduce_scatter || call.step->op == LayerOp::all_reduce;
        put_call(call, forward_, after ? at_ - call.hidden_s : at_);
        wait(call.waits_s);
    }
    void issue(const PairParts& parts, PairCall place, bool forward) {
        for (const LayerItem& i : parts.calls)
            if (i.pair == place && !i.step->recomputed) issued_.push_back({i, forward, i.hidden_s});
    }
    // Ends calls until so many are left: the compute waits for what of them it did not hide.
    void end_calls(std::size_t left = 0) {
        while (issued_.size() > left) end_call();
    }
    void end_call() {
        const Issued call = issued_.front();
        issued_.erase(issued_.begin());
        const double ends_s = at_ + call.item.waits_s;
        put_call(call.item, call.forward, ends_s - call.item.call_s());
        if (call.item.waits_s > kNoTime) wait(call.item.waits_s);
    }
    // At the end nothing is left but to wait for the host.
    void wait_for_host(double host_s, std::string_view why) {
        if (host_s > kHostShare * (at_ + host_s))
            out_.marks.push_back(
                {at_, at_ + host_s, "host-bound: " + time_text(host_s, Zeros::kept), std::string(why)});
        at_ += std::max(host_s, 0.0);
        begun_ = at_;
    }

    const LayerType& type_;
    double rate_;
    LanePicture& out_;
    double at_ = 0, begun_ = 0;
    bool forward_ = true;
    std::string part_;            // that computes
    std::vector<Issued> issued_;  // in their order
};

// `alone`: of the two strips of a pair, that of the passes one after the other.
void say(const Plan& plan, const LayerType& type, double rate, bool alone, LanePicture& p) {
    const double all = p.waits_s + p.hidden_s;
    const std::string layer = sentence("a layer with ", words_of(type)),
                      whole = time_text(p.end_s, Zeros::kept), waits = time_text(p.waits_s, Zeros::kept);
    const bool nothing = p.waits_s <= 1e-3 * p.end_s;
    if (p.paired)
        p.title = sentence("In a pair each micro-batch hides the other's calls: the same work in ", whole,
                           ", ", time_text(p.alone.front().end_s - p.end_s, Zeros::kept), " less",
                           nothing ? ", and next to nothing waits."
                                   : sentence("; ", waits, p.waits_s == 1 ? " waits." : " wait."));
    else if (nothing)
        p.title = sentence("Its traffic hides: ", layer, " takes ", whole, ", and next to nothing waits.");
    else
        p.title = sentence(alone                      ? "Alone it has nowhere to hide: "
                           : p.hidden_s <= 1e-3 * all ? "It has nowhere to hide: "
                                                      : "A part of it hides: ",
                           layer, " waits ", waits, " of ", whole, ".");
    EnumArray<GroupKind, double> waited{}, calls{};
    for (const LanePiece& piece : p.pieces)
        if (piece.kind == LanePieceKind::call) {
            calls[piece.axis] += piece.end_s - piece.start_s;
            waited[piece.axis] += piece.end_s - piece.start_s - piece.hidden_s;
        }
    for (const GroupKind k : all_of<GroupKind>()) {
        if (calls[k] <= 0) continue;
        p.sentence += sentence(p.sentence.empty() ? "" : " ", name_of(k), " sends for ",
                               time_text(calls[k], Zeros::kept));
        p.sentence += waited[k] <= kNoTime ? sentence(", all of it hidden.")
                      : waited[k] >= calls[k] * (1 - 1e-9)
                          ? sentence(", and all of it is waited for.")
                          : sentence("; ", time_text(waited[k], Zeros::kept), " of it is waited for.");
    }
    if (p.slowed_s > kNoTime)
        p.sentence += sentence(" Compute beside it takes ", time_text(p.slowed_s, Zeros::kept), " longer.");
    if (p.paired) {
        const TrafficLane lane = p.slowest_lane();
        p.sentence += sentence(
            " ", lane_name(plan, p, lane), " is busy ", time_text(p.busy_s[lane], Zeros::kept), " of ", whole,
            ". ", percent_text(p.paired_share), " of the passes run in a pair; the others have no partner.");
    }
    p.assumed = sentence("Times and waits are the program's. ",
                         p.paired ? "The order of a pair is that of DualPipe and of Megatron's overlap of "
                                    "expert parallelism. "
                                  : "",
                         "Compute beside traffic is taken to run at ", percent_text(rate), " of its speed.");
}

// Lists what a pass of a layer does. `mean_slowed_s` is what the estimate has its compute slowed, a mean of
// passes with another micro-batch and without. If `alone`, none of its calls hides behind another.
LayerPassItems items_of(const std::vector<LayerStep>& steps, bool forward, CallFinder calls, double rate,
                        double mean_slowed_s, bool alone) {
    LayerPassItems out;
    out.forward = forward;
    double works = 0, slowed = 0, mean_hidden = 0, hidden = 0;
    for (const LayerStep& s : steps) {
        LayerItem item;
        item.step = &s;
        if (!is_collective(s.op)) {
            works += s.time_s;
        } else {
            item = calls.find(s);
            if (!is_paired(item)) slowed += (1 - rate) * item.hidden_s;
            mean_hidden += item.mean_hidden_s;
            hidden += item.pair ? item.hidden_s : 0;
            if (alone && item.pair) item.waits_s += item.hidden_s, item.hidden_s = 0;
        }
        out.items.push_back(item);
    }
    out.stretch = works > 0 ? (works + slowed) / works : 1;
    // Against the estimate's mean: calls by themselves are waited for, and slow nothing; those of a pair slow
    // either pass, so that this is true of the two together.
    out.whole_s = alone ? mean_hidden - (mean_slowed_s - slowed) : rate * (mean_hidden - hidden);
    return out;
}

// Finds the type of a stage's layers whose calls wait longest, and, where none waits, are longest.
struct ShownType {
    int type = -1;  // none has calls
    std::int64_t layers = 0;
    bool recomputed = false;
};
ShownType shown_type(const Evaluation& e, int stage, int types) {
    const Stages& stages = e.comm.stages;
    ShownType out;
    double most = -1;
    for (int t = 0; t < types; ++t) {
        double layers = 0, again = 0;
        for (int c = 0; c < stages.chunks; ++c) {
            const ChunkLayers& k = stages.chunk(stage, c);
            layers += k.types[t], again += k.recomputed[t];
        }
        double calls = 0, waits = 0;
        for (const Operation& o : e.comm.operations)
            if ((o.types >> t & 1) != 0) calls += o.call_s * o.calls;
        for (const bool forward : {true, false})
            waits += e.work.of(t).comm.sum(forward ? Phase::forward : Phase::backward);
        if (layers <= 0 || calls <= 0) continue;
        if (const double weight = layers * (waits + kNoTime * calls); weight > most)
            most = weight, out = {t, static_cast<std::int64_t>(layers), again > 0};
    }
    return out;
}

}  // namespace

std::optional<LanePicture> layer_picture(const Plan& plan, const Evaluation& e, int stage) {
    if (!e.valid || !e.step) return std::nullopt;
    LanePicture out;
    out.stage = stage >= 0 && stage < e.comm.stages.devices ? stage : e.comm.busiest_device;
    const ResolvedPlan r(plan, e.mesh, e.groups);
    const ShownType shown = shown_type(e, out.stage, r.types.size());
    if (shown.type < 0) return std::nullopt;
    out.layers = shown.layers;
    for (const TrafficLane lane : all_of<TrafficLane>())
        out.tier[lane] = tier_of(plan, e, lane, LayerMask{1} << shown.type);
    Comm comm = e.comm;
    StepWork work = e.work;
    for (LayerTime& t : work.times.layer) t.all += t.waiting * -1;  // calls hide behind kernels only
    CoveredTimes covered(r.types.size());
    time_operations(r, comm, work, covered);
    const LayerList list = timed_layer(plan, e.mesh, e.groups, shown.type);
    const StateTraffic traffic(r, e.comm, e.work);
    const double rate = traffic.rules().rate;
    const LayerWork& own = e.work.of(shown.type);
    std::array<std::vector<LayerStep>, 2> steps;
    for (const LayerStep& s : list.steps)
        if (s.block != LayerBlock::weights && !s.per_step
            && (!s.recomputed || shown.recomputed || plan.training.recompute != Recompute::full))
            steps[s.phase == LayerPass::forward ? 0 : 1].push_back(s);
    const auto pass = [&](bool forward, bool alone) {
        const bool again = !forward && shown.recomputed;
        const double slowed =
            forward ? own.slowed.forward : own.slowed.backward + (again ? own.slowed_again : 0);
        LayerPassItems items = items_of(steps[forward ? 0 : 1], forward,
                                        CallFinder(comm, covered, shown.type, forward), rate, slowed, alone);
        items.whole_s += traffic.layer_unit(shown.type, forward, again).compute;
        return items;
    };
    const auto draw = [&](LanePicture& picture, bool alone) {
        const LayerPassItems forward = pass(true, alone), backward = pass(false, alone);
        const auto paired = [](const LayerItem& i) { return is_paired(i); };
        picture.paired = std::any_of(forward.items.begin(), forward.items.end(), paired)
                         || std::any_of(backward.items.begin(), backward.items.end(), paired);
        LayerDrawer drawer(r.types[shown.type], rate, picture);
        if (picture.paired) {
            const ScheduleTraits& traits = traits_of(r.shape.schedule);
            drawer.draw_pair(forward, backward, traits.splits_backward || traits.overlaps_pairs);
        } else {
            drawer.draw_pass(forward);
            picture.forward_s = drawer.end_s();
            drawer.draw_pass(backward);
        }
        picture.end_s = drawer.end_s();
        for (const LayerPassItems* p : {&forward, &backward})
            for (const LayerItem& i : p->items) picture.slowed_s += (1 - rate) * i.hidden_s;
    };
    LanePicture alone = out;
    draw(out, false);
    if (out.paired) {
        draw(alone, true);
        out.paired_share = paired_share(r.shape);
        say(plan, r.types[shown.type], rate, true, alone);
        out.alone.push_back(std::move(alone));
    }
    say(plan, r.types[shown.type], rate, false, out);
    return out;
}

}  // namespace pentamesh
