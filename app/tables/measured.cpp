#include "app/tables/measured.h"

#include "core/base/text.h"
#include "core/mesh/collective.h"
#include "core/runs/hang_words.h"
#include "core/runs/run_axes.h"

namespace pentamesh {
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

std::vector<std::string> slowdown_words(const runs::WhatIf& w) {
    return {sentence("Replayed with its measured times, a step of ", count_text(w.replicas, "replica"),
                     " and ", count_text(w.stages, "stage"), " takes ", time_text(w.measured_s),
                     " (the mean of ", w.steps, "), and ", time_text(w.ideal_s),
                     " if all workers were equally fast: a slowdown of ", three_digits(w.slowdown), "."),
            sentence("Of the ", time_text(w.measured_s - w.ideal_s), " that a step loses, the slowest ",
                     w.worst == 1 ? std::string("one") : with_commas(static_cast<std::int64_t>(w.worst)),
                     " of ", w.workers.size(), " workers would give back ", percent_text(w.worst_share),
                     " at ideal times, the last stage ", percent_text(w.last_stage_share),
                     std::max(w.worst_share, w.last_stage_share) > 1
                         ? " (over 100 %: the step would be shorter than with all workers equally fast)."
                         : ".")};
}

Table slowdown_table(const runs::WhatIf& w) {
    Table out;
    out.columns = {{"only these as measured", Shown::words, "kept"}, {"slowdown", Shown::figure, "slowdown"}};
    for (std::size_t s = 0; s < w.by_stage.size(); ++s)
        out.rows.push_back({sentence("stage ", s), w.by_stage[s]});
    for (std::size_t r = 0; r < w.by_replica.size(); ++r)
        out.rows.push_back({sentence("data-parallel rank ", r), w.by_replica[r]});
    for (const auto& [kind, slowdown] : w.by_kind) out.rows.push_back({kind, slowdown});
    for (std::size_t i = 0; i < w.worst; ++i)
        out.rows.push_back(
            {sentence("worker at data-parallel rank ", w.workers[i].dp, ", stage ", w.workers[i].stage),
             w.workers[i].slowdown});
    return out;
}

Table hang_table(const runs::HangRun& run) {
    Table out;
    out.columns = {{"ranks"}, {"does"}, {"at"}, {"for"}, {"call"}, {"over"}, {"why"}};
    const runs::Hang& h = run.hang;
    const auto add = [&](const std::string& ranks, const std::string& does, const std::string& at,
                         const std::string& whom, const runs::RunCall& call, const std::string& why) {
        Table::Row& row = out.rows.emplace_back();
        for (const std::string& cell : {ranks, does, at, whom, call_words(h, *run.run.names, call),
                                        std::string(run.tier_name_of(call)), why})
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
