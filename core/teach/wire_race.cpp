#include "core/teach/wire_race.h"

#include "core/base/text.h"
#include "core/comm/call_names.h"
#include "core/layer/calls.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/rules/software_runs.h"
#include "core/teach/map.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

void list_lanes(const Plan& plan, WireRace& out) {
    const std::vector<MapLevel> levels = map_levels(plan, {});
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {  // the last is storage
        const MapLevel& l = levels[i];
        if (l.bytes_per_s <= 0) continue;
        const std::string gpus =
            l.reach == plan.cluster.gpus ? "all " + count_text(l.reach, "GPU") : count_text(l.reach, "GPU");
        const int tier = static_cast<int>(i) - 1;
        out.lanes.push_back({tier < 0 ? l.name : tier_label(plan.cluster, tier), tier < 0 ? l.note : gpus,
                             l.bytes_per_s, tier});
    }
    std::stable_sort(out.lanes.begin(), out.lanes.end(),
                     [](const RaceLane& a, const RaceLane& b) { return a.bytes_per_s > b.bytes_per_s; });
}

// Returns 1, 2 or 5 of a decade, the first above (by 1) or below (by -1).
double round_moment(double at_s, int by) {
    constexpr double kSame = 1e-9;
    double best = 0;
    const int decade = at_s > 0 ? static_cast<int>(std::floor(std::log10(at_s))) : -4;
    for (int d = decade - 1; d <= decade + 1; ++d)
        for (const double k : {1.0, 2.0, 5.0}) {
            const double x = k * std::pow(10.0, d);
            if (by > 0 && x > at_s * (1 + kSame) && (best == 0 || x < best)) best = x;
            if (by < 0 && x < at_s * (1 - kSame) && x > best) best = x;
        }
    return best;
}

// Between the second lane and the third, or the first and the second where there are no more.
double telling_moment(const WireRace& race) {
    const std::size_t n = race.lanes.size();
    if (n < 2) return race.end_s() / 2;
    const std::size_t done = n == 2 ? 0 : 1;
    const double from = race.lanes[done].takes_s(), to = race.lanes[done + 1].takes_s();
    const double round = round_moment(from, 1);
    return round < to ? round : std::sqrt(from * to);
}

void list_talk(const Evaluation& e, WireRace& out) {
    for (const GroupKind kind : all_of<GroupKind>()) {
        const AxisTraffic& t = e.comm.by_axis[kind];
        if (t.count <= 0) continue;
        WireTalk talk{kind, t.count, t.sent_bytes_per_rank, 0};
        for (const Operation& o : e.comm.operations)
            if (o.group == kind && !o.on_other_stage) talk.tier = std::max(talk.tier, o.tier);
        out.talk.push_back(talk);
    }
    std::stable_sort(out.talk.begin(), out.talk.end(),
                     [](const WireTalk& a, const WireTalk& b) { return a.calls > b.calls; });
}

std::optional<Axis> chattiest(const Evaluation& e) {
    std::optional<Axis> out;
    for (const Axis axis : all_of<Axis>()) {
        const double calls = e.comm.by_axis[group_of(axis)].count;
        if (calls <= 0) continue;
        if (axis == Axis::tp) return axis;
        if (!out || calls > e.comm.by_axis[group_of(*out)].count) out = axis;
    }
    return out;
}

OtherOrder measured(Plan plan, const Evaluation& e, Axis axis) {
    OtherOrder out;
    const GroupKind kind = group_of(axis);
    out.tier = e.groups[kind].slowest_tier;
    if (e.step) out.step_s = e.step->time_s, out.waits_s = e.step->exposed_comm_s[kind];
    out.plan = std::move(plan);
    return out;
}

// Says where the axis stands among those of more than one rank.
std::string place_words(const Mesh& mesh, const AxisOrder& order, Axis axis) {
    std::optional<Axis> before;
    bool seen = false, more = false;
    for (const Axis a : order) {
        if (a == axis)
            seen = true;
        else if (axis_size(mesh, a) > 1)
            (seen ? more : seen) = seen, before = seen ? before : std::optional(a);
    }
    const std::string name(name_of(axis));
    if (!more) return name + " outermost";
    return before ? name + " behind " + std::string(name_of(*before)) : name + " innermost";
}

void try_orders(const Plan& plan, const Evaluation& evaluation, WireRace& out) {
    const Axis axis = *out.moved;
    OtherOrder own = measured(plan, evaluation, axis);
    own.own = true, own.where = "as it is";
    out.orders.push_back(std::move(own));
    const AxisOrder& order = plan.layout.order;
    const auto from = static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
    Evaluation e;
    for (std::size_t to = 0; to < order.size() && from < order.size(); ++to) {
        const AxisOrder next = moved(order, from, to);
        const bool same = to == from || (to > 0 && axis_size(evaluation.mesh, next[to - 1]) <= 1);
        if (same) continue;  // behind an axis of one rank it is where it was
        const Plan other = with_order(plan, next);
        evaluate(other, e);
        if (!e.valid && out.refused.empty())
            out.refused = place_words(evaluation.mesh, next, axis) + ": " + first_error(e.problems);
        if (!e.valid) continue;
        OtherOrder o = measured(other, e, axis);
        const auto known = [&](const OtherOrder& x) { return x.tier == o.tier; };
        if (std::any_of(out.orders.begin(), out.orders.end(), known)) continue;
        o.where = place_words(e.mesh, next, axis);
        const Software software = other.training.software;
        if (const auto lack = lack_that_came(plan, other)) o.lacks = words_of(*lack, other, software);
        out.orders.push_back(std::move(o));
    }
    std::stable_sort(out.orders.begin(), out.orders.end(),
                     [](const OtherOrder& a, const OtherOrder& b) { return a.tier < b.tier; });
}

}  // namespace

double WireRace::moment_after(double at_s) const {
    double next = round_moment(at_s, 1);
    for (const RaceLane& l : lanes)
        if (l.takes_s() > at_s * (1 + 1e-9)) next = std::min(next, l.takes_s());
    return std::min(next, end_s());
}

double WireRace::moment_before(double at_s) const {
    if (lanes.empty() || at_s <= lanes.front().takes_s() * (1 + 1e-9)) return 0;
    double next = round_moment(at_s, -1);
    for (const RaceLane& l : lanes)
        if (l.takes_s() < at_s * (1 - 1e-9)) next = std::max(next, l.takes_s());
    return next;
}

WireRace wire_race(const Plan& plan, const Evaluation& evaluation) {
    WireRace out;
    list_lanes(plan, out);
    out.telling_s = telling_moment(out);
    list_talk(evaluation, out);
    out.moved = chattiest(evaluation);
    if (out.moved) try_orders(plan, evaluation, out);
    return out;
}

std::string sentence_of(const WireRace& race, const Cluster& cluster) {
    if (race.orders.size() < 2) return {};
    const auto own =
        std::find_if(race.orders.begin(), race.orders.end(), [](const OtherOrder& o) { return o.own; });
    const auto best = std::min_element(race.orders.begin(), race.orders.end(),
                                       [](const auto& a, const auto& b) { return a.step_s < b.step_s; });
    const std::string axis(name_of(*race.moved));
    if (own->step_s <= 0) return {};
    if (own->step_s > best->step_s * 1.001)
        return "With " + axis + " on " + std::string(tier_name(cluster, best->tier)) + " the step is "
               + percent_text(1 - best->step_s / own->step_s) + " shorter.";
    const bool chatty = !race.talk.empty() && race.talk.front().kind == group_of(*race.moved);
    const bool quiet_outside = race.talk.size() > 1 && race.talk.back().tier > own->tier;
    if (own == race.orders.begin() && chatty && quiet_outside)
        return "The chattiest sits on the fastest wire; " + std::string(name_of(race.talk.back().kind))
               + " speaks least, and has a slower one.";
    return {};
}

namespace {

constexpr std::size_t kParameters = 0, kGradients = 1, kOptimizer = 2;

double part_bytes(const StageMemory& held, std::size_t part) {
    return bytes_of(held, static_cast<MemoryCategory>(part));
}

// Sums the calls of data parallelism by collective and what it carries.
void collect_wires(const Evaluation& e, ZeroRung& out) {
    std::vector<double> most;  // by wire: the bytes of the group that has most
    for (const Operation& o : e.comm.operations) {
        if (o.on_other_stage || !is_data_parallel(o.group) || o.count_per_step <= 0) continue;
        auto same = std::find_if(out.wires.begin(), out.wires.end(), [&](const ZeroWire& w) {
            return w.collective == o.collective && w.carried == carried_by(o);
        });
        if (same == out.wires.end()) {
            same = out.wires.insert(out.wires.end(), {o.collective, carried_by(o), o.group, 0, 0});
            most.push_back(0);
        }
        same->sent_bytes += o.sent_bytes_per_rank;
        same->calls += o.count_per_step;
        double& own = most[static_cast<std::size_t>(same - out.wires.begin())];
        if (o.sent_bytes_per_rank > own) own = o.sent_bytes_per_rank, same->group = o.group;
        out.sent_bytes += o.sent_bytes_per_rank;
    }
    const auto place = [](const ZeroWire& w) {
        return w.collective == Collective::reduce_scatter ? 0
               : w.collective == Collective::all_gather   ? 1
                                                          : 2;
    };
    std::stable_sort(out.wires.begin(), out.wires.end(),
                     [&](const ZeroWire& a, const ZeroWire& b) { return place(a) < place(b); });
}

Plan with_zero(const Plan& own, int zero) {
    Plan out = own;
    if (zero == own.layout.zero) return out;
    out.layout.zero = zero;
    follow_software(own, out);
    return out;
}

std::string lacks_text(const Plan& own, const Plan& plan) {
    const Software software = plan.training.software;
    if (lacks(Lack::zero, plan, software)) return words_of(Lack::zero, plan, software);
    const auto came = lack_that_came(own, plan);
    return came ? words_of(*came, plan, software) : std::string();
}

void fill_rung(const Evaluation& e, int stage, ZeroRung& out) {
    out.held = e.memory.stage[static_cast<std::size_t>(stage)];
    std::vector<BufferBytes> buffers;
    list_buffers(out.plan, e.mesh, out.held, buffers);
    for (const BufferBytes& b : buffers)
        if (b.buffer == Buffer::gathered_layers) out.gathered += b.mid;
    const StateShards shards = shards_of(out.plan, degrees_of(out.plan, e.mesh));
    out.shared = {shards.parameter[0] > 1, shards.gradient[0] > 1, shards.optimizer[0] > shards.copies};
    collect_wires(e, out);
}

// Says how many bytes more or less a stage sends than the one before; empty where either has none.
std::string difference_words(const ZeroRung& before, const ZeroRung& now) {
    const double by = now.sent_bytes - before.sent_bytes;
    const std::string other = sentence("ZeRO-", before.zero);
    if (std::abs(by) < 0.5) return "not a byte more than " + other;
    return percent_text(std::abs(by) / before.sent_bytes) + (by > 0 ? " more than " : " less than ") + other;
}

// Says why the bytes are others.
std::string why_words(const ZeroRung& before, const ZeroRung& now) {
    const Training& t = now.plan.training;
    const StateRounds rounds = state_rounds(now.plan);
    const double gathers = rounds.forward.times + rounds.backward.times;
    if (now.zero == 3 && gathers > 1)
        return "a layer's weights come "
               + (gathers == 2 ? std::string("twice") : whole_text(gathers) + " times");
    const double reductions = rounds.reductions.times, earlier = state_rounds(before.plan).reductions.times;
    if (reductions > earlier) return "gradients are summed " + whole_text(reductions) + " times a step";
    if (before.zero == 0 && now.sent_bytes < before.sent_bytes && updated_bytes(t) < bytes_of(t.gradients))
        return "weights go out in " + three_digits(updated_bytes(t)) + " bytes each, gradients in "
               + three_digits(bytes_of(t.gradients));
    return {};
}

std::string held_words_of(const ZeroRungs& all, const ZeroRung& r) {
    const bool experts_differ = all.experts > 0 && all.experts != all.ranks;
    if (r.zero == 0)
        return experts_differ ? "each keeps its whole state"
                              : sentence(all.ranks, all.ranks == 1 ? " copy" : " copies", " of everything");
    constexpr std::array<std::size_t, kZeroStages> kParts{0, kOptimizer, kGradients, kParameters};
    if (!r.shared[kParts[static_cast<std::size_t>(r.zero)]])
        return r.zero == 2 && all.ranks > 1 ? "gradients stay whole: summed once a step"
                                            : "nothing to share out";
    constexpr std::array<const char*, kZeroStages> kShares{"", "the optimizer is shared out",
                                                           "the gradients as well", "the weights as well"};
    return kShares[static_cast<std::size_t>(r.zero)];
}

void write_words(ZeroRungs& all) {
    const ZeroRung* before = nullptr;
    for (ZeroRung& r : all.rung) {
        if (!r.possible()) continue;
        r.held_words = held_words_of(all, r);
        if (before != nullptr && before->sent_bytes > 0 && all.ranks > 1) {
            const std::string why = why_words(*before, r);
            r.wire_words = difference_words(*before, r) + (why.empty() ? "" : ": " + why);
        }
        before = &r;
    }
}

}  // namespace

bool ZeroRungs::adds_up(const ZeroRung& of, std::size_t part) const {
    const double whole = rung[0].possible() ? part_bytes(rung[0].held, part) : 0;
    const double sum = part_bytes(of.held, part) * static_cast<double>(ranks);
    return whole > 0 && std::abs(sum - whole) <= 0.001 * whole;
}

bool ZeroRungs::any_possible() const {
    return std::any_of(rung.begin(), rung.end(), [](const ZeroRung& r) { return r.possible(); });
}

ZeroRungs zero_rungs(const Plan& plan, const Evaluation& evaluation) {
    ZeroRungs out;
    const Degrees degrees = degrees_of(plan, evaluation.mesh);
    out.own = std::clamp(plan.layout.zero, 0, 3);
    out.ranks = degrees.dense_shard;
    if (evaluation.mesh.has_experts) out.experts = degrees.expert_shard;
    out.hbm = plan.cluster.gpu.hbm_bytes;
    std::array<Evaluation, kZeroStages> made;
    std::array<const Evaluation*, kZeroStages> of{};
    const Evaluation* first = evaluation.valid ? &evaluation : nullptr;
    for (std::size_t i = 0; i < kZeroStages; ++i) {
        ZeroRung& r = out.rung[i];
        r.zero = static_cast<int>(i);
        r.plan = with_zero(plan, r.zero);
        of[i] = r.zero == plan.layout.zero ? &evaluation : &made[i];
        if (of[i] == &made[i]) evaluate(r.plan, made[i]);
        if (!of[i]->valid) r.refused = first_error(of[i]->problems);
        r.lacks = lacks_text(plan, r.plan);
        if (first == nullptr && of[i]->valid) first = of[i];
    }
    if (first == nullptr) return out;
    out.stage = first->memory.peak_stage;
    out.stages = static_cast<int>(first->memory.stage.size());
    out.sender = rows_device_text(first->comm);
    for (std::size_t i = 0; i < kZeroStages; ++i)
        if (of[i]->valid) fill_rung(*of[i], out.stage, out.rung[i]);
    write_words(out);
    return out;
}

}  // namespace pentamesh
