// Lists the reductions and gathers of data parallelism: gradients and parameters.
#include "core/comm/comm_rows.h"
#include "core/layer/wire_bytes.h"

#include <algorithm>

namespace pentamesh {

void CommRows::gradients() {
    double left = 0;  // on a rank, after the reductions
    for (const bool experts : {false, true}) {
        const double numbers = experts ? out_.reduced.experts.all() : out_.reduced.dense.all();
        const StateCallList calls = list_state_calls(plan_, resolved_.mesh, resolved_.groups, experts);
        for (const StateCall& c : calls) put_state(c, numbers);
        left += numbers / calls.back().cut;
    }
    two_copies(left);
}

void CommRows::put_state(const StateCall& c, double numbers) {
    const double parts = c.by_layer ? std::max(out_.busiest.layers(), 1.0) : 1;
    const Phase phase = !c.by_layer                                          ? Phase::step
                        : c.collective == Collective::all_gather && !c.again ? Phase::forward
                                                                             : Phase::backward;
    Operation* o = put(c.group, c.ranks, Unit::step, phase, c.collective, c.what,
                       numbers / c.cut * c.bytes / parts, c.rounds.times * parts);
    if (o == nullptr) return;
    o->each = c.rounds.each, o->rounds = c.rounds.times;
    if (c.by_layer) o->scope = Scope::layer;
    switch (c.rounds.each) {
    case GradientReduction::micro_batch: o->per = c.by_layer ? "layer and micro-batch" : "micro-batch"; break;
    case GradientReduction::run: o->per = c.by_layer ? "layer and run" : "run"; break;
    default: o->per = c.by_layer ? "layer" : "step";
    }
}

void CommRows::two_copies(double numbers) {
    if (traits_of(plan_.layout.schedule).placement != StagePlacement::two_copies || plan_.layout.pp <= 1)
        return;
    using enum Collective;
    put(GroupKind::pp, 2, Unit::step, Phase::step, reduce_scatter, What::gradients_of_a_stages_two_copies,
        numbers * bytes_of(plan_.training.gradients), 1);
    put(GroupKind::pp, 2, Unit::step, Phase::step, all_gather,
        What::updated_parameters_of_a_stages_two_copies, numbers * updated_bytes(plan_.training), 1);
}

}  // namespace pentamesh
