// Holds how far each rank has come in each of its groups; the search for culprits reads it.
#pragma once

#include "core/runs/dump_folder.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pentamesh::runs {

// Says how far one rank has come in one group.
struct Progress {
    int dump = -1;                       // its index
    std::int64_t issued = -1;            // its last collective there; -1: not known
    std::vector<const DumpEntry*> open;  // collectives, by number
};

class RunState {
  public:
    explicit RunState(const DumpFolder& run);

    [[nodiscard]] const DumpFolder& run() const { return run_; }
    // Returns -1 where the rank has no dump.
    [[nodiscard]] int dump_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t rank_of(int dump) const {
        return run_.dumps[static_cast<std::size_t>(dump)].rank;
    }
    [[nodiscard]] const std::vector<Progress>& in_group(int group) const {
        return groups_[static_cast<std::size_t>(group)];
    }
    // Returns nullptr where the rank has no dump, or its dump no such group.
    [[nodiscard]] const Progress* progress(int group, std::int64_t rank) const;
    // Returns the last number up to which some rank has finished the group's collectives; -1: not known.
    [[nodiscard]] std::int64_t finished(int group) const {
        return finished_[static_cast<std::size_t>(group)];
    }
    // Returns the last number that this rank has finished; -1: not known.
    [[nodiscard]] std::int64_t finished_by(const Progress& p) const;
    [[nodiscard]] std::string_view name(int collective) const;

    // Forgets that a call is open: it was seen too late that it had ended.
    void close(const DumpEntry& entry, int dump);

  private:
    [[nodiscard]] std::vector<Progress>& in_group(int group) {
        return groups_[static_cast<std::size_t>(group)];
    }
    [[nodiscard]] Progress* find(int group, int dump);
    void count_status();
    const DumpFolder& run_;
    std::unordered_map<std::int64_t, int> dump_of_;
    std::vector<std::vector<Progress>> groups_;  // by the order of dumps
    std::vector<std::int64_t> finished_;
};

// Only one rank of a call with a root may be done before the others.
[[nodiscard]] bool has_root(std::string_view collective);
// Returns true where all ranks of a call have to give the same sizes.
[[nodiscard]] bool has_equal_sizes(std::string_view collective);

}  // namespace pentamesh::runs
