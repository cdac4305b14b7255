#include "core/interop/nvidia_topo.h"

#include "core/base/text.h"
#include "core/interop/settings.h"

#include <algorithm>

namespace pentamesh::interop {

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

}  // namespace pentamesh::interop
