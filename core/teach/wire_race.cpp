#include "core/teach/wire_race.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/changes.h"
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

}  // namespace pentamesh
