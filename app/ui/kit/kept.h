// Keeps a value made from something that changes seldom, until its key changes.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace pentamesh::ui {

// `Key` names everything that the value depends on: a revision, or a tuple of it and the user's choices.
template <typename T, typename Key = std::uint64_t>
class Kept {
  public:
    // `make` returns the value, or takes the current one and fills it anew. Returns true if it was made now.
    template <typename Make>
    bool update(const Key& key, Make&& make) {
        if (made_ && key_ == key) return false;
        made_ = false;
        if constexpr (std::is_invocable_v<Make&, T&>)
            make(value_);
        else
            value_ = make();
        key_ = key;
        made_ = true;
        return true;
    }
    template <typename Make>
    const T& get(const Key& key, Make&& make) {
        update(key, std::forward<Make>(make));
        return value_;
    }
    // Returns the value made last, or a default T before that.
    const T& operator*() const { return value_; }
    const T* operator->() const { return &value_; }
    // Returns the key of the current value, or null.
    [[nodiscard]] const Key* key() const { return made_ ? &key_ : nullptr; }
    void forget() { made_ = false; }

  private:
    T value_{};
    Key key_{};
    bool made_ = false;
};

}  // namespace pentamesh::ui
