#include "core/explain/traffic.h"

#include "core/mesh/mesh_factors.h"
#include "core/pipeline/one_stage.h"

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
    const bool part = n < whole.degree;
    const bool replicas = part && o.collective == Collective::all_reduce;
    const Route route = !part ? whole : replicas ? beyond(whole, whole.degree / n) : within(whole, n);
    switch (o.collective) {
    case Collective::all_reduce:
        if (!replicas) pattern.rings(route, 2 * calls * o.message_bytes);
        break;
    case Collective::all_gather:
    case Collective::reduce_scatter: pattern.rings(route, calls * o.message_bytes); break;
    case Collective::all_to_all: pattern.everyone(route, o.sent_bytes_per_rank, o.slow_share); break;
    case Collective::send_recv: pattern.neighbours(o.sent_bytes_per_rank, false, true); break;
    }
    if (replicas) {  // one rank of each set of shards: a ring over the replicas
        const auto shards = static_cast<std::int64_t>(whole.degree / n);
        for (std::int64_t i = 0; i < pattern.degree(); ++i)
            pattern.send(i, (i + shards) % pattern.degree(), o.sent_bytes_per_rank);
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

}  // namespace pentamesh
