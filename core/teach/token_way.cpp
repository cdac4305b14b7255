#include "core/teach/token_way.h"

#include "core/layer/layer_words.h"
#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pentamesh {

namespace {

// Chosen so that the token of rank 0 has experts away from home in the plans that the lessons show.
constexpr std::uint64_t kSalt = 45;

// Returns well mixed bits of a number (splitmix64, Steele et al. 2014).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

// Returns experts by falling score; of equal ones the first comes first.
std::vector<std::int64_t> by_score(std::span<const double> scores) {
    std::vector<std::int64_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
        return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    return order;
}

}  // namespace

std::vector<double> made_up_scores(std::int64_t experts, std::uint64_t seed) {
    std::vector<double> out;
    double sum = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
        const std::uint64_t bits = mixed(mixed(seed + kSalt) ^ static_cast<std::uint64_t>(e));
        const double u = (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;  // in (0, 1)
        // A softmax over these logits, -log(-log u), is 1 / -log u over its sum; the root flattens it.
        out.push_back(1 / std::sqrt(-std::log(u)));
        sum += out.back();
    }
    for (double& s : out) s /= sum;
    return out;
}

std::vector<std::int64_t> pick_experts(std::span<const double> scores, std::int64_t top_k,
                                       std::span<const std::int64_t> node, std::int64_t most_nodes) {
    const std::vector<std::int64_t> order = by_score(scores);
    const auto node_of = [&](std::int64_t e) { return node[static_cast<std::size_t>(e)]; };
    std::vector<std::int64_t> nodes(node.begin(), node.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::vector<std::int64_t> out;
    if (most_nodes > 0 && most_nodes < std::ssize(nodes)) {
        const std::int64_t each = std::max<std::int64_t>(1, top_k / most_nodes);
        std::vector<double> worth;
        for (const std::int64_t n : nodes) {
            std::int64_t left = each;
            double sum = 0;
            for (const std::int64_t e : order)
                if (left > 0 && node_of(e) == n) sum += scores[static_cast<std::size_t>(e)], --left;
            worth.push_back(sum);
        }
        std::vector<std::int64_t> best;
        for (const std::int64_t i : by_score(worth)) best.push_back(nodes[static_cast<std::size_t>(i)]);
        // Nodes that hold too few experts for one token are joined by the next.
        const auto held = [&](std::int64_t n) { return std::ranges::count(node, n); };
        std::int64_t taken = 0, experts = 0;
        while (taken < std::ssize(best) && (taken < most_nodes || experts < top_k))
            experts += held(best[static_cast<std::size_t>(taken++)]);
        nodes.assign(best.begin(), best.begin() + taken);
    }
    for (const std::int64_t e : order)
        if (std::ssize(out) < top_k && std::ranges::find(nodes, node_of(e)) != nodes.end()) out.push_back(e);
    return out;
}

bool TokenWay::reaches(std::size_t drawer) const {
    return std::ranges::any_of(picks, [&](const TokenPick& p) { return p.drawer == drawer; });
}

std::int64_t TokenWay::nodes_reached() const {
    std::vector<std::int64_t> reached;
    for (const TokenPick& p : picks) reached.push_back(drawers[p.drawer].node);
    std::ranges::sort(reached);
    return std::unique(reached.begin(), reached.end()) - reached.begin();
}

std::int64_t TokenWay::ways() const {
    return std::ssize(drawers) * (std::ssize(drawers) - 1);
}

double TokenWay::idle_share(std::size_t drawer) const {
    const double longest = drawers[hot].load;
    return longest > 0 ? 1 - drawers[drawer].load / longest : 0;
}

TokenWay token_way(const Plan& plan, const Evaluation& evaluation, std::int64_t rank,
                   std::span<const double> loads) {
    TokenWay out;
    const Mesh& mesh = evaluation.mesh;
    if (!plan.model.moe || !mesh.has_experts || mesh.world <= 0) return out;
    const Moe& moe = *plan.model.moe;
    rank = std::clamp<std::int64_t>(rank, 0, mesh.world - 1);
    const Degrees degrees = degrees_of(plan, mesh);
    out.experts = moe.experts, out.top_k = std::clamp<std::int64_t>(moe.top_k, 0, moe.experts);
    out.shared = moe.shared_experts;
    out.etp = mesh.expert[Axis::tp].size;
    out.most_nodes = moe.max_nodes_per_token;
    out.comm = plan.layout.ep_comm;
    // Ranks of tensor parallelism each send a part of the tokens that they share, and the ranks that cut an
    // expert bring different ones (core/layer/parts.cpp, expert_calls).
    const Training& t = plan.training;
    out.tokens = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length)
                 / static_cast<double>(degrees.cp) / static_cast<double>(degrees.tp);
    out.mean_tokens = out.tokens * static_cast<double>(out.top_k) * static_cast<double>(degrees.etp);

    const std::vector<std::int64_t> members = group_members(mesh, GroupKind::ep, rank);
    const std::int64_t domain = node_size(mesh, plan.cluster), parts = std::ssize(members);
    const bool known = std::ssize(loads) == out.experts;
    double sum = 0;
    std::vector<std::int64_t> node_of_expert(static_cast<std::size_t>(out.experts));
    for (std::int64_t i = 0; i < parts; ++i) {
        TokenDrawer d{members[static_cast<std::size_t>(i)], 0, experts_of(out.experts, parts, i), 0, 0};
        d.node = d.rank / std::max<std::int64_t>(1, domain);
        for (std::int64_t e = d.experts.begin; e < d.experts.end; ++e) {
            d.load += known ? loads[static_cast<std::size_t>(e)] : 1.0;
            node_of_expert[static_cast<std::size_t>(e)] = d.node;
        }
        sum += d.load;
        if (d.rank == rank) out.own = out.drawers.size();
        out.drawers.push_back(d);
    }
    const double mean = sum / static_cast<double>(parts);
    for (TokenDrawer& d : out.drawers) {
        d.load = mean > 0 ? d.load / mean : 1;
        d.tokens = d.load * out.mean_tokens;
    }
    const auto load = [](const TokenDrawer& d) { return d.load; };
    out.hot = static_cast<std::size_t>(std::ranges::max_element(out.drawers, {}, load) - out.drawers.begin());
    out.even = out.drawers[out.hot].load <= 1 + 1e-9;
    std::vector<std::int64_t> nodes;
    for (const TokenDrawer& d : out.drawers) nodes.push_back(d.node);
    std::ranges::sort(nodes);
    out.nodes = std::unique(nodes.begin(), nodes.end()) - nodes.begin();

    for (const std::int64_t other : group_members(mesh, GroupKind::edp, rank))
        if (out.copies.empty() && other > rank) out.copies = group_members(mesh, GroupKind::ep, other);

    out.scores = made_up_scores(out.experts, static_cast<std::uint64_t>(rank));
    double weights = 0;
    for (const std::int64_t e : pick_experts(out.scores, out.top_k, node_of_expert, out.most_nodes)) {
        const double weight = out.scores[static_cast<std::size_t>(e)];
        out.picks.push_back({e, static_cast<std::size_t>(owner_of_expert(out.experts, parts, e)), weight});
        weights += weight;
    }
    for (TokenPick& p : out.picks) p.weight /= weights;
    return out;
}

std::vector<std::size_t> drawers_to_draw(const TokenWay& way, std::size_t most) {
    std::vector<std::size_t> out;
    const auto add = [&](std::size_t i) {
        if (out.size() < most && std::ranges::find(out, i) == out.end()) out.push_back(i);
    };
    if (way.size() <= most) {
        for (std::size_t i = 0; i < way.size(); ++i) out.push_back(i);
        return out;
    }
    add(way.own);
    if (!way.even) add(way.hot);
    for (const TokenPick& p : way.picks) add(p.drawer);
    std::ranges::sort(out);
    return out;
}

TokenCosts token_costs(const Plan& plan, const Evaluation& evaluation) {
    TokenCosts out;
    if (!plan.model.moe || !evaluation.valid) return out;
    LayerCalls all, repeated;
    for (const Operation& o : evaluation.comm.operations) {
        if (o.group != GroupKind::ep || o.types == 0) continue;
        all.add(o);
        if (o.recomputed) repeated.add(o);
        if (out.sends || !goes_to_experts(o.what) || o.phase != Phase::forward) continue;
        out.sends = true;
        out.collective = o.collective;
        out.tier = o.tier;
        out.sent_bytes = sent_bytes(o.collective, o.group_size, o.message_bytes);
        out.call_s = o.call_s;
    }
    out.calls = all.most(), out.repeated = repeated.most();
    out.time_s = evaluation.comm.by_axis[GroupKind::ep].time_s;
    if (evaluation.step) {
        out.step_s = evaluation.step->time_s;
        out.waits_s = evaluation.step->exposed_comm_s[GroupKind::ep];
    }
    out.peak_bytes = evaluation.memory.peak(), out.hbm_bytes = evaluation.memory.hbm;

    out.imbalance = plan.training.router_imbalance;
    out.other_imbalance = out.imbalance > 1 ? 1 : kUnevenLoad;
    if (!out.sends) return out;
    Plan other = plan;
    other.training.router_imbalance = out.other_imbalance;
    const Evaluation e = evaluate(other);
    if (!e.valid) return out;
    if (e.step) out.other_step_s = e.step->time_s;
    out.other_peak_bytes = e.memory.peak();
    return out;
}

}  // namespace pentamesh
