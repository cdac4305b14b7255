#include "core/runs/measured.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace pentamesh::runs {
namespace {

// Returns the files that divide a step: traces, else a log with timers.
std::vector<const RunFile*> dividing_files(const std::vector<RunFile>& files) {
    for (const RunFileKind kind : {RunFileKind::kineto, RunFileKind::megatron_log}) {
        std::vector<const RunFile*> out;
        for (const RunFile& f : files)
            if (f.kind == kind
                && std::any_of(f.parts.begin(), f.parts.end(), [](const auto& p) { return p.has_value(); }))
                out.push_back(&f);
        if (!out.empty()) return out;
    }
    return {};
}

std::optional<double> step_of(const RunFile& f, const Plan* plan) {
    if (f.step_s > 0) return f.step_s;
    if (plan && f.tokens_per_s_per_gpu > 0)
        return tokens_per_step(plan->training)
               / (f.tokens_per_s_per_gpu * static_cast<double>(plan->cluster.gpus));
    if (plan && f.samples_per_s > 0)
        return static_cast<double>(plan->training.global_batch) / f.samples_per_s;
    return std::nullopt;
}

// Returns the mean of the files that divide the step; without any, of all that have one.
std::optional<double> measured_step(const std::vector<RunFile>& files, const Plan* plan) {
    std::vector<const RunFile*> of = dividing_files(files);
    if (of.empty())
        for (const RunFile& f : files) of.push_back(&f);
    double sum = 0;
    int count = 0;
    for (const RunFile* f : of)
        if (const auto s = step_of(*f, plan)) sum += *s, ++count;
    if (count == 0) return std::nullopt;
    return sum / count;
}

Division division_of(const RunFile& file) {
    return file.kind == RunFileKind::kineto ? Division::trace : Division::timers;
}

// The parts of several ranks are their mean, which still adds up to the mean step.
void add_parts(Measured& m, const Prediction* prediction) {
    const std::vector<const RunFile*> files = dividing_files(m.files);
    if (files.empty()) return;
    const double share = 1 / static_cast<double>(files.size());
    EnumArray<RunPart, bool> measured{};
    EnumArray<RunPart, PartTime> time{};
    EnumArray<RunPart, double> predicted{};
    for (const RunFile* f : files)
        for (const RunPart p : all_of<RunPart>())
            if (f->parts[p]) {
                measured[p] = true;
                time[p].measured_s += f->parts[p]->measured_s * share;
                time[p].total_s += f->parts[p]->total_s * share;
            }
    if (prediction)
        for (const RunFile* f : files) {
            const Mesh& mesh = prediction->evaluation.mesh;
            const bool known = f->rank >= 0 && f->rank < mesh.world;
            const int stage = known ? static_cast<int>(dense_coordinates(mesh, f->rank)[Axis::pp]) : -1;
            const auto of_file = predict_parts(prediction->evaluation, division_of(*f), stage, measured);
            for (const RunPart p : all_of<RunPart>()) predicted[p] += of_file[p] * share;
        }
    for (const RunPart p : all_of<RunPart>()) {
        if (!measured[p] && !(std::abs(predicted[p]) > 0)) continue;
        PartRow row{p, time[p], std::nullopt, {}};
        if (prediction) {
            row.predicted_s = predicted[p];
            row.fitting = fit_part(*prediction, row, division_of(*files.front()), m.collectives);
            const Step& s = *prediction->evaluation.step;
            // Another stage's compute stands for the longest one's in proportion.
            if (p == RunPart::compute && !row.fitting.constant.empty())
                m.compute_s = row.time.measured_s * longest_compute(s) / predicted[p];
        }
        m.parts.push_back(std::move(row));
    }
}

// Names what a call is where its group is not named: the axes of the plan's operations that fit.
void name_calls(Measured& m, const Prediction& prediction) {
    for (CollectiveRow& r : m.collectives) {
        if (r.part == RunPart::unnamed && r.ranks > 1) {
            std::vector<RunPart> fit;
            for (const bool by_bytes : {true, false}) {
                for (const Operation& o : prediction.evaluation.comm.operations) {
                    CollectiveRow with = r;
                    with.part = part_of_kind(o.group);
                    const bool fits = by_bytes ? operation_of(prediction.evaluation, with) != nullptr : true;
                    if (o.group_size == r.ranks && fits
                        && std::find(fit.begin(), fit.end(), with.part) == fit.end())
                        fit.push_back(with.part);
                }
                if (!fit.empty()) break;
            }
            if (fit.size() == 1) r.part = fit.front();
            if (!fit.empty()) r.axis.clear();
            for (const RunPart p : fit) r.axis += sentence(r.axis.empty() ? "" : " or ", name_of(p));
        }
        if (const Operation* o = operation_of(prediction.evaluation, r)) r.predicted_s = o->call_s;
    }
}

// Says which axis calls without groups are of, where the plan talks over only one.
void name_unnamed(Measured& m, const Evaluation& e) {
    if (std::ranges::none_of(m.parts, [](const PartRow& r) { return r.part == RunPart::unnamed; })) return;
    std::vector<RunPart> axes;
    for (const Operation& o : e.comm.operations)
        if (std::ranges::find(axes, part_of_kind(o.group)) == axes.end())
            axes.push_back(part_of_kind(o.group));
    if (axes.size() == 1)
        m.warnings.push_back(sentence("The plan talks only over ", name_of(axes.front()),
                                      ": the unnamed communication is of it."));
}

// Says where the run cannot be that of the plan.
void compare(Measured& m, const Plan& plan, const Mesh& mesh) {
    const auto differs = [&](const RunFile& f, std::string_view what, std::int64_t run,
                             std::int64_t planned) {
        if (run > 0 && run != planned)
            m.problems.push_back({"run-differs", sentence(f.file, ": ", what, " ", run, " in the run and ",
                                                          planned, " in the plan.")});
    };
    for (const RunFile& f : m.files) {
        differs(f, "there are so many ranks:", f.world, mesh.world);
        differs(f, "the global batch is", f.global_batch, plan.training.global_batch);
    }
}

// These are what a rank does itself: it waits for nobody in them.
constexpr std::array kOwnWork{RunPart::compute, RunPart::optimizer, RunPart::memory, RunPart::idle};

std::string rank_place(const Plan* plan, const Mesh* mesh, const Hosts& hosts, std::int64_t rank) {
    std::string out;
    const auto add = [&](const std::string& words) { out += (out.empty() ? "" : ", ") + words; };
    if (mesh != nullptr) {
        const Coordinates at = dense_coordinates(*mesh, rank);
        for (const Axis a : all_of<Axis>())
            if (a != Axis::ep && mesh->dense[a].size > 1) add(sentence(name_of(a), " ", at[a]));
    }
    const bool named = !hosts.names.empty() && rank / hosts.gpus_each < std::ssize(hosts.names);
    if (named)
        add(hosts.of(rank));
    else if (plan != nullptr && plan->cluster.tiers.size() > 1)
        add(sentence(domain_name(plan->cluster), " ", rank / domain_of(plan->cluster, 0)));
    return out;
}

// Numbers the rows so that those of ranks which share a group of replicas, shards or a layer's pieces have
// the same number: they are of one pipeline stage.
void number_by_groups(const std::vector<const RunFile*>& files, std::vector<RankRow>& rows) {
    const PartOfGroup part_of = parts_by(nullptr);
    std::vector<int> number(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) number[i] = static_cast<int>(i);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const RunGroup& g : files[i]->groups) {
            const RunPart part = part_of(g, "", *files[i]);
            if (part == RunPart::pp || part == RunPart::unnamed) continue;
            for (const std::int64_t r : g.ranks) {
                const auto peer = std::ranges::lower_bound(rows, r, {}, &RankRow::rank);
                if (peer == rows.end() || peer->rank != r) continue;
                const int from = number[static_cast<std::size_t>(peer - rows.begin())], to = number[i];
                std::ranges::replace(number, from, to);
            }
        }
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::ranges::count(number, number[i]) > 1) rows[i].peers_of = number[i];
}

// Returns how many of the values, from the last of them on, lie apart above the others; they are in order.
std::size_t count_above(const std::vector<double>& sorted, double step_s) {
    constexpr double kLeastOfStep = 0.03;  // a smaller step is noise, as where dumps are read
    std::size_t at = 0;
    double widest = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i] - sorted[i - 1] > widest) widest = sorted[i] - sorted[i - 1], at = i;
    const std::size_t above = sorted.size() - at;
    if (at == 0 || above * 2 > sorted.size() || widest <= kLeastOfStep * step_s) return 0;
    return widest > sorted[at - 1] - sorted.front() ? above : 0;
}

// Marks those of some peers whose value lies apart above the others'.
void mark_slow(const std::vector<RankRow*>& peers, const std::function<double(const RankRow&)>& value) {
    std::vector<double> sorted, steps;
    for (const RankRow* r : peers) sorted.push_back(value(*r)), steps.push_back(r->step_s);
    std::ranges::sort(sorted);
    const std::size_t above = count_above(sorted, median(std::move(steps)));
    if (above == 0) return;
    const double least = sorted[sorted.size() - above];
    for (RankRow* r : peers)
        if (value(*r) >= least) r->slow = true;
}

// Returns the part of its own work of which a rank has most more than its peers that are not slow.
SlowRank slow_rank(const std::vector<RankRow>& rows, std::size_t row) {
    SlowRank out{.row = row};
    for (const RunPart p : kOwnWork) {
        std::vector<double> of_peers;
        for (const RankRow& r : rows)
            if (!r.slow && r.peers_of == rows[row].peers_of) of_peers.push_back(r.part[p].value_or(0));
        SlowRank of_part{.row = row,
                         .part = p,
                         .part_s = rows[row].part[p].value_or(0),
                         .peers_s = 0,
                         .peers = std::ssize(of_peers)};
        of_part.peers_s = median(std::move(of_peers));
        if (p == kOwnWork.front() || of_part.more_s() > out.more_s()) out = of_part;
    }
    return out;
}

// Says which ranks stand out, or that none does; empty where no two are peers.
std::string slow_summary(const Measured& m) {
    constexpr std::size_t kMostNamed = 4;
    std::string out;
    for (std::size_t i = 0; i < std::min(m.slow.size(), kMostNamed); ++i)
        out += " " + slow_words(m, m.slow[i]);
    if (m.slow.size() > kMostNamed) out += sentence(" ", m.slow.size() - kMostNamed, " more are slow.");
    const bool compared = std::ranges::any_of(m.ranks, [](const RankRow& r) { return r.peers_of >= 0; });
    if (m.slow.empty() && compared)
        out += sentence(" Of ", m.ranks.size(), " ranks none stands out by its own work.");
    return out;
}

std::string signed_time(double seconds) {
    return (seconds < 0 ? "-" : "+") + time_text(std::abs(seconds));
}

std::string summary_of(const Measured& m) {
    if (!m.measured_s) {
        const auto rate = std::ranges::find_if(m.files, [](const RunFile& f) { return f.samples_per_s > 0; });
        if (rate != m.files.end())
            return sentence("The log has ", three_digits(rate->samples_per_s),
                            " sequences a second; the plan (--plan) says how many a step has.");
        return m.collectives.empty() ? "" : "The files say how long collectives take, and no step.";
    }
    const bool warm_up =
        std::ranges::any_of(m.files, &RunFile::warm_up)
        && std::ranges::none_of(m.files, [](const RunFile& f) { return f.steps > 0 && !f.warm_up; });
    std::string out = sentence(warm_up ? "The first step, which warms up, takes " : "A step takes ",
                               time_text(*m.measured_s));
    if (m.ranks.size() > 1) out += sentence(", the mean of ", m.ranks.size(), " ranks");
    if (!m.predicted_s) return out + "." + slow_summary(m);
    if (warm_up) return out + sentence("; predicted for those behind it: ", time_text(*m.predicted_s), ".");
    const double off = *m.measured_s - *m.predicted_s;
    out += sentence(", predicted ", time_text(*m.predicted_s), ": ", signed_time(off), " (",
                    percent_text(std::abs(off) / *m.predicted_s), ").");
    const auto largest = std::ranges::max_element(m.parts, {}, [&](const PartRow& r) {
        return r.predicted_s ? r.difference_s() * (off < 0 ? -1 : 1) : 0;
    });
    constexpr double kSmall = 0.01;
    if (largest != m.parts.end() && largest->predicted_s && std::abs(off) > kSmall * *m.predicted_s)
        out += sentence(" The largest part of the difference is ", name_of(largest->part), ": ",
                        signed_time(largest->difference_s()), ".");
    return out + slow_summary(m);
}

}  // namespace

std::vector<RankRow> rank_rows(const std::vector<RunFile>& files, const Plan* plan, const Mesh* mesh,
                               const Hosts& hosts) {
    std::map<std::int64_t, const RunFile*> by_rank;
    for (const RunFile& f : files)
        if (f.kind == RunFileKind::kineto && f.rank >= 0 && f.step_s > 0) by_rank.emplace(f.rank, &f);
    std::vector<RankRow> out;
    if (by_rank.size() < 2) return out;
    std::vector<const RunFile*> of;
    bool in_mesh = mesh != nullptr;  // the plan's mesh is the run's
    for (const auto& [rank, f] : by_rank)
        in_mesh = in_mesh && rank < mesh->world && (f->world < 0 || f->world == mesh->world);
    for (const auto& [rank, f] : by_rank) {
        RankRow row{.rank = rank, .step_s = f->step_s};
        for (const RunPart p : all_of<RunPart>())
            if (f->parts[p]) row.part[p] = f->parts[p]->measured_s;
        for (const RunPart p : kOwnWork) row.own_s += row.part[p].value_or(0);
        row.place = rank_place(in_mesh ? plan : nullptr, in_mesh ? mesh : nullptr, hosts, rank);
        if (in_mesh) row.peers_of = static_cast<int>(dense_coordinates(*mesh, rank)[Axis::pp]);
        out.push_back(std::move(row));
        of.push_back(f);
    }
    if (!in_mesh) number_by_groups(of, out);
    return out;
}

std::vector<SlowRank> find_slow_ranks(std::vector<RankRow>& rows) {
    std::map<int, std::vector<RankRow*>> peers;
    for (RankRow& r : rows)
        if (r.peers_of >= 0) peers[r.peers_of].push_back(&r);
    for (const auto& [number, of] : peers) {
        mark_slow(of, [](const RankRow& r) { return r.own_s; });
        // A rank may be idle for as long as another computes: it waits for that one on its CPU.
        mark_slow(of, [](const RankRow& r) { return r.part[RunPart::compute].value_or(0); });
    }
    std::vector<SlowRank> out;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].slow) out.push_back(slow_rank(rows, i));
    return out;
}

std::string slow_words(const Measured& m, const SlowRank& s) {
    const RankRow& r = m.ranks[s.row];
    const std::string what = s.part == RunPart::idle     ? "no kernel runs for "
                             : s.part == RunPart::memory ? "copies take "
                                                         : std::string(name_of(s.part)) + " takes ";
    return sentence("Rank ", std::to_string(r.rank), r.place.empty() ? "" : " (" + r.place + ")",
                    " is slow: ", what, time_text(s.part_s), " a step, ", time_text(s.more_s()),
                    " more than for its ", count_text(s.peers, "peer"), ".");
}

Measured measure(std::vector<RunFile> files, const Plan* plan, const Presets& presets, const Hosts& hosts) {
    Measured m;
    m.files = std::move(files);
    std::optional<Prediction> prediction;
    if (plan) {
        prediction.emplace(Prediction{*plan, presets, evaluate(*plan)});
        for (const Problem& p : prediction->evaluation.problems)
            if (p.severity == Severity::error)
                m.problems.push_back({"impossible-plan", "The plan is impossible: " + p.message});
        compare(m, *plan, prediction->evaluation.mesh);
    }
    const bool predicted = prediction && prediction->evaluation.step;
    m.collectives =
        collective_rows(m.files, parts_by(plan ? &prediction->evaluation.mesh : nullptr), m.warnings);
    m.measured_s = measured_step(m.files, plan);
    if (predicted) {
        const Step& s = *prediction->evaluation.step;
        m.predicted_s = s.time_s, m.ideal_s = s.ideal_s;
        name_calls(m, *prediction);
        m.links = fit_links(*prediction, m.collectives);
        const std::string words = m.measured_s ? impossible_words(*plan, s, *m.measured_s) : "";
        m.possible = words.empty();
        if (!m.possible) m.problems.push_back({"impossible-run", words});
    }
    add_parts(m, predicted ? &*prediction : nullptr);
    m.ranks = rank_rows(m.files, plan, plan ? &prediction->evaluation.mesh : nullptr, hosts);
    m.slow = find_slow_ranks(m.ranks);
    if (predicted) name_unnamed(m, prediction->evaluation);
    for (const RunFile& f : m.files)
        for (const std::string& w : f.warnings) m.warnings.push_back(f.file + ": " + w);
    const auto traces = std::ranges::count(m.files, RunFileKind::kineto, &RunFile::kind);
    if (traces == 1 && !m.collectives.empty())
        m.warnings.emplace_back(
            "One rank's trace does not tell the time of a transfer from the wait for other ranks.");
    m.summary = summary_of(m);
    for (const RunFile& f : m.files) m.peak_bytes = std::max(m.peak_bytes, f.peak_bytes);
    if (prediction && prediction->evaluation.valid) m.predicted_peak = prediction->evaluation.memory.peak();
    return m;
}

// Puts the calls of several ranks together: how long a transfer takes, and who comes last.

namespace {

struct OfRank {
    std::int64_t rank;
    const RunCalls* calls;
};

// Holds the shortest time of each call that all ranks have, and how often a rank had it before all others.
struct Matched {
    std::vector<double> shortest;
    std::map<std::int64_t, std::size_t> last;
};

// The calls of ranks match by number, else by order, where all have as many. The rank that is in a call for
// the shortest time has come last: the others' time holds their wait for it.
std::optional<Matched> match(const std::vector<OfRank>& ranks) {
    std::map<std::int64_t, std::vector<std::pair<double, std::int64_t>>> calls;
    for (const OfRank& r : ranks) {
        const RunCalls& c = *r.calls;
        if (c.numbers.empty() && c.seconds.size() != ranks.front().calls->seconds.size()) return std::nullopt;
        for (std::size_t i = 0; i < c.seconds.size(); ++i)
            calls[c.numbers.empty() ? static_cast<std::int64_t>(i) : c.numbers[i]].emplace_back(c.seconds[i],
                                                                                                r.rank);
    }
    Matched out;
    for (const auto& [number, times] : calls) {
        if (number < 0 || times.size() != ranks.size()) continue;
        // Nobody is last of those that come at the same time.
        constexpr double kTie = 0.05;  // of the call
        auto sorted = times;
        std::sort(sorted.begin(), sorted.end());
        out.shortest.push_back(sorted[0].first);
        if (sorted[1].first > (1 + kTie) * sorted[0].first) ++out.last[sorted[0].second];
    }
    if (out.shortest.empty()) return std::nullopt;
    return out;
}

bool has_transfer(const std::string& collective) {
    return collective != "Send" && collective != "Recv" && collective != "SendRecv";
}

// Collects one row: the groups of an axis that make the same call.
struct Row {
    CollectiveRow row;
    std::vector<double> seconds, shortest;
};

}  // namespace

std::vector<CollectiveRow> collective_rows(const std::vector<RunFile>& files, const PartOfGroup& part_of,
                                           std::vector<std::string>& warnings) {
    using GroupKey = std::tuple<std::string, std::string, std::int64_t, std::vector<std::int64_t>,
                                std::string, std::int64_t>;
    std::map<GroupKey, std::vector<OfRank>> of_group;
    std::map<GroupKey, RunPart> part;
    const RunGroup none;
    bool twice = false;
    for (const RunFile& f : files)
        for (const RunCalls& c : f.calls) {
            const RunGroup& g = c.group < 0 ? none : f.groups[static_cast<std::size_t>(c.group)];
            const GroupKey key(g.name, g.own_name, g.size, g.ranks, c.collective, c.bytes);
            std::vector<OfRank>& ranks = of_group[key];
            const bool again =
                std::ranges::any_of(ranks, [&](const OfRank& o) { return o.rank >= 0 && o.rank == f.rank; });
            twice = twice || again;
            if (!again) ranks.push_back({f.rank, &c});
            part[key] = part_of(g, c.collective, f);
        }
    std::map<std::tuple<RunPart, std::string, std::int64_t, std::string, std::int64_t>, Row> rows;
    bool uneven = false;
    for (const auto& [key, ranks] : of_group) {
        const auto& [name, own_name, size, members, collective, bytes] = key;
        Row& r = rows[{part[key], name, size, collective, bytes}];
        r.row.part = part[key], r.row.axis = name_of(part[key]), r.row.group_name = name;
        r.row.collective = collective, r.row.ranks = size, r.row.bytes = bytes;
        r.row.buffer = ranks.front().calls->buffer;
        for (const OfRank& o : ranks) {
            r.row.calls = std::max(r.row.calls, o.calls->seconds.size());
            r.seconds.insert(r.seconds.end(), o.calls->seconds.begin(), o.calls->seconds.end());
        }
        if (ranks.size() < 2 || size < 2 || !has_transfer(collective)) continue;
        const std::optional<Matched> matched = match(ranks);
        if (!matched) uneven = true;
        if (!matched) continue;
        r.shortest.insert(r.shortest.end(), matched->shortest.begin(), matched->shortest.end());
        for (const auto& [rank, times] : matched->last) {
            const double share = static_cast<double>(times) / static_cast<double>(matched->shortest.size());
            if (share > r.row.last_share) r.row.last_share = share, r.row.last_rank = rank;
        }
    }
    if (twice) warnings.emplace_back("Two files are of one rank: the calls of the second are left out.");
    if (uneven)
        warnings.emplace_back(
            "Ranks of one group made a call not equally often: such calls are not matched.");
    std::vector<CollectiveRow> out;
    for (auto& [key, r] : rows) {
        r.row.median_s = median(std::move(r.seconds));
        if (!r.shortest.empty()) r.row.transfer_s = median(std::move(r.shortest));
        out.push_back(std::move(r.row));
    }
    return out;
}

// A kernel's time holds the wait for the others: the rank for which the others wait spends the least time in
// communication. Clocks of nodes are not compared.

namespace {

constexpr double kLeastOfSpan = 0.03;  // a smaller step is noise
constexpr double kOverMedian = 10;     // how much wider than the usual step between two ranks

struct Busy {
    double ms = 0;
    std::int64_t rank = 0;
};

// Returns how many of the sorted ranks are slow: those below the widest step.
std::size_t count_slow(const std::vector<Busy>& sorted, double span_ms) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < sorted.size(); ++i) steps.push_back(sorted[i].ms - sorted[i - 1].ms);
    if (steps.size() < 2) return 0;
    const auto widest = std::max_element(steps.begin(), steps.end());
    const auto below = static_cast<std::size_t>(widest - steps.begin()) + 1;
    const double step = *widest;
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    const double median = steps[steps.size() / 2];
    const bool wide = step > kLeastOfSpan * span_ms && step > kOverMedian * median;
    return wide && below * 2 <= sorted.size() ? below : 0;
}

}  // namespace

void find_slow(const DumpFolder& run, Hang& hang) {
    std::map<std::int64_t, std::vector<Busy>> stages;
    double span_ms = 0;
    for (const Dump& d : run.dumps) {
        double sum = 0;
        bool timed = false;
        for (const DumpEntry& e : d.entries)
            if (e.duration_ms >= 0) sum += static_cast<double>(e.duration_ms), timed = true;
        if (!timed) continue;
        stages[hang.layout.coordinate(RunAxis::pp, d.rank)].push_back({sum, d.rank});
        span_ms = std::max(span_ms, d.span_ms);
    }
    for (auto& [stage, ranks] : stages) {
        std::sort(ranks.begin(), ranks.end(), [](const Busy& a, const Busy& b) { return a.ms < b.ms; });
        const std::size_t slow = count_slow(ranks, span_ms);
        for (std::size_t i = 0; i < slow; ++i)
            hang.culprits.push_back({ranks[i].rank,
                                     FaultKind::slow,
                                     true,
                                     {},
                                     "it spends " + time_text(ranks[i].ms / 1e3)
                                         + " in communication where the next rank of its stage spends "
                                         + time_text(ranks[slow].ms / 1e3) + ": the others wait for it"});
    }
    std::sort(hang.culprits.begin(), hang.culprits.end(),
              [](const Culprit& a, const Culprit& b) { return a.rank < b.rank; });
    if (!hang.culprits.empty()) hang.verdict = RunVerdict::slow;
}

}  // namespace pentamesh::runs
