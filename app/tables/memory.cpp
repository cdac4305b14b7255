#include "app/tables/memory.h"

#include "core/base/text.h"
#include "core/plan/names.h"

namespace pentamesh {

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
    return fit == MemoryFit::yes ? "yes" : fit == MemoryFit::no ? "no" : kFitsIfSmall;
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
            kinds += (kinds.empty() ? "" : " + ") + std::string(words_of(w.collective));
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
    const auto row = [&](std::string_view name, std::string_view cuts, const StageMemory& m, double sent,
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
        const std::string what =
            join(p.traffic, " + ", [](const StrategyTraffic& x) { return words_of(x.collective); });
        row(facts.name, facts.splits, p.fullest, p.sent_bytes, p.count, what);
    }
    return t;
}

}  // namespace pentamesh
