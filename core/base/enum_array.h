// An EnumArray has an element for each enumerator, indexed by the enumerator.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace pentamesh {

// An enum and the words of its enumerators are made of one list, #define LIST(T) T(enumerator, words)
// ...: enum class E { LIST(PENTAMESH_ENUMERATOR) }; its count is LIST(PENTAMESH_ONE_MORE).
#define PENTAMESH_ENUMERATOR(enumerator, ...) enumerator,
#define PENTAMESH_ONE_MORE(...) +1  // NOLINT(bugprone-macro-parentheses): a term of a sum

// Holds the number of enumerators of E, 0 .. n-1; it is specialised next to each enum that indexes an array.
template <typename E>
inline constexpr std::size_t kEnumCount = 0;

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

}  // namespace pentamesh
