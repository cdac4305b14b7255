#include "app/tables/plan_tables.h"

#include "core/base/text.h"
#include "core/comm/call_names.h"
#include "core/explain/traffic.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/sharding/placement.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>

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
                 {"hidden behind", Shown::words, "hidden_behind"},
                 {"waits because", Shown::words, "waits_because"}};
    for (const Operation& o : e.comm.operations)
        t.rows.push_back({name_of(o.group), name_of(o.scope), words_of(o.what), words_of(o.collective),
                          o.group_size, tier_name(plan.cluster, o.tier), name_of(o.phase), o.per,
                          whole_cell(o.count_per_step), whole_cell(o.message_bytes),
                          whole_cell(o.sent_bytes_per_rank), o.time_s, o.exposed_s, name_of(o.hidden_behind),
                          words_of(o.waits_because)});
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
    static constexpr std::array<std::string_view, 4> kExpertShards{
        "part of edp: nothing is shared out without ZeRO",
        "part of edp: ranks that ZeRO-1 shares the state of the same experts out over",
        "part of edp: ranks that ZeRO-2 shares the state of the same experts out over",
        "part of edp: ranks that ZeRO-3 (FSDP) cuts the same experts over; they gather them from each other"};
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
    case GroupKind::edp_shard: return kExpertShards[stage];
    case GroupKind::edp_replicate: return "part of edp: ranks that keep the same part of the same experts";
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
        if (has_kind(e.mesh, kind)) kinds.push_back(kind);
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
        row.emplace_back(plain_names(e.comm, kind));
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

std::string shape_text(const LayerTensor& tensor) {
    return join(tensor.dims, " × ", [](const LayerDim& d) {
        return with_commas(std::llround(d.local))
               + (d.local < d.size ? " of " + with_commas(std::llround(d.size)) : "");
    });
}

namespace {

std::string texts(const std::vector<LayerTensor>& list, Notation notation, bool dp) {
    return join(list, "; ", [&](const LayerTensor& t) { return text_of(t, notation, dp); });
}

std::string kept_text(const std::vector<KeptTensor>& list) {
    return join(list, ", ", [](const KeptTensor& k) { return k.name; });
}

// Returns "all-gather", as in the tables of calls.
std::string step_words(LayerOp op) {
    std::string out(name_of(op));
    std::replace(out.begin(), out.end(), '_', '-');
    return out;
}

}  // namespace

Table lanes_table(const Plan& plan, const LanePicture& picture) {
    Table t;
    t.columns = {{"pass"},
                 {"lane"},
                 {"what"},
                 {"axis"},
                 {"layer"},
                 {"starts", Shown::seconds, "start"},
                 {"ends", Shown::seconds, "end"},
                 {"in the queue", Shown::seconds, "queued_s"},
                 {"hidden", Shown::seconds, "hidden"}};
    for (const LanePiece& p : picture.pieces) {
        const bool computes = p.kind == LanePieceKind::compute;
        t.rows.push_back({p.forward ? "forward" : "backward", lane_name(plan, picture, p.lane),
                          p.kind == LanePieceKind::call ? std::string_view(p.what)
                          : computes                    ? "compute"
                                                        : "the layer's own calls",
                          computes ? "" : name_of(p.axis), p.unit, p.start_s, p.end_s,
                          computes ? Cell() : Cell(p.queued_s), computes ? Cell() : Cell(p.hidden_s)});
    }
    return t;
}

Table layer_table(const LayerList& list, Notation notation, bool dp) {
    Table t;
    t.columns = {{"n", Shown::count},
                 {"phase"},
                 {"step", Shown::words, "op"},
                 {"what"},
                 {"again"},
                 {"axis"},
                 {"program", Shown::words, "line"},
                 {"in"},
                 {"out"},
                 {"FLOPs", Shown::figure, "flops"},
                 {"moved", Shown::traffic, "bytes_moved"},
                 {"message", Shown::traffic, "message_bytes"},
                 {"sent", Shown::traffic, "sent_bytes"},
                 {"calls", Shown::count},
                 {"time", Shown::seconds, "time_s"},
                 {"keeps", Shown::words, "kept"},
                 {"lets go", Shown::words, "freed"},
                 {"stash", Shown::memory, "stash_bytes"}};
    for (const LayerStep& s : list.steps) {
        const bool speaks = is_collective(s.op);
        t.rows.push_back({s.n, name_of(s.phase), step_words(s.op), words_of(s.what),
                          s.recomputed ? "yes" : "", speaks ? name_of(s.group) : "", line_of(s, notation, dp),
                          texts(s.in, notation, dp), texts(s.out, notation, dp), s.flops,
                          whole_cell(s.bytes_moved), speaks ? whole_cell(s.message_bytes) : Cell(),
                          speaks ? whole_cell(s.sent_bytes) : Cell(), speaks ? Cell(s.calls) : Cell(),
                          s.time_s, kept_text(s.kept), kept_text(s.freed), whole_cell(s.stash_bytes)});
    }
    return t;
}

PlanCalls plan_calls(const Comm& comm, int type, GroupKind axis, Collective collective) {
    PlanCalls sum;
    for (const Operation& o : comm.operations) {
        if (o.group != axis || o.collective != collective || !has(o.types, type)) continue;
        sum.calls = std::max(sum.calls, 0.0) + o.calls;
        sum.sent_bytes =
            std::max(sum.sent_bytes, 0.0) + o.calls * sent_bytes(o.collective, o.group_size, o.message_bytes);
    }
    return sum;
}

Table layer_calls_table(const LayerList& list, const Comm& comm) {
    Table t;
    t.columns = {{"axis"},
                 {"collective"},
                 {"calls", Shown::count},
                 {"sent", Shown::traffic, "sent_bytes"},
                 {"the plan's calls", Shown::count, "plan_calls"},
                 {"the plan's bytes", Shown::traffic, "plan_sent_bytes"}};
    for (const LayerCallSum& c : list.totals.calls) {
        const PlanCalls plan = plan_calls(comm, list.type, c.group, collective_of(c.op));
        t.rows.push_back({name_of(c.group), words_of(collective_of(c.op)), c.calls, whole_cell(c.sent_bytes),
                          plan.calls < 0 ? Cell() : Cell(plan.calls),
                          plan.calls < 0 ? Cell() : whole_cell(plan.sent_bytes)});
    }
    return t;
}

namespace {

// Returns several lists as one.
template <typename T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second, const std::vector<T>& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
}

// Returns parameters, gradients, optimizer, activations and buffers of a stage, and their cells.
std::vector<Table::Column> category_columns(Shown shown) {
    return {{"parameters", shown},
            {"gradients", shown},
            {"optimizer", shown},
            {"activations", shown},
            {"buffers", shown}};
}

Table::Row category_cells(const StageMemory& s) {
    return {whole_cell(s.parameters), whole_cell(s.gradients), whole_cell(s.optimizer),
            whole_cell(s.activations), whole_cell(s.buffers)};
}

}  // namespace

double room_for_buffers(const Memory& m) {
    const StageMemory& full = m.stage[static_cast<std::size_t>(m.peak_stage)];
    return m.hbm - (full.total() - full.buffers);
}

Table memory_table(const Memory& memory) {
    Table t;
    t.columns = joined<Table::Column>(
        {{"stage", Shown::plain}, {"layers", Shown::count}}, category_columns(Shown::memory),
        {{"buffers, least", Shown::memory, "buffers_low"},
         {"buffers, most", Shown::memory, "buffers_high"},
         {"total", Shown::memory},
         {"allocated", Shown::memory},
         {"reserved", Shown::memory},
         {"device", Shown::memory},
         {"host", Shown::memory},
         {"in flight", Shown::figure, "in_flight_microbatches"},
         {"activations of a layer and micro-batch", Shown::memory, "activations_per_layer_microbatch"},
         {"activations of the layers", Shown::memory, "layer_activations"}});
    for (const StageMemory& s : memory.stage)
        t.rows.push_back(joined<Cell>(
            {s.stage, s.layers}, category_cells(s),
            {whole_cell(s.buffers_low), whole_cell(s.buffers_high), whole_cell(s.total()),
             whole_cell(s.allocated), whole_cell(s.reserved), whole_cell(s.total()), whole_cell(s.host),
             s.in_flight, whole_cell(s.activations_per_layer), whole_cell(s.layer_activations)}));
    return t;
}

std::string_view fit_cell(MemoryFit fit) {
    return may_not_fit(fit) ? name_of(fit) : fits(fit) ? "yes" : "no";
}

Table savings_table(const std::vector<SavingStep>& steps) {
    Table t;
    t.columns = joined<Table::Column>({{"after"}, {"saved", Shown::memory}}, category_columns(Shown::memory),
                                      {{"total", Shown::memory}, {"why"}});
    for (const SavingStep& s : steps)
        t.rows.push_back(joined<Cell>({label_of(s), whole_cell(s.saved)}, category_cells(s.fullest),
                                      {whole_cell(s.fullest.total()), reason_of(s)}));
    return t;
}

Table zero_table(const ZeroRungs& rungs) {
    Table t;
    t.columns = joined<Table::Column>({{"ZeRO", Shown::plain, "zero"}}, category_columns(Shown::memory),
                                      {{"total", Shown::memory},
                                       {"sent per step", Shown::traffic, "sent_bytes"},
                                       {"calls per step", Shown::count, "calls"},
                                       {"collectives"},
                                       {"shares out"},
                                       {"on the wire"},
                                       {"not run by its software", Shown::words, "lacks"}});
    for (const ZeroRung& r : rungs.rung) {
        if (!r.possible()) {
            Table::Row& cells = t.rows.emplace_back(t.columns.size());
            cells[0] = r.zero, cells[t.columns.size() - 1] = r.refused;
            continue;
        }
        double calls = 0;
        std::string kinds;
        for (const ZeroWire& w : r.wires) {
            calls += w.calls;
            kinds += (kinds.empty() ? "" : ", ") + plain_name(w.collective, w.carried);
        }
        t.rows.push_back(joined<Cell>({r.zero}, category_cells(r.held),
                                      {whole_cell(r.held.total()), whole_cell(r.sent_bytes),
                                       whole_cell(calls), kinds, r.held_words, r.wire_words, r.lacks}));
    }
    return t;
}

Table strategies_table(const StrategyPrices& prices) {
    Table t;
    t.columns = {{"strategy"}, {"cuts"}};
    for (Table::Column& c : category_columns(Shown::memory)) t.columns.push_back(std::move(c));
    t.columns.push_back({"total", Shown::memory, "total_bytes"});
    t.columns.push_back({"sent per step", Shown::traffic, "sent_bytes"});
    t.columns.push_back({"calls per step", Shown::count, "calls"});
    t.columns.push_back({"collectives"});
    const auto row = [&](const std::string& name, std::string_view cuts, const StageMemory& m, double sent,
                         double calls, const std::string& what) {
        Table::Row& cells = t.rows.emplace_back();
        cells = {name, cuts};
        for (Cell& c : category_cells(m)) cells.push_back(std::move(c));
        for (const double x : {m.total(), sent, calls}) cells.push_back(whole_cell(x));
        cells.push_back(what);
    };
    row("one GPU", "", prices.single_gpu, 0, 0, "");
    for (const StrategyPrice& p : prices.price) {
        const StrategyFacts& facts = facts_of(p.strategy);
        if (!p.possible) {
            Table::Row& cells = t.rows.emplace_back(t.columns.size());
            cells[0] = facts.name, cells[1] = p.why_not;
            continue;
        }
        const std::string what = join(
            p.traffic, ", ", [](const StrategyTraffic& x) { return plain_name(x.collective, x.carried); });
        row(p.example ? std::string(facts.name) + ", an example" : std::string(facts.name), facts.splits,
            p.fullest, p.sent_bytes, p.count, what);
    }
    return t;
}

std::string shape_text(const Placement& p, const std::array<std::int64_t, 3>& sizes) {
    std::string out;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (p.dims[i] != Dim::none) out += (out.empty() ? "" : " × ") + with_commas(sizes[i]);
    return out.empty() ? "1" : out;
}

namespace {

// Returns "tp rows/8, dp_shard copy"; "whole on every GPU" where no axis divides it.
std::string placement_text(const Placement& p) {
    std::string out;
    for (int a = 0; a < kAxisCount; ++a) {
        const auto axis = static_cast<Axis>(a);
        const AxisPlacement& on = p.on(axis);
        if (on.size <= 1) continue;
        out += (out.empty() ? "" : ", ") + std::string(axis_name(p, axis)) + " "
               + (axis == Axis::pp && p.layers == 1 ? std::string("one stage")
                  : on.spread == Spread::cut ? std::string(name_of(on.dim)) + "/" + std::to_string(on.parts)
                                             : std::string(name_of(on.spread)));
    }
    return out.empty() ? "whole on every GPU" : out;
}

}  // namespace

Table tensors_table(std::span<const Placement> placements) {
    Table t;
    t.columns = {{"tensor", Shown::words, "name"},
                 {"layers", Shown::count},
                 {"shape"},
                 {"placement"},
                 {"on one GPU", Shown::words, "local_shape"},
                 {"there", Shown::traffic, "bytes_per_rank"}};
    for (const Placement& p : placements)
        t.rows.push_back({name_of(p.id), p.layers, shape_text(p, p.shape), placement_text(p),
                          shape_text(p, p.local), whole_cell(p.bytes_per_rank)});
    return t;
}

Table held_table(const Mesh& mesh, std::int64_t rank, std::span<const HeldTensor> tensors) {
    Table t;
    t.columns = {{"tensor"}, {"shape"}};
    std::vector<Axis> used;
    for (const Axis a : all_of<Axis>())
        if (axis_size(mesh, a) > 1) {
            used.push_back(a);
            t.columns.push_back({std::string(name_of(a))});
        }
    t.columns.push_back({"rank " + std::to_string(rank) + " holds"});
    t.columns.push_back({"there", Shown::memory, "bytes_there"});
    t.columns.push_back({"whole", Shown::memory, "bytes_whole"});
    for (const auto& [placement, part] : tensors) {
        Table::Row& row = t.rows.emplace_back();
        row = {name_of(placement.id), shape_words(placement)};
        for (const Axis a : used) row.push_back(spread_words(placement.on(a)));
        row.insert(row.end(),
                   {part_words(placement, part), whole_cell(part.bytes), whole_cell(placement.bytes_whole)});
    }
    return t;
}

Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold, const NestPath& path) {
    Table t;
    t.columns = {{"level"},
                 {"axis"},
                 {"boxes in one box", Shown::count, "boxes_in_one"},
                 {"boxes", Shown::count},
                 {"GPUs in one", Shown::count, "gpus_in_one"},
                 {"ranks apart", Shown::count, "stride"},
                 {"here"},
                 {"what they say to each other", Shown::words, "caption"}};
    const Nest nest = nest_of(plan, evaluation.mesh, fold);
    std::int64_t boxes = 1;
    for (std::size_t k = 0; k < nest.levels.size(); ++k) {
        const NestLevel& l = nest.levels[k];
        boxes *= l.count;
        t.rows.push_back({name_of(l.kind), name_of(l.group), l.count, boxes, l.gpus, l.stride,
                          k < path.size() ? Cell(path[k]) : Cell(),
                          caption_of(plan, evaluation, group_listed_under(evaluation, l.group)).text()});
    }
    const NestPath legal = legal_path(nest, path);
    if (nest.mesh.world <= 0 || legal.size() < nest.levels.size()) return t;
    for (std::size_t depth = nest.levels.size(); depth <= legal.size(); ++depth) {
        const NestChildren inside = children_of(nest, std::span(legal).first(depth));
        for (const NestItem& item : inside.items)
            t.rows.push_back({name_of(inside.kind), "", "", "", "", "", item.label, ""});
    }
    if (const int tensor = tensor_at(nest, legal); tensor >= 0)
        t.rows.push_back(
            {"cut", "", "", "", "", "", cut_sentence(nest, tensor, first_rank_of(nest, legal)), ""});
    return t;
}

Table map_table(const Plan& plan, std::span<const MapRow> rows) {
    Table t;
    t.columns = {{"axis"},
                 {"factor", Shown::count},
                 {"setting"},
                 {"cuts"},
                 {"says"},
                 {"calls per step", Shown::count, "calls"},
                 {"sent per GPU and step", Shown::traffic, "sent_bytes"},
                 {"time", Shown::seconds, "time_s"},
                 {"exposed", Shown::seconds, "exposed_s"},
                 {"crosses"},
                 {"verdict"},
                 {"reason"},
                 {"reach for it when", Shown::words, "reach"}};
    for (const MapRow& r : rows) {
        const MapWords& w = words_of(r.id);
        t.rows.push_back({w.key, r.degree, r.setting, w.cuts,
                          r.collectives.empty() ? Cell(w.says) : Cell(collectives_text(r)),
                          whole_cell(r.calls), whole_cell(r.sent_bytes), r.time_s, r.exposed_s,
                          tier_label(plan.cluster, r.tier), name_of(r.verdict), r.reason, w.reach});
    }
    return t;
}

Table wires_table(const WireRace& race) {
    const std::string axis(race.moved ? name_of(*race.moved) : "an axis");
    Table t;
    t.columns = {{"wire"},
                 {"reach"},
                 {"bytes per second", Shown::traffic, "bytes_per_s"},
                 {"a GB takes", Shown::seconds, "takes_s"},
                 {"who talks on it", Shown::words, "talk"},
                 {"a step with " + axis + " on it", Shown::seconds, "step_s"},
                 {"of it waits for " + axis, Shown::seconds, "waits_s"},
                 {"order"}};
    for (const RaceLane& l : race.lanes) {
        std::string talk;
        for (const WireTalk& w : race.talk)
            if (w.tier == l.tier)
                talk += sentence(talk.empty() ? "" : "; ", name_of(w.kind), ": ", whole_text(w.calls),
                                 w.calls == 1 ? " call, " : " calls, ", bytes_text(w.sent_bytes));
        Table::Row& row = t.rows.emplace_back();
        row = {l.name, l.reach, l.bytes_per_s, l.takes_s(), talk};
        const auto order = std::find_if(race.orders.begin(), race.orders.end(),
                                        [&](const OtherOrder& o) { return o.tier == l.tier; });
        row.resize(t.columns.size());
        if (order == race.orders.end()) continue;
        row[5] = order->step_s, row[6] = order->waits_s, row[7] = order->where;
    }
    return t;
}

Table map_reference_table() {
    Table t;
    t.columns = {{"axis"}};
    for (const MapWordsColumn& k : kMapScope) t.columns.push_back({std::string(k.title)});
    for (const MapWordsColumn& k : kMapMaster) t.columns.push_back({std::string(k.title)});
    for (int i = 0; i < kMapRowCount; ++i) {
        const MapWords& w = words_of(static_cast<MapRowId>(i));
        Table::Row& row = t.rows.emplace_back();
        row.emplace_back(w.key);
        for (const MapWordsColumn& k : kMapScope) row.emplace_back(w.*k.words);
        for (const MapWordsColumn& k : kMapMaster) row.emplace_back(w.*k.words);
    }
    return t;
}

}  // namespace pentamesh
