// Turns a table of nccl-tests (all_reduce_perf, alltoall_perf ...) into bandwidth and latency of a tier of
// the fabric.
//
// nccl-tests divides the buffer by the time (algbw) and multiplies by a rank's share of it to send (busbw):
// 2(n-1)/n for an all-reduce, (n-1)/n for the others (doc/PERFORMANCE.md of nccl-tests). Inside one fast
// domain busbw is the rate of a GPU's link. Across domains rings enter and leave a domain over all of its
// NICs at once: a GPU's NIC carries busbw / (ranks in a domain). An all-to-all sends (n-g)/n of the buffer
// out of a domain of g.
#pragma once

#include "core/comm/comm.h"
#include "core/interop/fabric_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

[[nodiscard]] bool is_nccl_tests(std::string_view text);

struct LinkMeasurement : FabricReading {
    Collective collective = Collective::all_reduce;
    std::int64_t ranks = 0, hosts = 1, per_domain = 1;  // per_domain: ranks of it in one fast domain
    int tier = 0;                                       // of the cluster: the slowest that the test crossed
    double carried_bytes_per_s = 0;                     // by one GPU's link at large sizes
    std::int64_t large_from = 0, large_to = 0, small_to = 0;  // bytes: the sizes that were used
    std::optional<double> bytes_per_s, latency_s;  // of the tier, so that the plan's estimate carries as much
};
// The figures are for the tiers and efficiencies of `cluster`. Throws Error (invalid) where the text holds no
// rows or does not say the collective or the number of ranks.
[[nodiscard]] LinkMeasurement read_nccl_tests(std::string_view text, const std::string& path,
                                              const Cluster& cluster);

}  // namespace pentamesh::interop
