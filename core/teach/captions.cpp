#include "core/teach/captions.h"

#include "core/base/text.h"
#include "core/mesh/failure.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh {
namespace {

std::string where_text(const Plan& plan, const GroupSummary& s) {
    if (s.by_tier[0] == s.groups) return sentence("all inside ", tier_name(plan.cluster, 0));
    const std::string_view slow = tier_name(plan.cluster, s.slowest_tier);
    if (s.by_tier[0] == 0) return sentence("all across ", slow);
    return sentence(s.by_tier[0], " inside ", tier_name(plan.cluster, 0), ", ", s.groups - s.by_tier[0],
                    " across ", slow);
}

// Collects an axis' calls in every layer; where it has none there, all its calls. Calls that are not counted
// by the layer (messages between stages, the shards of a layer that a step gathers) are left out where a
// layer has calls.
void collect_calls(const Evaluation& e, GroupKind group, AxisCaption& out) {
    const auto of_layer = [](const Operation& o) {
        return o.unit == Unit::every_layer || o.unit == Unit::dense_layer || o.unit == Unit::moe_layer;
    };
    const auto in_layer = [&](const Operation& o) { return o.group == group && of_layer(o); };
    const auto& all = e.comm.operations;
    const bool layers = std::any_of(all.begin(), all.end(), in_layer);
    LayerCalls calls;
    for (const Operation& o : all) {
        if (o.group != group || (layers && !of_layer(o))) continue;
        if (std::find(out.collectives.begin(), out.collectives.end(), o.collective) == out.collectives.end())
            out.collectives.push_back(o.collective);
        if (o.unit == Unit::boundary) out.calls_per_boundary = 2;  // of two stages each has one of them
        calls.add(o);
        if (!o.on_other_stage) out.calls_per_step += o.count_per_step;
    }
    if (layers) out.calls_per_layer = calls.most();
}

std::int64_t position_in_group(const GroupFactors& f, std::int64_t rank) {
    std::int64_t position = 0, below = 1;
    for (const Factor& x : f.span()) {
        position += rank / x.stride % x.size * below;
        below *= x.size;
    }
    return position;
}

std::int64_t member_at(const GroupFactors& f, std::int64_t first, std::int64_t position) {
    for (const Factor& x : f.span()) {
        first += position % x.size * x.stride;
        position /= x.size;
    }
    return first;
}

}  // namespace

GroupKind group_listed_under(const Evaluation& e, GroupKind kind) {
    if (kind != GroupKind::dp_shard && kind != GroupKind::dp_replicate && kind != GroupKind::dp) return kind;
    for (const GroupKind k : {kind, GroupKind::dp, GroupKind::fsdp, GroupKind::dp_cp, GroupKind::dp_shard,
                              GroupKind::dp_replicate})
        if (e.comm.by_axis[k].count > 0) return k;
    return kind;
}

AxisCaption caption_of(const Plan& plan, const Evaluation& e, GroupKind kind) {
    const GroupSummary& s = e.groups[kind];
    AxisCaption out;
    out.kind = kind;
    out.groups = s.groups;
    out.degree = s.degree;
    out.inside_fast = s.by_tier[0];
    out.slowest_tier = tier_name(plan.cluster, s.slowest_tier);
    if (s.degree <= 1) {
        out.where = sentence(name_of(kind), " is 1: it cuts nothing");
        return out;
    }
    out.where = sentence(count_text(s.groups, "group"), " of ", s.degree, ", ", where_text(plan, s));
    const GroupKind under = group_listed_under(e, kind);
    collect_calls(e, under, out);
    if (out.collectives.empty()) return out;
    for (const Collective c : out.collectives)
        out.talk += sentence(out.talk.empty() ? "" : " + ", words_of(c));
    if (e.groups[under].degree != s.degree)
        out.talk += sentence(" over ", name_of(under), " (", where_text(plan, e.groups[under]), ")");
    if (out.calls_per_layer > 0)
        out.talk += sentence(", ", whole_text(out.calls_per_layer), " per layer");
    else if (out.calls_per_boundary > 0)
        out.talk += sentence(", ", out.calls_per_boundary, " per micro-batch over every stage boundary, ",
                             whole_text(out.calls_per_step), " per step on ", rows_device_text(e.comm));
    else if (out.calls_per_step > 0)
        out.talk += sentence(", ", whole_text(out.calls_per_step), " per step on ", rows_device_text(e.comm));
    return out;
}

RankExplanation explain_rank(const Plan& plan, const Mesh& mesh, std::int64_t rank) {
    RankExplanation out;
    out.rank = rank;
    out.node = rank / node_size(mesh, plan.cluster);
    out.dense = dense_coordinates(mesh, rank);
    out.expert = expert_coordinates(mesh, rank);
    out.stage = out.dense[Axis::pp];
    out.text = sentence("Rank ", rank, ": node ", out.node, ", stage ", out.stage);
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const GroupFactors f = group_factors(mesh, kind);
        std::int64_t degree = 1;
        for (const Factor& x : f.span()) degree *= x.size;
        if (degree == 1) continue;
        const std::int64_t first = first_rank_of_group(mesh, kind, rank), at = position_in_group(f, rank);
        RankGroup g{kind, group_index(mesh, kind, rank), at, degree};
        g.previous = member_at(f, first, (at + degree - 1) % degree);
        g.next = member_at(f, first, (at + 1) % degree);
        g.tier = tier_between(plan.cluster, first, member_at(f, first, degree - 1));
        out.groups.push_back(g);
        if (f.count == 1 && kind != GroupKind::pp
            && (k <= static_cast<int>(GroupKind::pp) || kind == GroupKind::gtp_remat || is_expert(kind)))
            out.text +=
                sentence(out.groups.size() == 1 ? "; " : ", ", name_of(kind), " ", at, " of ", degree);
    }
    out.text += '.';
    return out;
}

}  // namespace pentamesh
