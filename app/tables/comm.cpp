#include "app/tables/comm.h"

#include "core/explain/collective_steps.h"
#include "core/mesh/mesh_factors.h"
#include "core/mesh/places.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>

namespace pentamesh {

Table comm_table(const Plan& plan, const Evaluation& e) {
    Table t;
    t.columns = {{"axis"},
                 {"scope"},
                 {"what"},
                 {"collective"},
                 {"ranks", Shown::count, "group_size"},
                 {"tier"},
                 {"phase"},
                 {"per"},
                 {"calls", Shown::count, "count_per_step"},
                 {"message", Shown::traffic, "message_bytes"},
                 {"sent per step", Shown::traffic, "sent_bytes_per_rank"},
                 {"time", Shown::seconds, "time_s"},
                 {"exposed", Shown::seconds, "exposed_s"},
                 {"hidden behind", Shown::words, "hidden_behind"}};
    for (const Operation& o : e.comm.operations)
        t.rows.push_back({name_of(o.group), name_of(o.scope), words_of(o.what), words_of(o.collective),
                          o.group_size, tier_name(plan.cluster, o.tier), name_of(o.phase), o.per,
                          whole_cell(o.count_per_step), whole_cell(o.message_bytes),
                          whole_cell(o.sent_bytes_per_rank), o.time_s, o.exposed_s,
                          name_of(o.hidden_behind)});
    return t;
}

Table traffic_table(const TrafficMatrix& m) {
    Table t;
    t.columns = {{"axis"}, {"from ranks"}, {"to ranks"}, {"sent per step", Shown::traffic, "bytes"}};
    const auto ranks = [&](int block) {
        const std::int64_t first = block * m.block;
        return std::to_string(first) + (m.block == 1 ? "" : " – " + std::to_string(first + m.block - 1));
    };
    for (int from = 0; from < m.blocks; ++from)
        for (int to = 0; to < m.blocks; ++to)
            if (m.at(from, to) > 0)
                t.rows.push_back({name_of(m.group), ranks(from), ranks(to), whole_cell(m.at(from, to))});
    return t;
}

Table phases_table(const Plan& plan, const Evaluation& e, int operation) {
    Table t;
    t.columns = {{"phase"},
                 {"tier"},
                 {"ranks", Shown::count},
                 {"members apart", Shown::count, "stride"},
                 {"steps", Shown::count},
                 {"bytes in a step", Shown::traffic, "chunk_bytes"},
                 {"time of a step", Shown::seconds, "step_s"}};
    const auto i = static_cast<std::size_t>(operation);
    if (i >= e.comm.operations.size()) return t;
    for (const CollectivePhase& p : collective_phases(plan, e, e.comm.operations[i]))
        t.rows.push_back({name_of(p.shape), tier_name(plan.cluster, p.tier), p.ranks, p.stride, p.steps,
                          whole_cell(p.chunk_bytes), p.step_s});
    return t;
}

std::string_view meaning_of(GroupKind kind, int zero) {
    const auto stage = static_cast<std::size_t>(std::clamp(zero, 0, 3));
    static constexpr std::array<std::string_view, 4> kShards{
        "data parallel: other parts of the batch", "data parallel, ZeRO-1: parts of the optimizer state",
        "data parallel, ZeRO-2: parts of the optimizer state and of the gradients",
        "data parallel, ZeRO-3 (FSDP): parts of optimizer state, gradients and parameters"};
    static constexpr std::array<std::string_view, 4> kShardsOfContext{
        "dp_shard and context parallel: nothing is shared out without ZeRO",
        "ranks that ZeRO-1 shares the state out over: dp_shard and context parallel",
        "ranks that ZeRO-2 shares the state out over: dp_shard and context parallel",
        "ranks that ZeRO-3 (FSDP) shares the state out over: dp_shard and context parallel"};
    switch (kind) {
    case GroupKind::tp: return "tensor parallel: parts of each matrix";
    case GroupKind::cp: return "context parallel: parts of each sequence";
    case GroupKind::pp: return "pipeline: stages of the layers";
    case GroupKind::dp_shard: return kShards[stage];
    case GroupKind::dp_replicate: return "replicated data parallel: copies of the model";
    case GroupKind::dp: return "all data parallelism: dp_shard and dp_replicate";
    case GroupKind::dp_cp: return "ranks that sum gradients: data and context parallel";
    case GroupKind::fsdp: return kShardsOfContext[stage];
    case GroupKind::tp_cp: return "ranks that share a layer's work on a sequence: tp and cp";
    case GroupKind::mp: return "model parallel: tp and pp, one copy of the model";
    case GroupKind::gtp_remat:
        return "ranks that cut each matrix further than tp does, and gather it for each pass";
    case GroupKind::dp_without_gtp_remat:
        return "data parallel ranks that keep the same shard of each matrix";
    case GroupKind::dp_cp_without_gtp_remat:
        return "ranks that sum gradients of a shard: data and context parallel";
    case GroupKind::etp: return "tensor parallel inside an expert";
    case GroupKind::ep: return "expert parallel: other experts on each rank";
    case GroupKind::edp: return "data parallel of the experts: copies of the same experts";
    case GroupKind::etp_ep: return "all ranks that share one copy of the experts: etp and ep";
    }
    return "";
}

namespace {

// Returns "0, 1, 2, 3"; more than eight equally spaced ranks are folded: "0, 8, 16 … 1016 (128)".
std::string folded_ranks(std::span<const std::int64_t> ranks) {
    constexpr std::size_t kMost = 8, kFirst = 3;
    bool even = ranks.size() > kMost;
    for (std::size_t i = 2; i < ranks.size() && even; ++i)
        even = ranks[i] - ranks[i - 1] == ranks[1] - ranks[0];
    std::string out;
    for (std::size_t i = 0; i < (even ? kFirst : ranks.size()); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (even) out += " … " + std::to_string(ranks.back()) + " (" + std::to_string(ranks.size()) + ")";
    return out;
}

// Returns the kinds that have this group: "tp", "dp_cp = dp".
std::string kinds_text(const SharedGroup& group) {
    std::string text(name_of(group.kind));
    for (const GroupKind kind : group.also) text += " = " + std::string(name_of(kind));
    return text;
}

}  // namespace

std::vector<GroupKind> kinds_of(const Evaluation& e) {
    std::vector<GroupKind> kinds;
    for (int i = 0; i < kGroupKindCount; ++i) {
        const auto kind = static_cast<GroupKind>(i);
        if ((!is_expert(kind) || e.mesh.has_experts)
            && (!is_of_weight_shards(kind) || e.mesh.weight_shards > 1))
            kinds.push_back(kind);
    }
    return kinds;
}

Table groups_table(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds, bool alone) {
    Table t;
    t.columns = {{"axis"},
                 {"ranks", Shown::count, "degree"},
                 {"groups", Shown::count},
                 {"slowest tier", Shown::words, "slowest_tier"}};
    const std::size_t tiers = std::min<std::size_t>(plan.cluster.tiers.size(), kMaxTiers);
    for (std::size_t i = 0; i < tiers; ++i)
        t.columns.push_back({"over " + plan.cluster.tiers[i].name, Shown::count});
    t.columns.push_back({"ranks in the fast domain", Shown::count, "per_fast_domain"});
    t.columns.push_back({"groups sharing a fast domain", Shown::count, "sharing_node"});
    t.columns.push_back({"collectives"});
    t.columns.push_back({"means"});
    if (!e.valid || e.mesh.world <= 0) return t;
    for (const GroupKind kind : kinds) {
        const GroupSummary& g = e.groups[kind];
        if (g.groups == 0 || (g.degree <= 1 && !alone)) continue;
        const bool off = g.degree <= 1;  // each rank for itself: no groups to count
        Table::Row row{name_of(kind), g.degree, off ? Cell("off") : Cell(g.groups),
                       off ? "" : tier_name(plan.cluster, g.slowest_tier)};
        for (std::size_t i = 0; i < tiers; ++i) row.push_back(off ? Cell("") : Cell(g.by_tier[i]));
        row.push_back(g.per_fast_domain);
        row.push_back(g.sharing_node);
        std::string collectives;
        for (const Operation& op : e.comm.operations)
            if (op.group == kind && collectives.find(words_of(op.collective)) == std::string::npos)
                collectives += (collectives.empty() ? "" : " + ") + std::string(words_of(op.collective));
        row.push_back(std::move(collectives));
        row.emplace_back(meaning_of(kind, zero_in_force(plan)));
        t.rows.push_back(std::move(row));
    }
    return t;
}

Table ranks_table(const Evaluation& e, std::span<const GroupKind> kinds, std::size_t most,
                  const Hosts& hosts) {
    Table t;
    t.columns = {{"axis"}, {"group", Shown::count}, {"ranks"}};
    if (!hosts.names.empty()) t.columns.push_back({"hosts"});
    if (!e.valid || e.mesh.world <= 0) return t;
    for (const GroupKind kind : kinds) {
        const GroupSummary& g = e.groups[kind];
        if (g.degree <= 1) continue;
        std::int64_t group = 0;
        const Factors rest = split_factors(e.mesh, kind).rest;
        for_each_sum(rest.span(), [&](std::int64_t first) {
            if (t.rows.size() >= most) {
                ++t.left_out;
                return;
            }
            const std::vector<std::int64_t> members = group_members(e.mesh, kind, first);
            t.rows.push_back({name_of(kind), group++, folded_ranks(members)});
            if (!hosts.names.empty()) t.rows.back().push_back(hosts_text(hosts, members));
        });
    }
    return t;
}

Table shared_groups_table(const Plan& plan, const Blame& blame) {
    Table t;
    t.columns = {{"axis"},
                 {"group", Shown::count},
                 {"GPUs", Shown::count, "degree"},
                 {"others that wait", Shown::count, "others"},
                 {"slowest tier", Shown::words, "slowest_tier"},
                 {"ranks"}};
    for (const SharedGroup& g : blame.groups)
        t.rows.push_back({kinds_text(g), g.index, g.members.size(), g.members.size() - blame.ranks.size(),
                          tier_name(plan.cluster, g.tier), folded_ranks(g.members)});
    return t;
}

Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame) {
    Table t;
    t.columns = {
        {"axis"}, {"collective"}, {"of"}, {"in", Shown::words, "phase"}, {"once per", Shown::words, "per"},
        {"over"}};
    for (const SharedGroup& g : blame.groups)
        for (const int i : g.operations) {
            const Operation& o = e.comm.operations[static_cast<std::size_t>(i)];
            t.rows.push_back({name_of(o.group), words_of(o.collective), words_of(o.what), name_of(o.phase),
                              o.per, tier_name(plan.cluster, g.tier)});
        }
    return t;
}

Table spread_table(const Blame& blame) {
    Table t;
    t.columns = {{"axis"},
                 {"GPUs a group", Shown::count, "degree"},
                 {"groups with any of them", Shown::count, "groups"},
                 {"most in one", Shown::count, "most"},
                 {"that is group", Shown::count, "most_in"}};
    for (const AxisSpread& s : blame.spread)
        t.rows.push_back({name_of(s.kind), s.degree, s.groups, s.most, s.most_in});
    return t;
}

}  // namespace pentamesh
