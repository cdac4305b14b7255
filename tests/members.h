// Walks the members of any aggregate, with their names: what writes a value as text needs no list of them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace pentamesh::test {

struct AnyMember {
    template <typename T>
    operator T() const;  // NOLINT(google-explicit-constructor): it stands for a member of any type
};
template <typename T, std::size_t... I>
[[nodiscard]] constexpr bool takes(std::index_sequence<I...> /*unused*/) {
    return requires {
        T{(static_cast<void>(I), AnyMember{})...};
    };
}
inline constexpr std::size_t kMostMembers = 32;
template <typename T, std::size_t N = kMostMembers>
[[nodiscard]] constexpr std::size_t count_members() {
    if constexpr (takes<T>(std::make_index_sequence<N>{}))
        return N;
    else
        return count_members<T, N - 1>();
}

// Calls `use` with all members of an aggregate.
template <typename T, typename Use>
constexpr auto with_members(const T& x, const Use& use) {
    constexpr std::size_t n = count_members<T>();
// A structured binding names all members of a struct: there is a line a number of them.
#define PENTAMESH_FOUR(x) x##1, x##2, x##3, x##4
#define PENTAMESH_BIND(count, ...)                                                                           \
    if constexpr (n == (count)) {                                                                            \
        const auto& [__VA_ARGS__] = x;                                                                       \
        return use(__VA_ARGS__);                                                                             \
    }
#define PENTAMESH_BIND_FOUR(base, ...)                                                                       \
    PENTAMESH_BIND((base) + 1, __VA_ARGS__ z1)                                                               \
    PENTAMESH_BIND((base) + 2, __VA_ARGS__ z1, z2)                                                           \
    PENTAMESH_BIND((base) + 3, __VA_ARGS__ z1, z2, z3)                                                       \
    PENTAMESH_BIND((base) + 4, __VA_ARGS__ PENTAMESH_FOUR(z))
    PENTAMESH_BIND_FOUR(0, )
    PENTAMESH_BIND_FOUR(4, PENTAMESH_FOUR(a), )
    PENTAMESH_BIND_FOUR(8, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), )
    PENTAMESH_BIND_FOUR(12, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), )
    PENTAMESH_BIND_FOUR(16, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d), )
    PENTAMESH_BIND_FOUR(20, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), )
    PENTAMESH_BIND_FOUR(24, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), PENTAMESH_FOUR(f), )
    PENTAMESH_BIND_FOUR(28, PENTAMESH_FOUR(a), PENTAMESH_FOUR(b), PENTAMESH_FOUR(c), PENTAMESH_FOUR(d),
                        PENTAMESH_FOUR(e), PENTAMESH_FOUR(f), PENTAMESH_FOUR(g), )
#undef PENTAMESH_BIND_FOUR
#undef PENTAMESH_BIND
#undef PENTAMESH_FOUR
}

// Calls `use` with each member.
template <typename T, typename Use>
void each_member(const T& x, const Use& use) {
    with_members(x, [&](const auto&... member) { (use(member), ...); });
}

// A compiler spells the address of a member with its name, where it stands in the name of a function.
template <typename T>
struct Held {
    T value;
};
template <typename P>
struct Address {
    P of;
};
template <typename P>
Address(P) -> Address<P>;
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <typename T>
extern const Held<T> kNowhere;  // nothing reads it
template <auto address>
[[nodiscard]] constexpr const char* spelled_with() {  // a view's own name would stand behind
    return __PRETTY_FUNCTION__;
}
template <typename T, std::size_t I>
[[nodiscard]] constexpr auto address_of_member() {
    return with_members(kNowhere<T>.value,
                        [](const auto&... member) { return Address{&std::get<I>(std::tie(member...))}; });
}
// Takes "time_s" of "... [with auto address = ...(& kNowhere<Step>.Held<Step>::value.Step::time_s)...]".
[[nodiscard]] constexpr std::string_view last_name(std::string_view spelling) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const std::size_t last = spelling.find_last_of(kLetters);
    const std::size_t before = spelling.find_last_not_of(kLetters, last);
    return spelling.substr(before + 1, last - before);
}
template <typename T>
[[nodiscard]] constexpr auto member_names() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<std::string_view, sizeof...(I)>{
            last_name(spelled_with<address_of_member<T, I>()>())...};
    }
    (std::make_index_sequence<count_members<T>()>{});
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace pentamesh::test
