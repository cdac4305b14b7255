#include "core/teach/expert_loads.h"

#include <algorithm>
#include <cstddef>

namespace pentamesh {

const NamedLoad* named_load(std::string_view name) {
    const auto at = std::find_if(kNamedLoads.begin(), kNamedLoads.end(),
                                 [&](const NamedLoad& n) { return n.name == name; });
    return at == kNamedLoads.end() ? nullptr : &*at;
}

std::vector<double> expert_loads_of(const NamedLoad& named, std::int64_t experts, std::int64_t top_k) {
    std::vector<double> out(static_cast<std::size_t>(experts), 1.0);
    // A share of the tokens chooses among some experts only, the others among all.
    const auto choose_in = [&](std::int64_t from, std::int64_t count, double share) {
        const double each = share * static_cast<double>(experts) / static_cast<double>(count);
        for (std::int64_t e = 0; e < experts; ++e)
            out[static_cast<std::size_t>(e)] = 1 - share + (e >= from && e < from + count ? each : 0);
    };
    const std::int64_t hot = std::min(experts, std::max(top_k, experts / 4)), idle = experts / 2;
    if (named.name == "W1" || named.name == "W2" || named.name == "W6") choose_in(0, hot, 0.75);
    if (named.name == "W5") choose_in(idle, experts - idle, 1);
    if (named.name == "W7") choose_in(0, hot, 0.5);
    return out;
}

}  // namespace pentamesh
