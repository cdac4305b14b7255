#include "app/tables/measured.h"

#include "core/base/text.h"

namespace pentamesh {
namespace {

Cell known(const std::optional<double>& x) {
    return x ? Cell(*x) : Cell();
}

}  // namespace

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
        Table::Row row{name_of(r.part), r.time.measured_s, r.time.total_s};
        if (beside) {
            const runs::Fitting& f = r.fitting;
            const bool fits = !f.constant.empty();
            row.insert(row.begin() + 1, known(r.predicted_s));
            row.emplace_back(r.difference_s());
            row.push_back(off != 0 ? Cell(r.difference_s() / off) : Cell());
            row.emplace_back(f.constant);
            row.push_back(fits ? Cell(f.is) : Cell());
            row.push_back(fits ? Cell(f.would_be) : Cell());
            row.push_back(fits ? Cell(f.step_s) : Cell());
            row.emplace_back(f.why);
        }
        out.rows.push_back(std::move(row));
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
                   {"last to arrive", Shown::words, "last_to_arrive"}};
    for (const runs::CollectiveRow& r : m.collectives)
        out.rows.push_back(
            {r.axis, r.group_name, r.ranks, r.collective, r.bytes, static_cast<std::int64_t>(r.calls),
             r.median_s, known(r.transfer_s), known(r.predicted_s),
             r.last_rank < 0
                 ? std::string()
                 : sentence("rank ", std::to_string(r.last_rank), ", ", percent_text(r.last_share))});
    return out;
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

}  // namespace pentamesh
