#include "core/explain/blame.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh {
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
        if (is_expert(kind) && !mesh.has_experts) continue;
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

}  // namespace pentamesh
