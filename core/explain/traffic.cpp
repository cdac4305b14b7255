#include "core/explain/traffic.h"

#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/pipeline/stages.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

// Returns the ranks of a block: a product of the mesh's inner factors, the last of them in part, so that no
// digit of a rank straddles a block's edge.
std::int64_t block_size(const Mesh& mesh, bool expert, int most_blocks) {
    EnumArray<Axis, Factor> factors = expert ? mesh.expert : mesh.dense;
    std::sort(factors.begin(), factors.end(),
              [](const Factor& a, const Factor& b) { return a.stride < b.stride; });
    for (const Factor& f : factors) {
        if (f.size <= 1) continue;
        for (std::int64_t part = 1; part <= f.size; ++part)
            if (f.size % part == 0 && mesh.world / (f.stride * part) <= most_blocks) return f.stride * part;
    }
    return std::max<std::int64_t>(mesh.world, 1);
}

// Holds the traffic inside one group, by block, counted from the block of its first rank.
class GroupPattern {
  public:
    GroupPattern(std::span<const Factor> factors, std::int64_t block, int blocks, std::int64_t degree)
        : degree_(degree), of_(static_cast<std::size_t>(degree)) {
        std::int64_t i = 0;
        for_each_sum(factors, [&](std::int64_t offset) { of_[i++] = static_cast<int>(offset / block); });
        const auto n = static_cast<std::size_t>(of_.back()) + 1;
        side_ = std::min<std::size_t>(n, static_cast<std::size_t>(blocks));
        bytes_.assign(side_ * side_, 0);
    }

    void send(std::int64_t from, std::int64_t to, double bytes) {
        bytes_[static_cast<std::size_t>(of_[from]) * side_ + static_cast<std::size_t>(of_[to])] += bytes;
    }

    // On each tier there is a ring of `ways` sub-groups: member i's next is the one whose digit is one more.
    void rings(const Route& route, double buffer) {
        double inside = 1;
        for (int p = 0; p < route.parts; ++p) {
            const RoutePart& part = route.part[p];
            const double sent = (part.ways - 1) / part.ways * buffer / inside;
            // If domains cut a group unevenly the last sub-group is smaller, and so is its ring.
            const std::int64_t step = std::llround(inside);
            const auto ways = static_cast<std::int64_t>(std::ceil(part.ways - 1e-9));
            inside *= part.ways;
            if (sent <= 0) continue;
            for (std::int64_t i = 0; i < degree_; ++i) {
                const std::int64_t digit = i / step % ways;
                const std::int64_t next = digit + 1 < ways ? i + step : degree_;
                send(i, next < degree_ ? next : i - digit * step, sent);
            }
        }
    }

    // Only `slow_share` of the bytes that would cross the first tier's edge does so. The row keeps its sum:
    // sent bytes count every copy. Pairs of members are counted by block, so that a group costs its members,
    // not their pairs.
    void everyone(const Route& route, double sent, double slow_share) {
        const std::int64_t near = std::max<std::int64_t>(std::llround(route.part[0].members), 1);
        const double n = static_cast<double>(degree_), m = static_cast<double>(near);
        const double weight = (m - 1) + (n - m) * slow_share;
        if (weight <= 0) return;
        std::vector<std::int64_t> inside(side_ * side_);  // pairs inside one part of the first tier
        std::vector<std::int64_t> members(side_);
        for (std::int64_t first = 0; first < degree_; first += near) {
            const std::vector<Run> runs = runs_of(first, std::min(first + near, degree_));
            for (const Run& a : runs) {
                members[a.block] += a.members;
                for (const Run& b : runs) inside[a.block * side_ + b.block] += a.members * b.members;
                inside[a.block * side_ + a.block] -= a.members;  // a rank does not send to itself
            }
        }
        for (std::size_t a = 0; a < side_; ++a)
            for (std::size_t b = 0; b < side_; ++b) {
                const std::int64_t close = inside[a * side_ + b];
                const std::int64_t far = members[a] * members[b] - close - (a == b ? members[a] : 0);
                bytes_[a * side_ + b] +=
                    sent / weight * (static_cast<double>(close) + static_cast<double>(far) * slow_share);
            }
    }

    void neighbours(double sent, bool backward, bool wraps) {
        for (std::int64_t i = 0; i < degree_; ++i) {
            const std::int64_t to = backward ? i - 1 : i + 1;
            if (to >= 0 && to < degree_)
                send(i, to, sent);
            else if (wraps)
                send(i, (to + degree_) % degree_, sent);
        }
    }

    void add_to(TrafficMatrix& out, std::size_t base, double times) const {
        const auto n = static_cast<std::size_t>(out.blocks);
        for (std::size_t i = 0; i < side_ && base + i < n; ++i)
            for (std::size_t j = 0; j < side_ && base + j < n; ++j)
                out.bytes[(base + i) * n + base + j] += bytes_[i * side_ + j] * times;
    }

    [[nodiscard]] std::int64_t degree() const { return degree_; }

  private:
    struct Run {  // members in a row that lie in one block
        std::size_t block;
        std::int64_t members;
    };
    [[nodiscard]] std::vector<Run> runs_of(std::int64_t from, std::int64_t to) const {
        std::vector<Run> runs;
        for (std::int64_t i = from; i < to; ++i) {
            const auto block = static_cast<std::size_t>(of_[static_cast<std::size_t>(i)]);
            if (runs.empty() || runs.back().block != block) runs.push_back({block, 0});
            ++runs.back().members;
        }
        return runs;
    }

    std::int64_t degree_;
    std::vector<int> of_;  // block of a member
    std::size_t side_ = 0;
    std::vector<double> bytes_;
};

// Returns true if chunks of loops go round: the last stage sends to the first.
bool wraps(const Plan& plan) {
    return virtual_stages_of(plan.layout) > 1
           && traits_of(plan.layout.schedule).placement == StagePlacement::loop;
}

void add_operation(const Plan& plan, const Route& whole, const Operation& o, GroupPattern& pattern) {
    const double calls = o.count_per_step;
    if (o.group == GroupKind::pp && o.unit == Unit::boundary) {
        pattern.neighbours(o.sent_bytes_per_rank, o.phase == Phase::backward, wraps(plan));
        return;
    }
    if (o.group == GroupKind::pp) {  // tied embeddings: the first and the last stage
        pattern.send(0, pattern.degree() - 1, o.sent_bytes_per_rank);
        pattern.send(pattern.degree() - 1, 0, o.sent_bytes_per_rank);
        return;
    }
    const double n = static_cast<double>(o.group_size);
    const Route route = n < whole.degree ? within(whole, n) : whole;
    switch (o.collective) {
    case Collective::all_reduce: pattern.rings(route, 2 * calls * o.message_bytes); break;
    case Collective::all_gather:
    case Collective::reduce_scatter: pattern.rings(route, calls * o.message_bytes); break;
    case Collective::all_to_all: pattern.everyone(route, o.sent_bytes_per_rank, o.slow_share); break;
    case Collective::send_recv: pattern.neighbours(o.sent_bytes_per_rank, false, true); break;
    }
}

}  // namespace

TrafficMatrix traffic_matrix(const Plan& plan, const Evaluation& e, GroupKind group, int most_blocks) {
    TrafficMatrix out;
    out.group = group;
    const Split split = split_factors(e.mesh, group);
    if (e.mesh.world < 1 || split.degree <= 1) return out;
    out.world = e.mesh.world;
    out.block = block_size(e.mesh, is_expert(group), std::max(most_blocks, 2));
    out.blocks = static_cast<int>(out.world / out.block);
    out.bytes.assign(static_cast<std::size_t>(out.blocks) * static_cast<std::size_t>(out.blocks), 0);

    GroupPattern pattern(split.group.span(), out.block, out.blocks, split.degree);
    const Route whole = find_route(plan, e.mesh, e.groups[group]);
    for (const Operation& o : e.comm.operations)
        if (o.group == group && !o.on_other_stage) add_operation(plan, whole, o, pattern);

    // Groups whose first ranks lie in one block have the same pattern; the rest are the same, moved by whole
    // blocks.
    Factors inner, outer;
    for (const Factor& f : split.rest.span()) {
        if (f.stride >= out.block) {
            outer.push(f);
        } else if (f.stride * f.size <= out.block) {
            inner.push(f);
        } else {
            inner.push({out.block / f.stride, f.stride});
            outer.push({f.size * f.stride / out.block, out.block});
        }
    }
    double alike = 1;
    for (const Factor& f : inner.span()) alike *= static_cast<double>(f.size);
    for_each_sum(outer.span(), [&](std::int64_t first) {
        pattern.add_to(out, static_cast<std::size_t>(first / out.block), alike);
    });
    out.most = *std::max_element(out.bytes.begin(), out.bytes.end());
    if (out.most <= 0) {
        out = {};
        out.group = group;
    }
    return out;
}

namespace {

std::int64_t degree_in(const Mesh& mesh, GroupKind kind) {
    std::int64_t degree = 1;
    const GroupFactors f = group_factors(mesh, kind);
    for (const Factor& x : f.span()) degree *= x.size;
    return degree;
}

bool has_pipeline(GroupKind kind) {
    return kind == GroupKind::pp || kind == GroupKind::mp;
}

// Returns true if a device of that stage makes the calls of a row.
bool makes(const Plan& plan, const Evaluation& e, const Operation& o, std::int64_t stage) {
    const Stages& s = e.comm.stages;
    if (s.empty() || stage >= s.devices) return true;
    const StageContents& c = s.contents(static_cast<int>(stage));
    const auto moe = c.moe_layers + moe_of_mtp(plan.model, c.mtp_layers);
    if (is_expert(o.group) && moe == 0) return false;
    switch (o.scope) {
    case Scope::embedding: return c.embedding;
    case Scope::head: return c.head;
    case Scope::step: return true;
    case Scope::layer: break;
    }
    if (o.types == 0) return true;
    for (LayerMask m = o.types; m != 0; m &= m - 1)
        if (c.with_mtp(std::countr_zero(m), s.mtp_type) > 0) return true;
    return false;
}

void add_operations(const Plan& plan, const Evaluation& e, GroupKind kind, std::int64_t stage,
                    std::vector<int>& out) {
    const auto& rows = e.comm.operations;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].group == kind && (has_pipeline(kind) || makes(plan, e, rows[i], stage)))
            out.push_back(static_cast<int>(i));
}

AxisSpread spread_over(const Mesh& mesh, GroupKind kind, std::int64_t degree,
                       const std::vector<std::int64_t>& ranks) {
    std::vector<std::int64_t> groups;
    groups.reserve(ranks.size());
    for (const std::int64_t r : ranks) groups.push_back(group_index(mesh, kind, r));
    std::sort(groups.begin(), groups.end());
    AxisSpread s{kind, degree, 0, 0, 0};
    for (std::size_t i = 0; i < groups.size();) {
        const auto end = static_cast<std::size_t>(
            std::upper_bound(groups.begin() + static_cast<std::ptrdiff_t>(i), groups.end(), groups[i])
            - groups.begin());
        ++s.groups;
        if (static_cast<std::int64_t>(end - i) > s.most) {
            s.most = static_cast<std::int64_t>(end - i);
            s.most_in = groups[i];
        }
        i = end;
    }
    return s;
}

// Returns the axes on which all ranks have the first one's coordinate.
EnumArray<Axis, bool> same_of(const EnumArray<Axis, Factor>& factors,
                              const std::vector<std::int64_t>& ranks) {
    EnumArray<Axis, bool> same{};
    for (std::size_t a = 0; a < kAxisCount; ++a) {
        const Factor& f = factors[a];
        const auto at = [&](std::int64_t r) { return r / f.stride % f.size; };
        same[a] = f.size > 1 && std::all_of(ranks.begin(), ranks.end(), [&](std::int64_t r) {
                      return at(r) == at(ranks.front());
                  });
    }
    return same;
}

void find_place(const Plan& plan, const Mesh& mesh, Blame& b) {
    b.dense = dense_coordinates(mesh, b.ranks.front());
    b.same_dense = same_of(mesh.dense, b.ranks);
    if (mesh.has_experts) {
        b.expert = expert_coordinates(mesh, b.ranks.front());
        b.same_expert = same_of(mesh.expert, b.ranks);
    }
    if (b.same_dense[Axis::pp]) b.stage = b.dense[Axis::pp];
    const Cluster& cluster = plan.cluster;
    if (b.ranks.size() > 1) b.tier = tier_between(cluster, b.ranks.front(), b.ranks.back());
    for (int t = 0; t < static_cast<int>(cluster.tiers.size()); ++t) {
        const std::int64_t d = std::max<std::int64_t>(1, domain_of(cluster, t));
        const std::int64_t first = b.ranks.front() / d;
        b.domains.push_back(first == b.ranks.back() / d ? first : -1);
    }
    if (cluster.tiers.empty() || b.domains.front() >= 0) return;
    const std::int64_t node = std::max<std::int64_t>(1, domain_of(cluster, 0));
    if (node == 1) return;
    const auto shared = [&](double gpus) -> std::optional<std::int64_t> {
        const auto place = [&](std::int64_t r) {
            return static_cast<std::int64_t>(static_cast<double>(r % node) / gpus);
        };
        const std::int64_t first = place(b.ranks.front());
        const bool same =
            std::all_of(b.ranks.begin(), b.ranks.end(), [&](std::int64_t r) { return place(r) == first; });
        return same ? std::optional(first) : std::nullopt;
    };
    b.seat = shared(1);
    if (const double gpus = gpus_per_nic(cluster); gpus > 1) b.nic = shared(gpus);
}

}  // namespace

Blame blame(const Plan& plan, const Evaluation& e, std::vector<std::int64_t> ranks) {
    const Mesh& mesh = e.mesh;
    Blame b;
    b.ranks = std::move(ranks);
    find_place(plan, mesh, b);
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (!has_kind(mesh, kind)) continue;
        const std::int64_t degree = degree_in(mesh, kind);
        if (degree == 1) continue;
        b.spread.push_back(spread_over(mesh, kind, degree, b.ranks));
        if (b.spread.back().groups != 1) continue;
        std::vector<std::int64_t> members = group_members(mesh, kind, b.ranks.front());
        const auto same = std::find_if(b.groups.begin(), b.groups.end(),
                                       [&](const SharedGroup& g) { return g.members == members; });
        SharedGroup made;
        SharedGroup& g = same != b.groups.end() ? *same : made;
        add_operations(plan, e, kind, b.dense[Axis::pp], g.operations);
        if (same != b.groups.end()) {
            g.also.push_back(kind);
            continue;
        }
        g.kind = kind;
        g.index = b.spread.back().most_in;
        g.tier = tier_between(plan.cluster, members.front(), members.back());
        g.members = std::move(members);
        b.groups.push_back(std::move(made));
    }
    std::stable_sort(b.groups.begin(), b.groups.end(), [](const SharedGroup& x, const SharedGroup& y) {
        return x.members.size() < y.members.size();
    });
    for (const SharedGroup& g : b.groups)
        if (!g.operations.empty()) b.waiting.insert(b.waiting.end(), g.members.begin(), g.members.end());
    std::sort(b.waiting.begin(), b.waiting.end());
    b.waiting.erase(std::unique(b.waiting.begin(), b.waiting.end()), b.waiting.end());
    std::erase_if(b.waiting,
                  [&](std::int64_t r) { return std::binary_search(b.ranks.begin(), b.ranks.end(), r); });
    return b;
}

std::string shared_place_text(const Plan& plan, const Evaluation& e, const Blame& b) {
    std::string out;
    const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
    const auto tiers = b.domains.size();
    if (tiers > 0 && b.domains[0] >= 0)
        add(std::string(domain_name(plan.cluster)) + " " + with_commas(b.domains[0]));
    if (tiers > 2 && b.domains[1] >= 0) add("pod " + with_commas(b.domains[1]));
    if (b.seat)
        add("GPU " + std::to_string(*b.seat) + " of each " + std::string(domain_name(plan.cluster))
            + " (its rail)");
    else if (b.nic)
        add("NIC " + std::to_string(*b.nic) + " of each " + std::string(domain_name(plan.cluster))
            + " (their rail)");
    if (b.stage) add("pipeline stage " + with_commas(*b.stage));
    for (const Axis axis : all_of<Axis>()) {
        if (axis != Axis::pp && b.same_dense[axis])
            add(std::string(name_of(axis)) + " " + with_commas(b.dense[axis]));
    }
    if (!e.mesh.has_experts) return out;
    if (b.same_expert[Axis::ep]) add("ep " + with_commas(b.expert[Axis::ep]));
    if (b.same_expert[Axis::tp] && !(e.mesh.expert[Axis::tp] == e.mesh.dense[Axis::tp]))
        add("etp " + with_commas(b.expert[Axis::tp]));
    return out;
}

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
    if (o.group_size >= e.groups[o.group].degree || o.group == GroupKind::pp) return phases_over(whole, e, o);
    return phases_over(within(whole, static_cast<double>(o.group_size)), e, o);  // of a part of cp
}

}  // namespace pentamesh
