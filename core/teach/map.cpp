#include "core/teach/map.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

struct Builder {
    const Plan& plan;
    const Evaluation& e;
    MapStyle style;

    [[nodiscard]] std::int64_t degree(GroupKind k) const { return e.groups[k].degree; }
    [[nodiscard]] bool shards() const { return plan.layout.zero > 0 && degree(GroupKind::fsdp) > 1; }
    // Returns how long the step waits for an operation: its share of its axis' part.
    [[nodiscard]] double waits(const Operation& o) const {
        const double all = e.comm.by_axis[o.group].exposed_s;
        if (!e.step || all <= 0) return 0;
        return e.step->exposed_comm_s[o.group] * o.exposed_s / all;
    }
};

// Returns true if an operation is counted in a row. Gathers and scatters are sharding's, all-reduces are
// replication's.
bool belongs(const Operation& o, MapRowId id, MapStyle style) {
    switch (id) {
    case MapRowId::dp:
        return is_data_parallel(o.group)
               && (style == MapStyle::modifiers || o.collective == Collective::all_reduce);
    case MapRowId::zero: return is_data_parallel(o.group) && o.collective != Collective::all_reduce;
    case MapRowId::tp: return o.group == GroupKind::tp;
    case MapRowId::sp: return false;  // says what tp says, in halves
    case MapRowId::etp: return o.group == GroupKind::etp;
    case MapRowId::pp: return o.group == GroupKind::pp;
    case MapRowId::cp: return o.group == GroupKind::cp;
    case MapRowId::ep: return o.group == GroupKind::ep;
    }
    return false;
}

void add_traffic(const Builder& b, MapRow& row) {
    LayerCalls calls;
    double sharded = 0;
    std::array<double, 5> bytes{};  // by Collective
    for (const Operation& o : b.e.comm.operations) {
        if (o.on_other_stage || !belongs(o, row.id, b.style)) continue;
        bytes[static_cast<std::size_t>(o.collective)] += o.sent_bytes_per_rank;
        row.calls += o.count_per_step;
        row.sent_bytes += o.sent_bytes_per_rank;
        row.time_s += o.time_s;
        row.exposed_s += o.exposed_s;
        row.waits_s += b.waits(o);
        row.tier = std::max(row.tier, o.tier);
        row.sent_by_tier[std::clamp(o.tier, 0, kMaxTiers - 1)] += o.sent_bytes_per_rank;
        calls.add(o);
        if (o.unit == Unit::step && o.scope == Scope::layer && o.group != GroupKind::edp) sharded += 1;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] > row.sent_bytes * 0.01) row.collectives.push_back(static_cast<Collective>(i));
    std::stable_sort(row.collectives.begin(), row.collectives.end(), [&](Collective x, Collective y) {
        return bytes[static_cast<std::size_t>(x)] > bytes[static_cast<std::size_t>(y)];
    });
    row.calls_per_layer = sharded > 0 ? sharded : calls.most();
    if (row.id == MapRowId::pp && b.e.step)
        row.bubble_s = schedule_bubble_s(*b.e.step), row.uneven_s = b.e.step->uneven_s;
}

std::string often_text(const Builder& b, const MapRow& row) {
    if (row.calls <= 0) return std::string(words_of(row.id).often);
    if (row.id == MapRowId::pp) return "per micro-batch, both ways";
    if (row.calls_per_layer <= 0) return whole_text(row.calls) + " per step";
    const bool of_step = is_data_parallel(row.kind) && b.plan.layout.pp > 1;  // weights stay gathered
    return sentence(whole_text(row.calls_per_layer), row.id == MapRowId::ep ? " per MoE layer" : " per layer",
                    of_step ? " and step" : " and micro-batch");
}

// Says why an axis can be off, or what it means here that it is off.
std::string off_text(const Builder& b, const MapRow& row) {
    const Plan& p = b.plan;
    switch (row.id) {
    case MapRowId::dp:
        return b.shards() && b.style == MapStyle::own_rows ? "every rank shards: nothing is replicated"
                                                           : "one copy of the model";
    case MapRowId::zero:
        return p.layout.zero == 0 && b.degree(GroupKind::dp) > 1 ? "each replica keeps the whole state"
                                                                 : "one rank: nothing to share";
    case MapRowId::tp: return "every matrix is whole on its GPU";
    case MapRowId::sp:
        return p.layout.tp > 1 ? "each tp rank keeps whole inputs of norms" : "there is no tp to go with";
    case MapRowId::etp: return "each expert is whole on its GPU";
    case MapRowId::pp: return sentence("every GPU runs all ", count_text(p.model.layers, "layer"));
    case MapRowId::cp: return sentence("each GPU sees all ", p.training.sequence_length, " tokens");
    case MapRowId::ep:
        return p.model.moe ? sentence("every GPU has all ", p.model.moe->experts, " experts")
                           : "the model has no experts";
    }
    return {};
}

// Returns true for talk in every layer that leaves the fast domain, and cannot hide: tensor parallelism must
// avoid it.
bool leaves_fast_domain(const MapRow& row) {
    return (row.id == MapRowId::tp || row.id == MapRowId::etp) && row.tier > 0;
}

void judge(const Builder& b, MapRow& row) {
    if (row.degree <= 1) {
        row.verdict = Verdict::off;
        row.reason = off_text(b, row);
        return;
    }
    row.verdict = Verdict::fine;
    if (row.id == MapRowId::sp) {
        const double saved = row.without - b.e.memory.peak();
        row.reason = row.without > 0 && saved > 0 ? "saves " + memory_text(saved) + "; costs one gather more"
                                                  : "no copies between tp's regions; costs one gather more";
        return;
    }
    if (leaves_fast_domain(row)) row.verdict = Verdict::costly;
    const std::string where =
        leaves_fast_domain(row) ? ", across " + std::string(tier_name(b.plan.cluster, row.tier)) : "";
    if (!b.e.step || b.e.step->time_s <= 0) {
        row.reason = row.tier < 0 ? "no step time here: see the problems"
                                  : "crosses " + std::string(tier_name(b.plan.cluster, row.tier));
        return;
    }
    const double own = b.plan.training.costly_share, line = own > 0 ? own : kCostlyShare;
    const double step = b.e.step->time_s, idle = row.bubble_s + row.uneven_s,
                 share = (row.waits_s + idle) / step;
    if (share > line) row.verdict = Verdict::costly;
    if (idle > row.waits_s)
        row.reason = percent_text(row.bubble_s / step) + " bubble, "
                     + (row.uneven_s > 0 ? percent_text(row.uneven_s / step) + " uneven stages, " : "")
                     + percent_text(row.waits_s / step) + " sending";
    else if (row.waits_s > 0)
        row.reason = percent_text(share) + " of the step waits for it" + where;
    else
        row.reason = row.calls > 0 ? "hidden behind compute" + where : "nothing to say";
}

std::string bound_text(const Plan& p, MapRowId id) {
    switch (id) {
    case MapRowId::tp:
    case MapRowId::sp:
        return p.model.mla || p.model.kv_heads == p.model.heads
                   ? count_text(p.model.heads, "head")
                   : sentence(p.model.heads, " heads, ", p.model.kv_heads, " of keys and values");
    case MapRowId::pp: return count_text(p.model.layers, "layer");
    case MapRowId::cp:
        return p.layout.cp_comm == CpComm::ulysses
                   ? count_text(p.model.heads, "head")
                   : sentence(p.training.sequence_length, " tokens, in 2 pieces a rank");
    case MapRowId::ep: return p.model.moe ? count_text(p.model.moe->experts, "expert") : "no experts";
    case MapRowId::etp:
        return p.model.moe ? sentence("expert width ", p.model.moe->expert_ffn) : "no experts";
    case MapRowId::dp:
    case MapRowId::zero:
        return sentence("a global batch of ", p.training.global_batch, " in micro-batches of ",
                        p.training.micro_batch);
    }
    return {};
}

// Says which group a data-parallel row stands for, how many share the cut, and the modifier's setting.
void place_data_parallel(const Builder& b, MapRow& row) {
    const std::int64_t shard = b.degree(GroupKind::dp_shard), copies = b.degree(GroupKind::dp_replicate);
    const GroupKind whole = shard > 1 && copies > 1 ? GroupKind::dp
                            : shard > 1             ? GroupKind::dp_shard
                                                    : GroupKind::dp_replicate;
    if (row.id == MapRowId::zero) {
        row.kind = GroupKind::dp_shard;
        row.degree = b.shards() ? b.degree(GroupKind::fsdp) : 1;
        row.zero = b.shards() ? b.plan.layout.zero : 0;
        row.setting = b.shards() ? sentence("ZeRO-", row.zero, " over ", row.degree) : "off";
    } else if (b.style == MapStyle::own_rows && b.shards()) {
        row.kind = GroupKind::dp_replicate;
        row.degree = copies;
    } else {
        row.kind = whole;
        row.degree = b.degree(GroupKind::dp);
    }
}

// Returns the plan with only one row off: its GPUs are not given to another axis.
Plan without(const Builder& b, MapRowId id) {
    Plan p = b.plan;
    p.layout.dp_replicate = replicas_in_force(p);
    switch (id) {
    case MapRowId::zero:
        p.layout.zero = 0;
        follow_software(b.plan, p);
        break;
    case MapRowId::sp: p.layout.sequence_parallel = false; break;
    case MapRowId::tp: p.layout.tp = 1; break;
    case MapRowId::etp: p.layout.etp = 1; break;
    case MapRowId::cp: p.layout.cp = 1; break;
    case MapRowId::ep: p.layout.ep = 1; break;
    case MapRowId::pp:
        p.layout.pp = p.layout.virtual_stages = 1;
        p.layout.schedule = usual_schedule(1);
        p.layout.stage_layers.clear();
        break;
    case MapRowId::dp: break;
    }
    return p;
}

double bytes_without(const Builder& b, MapRowId id) {
    if (id == MapRowId::dp || !b.e.valid || b.e.memory.stage.empty()) return 0;
    const Plan p = without(b, id);
    const Mesh mesh = build_mesh(p);
    Memory memory;
    if (id == MapRowId::pp) {
        compute_memory(p, mesh, {1.0}, memory);
    } else {
        compute_memory(p, mesh, b.e.in_flight, memory);
    }
    return memory.peak();
}

MapRow row_for(const Builder& b, MapRowId id) {
    MapRow row;
    row.id = id;
    row.modifier =
        b.style == MapStyle::modifiers && (id == MapRowId::zero || id == MapRowId::sp || id == MapRowId::etp);
    const auto of_kind = [&](GroupKind k) { row.kind = k, row.degree = b.degree(k); };
    switch (id) {
    case MapRowId::dp:
    case MapRowId::zero: place_data_parallel(b, row); break;
    case MapRowId::tp: of_kind(GroupKind::tp); break;
    case MapRowId::sp:
        of_kind(GroupKind::tp);
        if (!b.plan.layout.sequence_parallel) row.degree = 1;
        row.setting = row.degree > 1 ? "on" : "off";
        break;
    case MapRowId::etp: of_kind(GroupKind::etp); break;
    case MapRowId::pp: of_kind(GroupKind::pp); break;
    case MapRowId::cp: of_kind(GroupKind::cp); break;
    case MapRowId::ep: of_kind(GroupKind::ep); break;
    }
    if (row.setting.empty()) row.setting = with_commas(row.degree);
    add_traffic(b, row);
    if (id == MapRowId::sp && row.degree > 1)
        row.collectives = {Collective::all_gather, Collective::reduce_scatter};
    if (row.degree > 1) row.without = bytes_without(b, id);
    row.often = id == MapRowId::sp ? std::string(words_of(id).often) : often_text(b, row);
    row.bound = bound_text(b.plan, id);
    judge(b, row);
    return row;
}

}  // namespace

std::vector<MapRow> map_rows(const Plan& plan, const Evaluation& evaluation, MapStyle style) {
    const Builder b{plan, evaluation, style};
    std::vector<MapRow> rows;
    for (int i = 0; i < kMapRowCount; ++i) {
        MapRow row = row_for(b, static_cast<MapRowId>(i));
        if (row.id == MapRowId::etp && row.degree <= 1) continue;  // only where it is used
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string collectives_text(const MapRow& row) {
    return join(row.collectives, " + ", [](const Collective k) { return words_of(k); });
}

int row_of(std::span<const MapRow> rows, GroupKind kind) {
    const auto index_of = [&](auto&& wanted) {
        const auto at = std::find_if(rows.begin(), rows.end(), wanted);
        return at == rows.end() ? -1 : static_cast<int>(at - rows.begin());
    };
    const int exact = index_of([&](const MapRow& r) { return r.kind == kind && r.id != MapRowId::sp; });
    if (exact >= 0) return exact;
    if (is_data_parallel(kind)) return index_of([](const MapRow& r) { return r.id == MapRowId::dp; });
    if (kind == GroupKind::tp_cp || kind == GroupKind::mp)
        return index_of([](const MapRow& r) { return r.id == MapRowId::tp; });
    if (kind == GroupKind::etp_ep || kind == GroupKind::etp)
        return index_of([](const MapRow& r) { return r.id == MapRowId::ep; });
    return -1;
}

std::vector<MapLevel> map_levels(const Plan& plan, std::span<const MapRow> rows) {
    const Cluster& c = plan.cluster;
    std::vector<MapLevel> levels;
    levels.push_back({"HBM", c.gpu.hbm_bytes_per_s, 1, "a GPU's own memory", {}});
    for (std::size_t i = 0; i < c.tiers.size(); ++i) {
        const Tier& t = c.tiers[i];
        MapLevel level{t.name, bytes_per_s_of(t), domain_of(c, i), "", {}};
        if (t.oversubscription > 1)
            level.note = "oversubscribed 1:" + three_digits(t.oversubscription) + ", of "
                         + bytes_text(t.bytes_per_s) + "/s";
        for (std::size_t k = 0; i < kMaxTiers && k < rows.size(); ++k) {
            const bool own_talk =
                !rows[k].modifier || rows[k].id == MapRowId::etp;  // zero's is dp's, sp's tp's
            if (own_talk && rows[k].sent_by_tier[i] > 0)
                level.sitters.push_back({static_cast<int>(k), rows[k].sent_by_tier[i]});
        }
        levels.push_back(std::move(level));
    }
    levels.push_back({"storage", 0, c.gpus, "how fast it is, the cluster does not say", {}});
    return levels;
}

}  // namespace pentamesh
