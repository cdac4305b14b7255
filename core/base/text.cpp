#include "core/base/text.h"

#include "core/base/characters.h"
#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh {
namespace {

constexpr std::array<std::string_view, 5> kDecimalBytes{" B", " kB", " MB", " GB", " TB"};
constexpr std::array<std::string_view, 5> kBinaryBytes{" B", " KiB", " MiB", " GiB", " TiB"};

std::string scaled(double x, double step, const std::array<std::string_view, 5>& units, Zeros zeros) {
    std::size_t unit = 0;
    while (unit + 1 < units.size() && std::abs(x) >= step * 0.9995) {
        x /= step;
        ++unit;
    }
    return three_digits(x, zeros) + std::string(units[unit]);
}

}  // namespace

std::string with_commas(std::int64_t n) {
    std::string digits = std::to_string(n);
    const std::size_t first = n < 0 ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
    return digits;
}

std::string three_digits(double x, Zeros zeros) {
    if (std::isnan(x)) return "not known";
    if (!std::isfinite(x)) return "∞";
    if (std::abs(x) >= 1e15) return scientific_text(x, 2);
    if (std::abs(x) >= 999.5) {
        const double unit = std::pow(10, std::floor(std::log10(std::abs(x))) - 2);
        return with_commas(static_cast<std::int64_t>(std::llround(std::round(x / unit) * unit)));
    }
    const int decimals = x == 0                  ? 0
                         : std::abs(x) >= 99.95  ? 0
                         : std::abs(x) >= 9.995  ? 1
                         : std::abs(x) >= 0.9995 ? 2
                                                 : 2 - static_cast<int>(std::floor(std::log10(std::abs(x))));
    std::string out = fixed_text(x, std::min(decimals, 12));
    if (zeros == Zeros::dropped && out.find('.') != std::string::npos) {
        while (out.back() == '0') out.pop_back();
        if (out.back() == '.') out.pop_back();
    }
    return out;
}

std::string whole_text(double count) {
    constexpr double kMostExact = 9e15;
    return std::abs(count) < kMostExact && count == std::nearbyint(count)
               ? with_commas(static_cast<std::int64_t>(count))
               : three_digits(count);
}

std::string bytes_text(double bytes, Zeros zeros) {
    return scaled(bytes, 1000, kDecimalBytes, zeros);
}
std::string memory_text(double bytes, Zeros zeros) {
    return scaled(bytes, 1024, kBinaryBytes, zeros);
}

std::string time_text(double seconds, Zeros zeros) {
    constexpr double kShortest_s = 1e-14;
    constexpr std::array<std::string_view, 4> kUnits{" s", " ms", " µs", " ns"};
    std::size_t unit = 0;
    if (std::abs(seconds) < kShortest_s) seconds = 0;  // rounding of sums and differences
    while (unit + 1 < kUnits.size() && seconds != 0 && std::abs(seconds) < 0.9995) {
        seconds *= 1e3;
        ++unit;
    }
    return three_digits(seconds, zeros) + std::string(kUnits[unit]);
}

std::string percent_text(double fraction, Zeros zeros) {
    return three_digits(fraction * 100, zeros) + " %";
}

std::string count_text(std::int64_t n, std::string_view noun) {
    return sentence(n, " ", noun, n == 1 ? "" : "s");
}

bool same_letters(std::string_view a, std::string_view b) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return small(x) == small(y); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> out;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(separator, from), text.size());
        out.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return out;
}

std::vector<std::string_view> split_lines(std::string_view text, char end) {
    std::vector<std::string_view> out = split(text, end);
    if (out.back().empty()) out.pop_back();
    return out;
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view blanks) {
    std::vector<std::string_view> out;
    while (!(text = trimmed(text, blanks)).empty()) {
        out.push_back(text.substr(0, text.find_first_of(blanks)));
        text.remove_prefix(out.back().size());
    }
    return out;
}

}  // namespace pentamesh
