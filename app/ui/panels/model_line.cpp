#include "app/ui/panels/model_line.h"

#include "app/ui/kit/format.h"
#include "core/base/error.h"
#include "core/io/plan_by_hand.h"
#include "core/model/model.h"
#include "core/plan/names.h"
#include "core/step/compute.h"

namespace pentamesh::ui {

std::string model_line(const Plan& plan) {
    const ParameterCounts n = count_parameters(plan.model);
    const auto total = static_cast<double>(n.total), active = static_cast<double>(n.active);
    const std::int64_t sequence = plan.training.sequence_length;
    const ForwardFlops flops = forward_flops(plan.model, sequence);
    std::string line = count_text(total) + " parameters (" + thousands(n.total) + ")";
    if (n.active != n.total)
        line += ", " + count_text(static_cast<double>(n.active_without_embedding)) + " active for one token ("
                + count_text(active) + " with the embedding's table)";
    if (sequence > 0)  // forward and backward, as MFU counts them
        line += ", " + three_digits(3 * (flops.layers + flops.head) / static_cast<double>(sequence) / 1e9)
                + " GFLOP a token";
    return line + ", " + traffic_text(total * bytes_of(plan.training.parameters)) + " of weights in "
           + std::string(name_of(plan.training.parameters));
}

std::optional<Plan> plan_as_typed(const Plan& plan, std::string_view pointer, std::string_view text,
                                  const Presets& presets) {
    try {
        return with_field(plan, pointer, text, presets);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace pentamesh::ui
