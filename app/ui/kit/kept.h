// A value made from something that changes seldom, kept until its key changes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace pentamesh::ui {

// `Key` names everything that the value depends on: a revision, or a tuple of it and what the user chose.
template <typename T, typename Key = std::uint64_t>
class Kept {
  public:
    template <typename Make>
    const T& get(const Key& key, Make&& make) {
        if (!value_ || !(key_ == key)) value_ = std::forward<Make>(make)(), key_ = key;
        return *value_;
    }

  private:
    std::optional<T> value_;
    Key key_{};
};

}  // namespace pentamesh::ui
