// Emscripten 3.1.6 comes with libc++ 14, which has C++20's concepts and no algorithms over ranges. This file
// has those that our code calls, and only for that library: the compiler reads it first
// (cmake/build_flags.cmake). Each calls the classic algorithm. It goes when a newer Emscripten is packaged.
#pragma once

#ifdef __cplusplus
#include <algorithm>
#include <functional>
#include <iterator>

#if !defined(__cpp_lib_ranges)
namespace std::ranges {  // NOLINT(cert-dcl58-cpp): what the standard says should be there

template <typename R, typename Is, typename P = std::identity>
constexpr bool any_of(R&& r, Is is, P of = {}) {
    return std::any_of(std::begin(r), std::end(r),
                       [&](auto&& x) { return std::invoke(is, std::invoke(of, x)); });
}
template <typename R, typename Is, typename P = std::identity>
constexpr bool all_of(R&& r, Is is, P of = {}) {
    return std::all_of(std::begin(r), std::end(r),
                       [&](auto&& x) { return std::invoke(is, std::invoke(of, x)); });
}
template <typename R, typename Is, typename P = std::identity>
constexpr auto find_if(R&& r, Is is, P of = {}) {
    return std::find_if(std::begin(r), std::end(r),
                        [&](auto&& x) { return std::invoke(is, std::invoke(of, x)); });
}
template <typename R, typename T, typename P = std::identity>
constexpr auto find(R&& r, const T& value, P of = {}) {
    return std::find_if(std::begin(r), std::end(r), [&](auto&& x) { return std::invoke(of, x) == value; });
}
template <typename R, typename T, typename Less = std::less<>, typename P = std::identity>
constexpr auto lower_bound(R&& r, const T& value, Less less = {}, P of = {}) {
    return std::lower_bound(std::begin(r), std::end(r), value,
                            [&](auto&& x, const T& v) { return std::invoke(less, std::invoke(of, x), v); });
}
template <typename R, typename T, typename Less = std::less<>, typename P = std::identity>
constexpr auto upper_bound(R&& r, const T& value, Less less = {}, P of = {}) {
    return std::upper_bound(std::begin(r), std::end(r), value,
                            [&](const T& v, auto&& x) { return std::invoke(less, v, std::invoke(of, x)); });
}
template <typename R, typename Is, typename P = std::identity>
constexpr bool none_of(R&& r, Is is, P of = {}) {
    return !any_of(r, is, of);
}
template <typename R, typename T, typename P = std::identity>
constexpr auto count(R&& r, const T& value, P of = {}) {
    return std::count_if(std::begin(r), std::end(r), [&](auto&& x) { return std::invoke(of, x) == value; });
}
template <typename R, typename Less = std::less<>, typename P = std::identity>
constexpr auto max_element(R&& r, Less less = {}, P of = {}) {
    return std::max_element(std::begin(r), std::end(r), [&](auto&& a, auto&& b) {
        return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
    });
}
template <typename R, typename Less = std::less<>, typename P = std::identity>
constexpr auto min_element(R&& r, Less less = {}, P of = {}) {
    return std::min_element(std::begin(r), std::end(r), [&](auto&& a, auto&& b) {
        return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
    });
}
template <typename R, typename Less = std::less<>, typename P = std::identity>
constexpr void stable_sort(R&& r, Less less = {}, P of = {}) {
    std::stable_sort(std::begin(r), std::end(r), [&](auto&& a, auto&& b) {
        return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
    });
}
template <typename R, typename Less = std::less<>, typename P = std::identity>
constexpr void sort(R&& r, Less less = {}, P of = {}) {
    std::sort(std::begin(r), std::end(r),
              [&](auto&& a, auto&& b) { return std::invoke(less, std::invoke(of, a), std::invoke(of, b)); });
}
template <typename R, typename Is, typename P = std::identity>
constexpr auto count_if(R&& r, Is is, P of = {}) {
    return std::count_if(std::begin(r), std::end(r),
                         [&](auto&& x) { return std::invoke(is, std::invoke(of, x)); });
}
template <typename R, typename Out, typename Make>
constexpr void transform(R&& r, Out out, Make make) {
    std::transform(std::begin(r), std::end(r), out, [&](auto&& x) { return std::invoke(make, x); });
}
template <typename R, typename T>
constexpr void replace(R&& r, const T& from, const T& to) {
    std::replace(std::begin(r), std::end(r), from, to);
}
template <typename R, typename Less = std::less<>, typename P = std::identity>
constexpr auto max(R&& r, Less less = {}, P of = {}) {
    return *std::max_element(std::begin(r), std::end(r), [&](auto&& a, auto&& b) {
        return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
    });
}

}  // namespace std::ranges
#endif
#endif
