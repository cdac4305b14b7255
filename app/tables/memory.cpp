#include "app/tables/memory.h"

namespace pentamesh {

Table memory_table(const Memory& memory) {
    Table t;
    t.columns = {
        {"stage", Shown::plain},
        {"layers", Shown::count},
        {"parameters", Shown::memory},
        {"gradients", Shown::memory},
        {"optimizer", Shown::memory},
        {"activations", Shown::memory},
        {"buffers", Shown::memory},
        {"buffers, least", Shown::memory, "buffers_low"},
        {"buffers, most", Shown::memory, "buffers_high"},
        {"total", Shown::memory},
        {"allocated", Shown::memory},
        {"reserved", Shown::memory},
        {"device", Shown::memory},
        {"host", Shown::memory},
        {"in flight", Shown::figure, "in_flight_microbatches"},
        {"activations of a layer and micro-batch", Shown::memory, "activations_per_layer_microbatch"},
        {"activations of the layers", Shown::memory, "layer_activations"}};
    for (const StageMemory& s : memory.stage)
        t.rows.push_back({cell(std::int64_t{s.stage}), cell(std::int64_t{s.layers}), whole_cell(s.parameters),
                          whole_cell(s.gradients), whole_cell(s.optimizer), whole_cell(s.activations),
                          whole_cell(s.buffers), whole_cell(s.buffers_low), whole_cell(s.buffers_high),
                          whole_cell(s.total()), whole_cell(s.allocated), whole_cell(s.reserved),
                          whole_cell(s.total()), whole_cell(s.host), cell(s.in_flight),
                          whole_cell(s.activations_per_layer), whole_cell(s.layer_activations)});
    return t;
}

Table savings_table(const std::vector<SavingStep>& steps) {
    Table t;
    t.columns = {{"after"},
                 {"saved", Shown::memory},
                 {"parameters", Shown::memory},
                 {"gradients", Shown::memory},
                 {"optimizer", Shown::memory},
                 {"activations", Shown::memory},
                 {"buffers", Shown::memory},
                 {"total", Shown::memory},
                 {"why"}};
    for (const SavingStep& s : steps)
        t.rows.push_back({s.label, whole_cell(s.saved), whole_cell(s.fullest.parameters),
                          whole_cell(s.fullest.gradients), whole_cell(s.fullest.optimizer),
                          whole_cell(s.fullest.activations), whole_cell(s.fullest.buffers),
                          whole_cell(s.fullest.total()), s.reason});
    return t;
}

}  // namespace pentamesh
