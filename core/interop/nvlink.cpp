#include "core/interop/nvidia_topo.h"

#include "core/base/json_reader.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::interop {
namespace {

// This is written at configure time from presets/nvlink.json.
constexpr std::string_view kText =
#include "nvlink.inc"
    ;

}  // namespace

std::vector<NvLink> read_nvlinks(std::string_view text, const std::string& path) {
    std::vector<NvLink> out;
    const nlohmann::json root = parse_json(text, path);
    for (std::size_t i = 0; i < root.size(); ++i) {
        const std::string at = "/" + std::to_string(i);
        try {
            const nlohmann::json& g = root.at(i);
            if (g.at("source").get<std::string>().empty())
                throw Error(ErrorKind::invalid, path, at, "has no source");
            out.push_back({g.at("name"), g.at("least_links"), g.at("most_links"), g.at("bytes_per_s")});
        } catch (const nlohmann::json::exception& e) {
            throw Error(ErrorKind::invalid, path, at, e.what());
        }
    }
    if (out.empty()) throw Error(ErrorKind::invalid, path, "", "names no generation");
    return out;
}

const std::vector<NvLink>& nvlinks() {
    static const std::vector<NvLink> all = read_nvlinks(kText, "presets/nvlink.json");
    return all;
}

double most_nvlinks() {
    return std::ranges::max(nvlinks(), {}, &NvLink::most_links).most_links;
}

NvLinkGuess nvlink_with(double links, double bytes_per_s) {
    NvLinkGuess guess;
    for (const NvLink& g : nvlinks()) {
        if (links < g.least_links || links > g.most_links) continue;
        const auto off = [&](const NvLink& x) { return std::abs(std::log(bytes_per_s / x.bytes_per_s)); };
        guess.by_rate = guess.link != nullptr;
        if (!guess.link || off(g) < off(*guess.link)) guess.link = &g;
    }
    if (!guess.link) guess.link = &nvlinks().front();
    return guess;
}

}  // namespace pentamesh::interop
