#include "core/interop/fabric_text.h"

#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/comm/collective_time.h"
#include "core/interop/script/settings.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pentamesh::interop {

std::optional<FabricTool> fabric_tool(std::string_view text) {
    if (is_nccl_tests(text)) return FabricTool::nccl_tests;
    if (is_nvidia_topo(text)) return FabricTool::nvidia_topo;
    return std::nullopt;
}

std::string_view name_of(FabricTool tool) {
    return tool == FabricTool::nccl_tests ? "nccl-tests" : "nvidia-topo";
}

std::string_view words_of(FabricTool tool) {
    return tool == FabricTool::nccl_tests ? "a table of nccl-tests" : "the matrix of nvidia-smi topo -m";
}

FabricReading read_fabric(FabricTool tool, std::string_view text, const std::string& path,
                          const Cluster& cluster) {
    if (tool == FabricTool::nvidia_topo) return read_nvidia_topo(text, path, cluster);
    return read_nccl_tests(text, path, cluster);
}

namespace {

constexpr std::size_t kMostGpus = 4096;

struct Row {
    std::string name;
    std::vector<std::string> cells;
    int line = 0;
};

struct Matrix {
    std::vector<std::string> columns;  // GPUs, then NICs
    std::vector<Row> rows;             // of the GPUs
    std::vector<Listed> others;        // lines that are no GPU's
    std::size_t gpus = 0;
};

bool is_gpu(std::string_view word) {
    return word.starts_with("GPU") && parse_integer(word.substr(3)).has_value();
}
bool is_nic(std::string_view word) {
    return word.starts_with("NIC") || word.starts_with("mlx5_") || word.starts_with("mlx4_")
           || word.starts_with("bnxt_") || word.starts_with("irdma") || word.starts_with("rdma");
}

// Returns the words of a line, without the escape codes that underline the head of the table.
std::vector<std::string> words_of_line(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
        if (line[i] == '\033')
            i = std::min(line.find('m', i), line.size() - 1);
        else
            text.push_back(line[i]);
    const auto words = split_words(text, " \t\r");
    return {words.begin(), words.end()};
}

Matrix read_matrix(std::string_view text, const std::string& path) {
    Matrix m;
    int line = 0;
    bool done = false;
    for (const std::string_view shown : split_lines(text)) {
        std::vector<std::string> words = words_of_line(shown);
        const int here = ++line;
        if (words.empty()) continue;
        if (m.columns.empty() && words.size() > 1 && is_gpu(words[0])
            && (is_gpu(words[1]) || words[1] == "CPU")) {
            for (const std::string& w : words) {
                if (!is_gpu(w) && !is_nic(w)) break;
                m.gpus += is_gpu(w) ? 1 : 0;
                m.columns.push_back(w);
            }
            if (m.gpus > kMostGpus) refuse_text(path, "more than 4,096 GPUs in one node");
            continue;
        }
        done = done || words[0] == "Legend:";
        if (done) continue;
        if (m.columns.empty() || !is_gpu(words[0])) {
            m.others.push_back({words[0], words.size() > 1 ? words[1] : "", "", "", here});
            continue;
        }
        if (words.size() <= m.columns.size())
            refuse_text(path, "line ", here, ": ", words[0], " has fewer columns than the head");
        Row row{words[0],
                {words.begin() + 1, words.begin() + 1 + static_cast<std::ptrdiff_t>(m.columns.size())},
                here};
        m.rows.push_back(std::move(row));
    }
    if (m.rows.size() != m.gpus || m.gpus == 0)
        refuse_text(path, "the matrix has ", m.gpus, " GPUs in its head and ", m.rows.size(),
                    " rows of GPUs");
    return m;
}

// Returns the NVLinks of a cell; 0 for PCI Express, or the GPU itself.
std::int64_t links_of(const Matrix& m, std::size_t row, std::size_t column, const std::string& path) {
    const std::string& cell = m.rows[row].cells[column];
    for (const std::string_view known : {"X", "SYS", "NODE", "PHB", "PXB", "PIX", "C2C"})
        if (cell == known) return 0;
    const auto n = cell.starts_with("NV") ? parse_integer(std::string_view(cell).substr(2)) : std::nullopt;
    if (!n || *n < 1 || *n > 1000)
        refuse_text(path, "line ", m.rows[row].line, ": \"", cell, "\" is no link between ", m.rows[row].name,
                    " and ", m.columns[column]);
    return *n;
}

// Describes GPUs joined by NVLink.
struct Islands {
    std::int64_t size = 1;   // GPUs of the largest
    double links = 0;        // of one GPU to all others; 0: none
    bool even = true;        // all are as large
    bool all_to_all = true;  // in each every GPU is joined with every other
    bool switched = false;   // by NVLink switches
};

Islands find_islands(const Matrix& m, const std::string& path) {
    std::vector<std::vector<bool>> joined(m.gpus, std::vector<bool>(m.gpus));
    Islands out;
    double least = 0, most = 0;  // links of a GPU; of a pair
    for (std::size_t r = 0; r < m.gpus; ++r) {
        double sum = 0;
        joined[r][r] = true;
        for (std::size_t c = 0; c < m.gpus; ++c) {
            const auto n = static_cast<double>(links_of(m, r, c, path));
            joined[r][c] = joined[r][c] || n > 0;
            sum += n;
            most = std::max(most, n);
        }
        least = r == 0 ? sum : std::min(least, sum);
    }
    for (std::size_t r = 0; r < m.gpus; ++r) {
        const std::int64_t size = std::count(joined[r].begin(), joined[r].end(), true);
        out.even = out.even && (r == 0 || size == out.size);
        out.size = std::max(out.size, size);
        for (std::size_t c = 0; c < m.gpus; ++c)
            if (joined[r][c] && joined[c] != joined[r]) out.all_to_all = false;
    }
    // Behind a switch the matrix gives each pair all links of a GPU: their sum is more than any GPU has.
    out.switched = least > most_nvlinks();
    out.links = out.switched ? most : least;
    if (!out.all_to_all) out.size = static_cast<std::int64_t>(m.gpus);
    return out;
}

// Returns the number of NICs that a PCI Express switch joins with at least one GPU.
std::int64_t near_nics(const Matrix& m) {
    std::int64_t n = 0;
    for (std::size_t c = m.gpus; c < m.columns.size(); ++c)
        n += std::any_of(m.rows.begin(), m.rows.end(), [&](const Row& r) {
            return r.cells[c] == "PIX" || r.cells[c] == "PXB" || r.cells[c] == "PHB";
        });
    return n;
}

std::string of_tier(std::string_view key) {
    return "/cluster/tiers/0/" + std::string(key);
}

// Holds the matrix's facts of a host, and the cluster's present domain.
struct Host {
    std::int64_t gpus = 0;
    Islands islands;
    std::int64_t had_domain = 0;
    // The host is of a rack: the switches join more GPUs than one host sees.
    bool tray = false;
    NvLinkGuess nvlink;
    [[nodiscard]] bool has_nvlink() const { return islands.links > 0; }
    [[nodiscard]] double bytes_per_s() const { return islands.links * nvlink.link->bytes_per_s; }
    [[nodiscard]] std::int64_t domain() const {
        return tray ? had_domain : has_nvlink() ? islands.size : gpus;
    }
};

Host host_of(const Matrix& m, const std::string& path, const Cluster& cluster) {
    Host n;
    n.gpus = static_cast<std::int64_t>(m.gpus);
    n.islands = find_islands(m, path);
    n.had_domain = domain_of(cluster, 0);
    n.tray = n.has_nvlink() && n.islands.switched && n.islands.size == n.gpus && n.had_domain > n.gpus;
    if (n.has_nvlink())
        n.nvlink = nvlink_with(n.islands.links, cluster.tiers.front().bytes_per_s / n.islands.links);
    return n;
}

std::vector<Edit> edits_of(const Host& n) {
    std::vector<Edit> edits{{of_tier("kind"), std::string(n.has_nvlink() ? "nvlink" : "pcie")},
                            {of_tier("domain"), n.domain()}};
    if (n.has_nvlink()) edits.push_back({of_tier("bytes_per_s"), n.bytes_per_s()});
    return edits;
}

std::string summary_of(const Host& n) {
    const std::string head = sentence("A node of ", count_text(n.gpus, "GPU"), ", ");
    if (!n.has_nvlink()) return head + "joined by PCI Express.";
    return head
           + sentence(n.islands.size, " joined by ", three_digits(n.islands.links), " NVLinks each, ",
                      bytes_text(n.bytes_per_s()), "/s one way.");
}

ImportProblem rate_problem(const Host& n) {
    if (!n.has_nvlink())
        return {Severity::warning,
                "link-rate-missing",
                "The matrix does not say what PCI Express carries: the tier keeps its bandwidth.",
                {}};
    return {Severity::info,
            "link-rate-assumed",
            sentence("The matrix does not say what an NVLink carries: ",
                     bytes_text(n.nvlink.link->bytes_per_s), "/s one way, ", n.nvlink.link->name,
                     n.nvlink.by_rate ? ", as the cluster's first tier says." : "."),
            {}};
}

std::vector<ImportProblem> problems_of(const Matrix& m, const Host& n) {
    std::vector<ImportProblem> out{rate_problem(n)};
    const auto add = [&](Severity severity, const char* id, std::string words) {
        out.push_back({severity, id, std::move(words), {}});
    };
    if (n.tray)
        add(Severity::info, "tray-of-a-rack",
            sentence("The matrix shows the ", n.gpus, " GPUs of one host; switches join more: the domain of ",
                     n.had_domain, " that the cluster has is kept."));
    if (n.has_nvlink() && n.domain() < n.gpus)
        add(Severity::warning, "tier-between",
            sentence("Islands of ", n.domain(), " GPUs lie in a node of ", n.gpus,
                     ": between them goes PCI Express, a tier of its own that the cluster editor adds."));
    if (!n.islands.all_to_all)
        add(Severity::warning, "not-all-to-all",
            "NVLink joins each GPU with some of the others only: the node is read as one domain, "
            "in which rings go along the links.");
    else if (!n.islands.even)
        add(Severity::warning, "islands-differ",
            "Not every GPU is joined with as many others: the largest island stands for all.");
    if (const std::int64_t nics = near_nics(m); nics > 0 && nics < n.gpus)
        add(Severity::info, "nics-shared",
            sentence(nics, " NICs near ", n.gpus, " GPUs: a GPU's share of the next tier is ",
                     three_digits(static_cast<double>(nics) / static_cast<double>(n.gpus)),
                     " of a NIC. Type that share as the second tier's bandwidth, and ", nics,
                     " as its NICs: a GPU whose neighbours are silent then sends by a whole one."));
    return out;
}

}  // namespace

bool is_nvidia_topo(std::string_view text) {
    const std::size_t legend = text.find("Legend:");
    const std::size_t head = text.find("GPU0");
    return head != std::string_view::npos && text.find("CPU Affinity") != std::string_view::npos
           && text.substr(0, legend).find(" X ") != std::string_view::npos;
}

FabricReading read_nvidia_topo(std::string_view text, const std::string& path, const Cluster& cluster) {
    if (cluster.tiers.empty()) refuse_text(path, "the plan's cluster has no tiers");
    Matrix m = read_matrix(text, path);
    const Host host = host_of(m, path, cluster);
    FabricReading out;
    out.edits = edits_of(host);
    out.summary = summary_of(host);
    out.problems = problems_of(m, host);
    for (const Row& row : m.rows) {
        const std::string cells = join(row.cells, " ");
        out.settings.mapped.push_back({row.name, cells, of_tier("domain"), "", row.line});
    }
    out.settings.ignored = std::move(m.others);
    return out;
}

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

namespace {

constexpr std::int64_t kLarge = std::int64_t{16} << 20;  // below, a bandwidth says more of latency
constexpr std::int64_t kSmall = std::int64_t{64} << 10;  // above, a time says more of bandwidth

struct PerfRow {
    std::int64_t size = 0;
    double time_s = 0, algbw = 0, busbw = 0;  // bytes per second
    std::string redop;
    int line = 0;
};

struct PerfText {
    std::vector<PerfRow> rows;
    std::set<std::int64_t> ranks;
    std::vector<std::string> hosts;  // by rank line, each once
    std::string test;                // as the text names it
    std::vector<Listed> heads;
};

std::optional<double> real_in(std::string_view word) {
    const auto x = parse_double(word);
    return x && std::isfinite(*x) && *x >= 0 ? std::optional<double>(*x) : std::nullopt;
}

// Reads "size count [type [redop [root]]]", then time, algbw, busbw and errors, out of place and in place:
// from both ends, because some versions leave redop and root out.
std::optional<PerfRow> perf_row_in(std::string_view line, int number) {
    const auto words = split_words(line);
    if (words.size() < 6) return std::nullopt;
    const auto size = parse_integer(words[0]), count = parse_integer(words[1]);
    if (!size || !count || *size < 0) return std::nullopt;
    std::size_t first = words.size();  // of the figures
    const std::size_t least = words.size() >= 10 ? words.size() - 8 : 0;
    const std::size_t candidates[] = {least, words.size() - 4};
    for (const std::size_t c : candidates)
        if (c >= 2 && c + 2 < words.size() && real_in(words[c]) && real_in(words[c + 1])
            && real_in(words[c + 2])) {
            first = c;
            break;
        }
    if (first == words.size()) return std::nullopt;
    PerfRow row{*size,
                *real_in(words[first]) * 1e-6,
                *real_in(words[first + 1]) * 1e9,
                *real_in(words[first + 2]) * 1e9,
                {},
                number};
    if (first > 3) row.redop = words[3];
    if (row.time_s <= 0) return std::nullopt;
    return row;
}

void take_head(PerfText& t, std::string_view line, int number) {
    const auto words = split_words(line);
    t.heads.push_back({std::string(line.substr(0, 120)), "", "", "", number});
    const auto at = std::find(words.begin(), words.end(), "Rank");
    if (at == words.end() || at + 1 == words.end()) return;
    const auto rank = parse_integer(at[1]);
    const auto on = std::find(at, words.end(), "on");
    if (!rank || on == words.end() || on + 1 == words.end()) return;
    t.ranks.insert(*rank);
    const std::string host(on[1]);
    if (std::find(t.hosts.begin(), t.hosts.end(), host) == t.hosts.end()) t.hosts.push_back(host);
}

PerfText read_perf(std::string_view text) {
    static constexpr std::string_view kTests[] = {"all_reduce", "reduce_scatter", "all_gather", "alltoall"};
    PerfText t;
    int number = 0;
    for (const std::string_view line : split_lines(text)) {
        ++number;
        if (line.find_first_not_of(" \t\r#") == std::string_view::npos) continue;
        if (t.test.empty())
            for (const std::string_view name : kTests)
                if (line.find(std::string(name) + "_perf") != std::string_view::npos) t.test = name;
        if (auto row = perf_row_in(line, number))
            t.rows.push_back(std::move(*row));
        else
            take_head(t, line, number);
    }
    return t;
}

// Returns busbw / algbw of the largest size: 2(n-1)/n or (n-1)/n, to the digits that are printed.
double ratio_of(const PerfRow& row) {
    return row.algbw > 0 ? row.busbw / row.algbw : 0;
}

Collective collective_of(const PerfText& t, const PerfRow& largest, const std::string& path) {
    if (t.test == "all_reduce") return Collective::all_reduce;
    if (t.test == "reduce_scatter") return Collective::reduce_scatter;
    if (t.test == "all_gather") return Collective::all_gather;
    if (t.test == "alltoall") return Collective::all_to_all;
    const double ratio = ratio_of(largest), n = static_cast<double>(t.ranks.size());
    const bool reduces = !largest.redop.empty() && largest.redop != "none" && largest.redop != "N/A";
    // The one is twice the other: a guess of n is enough where the text does not give it.
    const double twice = n > 1 ? 2 * (n - 1) / n : 1.0;
    if (reduces && std::abs(ratio - twice) < 0.02 * twice) return Collective::all_reduce;
    if (reduces && ratio > 1.01) return Collective::all_reduce;
    if (reduces && n > 1 && std::abs(ratio - twice / 2) < 0.02) return Collective::reduce_scatter;
    refuse_text(path, "the table does not say which test it is of: keep the line of the command with it, as "
                      "alltoall_perf or all_gather_perf");
}

std::int64_t ranks_of(const PerfText& t, Collective c, const PerfRow& largest, const std::string& path) {
    if (t.ranks.size() > 1) return static_cast<std::int64_t>(t.ranks.size());
    const double ratio = ratio_of(largest) / (c == Collective::all_reduce ? 2 : 1);
    const auto n = ratio > 0 && ratio < 1 ? std::llround(1 / (1 - ratio)) : 0;
    if (n < 2 || n > 64)  // two digits after the point tell no more
        refuse_text(path, "the table does not say how many ranks took part: keep the lines \"# Rank 0 "
                          "...\" with it");
    return n;
}

std::string size_text(std::int64_t bytes) {
    return memory_text(static_cast<double>(bytes));
}

// Returns the rate of one GPU's link of the tier at that bus bandwidth.
double carried(const LinkMeasurement& m, double busbw, double algbw) {
    if (m.tier == 0) return busbw;
    const auto n = static_cast<double>(m.ranks), g = static_cast<double>(m.per_domain);
    if (m.collective == Collective::all_to_all) return algbw * (n - g) / n;
    return busbw / g;
}

double share_of(const LinkMeasurement& m, const Efficiency& e) {
    if (m.collective == Collective::all_to_all) return all_to_all_share(e, m.tier);
    return m.tier == 0 ? e.fast_link : e.slow_link;
}

void find_bandwidth(LinkMeasurement& m, const PerfText& t, const Cluster& cluster) {
    const std::int64_t largest = t.rows.back().size;
    std::vector<double> rates;
    for (const PerfRow& row : t.rows) {
        if (row.size < std::max(kLarge, largest / 8)) continue;
        if (rates.empty()) m.large_from = row.size;
        m.large_to = row.size;
        rates.push_back(carried(m, row.busbw, row.algbw));
    }
    if (rates.empty()) {
        m.say(Severity::warning, "sizes-too-small",
              "No size of " + size_text(kLarge) + " or more: the bandwidth is not told by these.");
        return;
    }
    m.carried_bytes_per_s = median(std::move(rates));
    const double share = share_of(m, cluster.gpu.efficiency);
    if (m.carried_bytes_per_s <= 0 || share <= 0) return;
    m.bytes_per_s =
        m.carried_bytes_per_s / share * cluster.tiers[static_cast<std::size_t>(m.tier)].oversubscription;
}

// Finds the latency of one message: small calls last as long as the steps that wait for each other
// (core/comm/collective_time.h).
void find_latency(LinkMeasurement& m, const PerfText& t, const Cluster& cluster) {
    std::vector<double> times;
    for (const PerfRow& row : t.rows)
        if (row.size > 0 && row.size <= kSmall) {
            times.push_back(row.time_s);
            m.small_to = row.size;
        }
    if (times.empty()) {
        m.say(Severity::warning, "no-small-sizes",
              "No size of " + size_text(kSmall) + " or less: the latency is not told by these.");
        return;
    }
    const double time = median(std::move(times));
    const auto n = static_cast<double>(m.ranks), g = static_cast<double>(m.per_domain);
    const double passes = m.collective == Collective::all_reduce ? 2 : 1;
    double latency = time;
    if (m.collective != Collective::all_to_all) {
        const double ways = m.tier == 0 ? n : n / g;
        const double inside = m.tier == 0 ? 0 : passes * (g - 1) * cluster.tiers.front().latency_s;
        latency = (time - inside) / (passes * (ways - 1));
    }
    if (latency > 0)
        m.latency_s = latency;
    else
        m.say(Severity::warning, "latency-not-told",
              plain("Small calls take ", time_text(time),
                    ", less than the plan's own latency inside a node explains: measure that tier first."));
}

void find_tier(LinkMeasurement& m, const PerfText& t, const Cluster& cluster, const std::string& path) {
    if (cluster.tiers.empty()) refuse_text(path, "the plan's cluster has no tiers");
    m.hosts = std::max<std::int64_t>(1, static_cast<std::int64_t>(t.hosts.size()));
    const std::int64_t node = std::max<std::int64_t>(1, domain_of(cluster, 0));
    m.per_domain = std::min(m.ranks, node);
    const bool racks = domain_name(cluster) == "rack";  // of several hosts each
    if (m.ranks <= node && (m.hosts == 1 || racks)) return;
    if (m.hosts > 1 && !racks) m.per_domain = std::clamp<std::int64_t>(m.ranks / m.hosts, 1, node);
    m.tier = 1;
    const auto last = static_cast<int>(cluster.tiers.size()) - 1;
    const std::int64_t nodes = (m.ranks + m.per_domain - 1) / m.per_domain;
    while (m.tier < last && nodes * node > domain_of(cluster, static_cast<std::size_t>(m.tier))) ++m.tier;
    if (m.tier > last)
        refuse_text(path,
                    sentence("the test ran over ", m.hosts, " hosts, the plan's cluster has one tier only"));
}

// Ranks of one communicator have NICs that other GPUs of their nodes may share (docs/communication.md).
void note_part_of_node(LinkMeasurement& m, const Cluster& cluster) {
    const std::int64_t node = domain_of(cluster, 0);
    if (m.tier == 0 || m.per_domain >= node) return;
    m.say(Severity::warning, "part-of-a-node",
          sentence("The test ran on ", m.per_domain, " of a ", domain_name(cluster), "'s ", node,
                   " GPUs. In a step all of them speak at once: where GPUs share a NIC, each has less than "
                   "this."));
}

void list_rows(LinkMeasurement& m, PerfText& t) {
    const std::string tier = "/cluster/tiers/" + std::to_string(m.tier) + "/";
    for (const PerfRow& row : t.rows) {
        Listed l{std::to_string(row.size) + " B",
                 three_digits(row.time_s * 1e6) + " us, busbw " + three_digits(row.busbw / 1e9) + " GB/s", "",
                 "", row.line};
        const bool large = m.bytes_per_s && row.size >= m.large_from && m.large_from > 0;
        const bool small = m.latency_s && row.size > 0 && row.size <= m.small_to;
        if (large || small) {
            l.path = tier + (large ? "bytes_per_s" : "latency_s");
            m.settings.mapped.push_back(std::move(l));
        } else {
            m.settings.ignored.push_back(std::move(l));
        }
    }
    m.settings.ignored.insert(m.settings.ignored.end(), t.heads.begin(), t.heads.end());
}

}  // namespace

bool is_nccl_tests(std::string_view text) {
    return text.find("algbw") != std::string_view::npos && text.find("busbw") != std::string_view::npos;
}

LinkMeasurement read_nccl_tests(std::string_view text, const std::string& path, const Cluster& cluster) {
    PerfText t = read_perf(text);
    if (t.rows.empty()) refuse_text(path, "the table of nccl-tests has no rows");
    std::stable_sort(t.rows.begin(), t.rows.end(),
                     [](const PerfRow& a, const PerfRow& b) { return a.size < b.size; });
    const PerfRow& largest = t.rows.back();
    LinkMeasurement m;
    m.collective = collective_of(t, largest, path);
    m.ranks = ranks_of(t, m.collective, largest, path);
    find_tier(m, t, cluster, path);
    find_bandwidth(m, t, cluster);
    find_latency(m, t, cluster);
    note_part_of_node(m, cluster);
    const Tier& tier = cluster.tiers[static_cast<std::size_t>(m.tier)];
    if (tier.in_network_reduction && m.collective == Collective::all_reduce)
        m.say(Severity::warning, "switches-add-up",
              plain("The switches of ", tier.name,
                    " add up on the way: bus bandwidth then tells more than a link carries; measure with "
                    "NCCL_COLLNET_ENABLE=0 and without NVLS."));
    const std::string at = "/cluster/tiers/" + std::to_string(m.tier) + "/";
    if (m.bytes_per_s) m.edits.push_back({at + "bytes_per_s", *m.bytes_per_s});
    if (m.latency_s) m.edits.push_back({at + "latency_s", *m.latency_s});
    m.summary = sentence(words_of(m.collective), " over ", m.ranks, " ranks on ", count_text(m.hosts, "host"),
                         ": ", tier.name);
    if (m.bytes_per_s)
        m.summary += " carries " + bytes_text(m.carried_bytes_per_s) + "/s per GPU (sizes "
                     + size_text(m.large_from) + " to " + size_text(m.large_to) + "), "
                     + percent_text(share_of(m, cluster.gpu.efficiency)) + " of a link of "
                     + bytes_text(*m.bytes_per_s / tier.oversubscription) + "/s";
    if (m.latency_s)
        m.summary += std::string(m.bytes_per_s ? "; a" : " has a") + " message takes "
                     + time_text(*m.latency_s) + " (sizes up to " + size_text(m.small_to) + ")";
    m.summary += ".";
    list_rows(m, t);
    return m;
}

}  // namespace pentamesh::interop
