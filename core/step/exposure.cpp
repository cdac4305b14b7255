#include "core/step/exposure.h"

#include "core/comm/collective_time.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/stages.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

bool alike(const ChunkCost& a, const ChunkCost& b) {
    constexpr double kSame = 1e-9;
    const auto near = [](double x, double y) { return std::abs(x - y) <= kSame * std::max(x, y); };
    return near(a.forward, b.forward) && near(a.input_grad, b.input_grad)
           && near(a.weight_grad, b.weight_grad);
}

// Returns the mean cost of a whole stage. A dualpipe device runs each of its two chunks, which are whole
// stages, for half of the micro-batches.
ChunkCost mean_stage(const Timeline& t, const TimelineCosts& costs) {
    const auto chunks = static_cast<std::size_t>(chunks_of(t.shape));
    const double copies = static_cast<double>(chunks) / cost_divisor(t.shape);
    ChunkCost sum;
    for (std::size_t i = 0; i < costs.chunk.size(); ++i) {
        const double k = slow_factor(costs, i / chunks) / (t.shape.devices * copies);
        sum.forward += k * costs.chunk[i].forward;
        sum.input_grad += k * costs.chunk[i].input_grad;
        sum.weight_grad += k * costs.chunk[i].weight_grad;
    }
    return sum;
}

}  // namespace

Bubble measure_bubble(const Timeline& step, const TimelineCosts& costs, const Timeline* two) {
    Bubble b;
    if (step.empty() || costs.chunk.empty()) return b;
    double span = 0;
    for (const DeviceTime& d : step.device) {
        b.work += d.busy / static_cast<double>(step.device.size());
        span = std::max(span, d.last_end - d.first_start);
    }
    b.makespan = std::max(step.makespan - b.work, 0.0);
    b.span = std::max(span - b.work, 0.0);
    if (two != nullptr && two->iterations > 1)
        b.steady = std::max(two->makespan - iteration_end(*two, two->iterations - 2) - b.work, 0.0);
    b.fraction = step.makespan > 0 ? b.makespan / step.makespan : 0;
    b.overhead = b.work > 0 ? b.makespan / b.work : 0;
    const ChunkCost mean = mean_stage(step, costs);
    b.form = closed_form(step.shape, mean.forward, mean.input_grad, mean.weight_grad, costs.send);
    b.form_overhead = b.work > 0 ? b.form.bubble / b.work : 0;
    b.equal_stages = std::all_of(costs.chunk.begin(), costs.chunk.end(),
                                 [&](const ChunkCost& c) { return alike(c, costs.chunk.front()); });
    for (std::size_t d = 0; d < step.device.size(); ++d)
        b.equal_stages = b.equal_stages && slow_factor(costs, d) == 1;
    if (costs.pair_factor != 1) b.form.exact = false;  // the forms take an overlapped pair for F + B
    return b;
}

void apply_slow(const SlowDevice& slow, int devices, TimelineCosts& costs) {
    costs.slow.clear();
    if (!slow.any() || slow.device >= devices) return;
    costs.slow.assign(static_cast<std::size_t>(devices), 1);
    costs.slow[slow.device] = slow.factor;
}

double step_with_makespan(const Step& step, double makespan_before, double makespan_after) {
    const double even = step.time_s - step.straggler_s;
    if (even <= 0) return step.time_s;
    return (even + makespan_after - makespan_before) * (step.time_s / even);
}

namespace {

int unit_axis(GroupKind k) {
    switch (k) {
    case GroupKind::tp: return UnitComm::kTp;
    case GroupKind::cp: return UnitComm::kCp;
    case GroupKind::ep: return UnitComm::kEp;
    case GroupKind::etp: return UnitComm::kEtp;
    default: return -1;
    }
}

HiddenBehind behind(Cover c) {
    switch (c) {
    case Cover::core: return HiddenBehind::attention_core;
    case Cover::mixer:
    case Cover::mlp: return HiddenBehind::products_beside;
    case Cover::to_experts:
    case Cover::from_experts: return HiddenBehind::another_microbatch;
    case Cover::none: break;
    }
    return HiddenBehind::none;
}

}  // namespace

Cover cover_of(const Operation& o) {
    switch (o.group) {
    case GroupKind::cp: return o.collective == Collective::send_recv ? Cover::core : Cover::none;
    case GroupKind::tp:
        return o.unit == Unit::every_layer                                ? Cover::mixer
               : o.unit == Unit::dense_layer || o.unit == Unit::moe_layer ? Cover::mlp
                                                                          : Cover::none;
    case GroupKind::ep: return goes_to_experts(o.what) ? Cover::to_experts : Cover::from_experts;
    default: return Cover::none;
    }
}

double paired_share(const ScheduleShape& shape) {
    if (shape.microbatches < 1 || !accepts(shape)) return 0;
    const double first = peak_in_flight(shape, 0), last = peak_in_flight(shape, shape.devices - 1);
    return std::clamp(1 - (first + last) / 2 / shape.microbatches, 0.0, 1.0);
}

template <typename F>
void CoveredTimes::each(const Operation& o, F&& use) {
    if (o.types == 0 || unit_axis(o.group) < 0) return;
    const Cover cover = cover_of(o);
    for (LayerMask m = o.types; m != 0; m &= m - 1) {
        const int t = std::countr_zero(m);
        // A recomputation is a forward: as much of its calls is hidden.
        use(t, of(t, cover, o.phase == Phase::forward || o.recomputed));
    }
}

double CoveredTimes::exposed_share(const Operation& o, const LayerCounts& layers) {
    if (unit_axis(o.group) < 0 || o.types == 0) return 1;  // of no layer: nothing here hides it
    double all = 0, exposed = 0, first = -1;
    bool alike = true;
    each(o, [&](int t, const CoveredTime& s) {
        const double n = layers[t], share = s.exposed_share();
        if (first < 0) first = share;
        alike = alike && share == first;
        all += n;
        exposed += n * share;
    });
    return alike || all <= 0 ? std::max(first, 0.0) : exposed / all;
}

namespace {

// Returns true if something hides a part of it.
bool add_exposed(StepWork& work, Operation& o, CoveredTimes& shared, double rate) {
    const int axis = unit_axis(o.group);
    o.waits_because = WaitsBecause::nothing;
    if (axis < 0) return false;
    if (o.unit == Unit::embedding || o.unit == Unit::head)
        o.waits_because = WaitsBecause::nothing_to_hide_behind;
    const auto add = [&](UnitComm& u, double share) {
        (o.phase == Phase::forward ? u.forward : u.backward)[axis] += o.call_s * share * o.calls;
    };
    if (o.unit == Unit::embedding) add(work.embedding, 1);
    if (o.unit == Unit::head) add(work.head, 1);
    bool hidden = false;
    shared.each(o, [&](int t, const CoveredTime& s) {
        LayerWork& own = work.layer[t];
        add(o.recomputed ? own.recomputed : own.comm, s.exposed_share());
        if (o.recomputed) own.slowed_again += (1 - rate) * o.call_s * (1 - s.exposed_share()) * o.calls;
        hidden = hidden || s.hidden > 0;
        if (s.exposed_share() > 0 && o.waits_because != WaitsBecause::longer_than_window)
            o.waits_because = s.because;
    });
    return hidden;
}

double pass(const PassTime& t, bool forward) {
    return forward ? t.forward : t.input_grad + t.weight_grad;
}

// Hides calls of a layer's pass behind compute, one after the other.
class PassHider {
  public:
    PassHider(bool forward, double rate, int type, CoveredTimes& shared)
        : forward_(forward), rate_(rate), type_(type), shared_(shared) {}
    // Hides a share of the calls behind `room` seconds of compute; returns those that are used up.
    double hide(Cover cover, bool allowed, double room, double share) {
        CoveredTime& s = shared_.of(type_, cover, forward_);
        if (s.need <= 0) return 0;
        if (!allowed || rate_ <= 0) {
            s.because = WaitsBecause::software_does_not_overlap;
            return 0;
        }
        const double most = std::max(room * s.window, 0.0) / rate_;
        s.hidden = std::min(s.need * share, most);
        if (s.hidden >= most) s.because = WaitsBecause::longer_than_window;
        slowed_ += (1 - rate_) * s.hidden;
        return rate_ * s.hidden;
    }
    [[nodiscard]] double slowed() const { return slowed_; }

  private:
    bool forward_;
    double rate_, slowed_ = 0;
    int type_;
    CoveredTimes& shared_;
};

// Hides the experts' way of both passes behind those of another micro-batch, in that share of the passes.
// `pair` has their compute.
void hide_pair(LayerPair pair, bool allowed, double share, int type, LayerWork& work, CoveredTimes& shared) {
    double need = 0;
    const auto each = [&](auto&& use) {
        for (const Cover cover : {Cover::to_experts, Cover::from_experts})
            for (const bool forward : {true, false})
                use(shared.of(type, cover, forward), pair_call(cover, forward));
    };
    each([&](CoveredTime& s, PairCall call) { need += pair.call[call] = s.need; });
    if (need <= 0) return;
    allowed = allowed && pair.rate > 0;
    const PairTimes times = allowed ? time_pair(pair) : PairTimes();
    each([&](CoveredTime& s, PairCall call) {
        s.hidden = share * times.hidden[call];
        s.paired = share;
        s.because = !allowed                       ? WaitsBecause::software_does_not_overlap
                    : times.hidden[call] >= s.need ? WaitsBecause::nothing_to_hide_behind
                                                   : WaitsBecause::longer_than_window;
    });
    work.slowed.forward += share * times.slowed_forward;
    work.slowed.backward += share * times.slowed_backward;
}

// Hides communication as the plan's flags allow behind compute, each second of which hides one call at most.
// Ring attention hides behind its own core, a tensor-parallel transfer behind its block's products, and the
// experts' way behind another micro-batch, which DualPipe pairs by design. Compute is slower meanwhile.
void hide(const ResolvedPlan& r, StepWork& work, CoveredTimes& shared) {
    const Overlap& flags = r.plan.training.overlap;
    const ScheduleTraits& traits = traits_of(r.shape.schedule);
    const double rate = r.plan.cluster.gpu.efficiency.overlap;
    const SoftwareFacts& software = r.software;
    const bool pairs = flags.ep || traits.overlaps_pairs;
    const double share = pairs ? paired_share(r.shape) : 0;
    for (int k = 0; k < shared.types(); ++k) {
        const LayerTime& t = work.times.of(k);
        LayerWork& own = work.layer[k];
        LayerPair pair;
        pair.splits_backward = traits.splits_backward || traits.overlaps_pairs;
        pair.rate = rate;
        pair.experts = t.experts;
        for (const bool forward : {true, false}) {
            PassHider pass_of(forward, rate, k, shared);
            double used = pass_of.hide(Cover::core, flags.cp, pass(t.attention, forward), software.cp_hidden);
            used += pass_of.hide(Cover::mixer, flags.tp, pass(t.mixer, forward) - used, software.tp_hidden);
            used += pass_of.hide(Cover::mlp, flags.tp, pass(t.mlp, forward), software.tp_hidden);
            (forward ? own.slowed.forward : own.slowed.backward) = pass_of.slowed();
            const double rest = pass(t.all, forward) - pass(t.experts, forward) - used;
            (forward ? pair.rest.forward : pair.rest.input_grad) = rest;
        }
        hide_pair(pair, pairs, share, k, own, shared);
    }
}

}  // namespace

void time_operations(const ResolvedPlan& r, Comm& comm, StepWork& work, CoveredTimes& shared) {
    Routes routes(r.plan, r.mesh, r.groups);
    for (Operation& o : comm.operations) {
        o.call_s = call_time(r.plan, routes.of(o.group), o);
        if (!o.recomputed)
            shared.each(o, [&](int, CoveredTime& s) {
                s.need += o.call_s * o.calls;
                if (o.collective == Collective::send_recv) s.window = o.calls / (o.calls + 1);
            });
        if (o.group == GroupKind::pp && o.unit == Unit::boundary) work.send_s = o.call_s;
    }
    hide(r, work, shared);
    const double rate = r.plan.cluster.gpu.efficiency.overlap;
    for (Operation& o : comm.operations)
        o.hidden_behind = add_exposed(work, o, shared, rate) ? behind(cover_of(o)) : HiddenBehind::none;
}

LaneCall lane_call(const Operation& o) {
    switch (o.what) {
    case What::gradients_of_the_shard_across_replicas:
    case What::experts_gradients_of_the_shard_across_replicas: return LaneCall::reduce;
    default: return o.collective == Collective::all_gather ? LaneCall::gather : LaneCall::scatter;
    }
}

namespace {

void add(LaneUnit& to, const LaneUnit& from) {
    const auto n = static_cast<double>(from.times);
    to.compute += n * from.compute;
    to.works += n * from.works;
    for (const TrafficLane lane : all_of<TrafficLane>()) {
        to.taken[lane] += n * from.taken[lane];
        for (const LaneCall c : all_of<LaneCall>()) to.call[c][lane] += n * from.call[c][lane];
    }
}

// Returns one of so many equal parts of a pass.
LaneUnit part_of(LaneUnit all, double parts) {
    all.compute /= parts, all.works /= parts;
    for (const TrafficLane lane : all_of<TrafficLane>()) {
        all.taken[lane] /= parts;
        for (const LaneCall c : all_of<LaneCall>()) all.call[c][lane] /= parts;
    }
    all.times = static_cast<std::int64_t>(parts);
    return all;
}

// Takes over the rows that `from` has something to say of.
void join(StateWaits& to, const StateWaits& from) {
    to.forward += from.forward, to.backward += from.backward;
    to.slowed.forward += from.slowed.forward, to.slowed.backward += from.slowed.backward;
    for (std::size_t i = 0; i < from.row.size(); ++i)
        if (from.because[i] != WaitsBecause::nothing)
            to.row[i] = from.row[i], to.because[i] = from.because[i];
}

LaneUnit sum_of(const LaneUnits& units) {
    LaneUnit all;
    for (const LaneUnit& u : units) add(all, u);
    return all;
}

// No call waits longer than the share of it that may hide. Where the compute waited while a layer's own calls
// had the lane, the rest is that of the other calls of the lane.
void keep_below(const LaneUnit& all, double share, EnumArray<LaneCall, LaneSeconds>& waited) {
    for (const TrafficLane lane : all_of<TrafficLane>()) {
        double rest = 0;
        for (const LaneCall c : all_of<LaneCall>()) {
            const double over = std::max(waited[c][lane] - share * all.call[c][lane], 0.0);
            waited[c][lane] -= over;
            rest += over;
        }
        for (const LaneCall c : all_of<LaneCall>()) {
            const double more = std::min(rest, share * all.call[c][lane] - waited[c][lane]);
            waited[c][lane] += more;
            rest -= more;
        }
    }
}

}  // namespace

double hiding_microbatches(const Plan& plan, const ScheduleShape& shape, double microbatches) {
    const double group = static_cast<double>(plan.layout.microbatch_group.value_or(plan.layout.pp));
    return chunks_of(shape) > 1 && traits_of(shape.schedule).in_groups ? std::min(group, microbatches) : 1;
}

StateTraffic::StateTraffic(const ResolvedPlan& resolved, const Comm& comm, const StepWork& work)
    : r_(resolved), comm_(comm), work_(work), taken_(work.times.layer.size()) {
    for (std::size_t i = 0; i < comm.operations.size(); ++i) {
        const Operation& o = comm.operations[i];
        for (LayerMask m = unit_axis(o.group) < 0 ? 0 : o.types; m != 0; m &= m - 1)
            taken_[std::countr_zero(m)][o.recomputed                ? 2
                                        : o.phase == Phase::forward ? 0
                                                                    : 1][lane_of(o)] += o.call_s * o.calls;
        if (!is_state_row(o)) continue;
        Row row;
        row.call = lane_call(o), row.lane = lane_of(o), row.operation = i;
        row.by_layer = o.scope == Scope::layer;
        row.in_passes = o.each == GradientReduction::micro_batch;
        row.forward = before_forward(o);
        row.rounds = std::max(o.rounds, 1.0);
        const double numbers = numbers_of(o, comm.reduced);
        row.per_number = numbers > 0 ? o.call_s * o.calls / row.rounds / numbers : 0;
        rows_.push_back(row);
        (row.in_passes ? in_passes_ : in_step_) = true;
        by_layer_ = by_layer_ || (row.in_passes && row.by_layer);
    }
}

LaneRules StateTraffic::rules() const {
    return {r_.plan.cluster.gpu.efficiency.overlap, r_.software.gathers_ahead};
}

double StateTraffic::hidden_share() const {
    return r_.plan.training.overlap.dp && rules().rate > 0 ? r_.software.dp_hidden : 0;
}

StateTraffic::Calls StateTraffic::calls_of(const StageNumbers& numbers, bool forward, bool in_passes) const {
    Calls out{};
    for (const Row& row : rows_)
        if (row.forward == forward && row.in_passes == in_passes)
            out[row.call][row.lane] += row.per_number * numbers_of(comm_.operations[row.operation], numbers);
    return out;
}

LaneUnit StateTraffic::layer_unit(int type, bool forward, bool recomputed) const {
    const LayerTime& time = work_.times.of(type);
    const LayerWork& own = work_.of(type);
    LaneUnit u;
    u.works = pass(time.all, forward) - pass(time.waiting, forward);
    u.compute = pass(time.all, forward) + own.comm.sum(forward ? Phase::forward : Phase::backward)
                + (forward ? own.slowed.forward : own.slowed.backward);
    u.taken = taken_[type][forward ? 0 : 1];
    if (recomputed) {
        u.works += own.recompute - own.recompute_waits;
        u.compute += own.recompute + own.slowed_again + own.recomputed.sum(Phase::backward);
        for (const TrafficLane lane : all_of<TrafficLane>()) u.taken[lane] += taken_[type][2][lane];
    }
    const HeldLayer& held = comm_.held.of(type);
    u.call = calls_of({held.dense, held.experts}, forward, true);
    return u;
}

LaneUnit StateTraffic::end_unit(const ChunkLayers& k, bool embedding, bool forward) const {
    const HeldNumbers& held = comm_.held;
    const auto pass_of = [&](const PassTime& t) { return pass(t, forward); };
    const Phase phase = forward ? Phase::forward : Phase::backward;
    LaneUnit u;
    StageNumbers numbers;
    if (embedding) {
        u.works = pass_of(work_.times.embedding);
        u.compute = u.works + work_.embedding.sum(phase);
        numbers.dense = held.embedding;
    } else {
        if (k.last) {
            u.works = pass_of(work_.times.head) * head_passes(r_.plan.model);
            u.compute = work_.head.sum(phase);
            numbers.dense = held.head;
        }
        u.works += pass_of(work_.times.mtp) * k.mtp;
        u.compute += u.works;
        numbers.dense.add(held.mtp, k.mtp);
        const bool embeds = k.mtp > 0 || (k.last && r_.plan.model.tied_embeddings);
        if (embeds && !k.first && comm_.embedding_copies > 0) numbers.dense.other += held.word_embedding;
    }
    u.call = calls_of(numbers, forward, true);
    return u;
}

LaneUnits StateTraffic::units_of(const ChunkLayers& k, bool forward) const {
    LaneUnits out;
    const auto put = [&](LaneUnit u, double times) {
        u.times = static_cast<std::int64_t>(times);
        if (u.times > 0) out.push_back(u);
    };
    const bool head = k.last || k.mtp > 0;
    const int types = work_.times.layer.size();
    if (forward) {
        if (k.first) put(end_unit(k, true, true), 1);
        for (int t = 0; t < types; ++t)
            if (k.types[t] > 0) put(layer_unit(t, true, false), k.types[t]);
        if (head) put(end_unit(k, false, true), 1);
    } else {
        if (head) put(end_unit(k, false, false), 1);
        for (int t = types - 1; t >= 0; --t) {
            if (k.types[t] > k.recomputed[t])
                put(layer_unit(t, false, false), static_cast<double>(k.types[t]) - k.recomputed[t]);
            if (k.recomputed[t] > 0) put(layer_unit(t, false, true), k.recomputed[t]);
        }
        if (k.first) put(end_unit(k, true, false), 1);
    }
    if (by_layer_) return out;
    // Gradients that are not let go layer by layer leave in buckets.
    LaneUnits buckets;
    const LaneUnit all = sum_of(out);
    const double dense = comm_.reduced.dense.all() + comm_.reduced.experts.all();
    const double parts = bucket_count(dense * k.layers() / std::max(comm_.busiest.layers(), 1.0), k.layers());
    buckets.push_back(part_of(all, parts));
    return buckets;
}

double StateTraffic::bucket_count(double numbers, double layers) const {
    constexpr double kMost = 64;  // more make no difference
    const auto ranks = static_cast<double>(r_.degrees.dense_shard * r_.degrees.replicate);
    const double bucket = std::max(r_.software.bucket_numbers, r_.software.bucket_numbers_of_rank * ranks);
    const double parts = bucket > 0 ? std::ceil(numbers / bucket) : layers;
    return std::clamp(parts, 1.0, kMost);
}

LaneUnits StateTraffic::units_of_step(const TimelineCosts& costs, bool forward) const {
    const Stages& stages = comm_.stages;
    const int device = comm_.busiest_device, chunks = stages.chunks;
    const double window = hiding_microbatches(
        r_.plan, r_.shape, static_cast<double>(std::max<std::int64_t>(r_.microbatches, 1)));
    const double numbers = (comm_.reduced.dense.all() + comm_.reduced.experts.all()) / chunks;
    Calls in_pass = calls_of(comm_.reduced, forward, true), once = calls_of(comm_.reduced, forward, false);
    for (Calls* calls : {&in_pass, &once})
        for (LaneSeconds& call : *calls)
            for (double& s : call) s /= chunks;
    LaneUnits out;
    for (int i = 0; i < chunks && out.size() + 2 < LaneUnits::most(); ++i) {
        const int c = forward ? i : chunks - 1 - i;
        const ChunkLayers& k = stages.chunk(device, c);
        const ChunkWork& w = work_.chunk[stages.kind_of(device, c)];
        const ChunkCost& cost = costs.chunk[static_cast<std::size_t>(device * chunks + c)];
        LaneUnit all;
        all.compute = forward ? cost.forward : cost.input_grad + cost.weight_grad;
        all.works = pass(w.compute, forward) + (forward ? 0 : w.recompute);
        for (int t = 0; t < work_.times.layer.size(); ++t) {
            const double n = k.types[t];
            all.works -= n * pass(work_.times.of(t).waiting, forward);
            if (!forward) all.works -= k.recomputed[t] * work_.of(t).recompute_waits;
            for (const TrafficLane lane : all_of<TrafficLane>()) {
                all.taken[lane] += n * taken_[t][forward ? 0 : 1][lane];
                if (!forward) all.taken[lane] += k.recomputed[t] * taken_[t][2][lane];
            }
        }
        for (const LaneSeconds& call : in_pass)
            for (const TrafficLane lane : all_of<TrafficLane>()) all.taken[lane] += call[lane];
        LaneUnit rest = all;  // the other micro-batches of the group
        rest.compute *= window - 1, rest.works *= window - 1;
        for (double& t : rest.taken) t *= window - 1;
        all.call = once;
        const LaneUnit bucket = part_of(all, bucket_count(numbers, std::max(k.layers(), 1.0)));
        if (!forward && window > 1) out.push_back(rest);
        out.push_back(bucket);
        if (forward && window > 1) out.push_back(rest);
    }
    return out;
}

StateWaits StateTraffic::waits_of(const LaneUnits& units, bool forward, bool in_passes) const {
    StateWaits out;
    const double share = hidden_share();
    LaneUnits hide = units;  // the part of the calls that the software lets overlap
    for (LaneUnit& u : hide)
        for (LaneSeconds& call : u.call)
            for (double& s : call) s *= share;
    LaneTimes times = share > 0 ? run_lanes({hide.begin(), hide.end()}, rules()) : LaneTimes{};
    const LaneUnit all = sum_of(units);
    keep_below(all, share, times.waited);
    (forward ? out.slowed.forward : out.slowed.backward) = times.slowed;
    for (int i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (row.forward != forward || row.in_passes != in_passes) continue;
        // Calls of one kind on one lane share what is waited for by their time; those of a kind the reason.
        double own = 0, same = 0;
        for (const Row& other : rows_) {
            if (other.forward != forward || other.in_passes != in_passes || other.call != row.call
                || other.lane != row.lane)
                continue;
            const double seconds =
                other.per_number * numbers_of(comm_.operations[other.operation], comm_.reduced);
            same += seconds;
            if (&other == &row) own = seconds;
        }
        const double part = same > 0 ? own / same : 0;
        double& waits = out.row[static_cast<std::size_t>(i)];
        waits = part * ((1 - share) * all.call[row.call][row.lane] + times.waited[row.call][row.lane]);
        (forward ? out.forward : out.backward) += waits;
        WaitsBecause& why = out.because[static_cast<std::size_t>(i)];
        if (share <= 0) {
            why = WaitsBecause::software_does_not_overlap;
        } else {
            why = WaitsBecause::nothing_to_hide_behind;
            const EnumArray<WaitsBecause, double>& because = times.because[row.call];
            for (const WaitsBecause w : all_of<WaitsBecause>())
                if (because[w] > because[why]) why = w;
        }
    }
    return out;
}

void StateTraffic::wait_in_passes(const ChunkLayers& layers, ChunkWork& chunk) const {
    chunk.state = {};
    if (!in_passes_) return;
    for (const bool forward : {true, false})
        join(chunk.state, waits_of(units_of(layers, forward), forward, true));
    chunk.slowed.forward += chunk.state.slowed.forward, chunk.slowed.backward += chunk.state.slowed.backward;
}

void StateTraffic::wait_in_step(const TimelineCosts& costs, Comm& comm, Step& out) const {
    const Stages& stages = comm.stages;
    StateWaits once;
    if (in_step_)
        for (const bool forward : {true, false})
            join(once, waits_of(units_of_step(costs, forward), forward, false));
    double rounds = 1;
    for (int i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const auto at = static_cast<std::size_t>(i);
        Operation& o = comm.operations[row.operation];
        o.exposed_s = 0;
        o.waits_because = once.because[at];
        if (row.in_passes) {
            for (int c = 0; c < stages.chunks; ++c) {
                const StateWaits& w = work_.chunk[stages.kind_of(comm.busiest_device, c)].state;
                o.exposed_s += r_.runs * w.row[at];
                if (w.row[at] > 0) o.waits_because = w.because[at];
            }
        } else {
            o.exposed_s = row.rounds * once.row[at];
            if (!row.forward) rounds = std::max(rounds, row.rounds);
        }
        o.exposed_s = std::min(o.exposed_s, o.time_s);
        if (!(o.exposed_s > 0)) o.waits_because = WaitsBecause::nothing;
        const bool hides = o.exposed_s < o.time_s;
        o.hidden_behind = !hides        ? HiddenBehind::none
                          : row.forward ? HiddenBehind::forward_compute
                                        : HiddenBehind::backward_compute;
        out.exposed_comm_s[o.group] += o.exposed_s;
    }
    out.slowed_once_s = once.slowed.forward + rounds * once.slowed.backward;
    out.slowed_by_traffic_s += out.slowed_once_s;
}

namespace {

// The stages of two copies of a model run twice, in mirror: both devices do the same.
std::vector<int> devices_of_chunks(const ScheduleShape& shape, std::size_t count) {
    std::vector<int> device(count, 0);
    const int n = static_cast<int>(count);
    if (traits_of(shape.schedule).placement == StagePlacement::two_copies) {
        for (int stage = 0; stage < n; ++stage) device[stage] = std::min(stage, n - 1 - stage);
        return device;
    }
    for (int d = 0; d < shape.devices; ++d)
        for (int c = 0; c < chunks_of(shape); ++c)
            if (const int stage = stage_of(shape, d, c); stage < n) device[stage] = d;
    return device;
}

}  // namespace

StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work) {
    StageLoad load;
    std::vector<std::int64_t> layers;
    layers_of_chunks(plan, layers);
    const auto n = static_cast<std::int64_t>(layers.size());
    if (n == 0 || work.layer.size() == 0) return load;
    const LayerTypes types = layer_types(plan.model);
    const auto seconds = [&](const ChunkLayers& k) { return chunk_cost(plan, work, k).total(); };
    const double nothing = seconds(chunk_of(plan, types, {}));
    const std::int64_t count = std::max<std::int64_t>(plan.model.layers, 0);
    for (std::int64_t i = 0; i < count; ++i) {
        ChunkLayers k = chunk_of(plan, types, {.begin = i, .end = i + 1});
        const double with = seconds(k);
        k.recomputed.assign(types.size());
        const double once = seconds(k);
        load.layer.push_back(once - nothing);
        load.recomputed.push_back(with - once);
    }
    const RecomputeChoice& r = plan.training.recompute;
    load.layers_recomputed = !r.any() ? 0 : r.some_layers() ? std::min(r.layers, count) : count;
    const std::int64_t mtp = mtp_chunk_of(plan.layout, n);
    for (std::int64_t c = 0; c < n; ++c)
        load.chunk.push_back(
            seconds(chunk_of(plan, types, {.first = c == 0, .last = c == n - 1, .mtp = c == mtp})));
    load.device = devices_of_chunks(shape, layers.size());
    return load;
}

namespace {

// Returns the forward seconds of the recomputed modules. A recomputed MoE layer recomputes its parts.
double module_time(const RecomputeChoice& choice, const ModuleTimes& times) {
    double sum = 0;
    for (const RecomputeModule m : all_of<RecomputeModule>()) {
        const bool part = m == RecomputeModule::moe_act || m == RecomputeModule::shared_experts;
        if (choice.modules.has(m) && !(part && choice.modules.has(RecomputeModule::moe))) sum += times[m];
    }
    return sum;
}

bool recomputes_tensor(const RecomputeChoice& choice, const Model& model, const Tensor& t) {
    if (choice.whole_layers()) return true;
    const bool latent = model.attention != AttentionKind::mha_gqa;
    const bool up = t.id == TensorId::attention_q_up || t.id == TensorId::attention_kv_up
                    || t.id == TensorId::attention_q;
    if (latent && up) return choice.makes(RecomputeModule::mla_up_proj);
    const TensorModule module = module_of(t.id);
    if (module == TensorModule::mlp) return choice.makes(RecomputeModule::mlp);
    const bool shared = module == TensorModule::shared_expert;
    if (shared && choice.makes(RecomputeModule::shared_experts)) return true;
    const bool experts = shared || module == TensorModule::experts || module == TensorModule::router;
    return experts && choice.makes(RecomputeModule::moe);
}

}  // namespace

void find_recompute(const ResolvedPlan& r, StepWork& work) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const double share = r.software.selective_share;
    const bool by_operation = share > 0 && choice == RecomputeChoice(Recompute::selective);
    for (int t = 0; t < work.times.layer.size(); ++t) {
        const LayerTime& time = work.times.of(t);
        work.layer[t].recompute = by_operation            ? share * time.all.forward
                                  : choice.whole_layers() ? time.all.forward
                                  : choice.any()          ? module_time(choice, time.module)
                                                          : 0;
    }
}

double recomputed_flops(const ResolvedPlan& r, const Stages& stages) {
    const RecomputeChoice& choice = r.plan.training.recompute;
    const Model& m = r.plan.model;
    if (!choice.any()) return 0;
    const LayerTypes& types = r.types;
    const PerType<double> share = shares_recomputed(stages);
    const auto tokens = static_cast<double>(r.plan.training.sequence_length);
    PerType<double> recomputed(types.size());  // layers of each type, the prediction layers among them
    double flops = 0, mtp_recomputed = 0;
    for (int t = 0; t < types.size(); ++t) {
        const double mtp = t == types.mtp ? static_cast<double>(m.mtp_layers) : 0;
        recomputed[t] = (r.counts[t] + mtp) * share[t];
        mtp_recomputed += mtp * share[t];
        const MixerFlops mixer = mixer_flops(m, types[t], tokens, recomputed[t]);
        if (choice.makes(RecomputeModule::core_attn)) flops += mixer.attention;
        if (choice.whole_layers()) flops += mixer.scan;
    }
    visit_tensors(m, types, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        if (!recomputes_tensor(choice, m, t)) return;
        double copies = static_cast<double>(t.copies), layers = t.place == Place::mtp ? mtp_recomputed : 0;
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        for (int k = 0; k < types.size(); ++k)
            if (has(t.types, k)) layers += recomputed[k];
        flops += 2 * tokens * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies * layers;
    });
    return flops;
}

namespace {

// Returns how long a forward of `forward_s` waits where the host stops at the router until the GPU has done
// all before it: what is launched behind it hides behind nothing before it, and the GPU stands for one
// launch. What the layer sends and what it is slowed by count as behind the router.
double drained_wait(const LayerTime& time, double forward_s, double launch) {
    const LayerLaunches& n = time.launches;
    if (n.syncs <= 0) return 0;
    const double before = time.mixer.forward;
    return std::max(n.before * launch - before, 0.0) + std::max(n.after * launch - (forward_s - before), 0.0)
           + n.syncs * launch;
}

}  // namespace

void wait_for_host(const Plan& plan, StepWork& work) {
    const double launch = launch_time(plan);
    const double repeats = plan.training.recompute.whole_layers() ? 1 : 0;
    const bool split = traits_of(schedule_of(plan.layout)).splits_backward;
    for (int k = 0; k < work.times.layer.size(); ++k) {
        LayerTime& time = work.times.layer[k];
        LayerWork& layer = work.layer[k];
        PassTime& t = time.all;
        const double host = time.launches.all() * launch;
        const double forward_s = t.forward + layer.slowed.forward + layer.comm.sum(Phase::forward);
        const double ahead = std::max(host - forward_s, 0.0);
        const double drained = drained_wait(time, forward_s, launch) - ahead;
        const double forward = ahead + std::max(drained, 0.0);
        // This is the pass that recomputes: the input gradient, or the whole backward where it is one.
        const double least = split ? host : kBackwardLaunches * host;
        const double own = t.input_grad + (split ? 0 : t.weight_grad) + layer.slowed.backward
                           + layer.comm.sum(Phase::backward);
        const double backward = std::max(least - own, 0.0);
        const double late = split ? std::max(host - t.weight_grad, 0.0) : 0;
        t.forward += forward;
        t.input_grad += backward;
        t.weight_grad += late;
        time.waiting = {forward, backward, late};
        // Launches of recomputed modules first take the host's idle time.
        const double launches = repeats * host - std::max(own - least, 0.0);
        const double again = layer.recompute + layer.slowed_again + layer.recomputed.sum(Phase::backward);
        layer.recompute_waits = std::max(launches - again, 0.0) + repeats * std::max(drained, 0.0);
        layer.recompute += layer.recompute_waits;
    }
}

}  // namespace pentamesh
