#include "core/base/text.h"

#include "core/base/json_reader.h"
#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cctype>
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

namespace {

// A word out of a file can be as long as the file; beyond this the first characters decide.
constexpr std::size_t kMostLetters = 64;

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

constexpr unsigned kNoCharacter = 0x110000;  // stands for U+0000

// Returns the code of the character at the begin of a text of UTF-8, if it is never shown as it is, with the
// bytes that it takes; 0 for all others.
unsigned hidden_character(std::string_view text, std::size_t& bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    bytes = 1;
    if (first == '\n' || first == '\t' || (first == '\r' && text.substr(1).starts_with('\n'))) return 0;
    if (first < 0x20 || first == 0x7f) return first == 0 ? kNoCharacter : first;
    if (first == 0xc2 && text.size() > 1 && byte(1) < 0xa0) return bytes = 2, byte(1);
    if (first != 0xe2 || text.size() < 3) return 0;
    const unsigned code = 0x2000U + ((byte(1) & 0x3fU) << 6U) + (byte(2) & 0x3fU);
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return turns ? (bytes = 3, code) : 0;
}

// `named` writes a hidden character.
template <typename Named>
std::string shown(std::string_view text, const Named& named) {
    const std::string whole = as_utf8(text);
    text = whole;
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t bytes = 1;
        const unsigned code = hidden_character(text, bytes);
        if (code == 0)
            out += text.substr(0, bytes);
        else
            named(out, code == kNoCharacter ? 0 : code);
        text.remove_prefix(bytes);
    }
    return out;
}

std::string hexadecimal(unsigned code) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (unsigned shift = 16; shift > 0; shift -= 4) out += kDigits[(code >> (shift - 4)) & 15U];
    return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    a = a.substr(0, kMostLetters);
    b = b.substr(0, kMostLetters);
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = std::min(now[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

std::size_t distance_to_name(std::string_view word, std::string_view name) {
    // A name without its end, as "h100-sx", is that name.
    constexpr std::size_t kTellsSomething = 3;
    const bool begins = word.size() >= kTellsSomething && same_letters(name.substr(0, word.size()), word);
    const std::size_t distance = edit_distance(word, name);
    return begins ? std::min<std::size_t>(distance, 1) : distance;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
    std::string_view best;
    std::size_t least = std::string_view::npos;
    for (const std::string_view k : known) {
        const std::size_t distance = distance_to_name(word, k);
        if (distance >= least) continue;
        least = distance;
        best = k;
    }
    return best;
}

std::string shown_text(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string out;
    for (const char c : text.substr(0, most))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    if (text.size() <= most) return out;
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    return out + "...";
}

std::string printable(std::string_view text) {
    return shown(text, [](std::string& out, unsigned code) { out += "<U+" + hexadecimal(code) + ">"; });
}

std::string printable_json(std::string_view json) {
    return shown(json, [](std::string& out, unsigned code) { out += "\\u" + hexadecimal(code); });
}

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
