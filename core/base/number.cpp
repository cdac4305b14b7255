#include "core/base/number.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>

namespace pentamesh {
namespace {

// Some standard libraries convert only whole numbers (libc++ before 20, Apple's).
template <typename T>
concept ReadByCharconv = requires(const char* p, T& x) {
    std::from_chars(p, p, x);
};
template <typename T>
concept WrittenByCharconv = requires(char* p, T x) {
    std::to_chars(p, p, x, std::chars_format::fixed, 0);
};

enum class Form { fixed, scientific, general };

std::string write_by_stream(double x, Form form, int precision) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    if (form == Form::fixed) out << std::fixed;
    if (form == Form::scientific) out << std::scientific;
    out << std::setprecision(precision) << x;
    return out.str();
}

template <typename T>
std::string write(T x, Form form, int precision) {
    if constexpr (WrittenByCharconv<T>) {
        std::array<char, 512> text{};  // 309 digits before the point at most
        const std::chars_format format = form == Form::fixed        ? std::chars_format::fixed
                                         : form == Form::scientific ? std::chars_format::scientific
                                                                    : std::chars_format::general;
        const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), x, format, precision);
        if (error == std::errc()) return {text.data(), end};
    }
    return write_by_stream(x, form, precision);
}

template <typename T>
std::optional<T> read(std::string_view number) {
    if constexpr (ReadByCharconv<T>) {
        T x = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), x);
        if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
        return x;
    } else {
        return by_stream::parse(number);
    }
}

// Returns the number of characters of the decimal number that `text` begins with, or 0.
std::size_t number_length(std::string_view text) {
    std::size_t i = !text.empty() && text[0] == '-' ? 1 : 0;
    const auto digits = [&] {
        const std::size_t from = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        return i - from;
    };
    std::size_t found = digits();
    if (i < text.size() && text[i] == '.') {
        ++i;
        found += digits();
    }
    if (found == 0) return 0;
    const std::size_t mantissa = i;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
        if (digits() == 0) return mantissa;
    }
    return i;
}

}  // namespace

std::string fixed_text(double x, int decimals) {
    return write(x, Form::fixed, decimals);
}
std::string scientific_text(double x, int decimals) {
    return write(x, Form::scientific, decimals);
}
std::string general_text(double x, int digits) {
    return write(x, Form::general, digits);
}

std::string exact_text(double x) {
    for (const int digits : {15, 16})
        if (std::string text = general_text(x, digits); parse_double(text) == x) return text;
    return general_text(x, 17);
}

LeadingNumber leading_number(std::string_view text) {
    const std::size_t plus = !text.empty() && text[0] == '+' ? 1 : 0;
    text.remove_prefix(plus);
    const std::size_t length = number_length(text);
    if (length == 0 || (plus > 0 && text[0] == '-')) return {};
    const std::optional<double> x = read<double>(text.substr(0, length));
    if (!x || !std::isfinite(*x)) return {};
    return {*x, plus + length};
}

std::optional<double> parse_double(std::string_view text) {
    const LeadingNumber n = leading_number(text);
    if (n.length == 0 || n.length != text.size()) return std::nullopt;
    return n.value;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return n;
}

namespace by_stream {

std::string fixed_text(double x, int decimals) {
    return write_by_stream(x, Form::fixed, decimals);
}
std::string scientific_text(double x, int decimals) {
    return write_by_stream(x, Form::scientific, decimals);
}
std::string general_text(double x, int digits) {
    return write_by_stream(x, Form::general, digits);
}

std::optional<double> parse(std::string_view number) {
    std::istringstream in{std::string(number)};
    in.imbue(std::locale::classic());
    double x = 0;
    in >> x;
    if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
    return x;
}

}  // namespace by_stream
}  // namespace pentamesh
