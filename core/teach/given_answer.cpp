// Reads what people give as an answer, and judges it.
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/teach/lesson.h"
#include "core/teach/lesson_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {
namespace {

// Gives the size of a typed unit: "TB" is 1e12 bytes, "ms" 1e-3 seconds; "k", which is only a prefix, 1,000
// of the unit that is asked for (Dimension::count).
struct UnitSize {
    double size = 1;
    Dimension of = Dimension::count;
};
std::optional<UnitSize> size_of_unit(std::string_view unit) {
    if (unit.ends_with("/s")) unit.remove_suffix(2);
    if (unit.empty()) return std::nullopt;
    for (const Dimension of : {Dimension::seconds, Dimension::bytes})
        if (const Quantity one = parse_quantity(sentence("1 ", unit), of); one.value)
            return UnitSize{*one.value, of};
    const Quantity prefix = parse_quantity(sentence("1 ", unit, "B"), Dimension::bytes);
    return prefix.value ? std::optional(UnitSize{*prefix.value}) : std::nullopt;
}

// Removes the separators between groups of digits: "16,384" and "16 384". A comma that is not before three
// digits is a decimal one: "9,9 %".
std::string without_grouping(std::string_view text) {
    std::string clean;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ' || text[i] == '_') continue;
        if (text[i] != ',') {
            clean += text[i];
            continue;
        }
        const std::string_view behind = text.substr(i + 1);
        const std::size_t digits = std::min(behind.find_first_not_of("0123456789"), behind.size());
        const bool alone = text.find(',') == text.rfind(',') && text.find('.') == std::string_view::npos;
        if (alone && digits > 0 && (digits != 3 || clean == "0")) clean += '.';
    }
    return clean;
}

}  // namespace

std::optional<double> parse_guess(std::string_view text, std::string_view unit) {
    const std::string clean = without_grouping(trimmed(text));
    const auto [value, length] = leading_number(clean);
    if (length == 0) return std::nullopt;
    const std::string_view typed = std::string_view(clean).substr(length);
    if (typed.starts_with('/')) {
        const std::optional<double> below = parse_double(typed.substr(1));
        if (!below || *below == 0) return std::nullopt;
        return value / *below * (unit == "%" ? 100 : 1);
    }
    if (typed.empty() || typed == unit) return value;
    const auto of_typed = size_of_unit(typed), of_unit = size_of_unit(unit);
    if (unit.empty() || !of_unit) return value * (of_typed ? of_typed->size : 1);
    return of_typed && (of_typed->of == Dimension::count || of_typed->of == of_unit->of)
               ? value * of_typed->size / of_unit->size
               : value;
}

std::vector<double> guesses_of(std::string_view text, std::string_view unit) {
    std::vector<double> out;
    const std::optional<double> decimal = parse_guess(text, unit);
    if (!decimal) return out;
    out.push_back(*decimal);
    static constexpr std::string_view kPrefixes = "KMGT";
    text = trimmed(text);
    const char last = text.back() == 'k' ? 'K' : text.back();
    const std::size_t prefix = kPrefixes.find(last);
    if (unit.empty() && prefix != std::string_view::npos)
        out.push_back(*decimal * std::pow(1.024, static_cast<double>(prefix + 1)));
    return out;
}

std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text) {
    std::vector<std::int64_t> out;
    for (const std::string_view word : split_words(text, " \t\r,")) {
        const std::size_t dash = word.find('-');
        const auto number = [](std::string_view s) { return parse_whole(s).value_or(-1); };
        const std::int64_t first = number(word.substr(0, dash)),
                           last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
        if (first < 0 || last < first || last - first > 65536 || out.size() > 65536) return std::nullopt;
        for (std::int64_t r = first; r <= last; ++r) out.push_back(r);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.empty()) return std::nullopt;
    return out;
}

double guess_scale(double answer, std::string_view unit, std::string_view title) {
    constexpr double kLeast = 1.2, kMost = 2.4, kWhole = 100;
    std::uint32_t drawn = 2166136261U;  // FNV-1a
    for (const char c : title) drawn = (drawn ^ static_cast<unsigned char>(c)) * 16777619U;
    const double share = static_cast<double>(drawn >> 8U) / static_cast<double>(1U << 24U);
    const double above = std::abs(answer) * (kLeast + (kMost - kLeast) * share);
    if (unit == "%" && above > kWhole / 2) return kWhole;
    if (above <= 0) return 1;
    const double ten = std::pow(10.0, std::floor(std::log10(above)));
    for (const double round : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0})
        if (round * ten >= above) return round * ten;
    return 10 * ten;
}

double guess_scale(const Solution& solution, std::string_view title) {
    return guess_scale(std::max(solution.answer.number, solution.own), solution.answer.unit, title);
}

double curve_scale(const Solution& solution, std::string_view title) {
    double most = 0;
    for (const Answer& a : solution.options) most = std::max(most, a.number);
    return guess_scale(most, solution.answer.unit, title);
}

std::vector<double> parse_points(std::string_view text, std::string_view unit, std::size_t points) {
    std::vector<double> out;
    for (const std::string& part : split_values(text))
        if (const auto value = parse_guess(part, unit)) out.push_back(*value);
    if (out.size() != points) out.clear();
    return out;
}

std::vector<double> typed_points(const LessonQuestion& question, const Solution& solution,
                                 std::string_view text) {
    const std::size_t all = question.options.size();
    std::vector<double> out = parse_points(text, solution.answer.unit, all);
    const auto given = static_cast<std::size_t>(std::max(question.given, 0));
    if (!out.empty() || question.given < 0 || given >= solution.options.size()) return out;
    out = parse_points(text, solution.answer.unit, all - 1);
    if (!out.empty())
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(given), solution.options[given].number);
    return out;
}

int points_right(const LessonQuestion& question, const Solution& solution, std::span<const double> points) {
    int right = 0;
    for (std::size_t i = 0; i < std::min(points.size(), solution.options.size()); ++i) {
        const double truth = solution.options[i].number;
        if (static_cast<int>(i) != question.given
            && std::abs(points[i] - truth) <= question.tolerance * std::abs(truth) + 1e-9)
            ++right;
    }
    return right;
}

std::string answer_words(const LessonQuestion& question, const Solution& solution) {
    return solution.option >= 0 ? question.options[static_cast<std::size_t>(solution.option)].label
                                : solution.answer.text;
}

bool is_right(const LessonQuestion& question, const Solution& solution, const Given& given) {
    if (!solution.solvable(question.kind)) return false;
    switch (question.kind) {
    case QuestionKind::choose: return given.option == solution.option;
    case QuestionKind::tier: return given.option == solution.tier;
    case QuestionKind::number: {
        const double right = solution.answer.number;
        // A number that was read off the screen has three digits.
        const double off = std::max(question.tolerance, 0.005) * std::abs(right) + 1e-9;
        return std::any_of(given.numbers.begin(), given.numbers.end(),
                           [&](double n) { return std::abs(n - right) <= off; });
    }
    case QuestionKind::curve: {
        const int asked = static_cast<int>(question.options.size()) - (question.given >= 0 ? 1 : 0);
        return given.numbers.size() == question.options.size()
               && points_right(question, solution, given.numbers) >= asked - 1;
    }
    case QuestionKind::ranks: {
        std::vector<std::int64_t> a = given.ranks, b = solution.answer.ranks;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        return a == b;
    }
    }
    return false;
}

namespace {

// Returns true if somebody who rounds says `given` for `value`: to one digit or two.
bool rounds_to(double value, double given) {
    if (value == 0) return given == 0;
    const double tens = std::floor(std::log10(std::abs(value)));
    for (const double digits : {0.0, 1.0}) {
        const double unit = std::pow(10.0, tens - digits);
        if (std::abs(std::round(value / unit) * unit - given) <= 1e-9 * std::abs(value)) return true;
    }
    return false;
}

// Returns how far what was given is from a mistake's number, of it; nothing where it is another number.
std::optional<double> distance_from(double mistake, const std::vector<double>& given) {
    constexpr double kNear = 0.03;
    std::optional<double> best;
    for (const double n : given) {
        const double off = std::abs(n - mistake) / std::max(std::abs(mistake), 1e-9);
        if (off > kNear && !rounds_to(mistake, n)) continue;
        if (!best || off < *best) best = off;
    }
    return best;
}

// These are known of any question, by the unit of its answer.
struct UnitMistake {
    std::string_view unit;
    double factor;  // of the right answer
    std::string_view because;
};
constexpr double kGibiByGiga = 1073741824.0 / 1e9;
constexpr UnitMistake kUnitMistakes[] = {
    {"GiB", kGibiByGiga, "Those are GB, of 1,000,000,000 bytes. A GiB has 1,073,741,824."},
    {"GB", 1 / kGibiByGiga, "Those are GiB, of 1,073,741,824 bytes. A GB has 1,000,000,000."},
    {"%", 0.01, "That is the share itself; asked is how many per cent it is."},
};

std::string number_mistake(std::span<const LessonQuestion::Mistake> mistakes, const Answer& right,
                           const std::vector<double>& given) {
    std::string_view because;
    double nearest = 0;
    const auto look = [&](double value, std::string_view words) {
        const auto off = distance_from(value, given);
        if (!off || (!because.empty() && *off >= nearest)) return;
        nearest = *off;
        because = words;
    };
    for (const LessonQuestion::Mistake& m : mistakes)
        if (const auto wrong = parse_guess(m.given, right.unit)) look(*wrong, m.because);
    for (const UnitMistake& m : kUnitMistakes)
        if (m.unit == right.unit) look(right.number * m.factor, m.because);
    return std::string(because);
}

}  // namespace

std::string_view shape_of(std::span<const double> points) {
    constexpr double kLevel = 0.1;  // a smaller change does not count
    if (points.size() < 2) return "flat";
    bool rises = false, falls = false;
    double last = points.front();
    for (const double p : points) {
        if (std::abs(p - last) <= kLevel * std::max(std::abs(p), std::abs(last))) continue;
        (p > last ? rises : falls) = true;
        last = p;
    }
    return rises && falls ? "bends" : rises ? "rises" : falls ? "falls" : "flat";
}

std::string mistake_made(const LessonQuestion& question, std::span<const LessonQuestion::Mistake> mistakes,
                         const Solution& solution, const Given& given, const Plan& plan) {
    if (is_right(question, solution, given)) return "";
    if (question.kind == QuestionKind::number)
        return number_mistake(mistakes, solution.answer, given.numbers);
    const auto is = [&](const std::string& text) {
        if (question.kind == QuestionKind::curve) {
            std::vector<double> truth;
            for (const Answer& point : solution.options) truth.push_back(point.number);
            const std::string_view drawn = shape_of(given.numbers);
            return drawn == text && drawn != shape_of(truth);
        }
        if (question.kind == QuestionKind::ranks) return parse_ranks(text) == given.ranks;
        if (given.option < 0) return false;
        const auto i = static_cast<std::size_t>(given.option);
        return (question.kind == QuestionKind::choose ? question.options[i].label
                                                      : plan.cluster.tiers[i].name)
               == text;
    };
    const auto made =
        std::find_if(mistakes.begin(), mistakes.end(), [&](const auto& m) { return is(m.given); });
    return made == mistakes.end() ? "" : made->because;
}

}  // namespace pentamesh
