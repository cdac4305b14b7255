// Finds the errors that make a plan impossible, in the order in which one would ask.
#include "core/rules/rules.h"

namespace pentamesh {

void find_errors(const ResolvedPlan& resolved, bool messages, std::vector<Problem>& out) {
    out.clear();
    Rules r{resolved, messages, out};
    if (!check_fields(r)) return;
    check_model_cuts(r);
    if (!check_world(r)) return;
    check_expert_mesh(r);
    check_choices(r);
    check_sequence(r);
    check_batch(r);
    check_precision(r);
}

}  // namespace pentamesh
