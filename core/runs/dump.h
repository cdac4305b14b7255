// Holds what a pickle or a JSON file of a run says: plain values, kept close together, read once and dropped.
#pragma once

#include "core/base/files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pentamesh::runs {

inline constexpr int kMostValueLevels = 64;
// Values are counted by the bytes that they take, those of texts and of a reader's own lists too.
inline constexpr std::size_t kMostValueBytes = std::size_t{224} << 20U;

enum class ValueKind : std::uint8_t { null, flag, whole, real, text, list, dict };

struct Value {
    ValueKind kind = ValueKind::null;
    std::uint32_t size = 0;  // bytes of a text
    union {
        std::int64_t whole = 0;  // whole and flag
        double real;
        const char* text;
        std::size_t container;  // list and dict: its index in Values
    };
    [[nodiscard]] std::string_view view() const {
        return kind == ValueKind::text ? std::string_view(text, size) : std::string_view();
    }
};
[[nodiscard]] inline Value whole_value(std::int64_t n, ValueKind kind = ValueKind::whole) {
    Value v;
    v.kind = kind, v.whole = n;
    return v;
}
[[nodiscard]] inline Value real_value(double x) {
    Value v;
    v.kind = ValueKind::real, v.real = x;
    return v;
}

// Texts point into the file that was read, or into blocks kept here. A container that lies in another one
// can no longer change: so none holds itself, and its depth is known.
class Values {
  public:
    // Forgets all values and keeps the memory for the next file.
    void clear();
    [[nodiscard]] Value make(ValueKind kind);
    // Each throws Error (invalid) for a container that lies in another one, for one in itself, for too many
    // levels and too many bytes.
    void append(const Value& container, const Value& item);
    void count_bytes(std::size_t bytes);
    // Appends to a list of a reader, or of a container, and counts the memory that it takes.
    template <typename T>
    void push(std::vector<T>& to, const T& item) {
        if (to.size() == to.capacity()) {
            const std::size_t more = std::max<std::size_t>(to.capacity(), 4);
            count_bytes(more * sizeof(T));
            to.reserve(to.capacity() + more);
        }
        to.push_back(item);
    }

    // The text has to outlive the values.
    [[nodiscard]] static Value text_in_place(std::string_view text);
    [[nodiscard]] Value copied_text(std::string_view text);

    // Returns the items of a list; of a dict keys and values in turn; nothing for all else.
    [[nodiscard]] std::span<const Value> items(const Value& container) const;
    // Returns nullptr where a dict has no such key, and for all that is no dict.
    [[nodiscard]] const Value* find(const Value& dict, std::string_view key) const;

    Value root;

  private:
    struct Container {
        std::vector<Value> items;
        int levels = 1;
        bool held = false;
    };
    std::deque<Container> containers_;  // one that grows takes no second place meanwhile
    std::size_t used_ = 0, bytes_ = 0, long_bytes_ = 0;
    std::vector<std::unique_ptr<char[]>> blocks_, long_texts_;
    std::size_t block_ = 0, block_used_ = 0;  // the block that is filled, and how far
};

[[noreturn]] inline void refuse(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

// Reads a pickle of plain values in one pass. Nothing that it names is imported, called or evaluated: an
// opcode that would do so ends the reading. Throws Error (invalid) with the opcode and its byte.
void read_pickle(std::string_view bytes, Values& out);
// Reads a JSON text. Throws Error (invalid).
void read_json_values(std::string_view text, Values& out);
class UnpackedBytes;
// Reads a JSON list, or an object that has one by this name, out of a stream: each item goes to `each` and is
// dropped, what stands around the list goes to `rest`. Returns false where there is no such list. Throws
// Error (invalid).
[[nodiscard]] bool read_json_list(UnpackedBytes& bytes, std::string_view name,
                                  const std::function<void(const Values&, const Value&)>& each, Values& rest);

// Return what a value is; null is a value that is not there.
[[nodiscard]] inline std::string_view text_of(const Value* v) {
    return v ? v->view() : std::string_view();
}
[[nodiscard]] inline double real_of(const Value* v, double otherwise) {
    return !v                            ? otherwise
           : v->kind == ValueKind::real  ? v->real
           : v->kind == ValueKind::whole ? static_cast<double>(v->whole)
                                         : otherwise;
}
// Returns a whole number from 0 to `most`; -1 for all else.
[[nodiscard]] inline std::int64_t whole_of(const Value* v, std::int64_t most) {
    if (v && v->kind == ValueKind::whole) return v->whole >= 0 && v->whole <= most ? v->whole : -1;
    const double x = real_of(v, -1);
    return x >= 0 && x <= static_cast<double>(most) && x == std::floor(x) ? static_cast<std::int64_t>(x) : -1;
}

// Reads what one rank's flight recorder wrote (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp).

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
