#include "app/tables/memory.h"

namespace pentamesh {

namespace {

// Returns several lists as one.
template <typename T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second, const std::vector<T>& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
}

}  // namespace

std::vector<Table::Column> category_columns(Shown shown) {
    return {{"parameters", shown},
            {"gradients", shown},
            {"optimizer", shown},
            {"activations", shown},
            {"buffers", shown}};
}

std::vector<std::string> category_cells(const StageMemory& s) {
    return {whole_cell(s.parameters), whole_cell(s.gradients), whole_cell(s.optimizer),
            whole_cell(s.activations), whole_cell(s.buffers)};
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
        t.rows.push_back(joined<std::string>(
            {cell(std::int64_t{s.stage}), cell(std::int64_t{s.layers})}, category_cells(s),
            {whole_cell(s.buffers_low), whole_cell(s.buffers_high), whole_cell(s.total()),
             whole_cell(s.allocated), whole_cell(s.reserved), whole_cell(s.total()), whole_cell(s.host),
             cell(s.in_flight), whole_cell(s.activations_per_layer), whole_cell(s.layer_activations)}));
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
        t.rows.push_back(joined<std::string>({label_of(s), whole_cell(s.saved)}, category_cells(s.fullest),
                                             {whole_cell(s.fullest.total()), std::string(reason_of(s))}));
    return t;
}

}  // namespace pentamesh
