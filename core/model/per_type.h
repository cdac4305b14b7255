// Holds one value for each type of layer (layer_types.h).
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace pentamesh {

inline constexpr int kMostLayerTypes = 24;

// Holds all of them in place. A model has one or two types as a rule: only as many are made and copied.
template <typename T>
class PerType {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    PerType() {
        if constexpr (kSmall) std::memset(static_cast<void*>(all_.data()), 0, kFew);
    }
    explicit PerType(int size) : PerType() { resize(size); }
    PerType(const PerType& o) { copy(o); }
    PerType& operator=(const PerType& o) {
        if (this != &o) copy(o);
        return *this;
    }
    ~PerType() = default;

    // New ones are T{}.
    void resize(int size) {
        for (; size_ < size; ++size_) std::construct_at(end());
        size_ = size;
    }
    void assign(int size) {
        size_ = 0;
        resize(size);
    }
    void push_back(const T& value) {
        std::construct_at(end(), value);
        ++size_;
    }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] T& operator[](int type) {
        assert(type >= 0 && type < size_);
        return all_[type];
    }
    [[nodiscard]] const T& operator[](int type) const {
        assert(type >= 0 && type < size_);
        return all_[type];
    }
    [[nodiscard]] T* begin() { return all_.data(); }
    [[nodiscard]] T* end() { return all_.data() + size_; }
    [[nodiscard]] const T* begin() const { return all_.data(); }
    [[nodiscard]] const T* end() const { return all_.data() + size_; }
    bool operator==(const PerType& o) const {
        if (size_ != o.size_) return false;
        for (int t = 0; t < size_; ++t)  // one or two: less than a call of std::equal
            if (!((*this)[t] == o[t])) return false;
        return true;
    }

  private:
    static constexpr std::size_t kFew = 16;  // bytes, always copied in full
    static constexpr bool kSmall = sizeof(T) <= 4;

    void copy(const PerType& o) {
        size_ = o.size_;
        if (kSmall && sizeof(T) * static_cast<std::size_t>(size_) <= kFew)  // one register
            std::memcpy(static_cast<void*>(all_.data()), o.all_.data(), kFew);
        else
            std::uninitialized_copy_n(o.all_.data(), static_cast<std::size_t>(size_), all_.data());
    }

    union {
        std::array<T, kMostLayerTypes> all_;
    };
    int size_ = 0;
};

}  // namespace pentamesh
