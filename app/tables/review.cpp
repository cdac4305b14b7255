#include "app/tables/review.h"

#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace pentamesh {

namespace {

std::string range_words(const Band& r, std::string (*words)(double)) {
    return words(r.low) + " – " + words(r.high);
}

std::string seconds_words(double v) {
    return time_text(v, Zeros::kept);
}
std::string share_words(double v) {
    return percent_text(v, Zeros::kept);
}
std::string rate_words(double v) {
    return whole_text(std::round(v));
}
std::string figure_words(double v) {
    return three_digits(v, Zeros::kept);
}
std::string gib_words(double v) {
    return memory_text(v, Zeros::kept);
}

struct TrafficSum {
    double calls = 0, sent = 0, time_s = 0, exposed_s = 0;
};

void add_traffic(Table& t, std::string_view name, const TrafficSum& s) {
    t.rows.push_back({name, whole_cell(s.calls), whole_cell(s.sent), s.time_s, s.exposed_s});
}

Table traffic_columns(std::string_view first) {
    Table t;
    t.columns = {{std::string(first)},
                 {"calls", Shown::count, "count_per_step"},
                 {"sent per step", Shown::traffic, "sent_bytes_per_rank"},
                 {"time", Shown::seconds, "time_s"},
                 {"exposed", Shown::seconds, "exposed_s"}};
    return t;
}

}  // namespace

Table key_figures_table(const Plan& plan, const Evaluation& e) {
    Table t;
    t.columns = {{"figure"}, {"estimate", Shown::plain}, {"range", Shown::plain}};
    if (e.step) {
        const Step& s = *e.step;
        const auto rate = [&](const char* name, double v, std::string (*words)(double),
                              const std::string& unit) {
            t.rows.push_back({name, words(v) + unit, range_words(band_of(v, s.error), words) + unit});
        };
        t.rows.push_back(
            {"step", seconds_words(s.time_s), range_words(band_of(s.time_s, s.error), seconds_words)});
        rate("tokens/s, whole cluster", s.tokens_per_s, rate_words, "");
        rate("MFU", s.mfu, share_words, "");
        if (shows_causal_mfu(s)) rate("MFU (causal)", mfu_causal(s), share_words, "");
        rate("HFU", s.hfu, share_words, "");
        rate("model FLOPs per GPU", s.tflops_per_gpu, figure_words, " TFLOP/s");
        rate("a billion tokens", gpu_hours_of_billion(e.mesh.world, s.tokens_per_s), figure_words,
             " GPU-hours");
    }
    if (!e.memory.stage.empty()) {
        const StageMemory& peak = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
        t.rows.push_back({"memory of the fullest GPU, of " + gib_words(e.memory.hbm), gib_words(peak.total()),
                          gib_words(peak.least()) + " – " + gib_words(peak.most())});
    }
    if (!e.step) return t;
    const Cost cost = cost_of(plan, e.step->tokens_per_s);
    const auto put = [&](const char* name, const std::optional<double>& v, const std::string& unit) {
        if (v)
            t.rows.push_back({name, figure_words(*v) + unit,
                              range_words(band_of(*v, e.step->error), figure_words) + unit});
    };
    put("the training, without a failure", cost.days, " days");
    put("GPU time", cost.gpu_hours, " GPU-hours");
    put("cost", cost.money, plan.cluster.currency.empty() ? "" : " " + plan.cluster.currency);
    put("energy", cost.kwh, " kWh");
    return t;
}

Table headroom_table(const Memory& memory) {
    Table t;
    t.columns = {{"stage", Shown::plain},
                 {"least held", Shown::memory, "least"},
                 {"commonly held", Shown::memory, "total"},
                 {"most held", Shown::memory, "most"},
                 {"free", Shown::memory, "free"},
                 {"share free", Shown::share, "free_share"},
                 {"free at the most", Shown::memory, "free_at_most"}};
    for (const StageMemory& s : memory.stage)
        t.rows.push_back({s.stage, whole_cell(s.least()), whole_cell(s.total()), whole_cell(s.most()),
                          whole_cell(memory.hbm - s.total()),
                          memory.hbm > 0 ? (memory.hbm - s.total()) / memory.hbm : 0.0,
                          whole_cell(memory.hbm - s.most())});
    return t;
}

Table failure_table(const Failure& failure) {
    Table t;
    t.columns = {{"axis"},
                 {"groups that lose a GPU", Shown::count, "groups_hit"},
                 {"of", Shown::count, "groups"},
                 {"GPUs that wait in them", Shown::count, "waiting"}};
    for (const AxisFailure& a : failure.axes)
        t.rows.push_back({name_of(a.kind), a.groups_hit, a.groups, a.waiting});
    return t;
}

Table axes_traffic_table(const Evaluation& e) {
    Table t = traffic_columns("axis");
    TrafficSum all;
    for (int i = 0; i < kGroupKindCount; ++i) {
        const auto kind = static_cast<GroupKind>(i);
        const AxisTraffic& a = e.comm.by_axis[kind];
        if (a.count <= 0) continue;
        add_traffic(t, name_of(kind), {a.count, a.sent_bytes_per_rank, a.time_s, a.exposed_s});
        all.calls += a.count, all.sent += a.sent_bytes_per_rank;
        all.time_s += a.time_s, all.exposed_s += a.exposed_s;
    }
    if (t.rows.size() > 1) add_traffic(t, "all", all);
    return t;
}

Table links_traffic_table(const Plan& plan, const Evaluation& e) {
    Table t = traffic_columns("slowest link of a call");
    std::vector<TrafficSum> tiers(plan.cluster.tiers.size() + 1);
    for (const Operation& o : e.comm.operations) {
        if (o.on_other_stage) continue;  // in no sum, as by axis
        TrafficSum& s =
            tiers[std::min(static_cast<std::size_t>(std::max(0, o.tier)), plan.cluster.tiers.size())];
        s.calls += o.count_per_step, s.sent += o.sent_bytes_per_rank;
        s.time_s += o.time_s, s.exposed_s += o.exposed_s;
    }
    for (std::size_t i = 0; i < tiers.size(); ++i)
        if (tiers[i].calls > 0) add_traffic(t, tier_name(plan.cluster, static_cast<int>(i)), tiers[i]);
    return t;
}

std::vector<Explanation> explanations_of(const Plan& plan, const Evaluation& e, Zero zero) {
    std::vector<Explanation> out;
    const auto add = [&](double value, Explanation x) {
        if (!x.empty() && (zero == Zero::explained || value > 0)) out.push_back(std::move(x));
    };
    if (!e.valid) return out;
    if (!e.memory.stage.empty())
        for (int c = 0; c < kMemoryCategoryCount; ++c) {
            const auto category = static_cast<MemoryCategory>(c);
            add(bytes_of(e.memory.stage[e.memory.peak_stage], category),
                explain_memory(plan, e.mesh, e.memory, e.memory.peak_stage, category));
        }
    for (const Operation& o : e.comm.operations) add(o.sent_bytes_per_rank, explain_operation(plan, e, o));
    if (!e.step) return out;
    const Step& s = *e.step;
    const std::pair<StepPart, double> parts[] = {{StepPart::compute, s.compute_s},
                                                 {StepPart::recompute, s.recompute_s},
                                                 {StepPart::slowed, s.slowed_by_traffic_s},
                                                 {StepPart::bubble, schedule_bubble_s(s)},
                                                 {StepPart::uneven, s.uneven_s},
                                                 {StepPart::offload, s.offload_s},
                                                 {StepPart::optimizer, s.optimizer_s},
                                                 {StepPart::straggler, s.straggler_s}};
    for (const auto& [part, time_s] : parts)
        if (part != StepPart::offload || time_s > 0) add(time_s, explain_step(plan, e, part));
    for (int i = 0; i < kGroupKindCount; ++i)
        if (e.step->exposed_comm_s[i] > 0)
            add(e.step->exposed_comm_s[i],
                explain_step(plan, e, StepPart::exposed, static_cast<GroupKind>(i)));
    return out;
}

Table explanations_table(const Plan& plan, const Evaluation& e) {
    Table t;
    t.columns = {{"number"}, {"formula"}, {"with this plan's numbers"}, {"result"}, {"source"}};
    for (const Explanation& x : explanations_of(plan, e, Zero::explained))
        t.rows.push_back({x.whole_title(), x.formula, x.substituted, x.result, x.source});
    return t;
}

std::string near_runs_words(const Step& step) {
    std::string words = distance_words();
    if (step.calibrated <= 0)
        words += sentence(" The nearest of all ", measured_errors().size(), " measured runs is at ",
                          figure_words(std::round(100 * step.nearest_run) / 100), ".");
    return words;
}

namespace {

std::string source_words(std::string_view source) {
    constexpr std::size_t kWhole = 40, kShort = 12;
    std::string out;
    for (std::size_t i = 0; i < source.size();) {
        std::size_t n = 0;
        while (i + n < source.size() && std::isxdigit(static_cast<unsigned char>(source[i + n])) != 0) ++n;
        const std::size_t length = std::max<std::size_t>(n, 1);
        out += source.substr(i, n == kWhole ? kShort : length);
        i += length;
    }
    return out;
}

}  // namespace

std::vector<NearRunRow> near_run_rows(NearestRuns& runs, const Plan& plan, std::size_t most) {
    std::vector<NearRunRow> out;
    for (const NearRun& n : runs.of(plan, most)) {
        const PublishedRun& run = runs.runs()[n.run];
        const Plan& ran = run.plans.front();
        out.push_back({.name = title_of(ran) + ", " + std::string(name_of(ran.training.compute)),
                       .label = run.label,
                       .source = source_words(run.source),
                       .estimated = n.tokens_per_gpu_s * n.measured_s / n.estimated_s,
                       .measured = n.tokens_per_gpu_s,
                       .distance = n.distance});
    }
    return out;
}

Table near_runs_table(NearestRuns& runs, const Plan& plan, std::size_t most) {
    Table t;
    t.columns = {{"published run"},        {"tokens/s per GPU", Shown::plain}, {"estimated", Shown::plain},
                 {"off by", Shown::plain}, {"distance", Shown::plain},         {"source"}};
    for (const NearRunRow& r : near_run_rows(runs, plan, most))
        t.rows.push_back({r.label, figure_words(r.measured), figure_words(r.estimated),
                          (r.off() >= 0 ? "+" : "−") + percent_text(std::abs(r.off())),
                          figure_words(r.distance), r.source});
    return t;
}

std::vector<std::string> left_out_of_estimates(const Plan& plan, const Evaluation& e) {
    std::vector<std::string> out{
        "Reading the data, checkpoints, evaluation and restarts take no time in a step.",
        "The network is shared by nobody else; a tier's oversubscription is all the congestion that is "
        "counted.",
        "A call takes latency and bytes over bandwidth of the tiers that it crosses; no packet is replayed."};
    if (plan.training.straggler_cv <= 0)
        out.emplace_back("Every GPU is as fast as the others: training.straggler_cv is 0.");
    if (e.mesh.has_experts)
        out.push_back("The busiest rank of experts gets " + three_digits(plan.training.router_imbalance)
                      + " times the mean load (training.router_imbalance).");
    const Offload& off = plan.training.offload;
    if (off.any() && plan.cluster.gpu.host_bytes_per_s <= 0)
        out.emplace_back(
            "What lies in host memory moves in no time: the rate of the link to it is not known.");
    else if (off.optimizer > 0)
        out.emplace_back("The CPU updates its share of the optimizer in no time; only the way there and back "
                         "is timed.");
    out.emplace_back("Memory beyond the listed tensors is a range: what the framework's allocator, NCCL and "
                     "the driver commonly take.");
    return out;
}

namespace {

Cell known(const std::optional<double>& x) {
    Cell out;
    if (x) out = Cell(*x);
    return out;
}

// Returns the GB/s at which a rank sends in a call of so many seconds.
std::optional<double> rate_of(const runs::CollectiveRow& r, double seconds) {
    const std::optional<Collective> c = runs::collective_called(r.collective);
    if (!c || r.buffer <= 0 || r.ranks < 2 || !(seconds > 0)) return std::nullopt;
    return sent_bytes(*c, r.ranks, r.buffer) / seconds / 1e9;
}

}  // namespace

std::vector<std::string> link_words(const runs::Measured& m) {
    std::vector<std::string> out;
    for (const runs::Fitting& f : m.links)
        out.push_back(f.constant.empty() ? f.why
                                         : sentence(f.constant, " is ", three_digits(f.is), " and would be ",
                                                    three_digits(f.would_be), " ", f.why, "."));
    return out;
}

Table measured_parts_table(const runs::Measured& m) {
    const bool beside = m.predicted_s.has_value();
    const double off = m.measured_s.value_or(0) - m.predicted_s.value_or(0);
    Table out;
    out.columns = {{"part", Shown::words, "part"},
                   {"measured", Shown::seconds, "measured_s"},
                   {"with what is hidden", Shown::seconds, "total_s"}};
    if (beside) {
        out.columns.insert(out.columns.begin() + 1, {"predicted", Shown::seconds, "predicted_s"});
        for (Table::Column c :
             {Table::Column{"difference", Shown::seconds, "difference_s"},
              Table::Column{"of all", Shown::share, "share"},
              Table::Column{"constant", Shown::words, "constant"}, Table::Column{"is", Shown::figure, "is"},
              Table::Column{"would be", Shown::figure, "would_be"},
              Table::Column{"step then", Shown::seconds, "step_would_be_s"},
              Table::Column{"why", Shown::words, "why"}})
            out.columns.push_back(std::move(c));
    }
    for (const runs::PartRow& r : m.parts) {
        Table::Row& row = out.rows.emplace_back();
        row.emplace_back(name_of(r.part));
        if (beside) row.push_back(known(r.predicted_s));
        row.emplace_back(r.time.measured_s);
        row.emplace_back(r.time.total_s);
        if (!beside) continue;
        const runs::Fitting& f = r.fitting;
        const auto fitted = [&](double value) {
            return known(f.constant.empty() ? std::nullopt : std::optional(value));
        };
        row.emplace_back(r.difference_s());
        row.push_back(known(off != 0 ? std::optional(r.difference_s() / off) : std::nullopt));
        row.emplace_back(f.constant);
        row.push_back(fitted(f.is));
        row.push_back(fitted(f.would_be));
        row.push_back(fitted(f.step_s));
        row.emplace_back(f.why);
    }
    return out;
}

Table measured_ranks_table(const runs::Measured& m) {
    Table out;
    out.columns = {{"rank", Shown::plain, "rank"},
                   {"place", Shown::words, "place"},
                   {"step", Shown::seconds, "step_s"},
                   {"own work", Shown::seconds, "own_s"}};
    std::vector<runs::RunPart> parts;
    for (const runs::RunPart p : all_of<runs::RunPart>())
        if (std::ranges::any_of(m.ranks, [&](const runs::RankRow& r) { return r.part[p].has_value(); }))
            parts.push_back(p);
    for (const runs::RunPart p : parts)
        out.columns.push_back({std::string(name_of(p)), Shown::seconds, std::string(name_of(p)) + "_s"});
    out.columns.push_back({"slow by", Shown::words, "slow_by"});
    out.columns.push_back({"more than peers", Shown::seconds, "more_s"});
    for (std::size_t i = 0; i < m.ranks.size(); ++i) {
        const runs::RankRow& r = m.ranks[i];
        Table::Row& row = out.rows.emplace_back();
        row.emplace_back(r.rank);
        row.emplace_back(r.place);
        row.emplace_back(r.step_s);
        row.emplace_back(r.own_s);
        for (const runs::RunPart p : parts) row.push_back(known(r.part[p]));
        const auto slow = std::ranges::find(m.slow, i, &runs::SlowRank::row);
        row.emplace_back(slow == m.slow.end() ? std::string() : std::string(name_of(slow->part)));
        row.push_back(known(slow == m.slow.end() ? std::nullopt : std::optional(slow->more_s())));
    }
    return out;
}

Table measured_collectives_table(const runs::Measured& m) {
    Table out;
    out.columns = {{"axis", Shown::words, "axis"},
                   {"group", Shown::words, "group_name"},
                   {"ranks", Shown::count, "ranks"},
                   {"collective", Shown::words, "collective"},
                   {"bytes", Shown::traffic, "bytes"},
                   {"calls", Shown::count, "calls"},
                   {"median", Shown::seconds, "median_s"},
                   {"transfer", Shown::seconds, "transfer_s"},
                   {"predicted", Shown::seconds, "predicted_s"},
                   {"GB/s measured", Shown::figure, "measured_gb_per_s"},
                   {"GB/s assumed", Shown::figure, "assumed_gb_per_s"},
                   {"last to arrive", Shown::words, "last_to_arrive"}};
    for (const runs::CollectiveRow& r : m.collectives) {
        Table::Row& row = out.rows.emplace_back();
        for (const std::string& words : {r.axis, r.group_name}) row.emplace_back(words);
        row.emplace_back(r.ranks);
        row.emplace_back(r.collective);
        row.emplace_back(r.bytes);
        row.emplace_back(r.calls);
        row.emplace_back(r.median_s);
        row.push_back(known(r.transfer_s));
        row.push_back(known(r.predicted_s));
        row.push_back(known(rate_of(r, r.transfer_s.value_or(r.median_s))));
        row.push_back(known(rate_of(r, r.predicted_s.value_or(0))));
        row.emplace_back(r.last_rank < 0 ? std::string()
                                         : sentence("rank ", std::to_string(r.last_rank), ", ",
                                                    percent_text(r.last_share)));
    }
    return out;
}

Table hang_table(const runs::HangRun& run, const Hosts& hosts, const Cluster* cluster) {
    Table out;
    out.columns = {{"ranks"}, {"does"}, {"at"}, {"for"}, {"call"}, {"wire"}, {"why"}};
    const runs::Hang& h = run.hang;
    const auto add = [&](const std::string& ranks, const std::string& does, const std::string& at,
                         const std::string& whom, const runs::RunCall& call, const std::string& why) {
        Table::Row& row = out.rows.emplace_back();
        for (const std::string& cell : {ranks, does, at, whom, call_words(h, *run.run.names, call),
                                        wire_words(run, call, hosts, cluster), why})
            row.emplace_back(cell);
    };
    for (const runs::Culprit& c : h.culprits)
        add(std::to_string(c.rank), sentence(name_of(c.kind), c.sure ? "" : " (not sure)"),
            coordinate_words(h.layout, c.rank), "", c.call, c.why);
    for (const runs::RunCall& c : h.groups_stuck)
        add(ranks_text(run.run.names->ranks(c.group)), "stuck", "", "", c, "all are there and nothing moves");
    for (const runs::WaitingCall& w : waiting_by_call(h))
        add(ranks_text(w.who), "waits", "", ranks_text(w.whom), w.call, "");
    if (!h.held_up.empty())
        add(ranks_text(h.held_up), "held up", "", "", {},
            "nobody is missing in their own calls: they wait behind the others");
    return out;
}

}  // namespace pentamesh
