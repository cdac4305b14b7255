#include "core/decide/nodes.h"

#include "core/pipeline/schedules/schedule.h"

#include <algorithm>

namespace pentamesh {
namespace {

std::vector<RunChoice> runs_for(const SearchSpace& s, std::int64_t pp) {
    std::vector<RunChoice> out;
    for (const std::int64_t b : s.micro_batch)
        for (const RecomputeChoice& r : s.recompute) {
            if (pp == 1) {
                out.push_back({b, 1, r, Schedule::one_f_one_b});
                continue;
            }
            for (const Schedule k : s.schedule)
                for (const std::int64_t v : s.virtual_stages)
                    if (chunks_for(k, v) == v) out.push_back({b, v, r, k});
        }
    return out;
}

std::vector<ShardChoice> shards_for(const SearchSpace& s, std::int64_t dp) {
    std::vector<ShardChoice> out;
    for (const int zero : s.zero)
        for (const std::int64_t shard : s.dp_shard) {
            if (dp % shard != 0) continue;
            const std::int64_t replicate = dp / shard;
            if (std::binary_search(s.dp_replicate.begin(), s.dp_replicate.end(), replicate))
                out.push_back({zero, shard, replicate});
        }
    return out;
}

// Holds the axes of an order that have more than one rank, in each mesh.
struct Standing {
    std::vector<Axis> dense, expert;
    bool operator==(const Standing&) const = default;
};

// Both data-parallel axes count where there is data parallelism at all: their sizes in the expert mesh are
// another question.
Standing standing(const AxisOrder& order, const SearchNode& n, std::int64_t dp, bool experts) {
    Standing out;
    for (const Axis a : order) {
        const bool data = a == Axis::dp_shard || a == Axis::dp_replicate,
                   pipeline = a == Axis::pp && n.pp > 1;
        if (pipeline || (a == Axis::tp && n.tp > 1) || (a == Axis::cp && n.cp > 1) || (data && dp > 1))
            out.dense.push_back(a);
        if (experts && (pipeline || data || (a == Axis::tp && n.etp > 1) || (a == Axis::ep && n.ep > 1)))
            out.expert.push_back(a);
    }
    return out;
}

// Returns true if both data-parallel axes are neighbours, so that only their product moves the others.
bool side_by_side(const std::vector<Axis>& axes) {
    const auto a = std::find(axes.begin(), axes.end(), Axis::dp_shard);
    const auto b = std::find(axes.begin(), axes.end(), Axis::dp_replicate);
    return a == axes.end() || b - a == 1 || a - b == 1;
}

void add_orders(const SearchSpace& s, const SearchNode& like, std::int64_t dp, bool experts,
                const std::vector<ShardChoice>& shards, SearchNodes& out) {
    std::vector<Standing> seen;
    for (const AxisOrder& order : s.order) {
        Standing axes = standing(order, like, dp, experts);
        if (std::find(seen.begin(), seen.end(), axes) != seen.end()) continue;
        SearchNode n = like;
        n.order = order;
        if (side_by_side(axes.dense) && side_by_side(axes.expert)) {
            n.shards = shards;
            out.node.push_back(n);
        } else {
            for (const ShardChoice& one : shards) {
                n.shards = {one};
                out.node.push_back(n);
            }
        }
        seen.push_back(std::move(axes));
    }
}

LayoutChoice choice_of(const SearchNode& n, const RunChoice& r, const ShardChoice& q) {
    LayoutChoice c;
    c.tp = n.tp, c.cp = n.cp, c.pp = n.pp, c.ep = n.ep, c.etp = n.etp, c.order = n.order;
    c.virtual_stages = r.virtual_stages, c.schedule = r.schedule;
    c.micro_batch = r.micro_batch, c.recompute = r.recompute;
    c.zero = q.zero, c.dp_shard = q.dp_shard, c.dp_replicate = q.dp_replicate;
    return c;
}

// Takes out the layouts that the space's software does not run, and counts them.
class Sieve {
  public:
    Sieve(const Plan& plan, const SearchSpace& space) : plan_(plan), software_(space.software), laid_(plan) {}

    // Returns runs of pipelines of pp stages that the software has; a lack there holds for all their nodes.
    [[nodiscard]] std::vector<RunChoice> runs(const std::vector<RunChoice>& all, std::int64_t pp,
                                              std::int64_t ep) {
        Turned& turned = turned_.emplace_back();
        turned.all = all.size();
        std::vector<RunChoice> out;
        SearchNode like;
        like.pp = pp, like.ep = ep, like.order = plan_.layout.order;
        for (const RunChoice& r : all) {
            const std::optional<Lack> lack = lack_of(lacks_of_run, like, r, {});
            if (!lack)
                out.push_back(r);
            else if (++turned.count[*lack] == 1)
                turned.first[*lack] = r;
        }
        turned.any = all.empty() ? RunChoice{} : all.front();
        return out;
    }

    // Takes shardings out of the nodes, and then empty nodes.
    void nodes(SearchNodes& out) {
        if (!software_) return;
        for (SearchNode& n : out.node) sift(n);
        std::erase_if(out.node,
                      [&](const SearchNode& n) { return n.shards.empty() || out.runs_of(n).empty(); });
        for (const Lack l : all_of<Lack>())
            if (left_[l].count > 0) out.left_out.push_back(left_[l]);
    }

  private:
    struct Turned {  // of a list of runs
        EnumArray<Lack, std::uint64_t> count{};
        EnumArray<Lack, RunChoice> first{};
        RunChoice any;
        std::uint64_t all = 0;
    };

    template <typename Ask>
    std::optional<Lack> lack_of(const Ask& ask, const SearchNode& n, const RunChoice& r,
                                const ShardChoice& q) {
        if (!software_) return std::nullopt;
        lay_out(plan_, choice_of(n, r, q), laid_);
        return ask(laid_, *software_).first();
    }
    void leave_out(Lack lack, std::uint64_t count, const LayoutChoice& example) {
        LeftOut& l = left_[lack];
        if (l.count == 0) l.lack = lack, l.example = example;
        l.count += count;
    }

    void sift(SearchNode& n) {
        const Turned& turned = turned_[n.runs];
        std::erase_if(n.shards, [&](const ShardChoice& q) {
            const std::optional<Lack> lack = lack_of(lacks_of_ranks, n, turned.any, q);
            if (lack) leave_out(*lack, turned.all, choice_of(n, turned.any, q));
            return lack.has_value();
        });
        if (n.shards.empty()) return;
        for (const Lack l : all_of<Lack>())
            if (turned.count[l] > 0)
                leave_out(l, turned.count[l] * n.shards.size(),
                          choice_of(n, turned.first[l], n.shards.front()));
    }

    const Plan& plan_;
    const std::optional<Software> software_;
    Plan laid_;
    std::vector<Turned> turned_;  // by number of the list
    EnumArray<Lack, LeftOut> left_{};
};

// Takes out the shardings whose groups leave the tier that the space keeps them inside, and empty nodes.
void keep_inside(const Plan& plan, const SearchSpace& s, SearchNodes& out) {
    if (s.inside.empty()) return;
    Plan laid = plan;
    const auto leaves = [&](const SearchNode& n, const ShardChoice& q) {
        lay_out(plan, choice_of(n, {}, q), laid);
        const Mesh mesh = build_mesh(laid);
        return std::any_of(s.inside.begin(), s.inside.end(), [&](const Inside& one) {
            return summarize(mesh, laid.cluster, one.group).slowest_tier > one.tier;
        });
    };
    for (SearchNode& n : out.node)
        std::erase_if(n.shards, [&](const ShardChoice& q) { return leaves(n, q); });
    std::erase_if(out.node, [](const SearchNode& n) { return n.shards.empty(); });
}

}  // namespace

SearchNodes nodes_of(const Plan& plan, const SearchSpace& s) {
    SearchNodes out;
    Sieve sieve(plan, s);
    const std::int64_t gpus = plan.cluster.gpus;
    const bool experts = plan.model.moe.has_value();
    for (const std::int64_t pp : s.pp) {
        const std::vector<RunChoice> runs = runs_for(s, pp);
        // There is a list for nodes without expert parallelism, and one for those with it.
        for (const std::int64_t ep : {1, 2}) out.runs.push_back(sieve.runs(runs, pp, ep));
        for (const std::int64_t tp : s.tp)
            for (const std::int64_t cp : s.cp) {
                const std::int64_t room = gpus / tp / cp / pp;  // each is at most a million
                if (room < 1 || gpus % tp != 0 || gpus / tp % cp != 0 || gpus / tp / cp % pp != 0) continue;
                const std::vector<ShardChoice> shards = shards_for(s, room);
                if (shards.empty() || runs.empty()) continue;
                for (const std::int64_t ep : s.ep)
                    for (const std::int64_t etp : s.etp)
                        add_orders(s, {tp, cp, pp, ep, etp, {}, {}, out.runs.size() - (ep > 1 ? 1 : 2), 0},
                                   room, experts, shards, out);
            }
    }
    keep_inside(plan, s, out);
    sieve.nodes(out);
    for (SearchNode& n : out.node) {
        n.first = out.layouts;
        out.layouts += n.shards.size() * out.runs_of(n).size();
    }
    return out;
}

LayoutChoice SearchNodes::choice(const SearchNode& n, std::size_t run, std::size_t shard) const {
    return choice_of(n, runs_of(n)[run], n.shards[shard]);
}

LayoutChoice SearchNodes::choice(std::uint64_t index) const {
    const auto after = std::upper_bound(node.begin(), node.end(), index,
                                        [](std::uint64_t i, const SearchNode& n) { return i < n.first; });
    const SearchNode& n = *(after - 1);
    const auto at = static_cast<std::size_t>(index - n.first);
    return choice(n, at / n.shards.size(), at % n.shards.size());
}

}  // namespace pentamesh
