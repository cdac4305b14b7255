// Reads a tool's report on the fabric, as edits of the tiers of a plan's cluster: a table of nccl-tests, or
// the matrix of nvidia-smi topo -m.
#pragma once

#include "core/base/files.h"
#include "core/comm/comm.h"
#include "core/interop/settings_sheet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

struct FabricReading {
    std::vector<Edit> edits;  // of the plan
    SettingLists settings;    // each row and head line of the text, mapped or ignored
    std::vector<ImportProblem> problems;
    std::string summary;  // a sentence: what was measured or found
    void say(Severity severity, std::string code, std::string message) {
        problems.push_back({severity, std::move(code), std::move(message), {}});
    }
};

template <typename... Parts>
[[noreturn]] void refuse_text(const std::string& path, const Parts&... why) {
    throw Error(ErrorKind::invalid, path, "", plain(why...));
}

enum class FabricTool : std::uint8_t { nccl_tests, nvidia_topo };

// Returns the tool whose text it is; nullopt where no known tool wrote it.
[[nodiscard]] std::optional<FabricTool> fabric_tool(std::string_view text);
[[nodiscard]] std::string_view name_of(FabricTool tool);   // "nccl-tests", as --from says it
[[nodiscard]] std::string_view words_of(FabricTool tool);  // "a table of nccl-tests"

// The figures are for the tiers of `cluster`. Throws Error (invalid) where the text lacks a needed figure.
[[nodiscard]] FabricReading read_fabric(FabricTool tool, std::string_view text, const std::string& path,
                                        const Cluster& cluster);

// Turns the matrix of `nvidia-smi topo -m`, how each two GPUs of a node are joined, into the first tier of
// the fabric. NV# is that many NVLinks; PIX, PXB, PHB, NODE, SYS are PCI Express, over longer and longer ways
// (the legend that the tool prints itself).

[[nodiscard]] bool is_nvidia_topo(std::string_view text);

// An NVLink carries 25 GB/s one way (NVLink 2 to 4: A100 12 links and 300 GB/s, H100 18 and 450), NVLink 5 50
// (B200 18 and 900); the text does not say which: for 18 links the rate is the one that the cluster's own
// first tier is nearest to. Throws Error (invalid), with line, for a row that is shorter than its head, a
// cell that is no link.
[[nodiscard]] FabricReading read_nvidia_topo(std::string_view text, const std::string& path,
                                             const Cluster& cluster);

struct NvLink {
    std::string name;                        // "NVLink 5"
    double least_links = 1, most_links = 1;  // of one GPU
    double bytes_per_s = 0;                  // of a link, one way
};

// Throws Error naming the file and the place where a figure or its source is missing.
[[nodiscard]] std::vector<NvLink> read_nvlinks(std::string_view text, const std::string& path);
[[nodiscard]] const std::vector<NvLink>& nvlinks();
[[nodiscard]] double most_nvlinks();  // of any GPU

// Names the NVLink generation of a GPU with so many links.
struct NvLinkGuess {
    const NvLink* link = nullptr;
    bool by_rate = false;  // several have so many: the one whose rate is nearest to `bytes_per_s`
};
[[nodiscard]] NvLinkGuess nvlink_with(double links, double bytes_per_s);

// Turns a table of nccl-tests (all_reduce_perf, alltoall_perf ...) into bandwidth and latency of a tier of
// the fabric.
//
// nccl-tests divides the buffer by the time (algbw) and multiplies by a rank's share of it to send (busbw):
// 2(n-1)/n for an all-reduce, (n-1)/n for the others (doc/PERFORMANCE.md of nccl-tests). Inside one fast
// domain busbw is the rate of a GPU's link. Across domains rings enter and leave a domain over all of its
// NICs at once: a GPU's NIC carries busbw / (ranks in a domain). An all-to-all sends (n-g)/n of the buffer
// out of a domain of g.

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
