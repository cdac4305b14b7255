// What is each collective called, and how many bytes of it leave a rank?
#include "core/comm/comm.h"

#include <algorithm>

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

double sent_bytes(Collective c, std::int64_t n, double buffer_bytes) {
    if (n <= 1) return 0;
    const double share = static_cast<double>(n - 1) / static_cast<double>(n);
    switch (c) {
    case Collective::all_reduce: return 2 * share * buffer_bytes;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return share * buffer_bytes;
    case Collective::send_recv: return buffer_bytes;
    }
    return 0;
}

double wire_bytes(Dtype compute) {
    return std::max(bytes_of(compute), bytes_of(Dtype::bf16));
}

}  // namespace pentamesh
