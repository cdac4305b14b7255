// Compares figures within a share of the expected one, for any unit.
#pragma once

#include <cmath>
#include <concepts>
#include <doctest/doctest.h>
#include <optional>
#include <type_traits>

namespace pentamesh::test {

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

// It is equal to `value` within `relative` of it. doctest::Approx adds an absolute part, so that 0 seconds
// equals 5 microseconds. A `value` of 0 is equal to 0 only. Not a number is near nothing.
struct Near {
    double value, relative;
    [[nodiscard]] bool holds(double x) const {
        return x == value || std::abs(x - value) <= relative * std::abs(value);
    }
};

// It is equal to `value` within `absolute` in the same unit: for a difference of large numbers, or a value
// that may be 0.
struct Within {
    double value, absolute;
    [[nodiscard]] bool holds(double x) const { return std::abs(x - value) <= absolute; }
};

template <Number T>
inline constexpr double kTiny = std::is_same_v<T, float> ? 1e-6 : 1e-9;

template <Number T>
[[nodiscard]] Near near(T value, double relative = kTiny<T>) {
    return {static_cast<double>(value), relative};
}

template <Number T>
[[nodiscard]] Within within(T value, double absolute) {
    return {static_cast<double>(value), absolute};
}

template <Number T>
bool operator==(T x, const Near& n) {
    return n.holds(static_cast<double>(x));
}

template <Number T>
bool operator==(const std::optional<T>& x, const Near& n) {
    return x && *x == n;
}

template <Number T>
bool operator<=(T x, const Near& n) {
    return static_cast<double>(x) < n.value || n.holds(static_cast<double>(x));
}

template <Number T>
bool operator>=(T x, const Near& n) {
    return static_cast<double>(x) > n.value || n.holds(static_cast<double>(x));
}

template <Number T>
bool operator==(T x, const Within& w) {
    return w.holds(static_cast<double>(x));
}

}  // namespace pentamesh::test

namespace doctest {

template <>
struct StringMaker<pentamesh::test::Near> {
    static String convert(const pentamesh::test::Near& n) {
        return toString(n.value) + " within " + toString(n.relative) + " of it";
    }
};

template <>
struct StringMaker<pentamesh::test::Within> {
    static String convert(const pentamesh::test::Within& w) {
        return toString(w.value) + " +- " + toString(w.absolute);
    }
};

}  // namespace doctest
