#include "core/teach/map.h"

#include "core/base/text.h"
#include "core/comm/call_names.h"
#include "core/mesh/places.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pentamesh {
namespace {

constexpr double kLittle = 0.01;  // of a row's bytes: what carries less is not named

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

// Names the calls by what they carry, without those that are less than a hundredth of the bytes together.
std::string names_of_most(const std::vector<const Operation*>& calls, double all_bytes) {
    using Name = std::pair<Collective, std::string_view>;
    std::vector<std::pair<Name, double>> bytes;
    const auto of = [&](const Operation& o) {
        const Name name{o.collective, carried_by(o)};
        const auto at = std::ranges::find(bytes, name, &std::pair<Name, double>::first);
        return at != bytes.end() ? at : bytes.insert(at, {name, 0.0});
    };
    for (const Operation* o : calls) of(*o)->second += o->sent_bytes_per_rank;
    std::vector<const Operation*> most;
    for (const Operation* o : calls)
        if (of(*o)->second > all_bytes * kLittle) most.push_back(o);
    return plain_names(most);
}

void add_traffic(const Builder& b, MapRow& row) {
    LayerCalls calls;
    double sharded = 0;
    std::array<double, 5> bytes{};  // by Collective
    std::vector<const Operation*> own;
    for (const Operation& o : b.e.comm.operations) {
        if (o.on_other_stage || !belongs(o, row.id, b.style)) continue;
        own.push_back(&o);
        bytes[static_cast<std::size_t>(o.collective)] += o.sent_bytes_per_rank;
        row.calls += o.count_per_step;
        row.sent_bytes += o.sent_bytes_per_rank;
        row.time_s += o.time_s;
        row.exposed_s += o.exposed_s;
        row.waits_s += b.waits(o);
        row.tier = std::max(row.tier, o.tier);
        row.sent_by_tier[std::clamp(o.tier, 0, kMaxTiers - 1)] += o.sent_bytes_per_rank;
        calls.add(o);
        if (o.unit == Unit::step && o.scope == Scope::layer && !is_expert(o.group)) sharded += 1;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] > row.sent_bytes * kLittle) row.collectives.push_back(static_cast<Collective>(i));
    std::stable_sort(row.collectives.begin(), row.collectives.end(), [&](Collective x, Collective y) {
        return bytes[static_cast<std::size_t>(x)] > bytes[static_cast<std::size_t>(y)];
    });
    row.talk = names_of_most(own, row.sent_bytes);
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
    if (id == MapRowId::sp && row.degree > 1) {
        row.collectives = {Collective::all_gather, Collective::reduce_scatter};
        row.talk = collectives_text(row) + " of activations and their gradients";
    }
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

std::size_t costliest_row(std::span<const MapRow> rows) {
    const auto rank = [](const MapRow& r) {
        return std::pair(!r.modifier && r.verdict == Verdict::costly, r.modifier ? -1.0 : r.cost_s());
    };
    return static_cast<std::size_t>(std::ranges::max_element(rows, {}, rank) - rows.begin());
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

// Makes the map's smaller tables: pipeline stages against sharded parameters, the usual way to a layout,
// usual combinations.

namespace {

std::int64_t degree(const Evaluation& e, GroupKind k) {
    return e.groups[k].degree;
}

bool gathers_weights(const Plan& plan, const Evaluation& e) {
    return plan.layout.zero == 3 && degree(e, GroupKind::fsdp) > 1;
}

double sent(const Evaluation& e, bool (*mine)(const Operation&)) {
    double bytes = 0;
    for (const Operation& o : e.comm.operations)
        if (!o.on_other_stage && mine(o)) bytes += o.sent_bytes_per_rank;
    return bytes;
}

std::string traffic_text(const Evaluation& e, double bytes) {
    return ": " + bytes_text(bytes) + " from " + rows_device_text(e.comm) + " a step";
}

bool inside_fast(const Evaluation& e, GroupKind k) {
    return e.groups[k].slowest_tier == 0;
}

// Returns the tokens that a gathered layer serves: those of one data-parallel rank.
double tokens_per_replica(const Evaluation& e) {
    return e.step->tokens_per_step / static_cast<double>(degree(e, GroupKind::dp));
}

std::string_view fast_name(const Plan& p) {
    return p.cluster.tiers.empty() ? std::string_view("the fast domain")
                                   : std::string_view(p.cluster.tiers.front().name);
}

RecipeStep tensor_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::tp, "tp, with sp, as far as the fast domain reaches", {}, Verdict::off};
    const std::int64_t tp = degree(e, GroupKind::tp);
    if (tp == 1) {
        s.here = "tp is off";
        return s;
    }
    const bool inside = inside_fast(e, GroupKind::tp);
    s.verdict = inside ? Verdict::fine : Verdict::costly;
    s.here = sentence("tp ", tp, inside ? " inside " : " reaches beyond ", fast_name(p),
                      p.layout.sequence_parallel ? ", sp on" : ", sp off");
    return s;
}

RecipeStep across_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::pp, "then pp, or ZeRO-3, across nodes until it fits", {}, Verdict::off};
    const std::int64_t pp = degree(e, GroupKind::pp);
    const bool gathers = gathers_weights(p, e);
    if (pp > 1 && gathers) {
        s.verdict = Verdict::costly;
        s.here =
            sentence("both: pp ", pp, " and ZeRO-3 over ", degree(e, GroupKind::fsdp), ", which is rare");
    } else if (pp > 1 || gathers) {
        s.verdict = Verdict::fine;
        s.here = pp > 1 ? sentence("pp ", pp) : sentence("ZeRO-3 over ", degree(e, GroupKind::fsdp));
    } else {
        s.here = "neither";
    }
    if (!e.memory.stage.empty() && !e.memory.fits()) {
        if (!e.memory.may_fit()) s.verdict = Verdict::costly;
        s.here += sentence("; ", name_of(e.memory.fit()), ": ", memory_text(e.memory.peak()), " of ",
                           memory_text(e.memory.hbm));
    }
    return s;
}

RecipeStep data_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::dp, "dp around it, with ZeRO-1 or 2, for the batch", {}, Verdict::off};
    const std::int64_t dp = degree(e, GroupKind::dp);
    if (dp == 1) {
        s.here = "one replica";
        return s;
    }
    s.verdict = Verdict::fine;
    s.here = p.layout.zero == 0 ? sentence("dp ", dp, ", no ZeRO: each keeps the whole state")
                                : sentence("dp ", dp, " with ZeRO-", p.layout.zero);
    return s;
}

RecipeStep context_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::cp, "cp where sequences are long", {}, Verdict::off};
    const std::int64_t cp = degree(e, GroupKind::cp);
    s.here = cp > 1 ? sentence("cp ", cp, " at ", p.training.sequence_length, " tokens")
                    : sentence("off at ", p.training.sequence_length, " tokens");
    if (cp > 1) s.verdict = Verdict::fine;
    return s;
}

RecipeStep expert_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::ep, "ep where the model has experts", {}, Verdict::off};
    const std::int64_t ep = degree(e, GroupKind::ep);
    if (!p.model.moe)
        s.here = "a dense model";
    else if (ep == 1)
        s.here = sentence("off: all ", p.model.moe->experts, " experts on every GPU");
    else
        s.here = sentence("ep ", ep, ": ", p.model.moe->experts / ep, " of ", p.model.moe->experts,
                          " experts a GPU"),
        s.verdict = Verdict::fine;
    return s;
}

}  // namespace

std::vector<Comparison> pipeline_or_sharding(const Plan& p, const Evaluation& e) {
    const std::int64_t pp = degree(e, GroupKind::pp), shards = degree(e, GroupKind::fsdp);
    const bool piped = pp > 1, gathers = gathers_weights(p, e);
    const double wire_pp = sent(e, [](const Operation& o) { return o.group == GroupKind::pp; });
    const double wire_z = sent(e, [](const Operation& o) {
        return o.group == GroupKind::dp_shard || o.group == GroupKind::fsdp || o.group == GroupKind::edp
               || o.group == GroupKind::edp_shard;
    });
    std::vector<Comparison> out;
    out.push_back({"a GPU stores",
                   piped
                       ? sentence("all of about ",
                                  three_digits(static_cast<double>(p.model.layers) / static_cast<double>(pp)),
                                  " of ", p.model.layers, " layers")
                       : "all of a few layers",
                   gathers ? sentence("1/", shards, " of every layer") : "a part of every layer"});
    out.push_back({"what travels", "activations" + (piped ? traffic_text(e, wire_pp) : ""),
                   "weights and their gradients" + (gathers ? traffic_text(e, wire_z) : "")});
    out.push_back({"the model's code", "need not know of it", "need not know of it"});
    std::string many = "many micro-batches", large = "many tokens on each data-parallel rank";
    if (piped && e.microbatches > 0) {
        many += sentence(": here ", e.microbatches, " for ", pp, " stages");
        if (e.step && e.step->time_s > 0)
            many += ", " + percent_text(schedule_bubble_s(*e.step) / e.step->time_s) + " bubble";
    }
    if (gathers && e.step && e.mesh.world > 0)
        large += sentence(": here ", whole_text(tokens_per_replica(e)), " a step");
    out.push_back({"it wants", std::move(many), std::move(large)});
    out.push_back({"the hard part", "stages that balance, and the schedule",
                   "cutting tensors, and gathering ahead of use"});
    out.push_back({"both at once",
                   "rare: the batch must feed both; weights then stay gathered over a step's micro-batches",
                   "ZeRO-1 and ZeRO-2 go with pp without harm: DeepSeek-V3 is pp with ZeRO-1"});
    return out;
}

std::vector<RecipeStep> map_recipe(const Plan& p, const Evaluation& e) {
    return {tensor_step(p, e), across_step(p, e), data_step(p, e), context_step(p, e), expert_step(p, e)};
}

std::vector<Combination> map_combinations(const Plan& p, const Evaluation& e) {
    const bool tp = degree(e, GroupKind::tp) > 1, pp = degree(e, GroupKind::pp) > 1,
               cp = degree(e, GroupKind::cp) > 1, ep = degree(e, GroupKind::ep) > 1,
               dp = degree(e, GroupKind::dp) > 1, copies = degree(e, GroupKind::dp_replicate) > 1;
    const bool gathers = gathers_weights(p, e), alone = !tp && !pp && !cp && !ep;
    return {
        {"dp alone (DDP)", "the model fits on one GPU", alone && dp && !gathers},
        {"FSDP", "the state does not fit, the batch is large", alone && gathers && !copies},
        {"HSDP", "as FSDP, and gathers should stay near", alone && gathers && copies},
        {"tp + dp", "a layer is too much for one GPU, a node holds the model", tp && !pp && !cp && !ep && dp},
        {"tp + pp", "one copy over several nodes", tp && pp && !cp && !ep && !dp},
        {"tp + pp + dp", "about 1,000 GPUs and more", tp && pp && !cp && !ep && dp},
        {"tp + cp + pp + dp", "sequences of 128K tokens", tp && cp && pp && !ep},
        {"tp + pp + ep + dp", "a model with experts", tp && pp && ep},
        {"pp + ep + dp", "many small experts: no matrix is worth cutting", !tp && pp && ep && dp},
        {"ep + dp", "experts first, then FSDP inside what is left", !tp && !pp && ep && dp},
        {"pp + ZeRO-3", "rare: each wants the batch for itself", pp && gathers},
    };
}

// Holds the map's words about each axis in any plan.

namespace {

constexpr std::array<MapWords, kMapRowCount> kWords{{
    {.id = MapRowId::dp,
     .key = "dp",
     .name = "data parallelism",
     .cuts = "the batch",
     .says = "all-reduce of gradients",
     .often = "once per step",
     .sits = "any tier: it can hide behind the backward pass",
     .reach = "always: it is where every layout starts",
     .saves = "activations, by a smaller batch on each GPU",
     .scope = "the whole model",
     .model = "nothing",
     .drawback = "copies the model; the global batch is its ceiling",
     .why =
         "More replicas get through more samples in the same time. Each works by itself until the gradients "
         "are added up.",
     .cost = "One sum over all gradients a step, in torchtitan one a micro-batch. A ring sends almost twice "
             "their size from every GPU, however many take part.",
     .short_name = "data parallel",
     .knife = "the batch, between samples",
     .talks = "sums the gradients"},
    {.id = MapRowId::zero,
     .key = "ZeRO",
     .name = "sharded data parallelism (ZeRO, FSDP)",
     .cuts = "the model's state over data-parallel ranks",
     .says = "reduce-scatter and all-gather",
     .often = "once per step; stage 3 in every layer",
     .sits = "between the fast tier and the slowest: HSDP keeps the gathers near",
     .reach = "the state barely fits, or does not, and the batch is large",
     .saves = "1 optimizer, 2 also gradients, 3 also parameters",
     .scope = "the whole model",
     .model = "nothing",
     .drawback = "stage 3 sends the weights again for every pass",
     .why = "Replicas need not all keep the same optimizer state, gradients and weights: each keeps its "
            "part and asks for the rest when it is used.",
     .cost = "Stages 1 and 2 send what plain data parallelism sends. Stage 3 gathers every layer's weights "
             "forward and backward, half as much again.",
     .short_name = "modifier of dp",
     .knife = "nothing: copies share out one state",
     .talks = "the same sum, in its two halves"},
    {.id = MapRowId::tp,
     .key = "tp",
     .name = "tensor parallelism",
     .cuts = "the hidden size: each matrix of a layer",
     .says = "all-reduce of activations",
     .often = "4 per layer and micro-batch",
     .sits = "inside the fast domain only",
     .reach = "a layer, or its activations, is too much for one GPU",
     .saves = "weights, gradients, optimizer and most activations",
     .scope = "the whole model",
     .model = "where each matrix may be cut",
     .drawback = "waits on the critical path; small products at high degree",
     .why = "A matrix cut into columns, and the next into rows, gives partial sums that one addition "
            "completes. So a layer can be larger than a GPU.",
     .cost = "Every layer waits for its sums, forward and backward, and the bytes grow with the tokens. "
             "Little of it hides.",
     .short_name = "tensor parallel",
     .knife = "each layer, through its width",
     .talks = "puts results together"},
    {.id = MapRowId::sp,
     .key = "sp",
     .name = "sequence parallelism",
     .cuts = "activations between tp's cuts",
     .says = "all-gather and reduce-scatter in place of all-reduce",
     .often = "where tp speaks",
     .sits = "with tp",
     .reach = "whenever tp is on",
     .saves = "activations of norms, dropout and residuals",
     .scope = "what lies between the matrices",
     .model = "which operations work on single tokens",
     .drawback = "the gathered input is kept or gathered again",
     .why = "Norms and dropout treat each token by itself, so tp's ranks can share them out instead of each "
            "doing all of them.",
     .cost =
         "The forward sends the same bytes: an all-reduce is a reduce-scatter and an all-gather, and work "
         "is done between the halves. The backward gathers its inputs once more, since a rank kept a share.",
     .short_name = "modifier of tp",
     .knife = "nothing new: what lies between tp's cuts, by tokens",
     .talks = "tp's sums, in their two halves"},
    {.id = MapRowId::etp,
     .key = "etp",
     .name = "tensor parallelism inside experts",
     .cuts = "the width of each expert",
     .says = "all-gather and reduce-scatter of tokens",
     .often = "4 per MoE layer and micro-batch",
     .sits = "inside the fast domain only",
     .reach = "one expert is too much for a GPU",
     .saves = "experts' weights, gradients and optimizer",
     .scope = "the experts",
     .model = "where an expert's matrices may be cut",
     .drawback = "narrow experts make small products",
     .why = "The expert mesh folds the same GPUs anew, so that experts can be cut by another degree than "
            "attention is.",
     .cost = "Every token that is routed is gathered and summed once more.",
     .short_name = "modifier of tp",
     .knife = "each expert, through its width",
     .talks = "puts results together"},
    {.id = MapRowId::pp,
     .key = "pp",
     .name = "pipeline parallelism",
     .cuts = "the depth: whole layers",
     .says = "send and receive of activations",
     .often = "each micro-batch at each stage boundary",
     .sits = "across nodes: its messages are few and small",
     .reach = "the model does not fit even with tp and sharding",
     .saves = "weights, gradients and optimizer",
     .scope = "between layers",
     .model = "nothing; wants layers that balance",
     .drawback = "the bubble; many micro-batches; the schedule",
     .why = "A stage keeps its layers whole and hands on one activation. Nothing else is as cheap on the "
            "wire.",
     .cost = "Stages wait at the start and the end of a step. The wait shrinks with more micro-batches, "
             "which must be kept in flight.",
     .short_name = "pipeline parallel",
     .knife = "the stack, between layers",
     .talks = "hands on activations"},
    {.id = MapRowId::cp,
     .key = "cp",
     .name = "context parallelism",
     .cuts = "the sequence, attention included",
     .says = "keys and values around a ring",
     .often = "every attention layer",
     .sits = "near: the fast domain or the pod",
     .reach = "long context: from about 16K tokens, sure at 128K",
     .saves = "activations",
     .scope = "attention; the rest needs no talk",
     .model = "how attention may be computed in pieces",
     .drawback = "causal masks need balance; weights are not cut",
     .why = "Activations grow with the sequence, and neither more stages nor smaller batches cut a single "
            "sequence.",
     .cost = "Each rank needs all keys and values once a layer. They pass by while it computes, if there "
             "is enough to compute.",
     .short_name = "context parallel",
     .knife = "each sample, through its tokens",
     .talks = "gathers keys and values"},
    {.id = MapRowId::ep,
     .key = "ep",
     .name = "expert parallelism",
     .cuts = "the experts of MoE layers",
     .says = "all-to-all of tokens",
     .often = "4 per MoE layer and micro-batch",
     .sits = "near: the fast domain or the pod",
     .reach = "the model has experts",
     .saves = "experts' weights, gradients and optimizer",
     .scope = "MoE layers",
     .model = "how tokens are routed",
     .drawback = "follows the router's balance; the fullest rank sets the pace",
     .why = "Experts are most of the parameters and each token uses few of them. So tokens travel to the "
            "experts, not weights to the tokens.",
     .cost = "Every token goes to its experts and comes back. What a popular expert gets is what everyone "
             "waits for.",
     .short_name = "expert parallel",
     .knife = "the experts, drawer by drawer",
     .talks = "tokens there and back"},
}};

}  // namespace

const MapWords& words_of(MapRowId id) {
    return kWords[static_cast<std::size_t>(id)];
}

std::string short_setting(const MapRow& row) {
    if (row.verdict == Verdict::off) return "off";
    if (row.id == MapRowId::sp) return "on";
    return std::to_string(row.id == MapRowId::zero ? row.zero : row.degree);
}

CompactWords compact_words(const MapRow& row) {
    const MapWords& w = words_of(row.id);
    CompactWords out{std::string(w.knife), std::string(w.talks)};
    if (row.id == MapRowId::zero && row.zero > 0) {
        constexpr std::array<std::string_view, 3> kShared{"the optimizer", "gradients, optimizer",
                                                          "weights, gradients, optimizer"};
        out.cuts =
            "nothing: copies share out " + std::string(kShared[static_cast<std::size_t>(row.zero - 1)]);
        if (row.zero == 3) out.talks = "gathers the weights of every layer";
    }
    const bool in_layers = row.calls_per_layer > 0 && row.id != MapRowId::zero && row.id != MapRowId::dp;
    if (in_layers)
        out.talks += ", " + three_digits(row.calls_per_layer) + " times in every "
                     + (is_expert(row.kind) ? "MoE layer" : "layer");
    else if (row.id == MapRowId::pp)
        out.talks += ", for every micro-batch";
    else if (row.id == MapRowId::dp)
        out.talks += ", " + row.often;
    return out;
}

std::string_view name_of(Verdict verdict) {
    constexpr std::array<std::string_view, 3> names{"fine", "costly", "off"};
    return names[static_cast<std::size_t>(verdict)];
}

}  // namespace pentamesh
