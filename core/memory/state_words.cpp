#include "core/memory/state_words.h"

#include "core/base/text.h"
#include "core/memory/memory_costs.h"
#include "core/plan/names.h"

#include <utility>
#include <vector>

namespace pentamesh {

double bytes_per_parameter(const Plan& plan) {
    const Training& t = plan.training;
    return parameter_bytes(plan).linear + gradient_bytes(t).linear + optimizer_bytes(t).linear;
}

std::string state_words(const Plan& plan, std::string_view optimizer) {
    const Training& t = plan.training;
    std::string moments = "two moments";
    if (t.optimizer == Optimizer::sgd_momentum || t.optimizer == Optimizer::muon) moments = "a moment";
    const std::string eight = t.optimizer == Optimizer::adamw_8bit ? "8 bits" : "";
    std::vector<std::pair<std::string, std::string>> rows = {
        {"weights", std::string(name_of(t.parameters))
                        + (parameter_bytes(plan).linear > bytes_of(t.parameters) ? " twice" : "")},
        {"gradients", std::string(name_of(t.gradients))},
        {moments, eight.empty() ? std::string(name_of(t.optimizer_state)) : eight}};
    const bool copy = master_bytes(t).linear > 0;
    if (copy) rows.emplace_back("a master copy", std::string(name_of(t.master_weights)));
    // Neighbours of one type are named together.
    std::string out;
    for (std::size_t i = 0; i < rows.size();) {
        std::size_t end = i + 1;
        while (end < rows.size() && rows[end].second == rows[i].second) ++end;
        out += out.empty() ? "" : ", ";
        for (std::size_t k = i; k < end; ++k)
            out += (k == i ? "" : k + 1 == end ? " and " : ", ") + rows[k].first;
        out += " in " + rows[i].second;
        i = end;
    }
    return sentence(three_digits(bytes_per_parameter(plan)), " bytes a parameter: ", out,
                    copy                ? ""
                    : optimizer.empty() ? "; no master copy"
                                        : "; " + std::string(optimizer) + " keeps no master copy");
}

}  // namespace pentamesh
