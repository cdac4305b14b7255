// Reads nodes as nvidia-smi topo -m shows them.
#include "shipped.h"

#include "core/base/files.h"
#include "core/interop/fabric_text.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;

namespace {

// Returns a matrix of so many GPUs: `cell` says how two of them are joined.
template <typename Cell>
std::string matrix(int gpus, int nics, Cell&& cell) {
    std::string text = "\t\033[4m";
    for (int i = 0; i < gpus; ++i) text += "GPU" + std::to_string(i) + "\t";
    for (int i = 0; i < nics; ++i) text += "NIC" + std::to_string(i) + "\t";
    text += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n";
    for (int r = 0; r < gpus; ++r) {
        text += "GPU" + std::to_string(r) + "\t";
        for (int c = 0; c < gpus; ++c) text += r == c ? " X \t" : cell(r, c) + std::string("\t");
        for (int i = 0; i < nics; ++i) text += i == r * nics / gpus ? "PXB\t" : "SYS\t";
        text += "0-55\t0\tN/A\n";
    }
    return text + "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";
}

FabricReading reading_of(const std::string& text, const char* cluster) {
    const auto tool = fabric_tool(text);
    REQUIRE(tool);
    CHECK(*tool == FabricTool::nvidia_topo);
    return read_fabric(*tool, text, "topo.txt", test::presets().cluster(cluster));
}

EditValue value_at(const FabricReading& r, std::string_view field) {
    const auto at = std::find_if(r.edits.begin(), r.edits.end(), [&](const Edit& e) {
        return e.path == "/cluster/tiers/0/" + std::string(field);
    });
    REQUIRE(at != r.edits.end());
    return at->value;
}

bool has(const FabricReading& r, std::string_view code) {
    return std::any_of(r.problems.begin(), r.problems.end(),
                       [&](const ImportProblem& p) { return p.code == code; });
}

}  // namespace

TEST_CASE("a node behind NVLink switches is one domain with all links of a GPU: DGX H100, DGX A100, B200") {
    struct Known {
        const char *cluster, *cell;
        double bytes_per_s;
    };
    for (const Known& k : {Known{"h100-sxm-ib", "NV18", 450e9}, Known{"a100-80gb-ib", "NV12", 300e9},
                           Known{"b200-ib", "NV18", 900e9}}) {
        CAPTURE(k.cluster);
        const FabricReading r = reading_of(matrix(8, 8, [&](int, int) { return k.cell; }), k.cluster);
        CHECK(std::get<std::int64_t>(value_at(r, "domain")) == 8);
        CHECK(std::get<std::string>(value_at(r, "kind")) == "nvlink");
        CHECK(std::get<double>(value_at(r, "bytes_per_s")) == k.bytes_per_s);
        CHECK(r.settings.mapped.size() == 8);
        CHECK_FALSE(has(r, "nics-shared"));
    }
}

TEST_CASE("four A100 that are joined each to each by four links have twelve of them") {
    const FabricReading r = reading_of(matrix(4, 2, [](int, int) { return "NV4"; }), "a100-80gb-ib");
    CHECK(std::get<double>(value_at(r, "bytes_per_s")) == 300e9);
    CHECK(has(r, "nics-shared"));
}

TEST_CASE(
    "some GPUs of a node behind switches have no more links than a GPU has, and a tray keeps its rack") {
    for (const int gpus : {3, 4}) {
        const FabricReading r = reading_of(matrix(gpus, 0, [](int, int) { return "NV12"; }), "a100-80gb-ib");
        CHECK(std::get<double>(value_at(r, "bytes_per_s")) == 300e9);
    }
    const FabricReading tray = reading_of(matrix(4, 0, [](int, int) { return "NV18"; }), "gb200-nvl72");
    CHECK(std::get<std::int64_t>(value_at(tray, "domain")) == 72);
    CHECK(std::get<double>(value_at(tray, "bytes_per_s")) == 900e9);
    CHECK(has(tray, "tray-of-a-rack"));
    CHECK(tray.settings.ignored.empty());
}

TEST_CASE("bridges join pairs, and the rest of the node is a tier that the plan has to get") {
    const FabricReading r = reading_of(
        matrix(8, 0, [](int a, int b) { return a / 2 == b / 2 ? "NV12" : "SYS"; }), "a100-80gb-ib");
    CHECK(std::get<std::int64_t>(value_at(r, "domain")) == 2);
    CHECK(std::get<double>(value_at(r, "bytes_per_s")) == 300e9);
    CHECK(has(r, "tier-between"));
}

TEST_CASE("a node without NVLink is a domain of PCI Express that keeps the tier's bandwidth") {
    const FabricReading r = reading_of(matrix(4, 1, [](int, int) { return "PHB"; }), "h100-sxm-ib");
    CHECK(std::get<std::string>(value_at(r, "kind")) == "pcie");
    CHECK(std::get<std::int64_t>(value_at(r, "domain")) == 4);
    CHECK(r.edits.size() == 2);
    CHECK(has(r, "link-rate-missing"));
}

TEST_CASE("links that go round a node but not from each to each are said, not read as an island") {
    // DGX-1: a cube with diagonals, six links a V100.
    const FabricReading r = reading_of(matrix(8, 4,
                                              [](int a, int b) {
                                                  if (a / 4 == b / 4)
                                                      return a % 4 + b % 4 == 3 ? "NV2" : "NV1";
                                                  return a % 4 == b % 4 ? "NV2" : "SYS";
                                              }),
                                       "a100-80gb-ib");
    CHECK(std::get<std::int64_t>(value_at(r, "domain")) == 8);
    CHECK(std::get<double>(value_at(r, "bytes_per_s")) == 150e9);
    CHECK(has(r, "not-all-to-all"));
}

TEST_CASE("a matrix that is cut or holds no link is refused with its line") {
    const auto message = [](std::string text) {
        try {
            static_cast<void>(
                read_fabric(FabricTool::nvidia_topo, text, "t", test::presets().cluster("h100-sxm-ib")));
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const std::string good = matrix(2, 0, [](int, int) { return "NV4"; });
    CHECK(message(good).empty());
    std::string odd = good;
    odd.replace(odd.find("NV4"), 3, "NVx");
    CHECK(message(odd).find("line 2: \"NVx\" is no link between GPU0 and GPU1") != std::string::npos);
    CHECK(message(good.substr(0, good.find("GPU1\tNV4"))).find("2 GPUs in its head and 1 rows")
          != std::string::npos);
    CHECK(message("").find("matrix") != std::string::npos);
}

TEST_CASE("an NVLink carries what the shipped file says; a file without a source or a figure is refused") {
    for (const NvLink& g : nvlinks()) {
        CHECK(g.bytes_per_s
              == (g.name == "NVLink 5" ? 50e9 : 25e9));  // 1.8 TB/s both ways of 18 links; 600 GB/s of 12
        CHECK(g.least_links <= g.most_links);
    }
    CHECK(most_nvlinks() == 18);
    CHECK(nvlink_with(12, 25e9).link->name == "NVLink 2 to 4");
    CHECK_FALSE(nvlink_with(12, 25e9).by_rate);
    // If generations have as many links, the cluster's own rate decides between them.
    CHECK(nvlink_with(18, 25e9).link->name == "NVLink 2 to 4");
    CHECK(nvlink_with(18, 50e9).link->name == "NVLink 5");
    CHECK(nvlink_with(18, 50e9).by_rate);
    for (const char* text :
         {"[]", R"([{"name": "a", "least_links": 1, "most_links": 2, "bytes_per_s": 1}])",
          R"([{"name": "a", "least_links": 1, "most_links": 2, "source": "b"}])",
          R"([{"name": "a", "least_links": 1, "most_links": 2, "bytes_per_s": 1, "source": ""}])"})
        CHECK_THROWS_AS(static_cast<void>(read_nvlinks(text, "links.json")), Error);
}
