// An EnumArray has an element for each enumerator, indexed by the enumerator.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace pentamesh {

// An enum and the words of its enumerators are made of one list, #define LIST(T) T(enumerator, words)
// ...: enum class E { LIST(PENTAMESH_ENUMERATOR) }; its count is LIST(PENTAMESH_ONE_MORE).
#define PENTAMESH_ENUMERATOR(enumerator, ...) enumerator,
#define PENTAMESH_ONE_MORE(...) +1  // NOLINT(bugprone-macro-parentheses): a term of a sum

// Returns what count_of_enum(E) says, next to an enum of an inner namespace; else 0.
template <typename E>
[[nodiscard]] constexpr std::size_t stated_count() {
    if constexpr (requires { count_of_enum(E{}); })
        return count_of_enum(E{});
    else
        return 0;
}
// Holds the number of enumerators of E, 0 .. n-1; it is specialised next to each enum that indexes an array,
// or count_of_enum says it.
template <typename E>
inline constexpr std::size_t kEnumCount = stated_count<E>();

template <typename E, typename T>
struct EnumArray : std::array<T, kEnumCount<E>> {
    static_assert(std::is_enum_v<E> && kEnumCount<E> > 0, "kEnumCount of this enum is not stated");
    using Base = std::array<T, kEnumCount<E>>;
    using Base::operator[];
    [[nodiscard]] constexpr T& operator[](E e) { return Base::operator[](static_cast<std::size_t>(e)); }
    [[nodiscard]] constexpr const T& operator[](E e) const {
        return Base::operator[](static_cast<std::size_t>(e));
    }
};

// Returns every enumerator in order: for (const Axis a : all_of<Axis>()).
template <typename E>
[[nodiscard]] constexpr std::array<E, kEnumCount<E>> all_of() {
    static_assert(kEnumCount<E> > 0, "kEnumCount of this enum is not stated");
    std::array<E, kEnumCount<E>> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
    return all;
}

// A list of bounded length that needs no allocation.

// Holds a list of at most kMost values in place: only as many as it has are made and copied.
template <typename T, int kMost>
class ShortList {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    ShortList() {
        if constexpr (kSmall) std::memset(static_cast<void*>(all_.data()), 0, kFew);
    }
    explicit ShortList(int size) : ShortList() { resize(size); }
    ShortList(const ShortList& o) { copy(o); }
    ShortList& operator=(const ShortList& o) {
        if (this != &o) copy(o);
        return *this;
    }
    ~ShortList() = default;

    // New ones are T{}.
    void resize(int size) {
        for (; size_ < size; ++size_) std::construct_at(end());
        size_ = size;
    }
    void assign(int size) {
        size_ = 0;
        resize(size);
    }
    void clear() { size_ = 0; }
    T& push_back(const T& value) {
        assert(size_ < kMost);
        return *std::construct_at(all_.data() + size_++, value);
    }
    [[nodiscard]] static constexpr int most() { return static_cast<int>(kMost); }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] T& operator[](int i) {
        assert(i >= 0 && i < size_);
        return all_[i];
    }
    [[nodiscard]] const T& operator[](int i) const {
        assert(i >= 0 && i < size_);
        return all_[i];
    }
    [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
    [[nodiscard]] T* begin() { return all_.data(); }
    [[nodiscard]] T* end() { return all_.data() + size_; }
    [[nodiscard]] const T* begin() const { return all_.data(); }
    [[nodiscard]] const T* end() const { return all_.data() + size_; }
    bool operator==(const ShortList& o) const {
        if (size_ != o.size_) return false;
        for (int t = 0; t < size_; ++t)  // mostly one or two: less than a call of std::equal
            if (!((*this)[t] == o[t])) return false;
        return true;
    }

  private:
    static constexpr std::size_t kFew = 16;  // bytes, always copied in full
    static constexpr bool kSmall = sizeof(T) <= 4;

    void copy(const ShortList& o) {
        size_ = o.size_;
        if (kSmall && sizeof(T) * static_cast<std::size_t>(size_) <= kFew)  // one register
            std::memcpy(static_cast<void*>(all_.data()), o.all_.data(), kFew);
        else
            std::uninitialized_copy_n(o.all_.data(), static_cast<std::size_t>(size_), all_.data());
    }

    union {
        std::array<T, kMost> all_;
    };
    int size_ = 0;
};

}  // namespace pentamesh
