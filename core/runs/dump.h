// Reads what one rank's flight recorder wrote (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp).
#pragma once

#include "core/runs/values.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pentamesh::runs {

inline constexpr std::int64_t kMostRank = 1'048'575;

// A process group is what it is described as and its ranks. Its name differs from rank to rank. Several that
// are equal in both are counted in the order in which they were made, which is the same on all their ranks.
struct ProcessGroup {
    int description = 0;  // its text: RunNames::text
    int ranks = 0;        // their list: RunNames::ranks
    int twin = 0;
    bool operator==(const ProcessGroup&) const = default;
    bool operator<(const ProcessGroup& o) const {
        return std::tie(description, ranks, twin) < std::tie(o.description, o.ranks, o.twin);
    }
};

// Gives numbers to groups and to texts that many dumps repeat, and is asked from several threads.
class RunNames {
  public:
    // Returns -1 for a text that is no list, and where more than the limit would be kept.
    [[nodiscard]] int group(std::string_view description, std::string_view ranks, int twin);
    [[nodiscard]] int number_of(std::string_view text);
    // Returns the rank that is `index` in the group; -1 where there is no such one.
    [[nodiscard]] std::int64_t member(int group, std::int64_t index);

    // These are for after the reading.
    [[nodiscard]] const std::string& text(int number) const {
        return texts_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] const std::vector<ProcessGroup>& groups() const { return groups_; }
    [[nodiscard]] const std::string& description(int group) const {
        return text(groups_[static_cast<std::size_t>(group)].description);
    }
    // Returns the ranks in the order of the group: its rank 0 first.
    [[nodiscard]] const std::vector<std::int64_t>& ranks(int group) const {
        return lists_[static_cast<std::size_t>(groups_[static_cast<std::size_t>(group)].ranks)];
    }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    using Numbers = std::unordered_map<std::string, int, Hash, std::equal_to<>>;
    [[nodiscard]] int list_of(std::string_view ranks);

    std::shared_mutex mutex_;
    Numbers number_of_text_, list_of_text_;
    std::vector<std::string> texts_;
    std::vector<std::vector<std::int64_t>> lists_;
    std::map<std::vector<std::int64_t>, int> list_numbers_;
    std::map<ProcessGroup, int> group_numbers_;
    std::vector<ProcessGroup> groups_;
    std::size_t members_ = 0;  // of all groups
};

struct DumpEntry {
    int group = -1;
    int collective = -1;  // its name's number, without "nccl:"
    std::int64_t record = 0, sequence = 0, p2p_sequence = 0;
    std::int64_t numbers_in = 0, numbers_out = 0;  // elements
    int type_in = -1, type_out = -1;               // their names' numbers
    std::int64_t peer = -1;                        // the rank to or from which is sent
    float duration_ms = -1;                        // negative: not known
    bool open = false, p2p = false, sends = false, coalesced = false;
};

// Holds the last numbers of a group on this rank.
struct GroupStatus {
    int group = -1;
    std::int64_t enqueued = -1, completed = -1;
};

struct Dump {
    std::int64_t rank = -1;
    std::string file, version;
    std::vector<int> groups;          // that the rank is in
    std::vector<DumpEntry> entries;   // in the order of their records
    std::vector<GroupStatus> status;  // only of groups for which it is known
    double span_ms = 0;               // from the first call to the last end
    std::size_t passed_over = 0;      // entries and groups that make no sense
    bool oldest_open = false;         // more may have been open before it
};

// Throws Error (invalid) where the values are no dump, or one of another version than 2.
[[nodiscard]] Dump read_dump(const Values& values, RunNames& names);

}  // namespace pentamesh::runs
