#include "app/tables/strategies.h"

#include "app/tables/memory.h"
#include "core/plan/names.h"

namespace pentamesh {

Table strategies_table(const StrategyPrices& prices) {
    Table t;
    t.columns = {{"strategy"}, {"cuts"}};
    for (Table::Column& c : category_columns(Shown::memory)) t.columns.push_back(std::move(c));
    t.columns.push_back({"total", Shown::memory, "total_bytes"});
    t.columns.push_back({"sent per step", Shown::traffic, "sent_bytes"});
    t.columns.push_back({"calls per step", Shown::count, "calls"});
    t.columns.push_back({"collectives"});
    const auto row = [&](std::string_view name, std::string_view cuts, const StageMemory& m, double sent,
                         double calls, const std::string& what) {
        std::vector<std::string>& cells = t.rows.emplace_back();
        cells = {std::string(name), std::string(cuts)};
        for (std::string& c : category_cells(m)) cells.push_back(std::move(c));
        for (const double x : {m.total(), sent, calls}) cells.push_back(whole_cell(x));
        cells.push_back(what);
    };
    row("one GPU", "", prices.single_gpu, 0, 0, "");
    for (const StrategyPrice& p : prices.price) {
        const StrategyFacts& facts = facts_of(p.strategy);
        if (!p.possible) {
            std::vector<std::string>& cells = t.rows.emplace_back(t.columns.size());
            cells[0] = std::string(facts.name), cells[1] = p.why_not;
            continue;
        }
        std::string what;
        for (const StrategyTraffic& x : p.traffic)
            what += (what.empty() ? "" : " + ") + std::string(name_of(x.collective));
        row(facts.name, facts.splits, p.fullest, p.sent_bytes, p.count, what);
    }
    return t;
}

}  // namespace pentamesh
