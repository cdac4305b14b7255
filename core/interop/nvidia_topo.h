// Turns the matrix of `nvidia-smi topo -m`, how each two GPUs of a node are joined, into the first tier of
// the fabric. NV# is that many NVLinks; PIX, PXB, PHB, NODE, SYS are PCI Express, over longer and longer ways
// (the legend that the tool prints itself).
#pragma once

#include "core/interop/fabric_text.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

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

}  // namespace pentamesh::interop
