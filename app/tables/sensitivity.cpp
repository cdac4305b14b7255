#include "app/tables/sensitivity.h"

#include "app/tables/memory.h"

#include <numeric>

namespace pentamesh {
namespace {

void put_nudge(Table& t, const Sensitivity& s, const SensitivityRow& row, const std::optional<Nudge>& n,
               bool moving_only) {
    if (!n || (moving_only && !n->valid())) return;
    std::vector<std::string>& out = t.rows.emplace_back();
    out = {std::string(name_of(row.kind)), row.id, row.name, row.value, n->value};
    if (n->valid())
        out.insert(out.end(),
                   {cell(n->same_tokens_s - s.step_s), cell(n->same_tokens_s / s.step_s - 1), cell(n->step_s),
                    cell(n->tokens_per_s), whole_cell(n->memory_bytes), std::string(fit_cell(n->fit)), ""});
    else
        out.insert(out.end(), {"", "", "", "", "", "", n->refused});
}

}  // namespace

Table sensitivity_table(const Sensitivity& s, bool moving_only) {
    Table t;
    t.columns = {{"kind"},
                 {"id"},
                 {"name"},
                 {"from"},
                 {"to"},
                 {"change, same tokens", Shown::seconds, "delta_s"},
                 {"share", Shown::share},
                 {"step", Shown::seconds, "step_s"},
                 {"tokens/s", Shown::count, "tokens_per_s"},
                 {"fullest GPU", Shown::memory, "memory_bytes"},
                 {"fits"},
                 {"refused"}};
    std::vector<std::size_t> order(s.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (moving_only) order = s.by_reach();
    for (const std::size_t i : order) {
        put_nudge(t, s, s.rows[i], s.rows[i].down, moving_only);
        put_nudge(t, s, s.rows[i], s.rows[i].up, moving_only);
    }
    return t;
}

}  // namespace pentamesh
