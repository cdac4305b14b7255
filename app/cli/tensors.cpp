#include "app/tables/tensors.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "core/advice/advice.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <array>
#include <iterator>

namespace pentamesh::cli {
namespace {

constexpr std::array kStates{TensorState::parameters, TensorState::gradients, TensorState::optimizer,
                             TensorState::activations};
constexpr std::array kMoments{Moment::at_rest, Moment::computing};

// Returns the sizes of a shape's own dimensions.
Json sizes(const Placement& p, const std::array<std::int64_t, 3>& all) {
    Json out = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (p.dims[i] != Dim::none) out.push_back(all[i]);
    return out;
}

Json json_of_tensor(const Placement& p) {
    Json dims = Json::array();
    for (const Dim d : p.dims)
        if (d != Dim::none) dims.push_back(name_of(d));
    Json axes = Json::object();
    for (const Axis a : all_of<Axis>()) {
        const AxisPlacement& on = p.axis[a];
        if (on.size <= 1) continue;
        Json axis{{"placement", name_of(on.spread)}};
        if (on.spread == Spread::cut) {
            axis["along"] = name_of(on.dim);
            axis["parts"] = on.parts;
        }
        axes[p.expert && a == Axis::tp ? "etp" : key_of(a)] = std::move(axis);
    }
    return {{"name", name_of(p.id)},
            {"kind", name_of(p.kind)},
            {"place", name_of(p.place)},
            {"state", name_of(p.state)},
            {"moment", name_of(p.moment)},
            {"layers", p.layers},
            {"dimensions", std::move(dims)},
            {"shape", sizes(p, p.shape)},
            {"local_shape", sizes(p, p.local)},
            {"axes", std::move(axes)},
            {"bytes", whole(p.bytes_whole)},
            {"bytes_per_rank", whole(p.bytes_per_rank)}};
}

// Lists all placements, each with its state.
Table table_of_all(const std::vector<Placement>& stored) {
    Table t = tensors_table(stored);
    t.columns.insert(t.columns.begin(), {"state"});
    for (std::size_t i = 0; i < stored.size(); ++i) {
        Table::Row row{name_of(stored[i].state)};
        std::move(t.rows[i].begin(), t.rows[i].end(), std::back_inserter(row));
        t.rows[i] = std::move(row);
    }
    return t;
}

struct TensorsOptions {
    PlanArgument plan;
    Forms forms;
};

int tensors(const Context& context, const TensorsOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    Json list = Json::array();
    Document document;
    std::vector<Placement> stored;  // at rest
    if (e.valid)
        for (const TensorState state : kStates)
            for (const Moment moment : kMoments) {
                const std::vector<Placement> placements = list_placements(plan, e.mesh, state, moment);
                for (const Placement& p : placements) list.push_back(json_of_tensor(p));
                if (moment == Moment::at_rest)
                    stored.insert(stored.end(), placements.begin(), placements.end());
                if (moment == Moment::at_rest)
                    document.sections.push_back({std::string(name_of(state)), {}, tensors_table(placements)});
            }
    return print_form(
        context, options.forms, e,
        [&] {
            return Json{{"tensors", std::move(list)}};
        },
        [&] { return table_of_all(stored); }, [&] { return document; });
}

}  // namespace

void add_tensors(Options& app, Context& context) {
    auto& options = run_with(app, context, tensors);
    add_plan_argument(app, options.plan);
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
