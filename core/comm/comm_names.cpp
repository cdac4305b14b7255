// What collectives, scopes and phases are called, and whose calls the rows count.
#include "core/comm/comm.h"

#include <array>

namespace pentamesh {

std::string_view name_of(Collective c) {
    constexpr std::array<std::string_view, 5> names{"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "send_recv"};
    return names[static_cast<std::size_t>(c)];
}
std::string_view words_of(Collective c) {
    constexpr std::array<std::string_view, 5> words{"all-reduce", "all-gather", "reduce-scatter",
                                                    "all-to-all", "send-recv"};
    return words[static_cast<std::size_t>(c)];
}
std::string_view name_of(Scope s) {
    constexpr std::array<std::string_view, 4> names{"layer", "embedding", "head", "step"};
    return names[static_cast<std::size_t>(s)];
}
std::string_view name_of(Phase p) {
    constexpr std::array<std::string_view, 3> names{"forward", "backward", "step"};
    return names[static_cast<std::size_t>(p)];
}

std::string rows_device_text(const Comm& comm) {
    return comm.stages.devices > 1 ? "a GPU of stage " + std::to_string(comm.busiest_device) : "each GPU";
}

}  // namespace pentamesh
