#include "core/base/quantity.h"

#include "core/base/characters.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh {
namespace {

// Takes the separators out of "1,048,576", "1 048 576" and "1_048_576". A separator that is not before three
// digits stays, so that "1,5" is no number.
std::string without_separators(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size(); ++i) {
        const bool separator = (s[i] == ',' || s[i] == ' ' || s[i] == '_') && i > 0 && is_digit(s[i - 1])
                               && out.find('.') == std::string::npos;
        const auto digit = [&](std::size_t k) { return i + k < s.size() && is_digit(s[i + k]); };
        if (separator && digit(1) && digit(2) && digit(3) && !digit(4)) continue;
        out += s[i];
    }
    return out;
}

struct Prefix {
    std::string_view text;
    double size;
};
constexpr std::array<Prefix, 8> kDecimal{
    {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}}};
constexpr std::array<Prefix, 4> kBinary{
    {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}}};

// Returns the size of `unit` where it is a prefix and one of `names`.
template <std::size_t N>
std::optional<double> prefixed(std::string_view unit, const std::array<Prefix, N>& prefixes,
                               std::initializer_list<std::string_view> names) {
    for (const Prefix& p : prefixes)
        for (const std::string_view name : names)
            if (unit.size() == p.text.size() + name.size() && unit.starts_with(p.text)
                && unit.ends_with(name))
                return p.size;
    return std::nullopt;
}

std::optional<double> bytes_size(std::string_view unit, std::string_view per) {
    const std::string byte = "B" + std::string(per), bit = "b" + std::string(per),
                      bits = "bit" + std::string(per);
    if (const auto size = prefixed(unit, kDecimal, {byte})) return size;
    if (const auto size = prefixed(unit, kBinary, {byte})) return size;
    if (const auto size = prefixed(unit, kDecimal, {bit, bits})) return *size / 8;
    return std::nullopt;
}

std::optional<double> seconds_size(std::string_view unit) {
    static constexpr std::array<Prefix, 7> kUnits{{{"s", 1},
                                                   {"ms", 1e-3},
                                                   {"us", 1e-6},
                                                   {"\u00b5s", 1e-6},  // micro sign
                                                   {"\u03bcs", 1e-6},  // Greek mu
                                                   {"ns", 1e-9},
                                                   {"min", 60}}};
    for (const Prefix& u : kUnits)
        if (unit == u.text) return u.size;
    return std::nullopt;
}

std::optional<double> count_size(std::string_view unit) {
    static constexpr std::array<Prefix, 9> kUnits{{{"K", 1024},
                                                   {"k", 1024},
                                                   {"Ki", 1024},
                                                   {"M", 1e6},
                                                   {"m", 1e6},
                                                   {"B", 1e9},
                                                   {"b", 1e9},
                                                   {"T", 1e12},
                                                   {"t", 1e12}}};
    for (const Prefix& u : kUnits)
        if (unit == u.text) return u.size;
    return std::nullopt;
}

std::optional<double> size_of(std::string_view unit, Dimension dimension) {
    switch (dimension) {
    case Dimension::count: return unit.empty() ? 1 : count_size(unit);
    case Dimension::bytes: return bytes_size(unit, "");
    case Dimension::bytes_per_s:
        if (const auto size = bytes_size(unit, "/s")) return size;
        return prefixed(unit, kDecimal, {"bps"}) ? std::optional(*prefixed(unit, kDecimal, {"bps"}) / 8)
                                                 : std::nullopt;
    case Dimension::seconds: return seconds_size(unit);
    case Dimension::flops_per_s: return prefixed(unit, kDecimal, {"FLOP/s", "FLOPS", "FLOPs", "flop/s"});
    case Dimension::share:
        return unit == "%" ? std::optional(0.01) : unit.empty() ? std::optional(1.0) : std::nullopt;
    case Dimension::ratio: return unit.empty() ? std::optional(1.0) : std::nullopt;
    }
    return std::nullopt;
}

std::string_view allowed(Dimension dimension) {
    switch (dimension) {
    case Dimension::count: return "a number such as 8,192, 8K or 10 M";
    case Dimension::bytes: return "a size such as 80 GiB or 80 GB";
    case Dimension::bytes_per_s: return "a bandwidth such as 50 GB/s (bytes) or 400 Gb/s (bits)";
    case Dimension::seconds: return "a time such as 5 µs, 20 ms or 1.5 s";
    case Dimension::flops_per_s: return "a rate such as 989 TFLOP/s";
    case Dimension::share: return "a share such as 45 %";
    case Dimension::ratio: return "a ratio such as 1 : 7";
    }
    return "";
}

Quantity refused(std::string_view found, Dimension dimension) {
    return {std::nullopt, sentence("\"", found, "\": write ", allowed(dimension))};
}

// Takes plain numbers off both ends of "4 x 400 Gb/s / 8", and returns what they make together.
double take_factors(std::string_view& text) {
    double factor = 1;
    const auto whole = [](std::string_view part) {
        const std::optional<double> n = parse_double(trimmed(part));
        return n && std::isfinite(*n) && *n > 0 ? n : std::nullopt;
    };
    if (const auto slash = text.rfind('/'); slash != std::string_view::npos)
        if (const auto n = whole(text.substr(slash + 1))) factor /= *n, text = trimmed(text.substr(0, slash));
    for (const std::string_view times : {" x ", " \u00d7 ", " * "})
        if (const auto at = text.find(times); at != std::string_view::npos)
            if (const auto n = whole(text.substr(0, at)))
                factor *= *n, text = trimmed(text.substr(at + times.size()));
    return factor;
}

}  // namespace

Quantity parse_quantity(std::string_view text, Dimension dimension, std::string_view shown_unit) {
    const std::string_view typed = trimmed(text);
    std::string_view rest = typed;
    const double factor = take_factors(rest);
    if (const auto colon = rest.find(':'); dimension == Dimension::ratio && colon != std::string_view::npos) {
        if (trimmed(rest.substr(0, colon)) != "1") return refused(typed, dimension);
        rest = trimmed(rest.substr(colon + 1));
    }
    const std::string number = without_separators(rest);
    const LeadingNumber n = leading_number(number);
    const std::string_view unit = trimmed(std::string_view(number).substr(n.length));
    if (n.length == 0) return refused(typed, dimension);
    const std::optional<double> size = size_of(unit.empty() ? shown_unit : unit, dimension);
    if (!size) return refused(typed, dimension);
    const double value = factor * n.value * *size;
    if (!std::isfinite(value)) return refused(typed, dimension);
    return {value, {}};
}

std::string_view unit_of(std::string_view shown) {
    const auto last = std::find_if(shown.rbegin(), shown.rend(), is_digit);
    return trimmed(shown.substr(static_cast<std::size_t>(shown.rend() - last)));
}

}  // namespace pentamesh
