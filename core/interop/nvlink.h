// Holds the rate of an NVLink: the generations of presets/nvlink.json, each with its source; built into the
// program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

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
