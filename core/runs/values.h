// Holds what a pickle or a JSON file of a run says: plain values, kept close together, read once and dropped.
#pragma once

#include "core/base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

}  // namespace pentamesh::runs
