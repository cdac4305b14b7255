// Lists of ranks and of hosts, as people type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// "0-7, 12 99": numbers and ranges between commas, semicolons or blanks, below `world`. Ascending, each once.
// Error (invalid) that names what is no rank; an empty list is one too.
[[nodiscard]] std::vector<std::int64_t> parse_rank_list(std::string_view text, std::int64_t world);
// "0-7, 12, 99"; beyond `most` parts "…" and how many ranks there are.
[[nodiscard]] std::string ranks_text(const std::vector<std::int64_t>& ranks,
                                     std::size_t most = static_cast<std::size_t>(-1));

// A node list of SLURM: "gpu[01-04,7],login1" is gpu01 gpu02 gpu03 gpu04 gpu7 login1. Zeros in front are
// kept, several brackets in a name multiply, the last one fastest; names between commas, blanks or line ends.
// Order and repeats stay. Error (invalid): a bracket that does not close, a range that falls, more than
// 2^20 hosts.
[[nodiscard]] std::vector<std::string> expand_hosts(std::string_view list);

// The hosts of a job in the order of their ranks.
struct Hosts {
    std::vector<std::string> names;  // empty: they have no names
    std::int64_t gpus_each = 1;
    [[nodiscard]] const std::string& of(std::int64_t rank) const {
        return names[static_cast<std::size_t>(rank / gpus_each)];
    }
};
// `world` ranks over the hosts of the list, evenly; `domain` GPUs of the first tier hold whole hosts. Error
// (invalid) where they do not come out even.
[[nodiscard]] Hosts hosts_of(std::string_view list, std::int64_t world, std::int64_t domain);
// "node01, node02" of the hosts that have these ranks (ascending); beyond `most` "…" and how many.
[[nodiscard]] std::string hosts_text(const Hosts& hosts, const std::vector<std::int64_t>& ranks,
                                     std::size_t most = 8);

}  // namespace pentamesh
