#include "app/ui/kit/format.h"

#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

struct Unit {
    double size;
    const char* name;
};

template <std::size_t N>
std::string with_unit(double value, const std::array<Unit, N>& units, Zeros zeros) {
    // The search goes from the largest unit down; a value that rounds up to 1,000 takes the next unit.
    for (const Unit& u : units)
        if (std::abs(value) >= u.size * 0.9995) return three_digits(value / u.size, zeros) + " " + u.name;
    return three_digits(value / units.back().size, zeros) + " " + units.back().name;
}

}  // namespace

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) return "–";
    if (value == 0) return "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double step = std::pow(10.0, magnitude - digits + 1);
    const double rounded = std::round(value / step) * step;
    if (std::abs(rounded) >= 1000) return thousands(static_cast<std::int64_t>(std::llround(rounded)));
    const int shown = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
    return fixed_text(rounded, std::max(0, digits - 1 - shown));
}

std::string gib(double bytes) {
    return significant(bytes / (1024.0 * 1024 * 1024));
}

std::string bandwidth_text(double bytes_per_s) {
    static constexpr std::array<Unit, 3> kUnits{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}}};
    return with_unit(bytes_per_s, kUnits, Zeros::dropped);
}

std::string percent(double fraction) {
    return fraction > 0 && fraction < 0.001 ? "< 0.1 %" : percent_text(fraction, Zeros::kept);
}

std::string count_text(double value) {
    static constexpr std::array<Unit, 4> kUnits{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
    if (std::abs(value) < 1000) return significant(value);
    return with_unit(value, kUnits, Zeros::kept);
}

std::string sequence_text(std::int64_t tokens) {
    constexpr std::int64_t k = 1024;
    if (tokens == 0 || tokens % k != 0) return thousands(tokens);
    return tokens % (k * k) == 0 ? thousands(tokens / (k * k)) + "M" : thousands(tokens / k) + "K";
}

std::string ordinal(std::int64_t n) {
    const std::int64_t tens = n % 100, ones = n % 10;
    const char* ending = tens >= 11 && tens <= 13 ? "th"
                         : ones == 1              ? "st"
                         : ones == 2              ? "nd"
                         : ones == 3              ? "rd"
                                                  : "th";
    return thousands(n) + ending;
}

std::string plural(std::int64_t n, const char* one, const char* many) {
    return thousands(n) + " " + (n == 1 ? one : many);
}

std::string in_capitals(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

std::string typeset(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = text[i] == '-' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '(');
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        const bool minus = (next >= '0' && next <= '9') || (next == ' ' && i > 0);
        if (begins && next == '>')
            out += "→", ++i;
        else if (begins && minus)
            out += "−";
        else
            out += text[i];
    }
    return out;
}

std::string file_stem(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::string name;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                           || c == '.' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
        if (name.size() >= kLongest && static_cast<unsigned char>(c) < 0x80) break;
    }
    while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
    while (!name.empty() && name.front() == '.') name.erase(name.begin());
    return name;
}

}  // namespace pentamesh::ui
