#include "core/mesh/collective.h"

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

}  // namespace pentamesh
