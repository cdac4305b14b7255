// Reads lists of ranks and of hosts, as people type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Reads "0-7, 12 99": numbers and ranges between commas, semicolons or blanks, below `world`. Returns them
// ascending, each once. Throws Error (invalid) that names a part that is no rank; also for an empty list.
[[nodiscard]] std::vector<std::int64_t> parse_rank_list(std::string_view text, std::int64_t world);
// Returns "0-7, 12, 99"; beyond `most` parts "…" and how many ranks there are.
[[nodiscard]] std::string ranks_text(const std::vector<std::int64_t>& ranks,
                                     std::size_t most = static_cast<std::size_t>(-1));

// Reads a node list of SLURM: "gpu[01-04,7],login1" is gpu01 gpu02 gpu03 gpu04 gpu7 login1. Leading zeros are
// kept, several brackets in a name multiply, the last one fastest; names are between commas, blanks or line
// ends. Order and repeats stay. Throws Error (invalid) for a bracket that does not close, a range that falls,
// more than 2^20 hosts.
[[nodiscard]] std::vector<std::string> expand_hosts(std::string_view list);

// Holds the hosts of a job in the order of their ranks.
struct Hosts {
    std::vector<std::string> names;  // empty: they have no names
    std::int64_t gpus_each = 1;
    [[nodiscard]] const std::string& of(std::int64_t rank) const {
        return names[static_cast<std::size_t>(rank / gpus_each)];
    }
};
// Spreads `world` ranks over the hosts of the list, evenly; `domain` GPUs of the first tier hold whole hosts.
// Throws Error (invalid) where they do not come out even.
[[nodiscard]] Hosts hosts_of(std::string_view list, std::int64_t world, std::int64_t domain);
// Returns "node01, node02" for the hosts that have these ranks (ascending); beyond `most` "…" and how many.
[[nodiscard]] std::string hosts_text(const Hosts& hosts, const std::vector<std::int64_t>& ranks,
                                     std::size_t most = 8);

}  // namespace pentamesh
