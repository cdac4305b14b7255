// How many bytes of a collective leave a rank?
#include "core/comm/comm.h"

#include <algorithm>

namespace pentamesh {

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
