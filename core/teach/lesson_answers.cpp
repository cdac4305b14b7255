#include "core/teach/lesson_answers.h"

#include "core/base/characters.h"
#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/base/number.h"
#include "core/io/plan_json.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/teach/lesson_queries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pentamesh {
namespace {

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> out;
    while (!(text = trimmed(text)).empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        out.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return out;
}

std::optional<MapRowId> row_named(std::string_view word) {
    constexpr std::array<std::string_view, kMapRowCount> kKeys{"dp",  "zero", "tp", "sp",
                                                               "etp", "pp",   "cp", "ep"};
    for (std::size_t i = 0; i < kKeys.size(); ++i)
        if (kKeys[i] == word) return static_cast<MapRowId>(i);
    return std::nullopt;
}

bool take_argument(std::string_view pattern, std::string_view word, QueryArguments& arg) {
    if (pattern == "AXIS") {
        for (const GroupKind kind : all_of<GroupKind>())
            if (name_of(kind) == word) {
                arg.group = kind;
                return true;
            }
        return false;
    }
    if (pattern == "N") {
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), arg.n);
        return error == std::errc() && end == word.data() + word.size() && arg.n >= 0 && arg.n <= 1 << 26;
    }
    if (pattern == "ROW") {
        const auto row = row_named(word);
        if (row) arg.row = *row;
        return row.has_value();
    }
    if (pattern == "PART") {
        arg.word = word;
        for (int c = 0; c < kMemoryCategoryCount; ++c)
            if (name_of(static_cast<MemoryCategory>(c)) == word) return true;
        return false;
    }
    if (pattern == "FIELD") {
        arg.word = word;
        return !map_field(words_of(MapRowId::tp), word).empty();
    }
    if (pattern == "WORD") {
        arg.word += " " + std::string(word);
        return true;
    }
    return pattern == word;
}

const Query* find_query(std::string_view text, QueryArguments& arg) {
    const auto given = words_in(text);
    for (const Query& q : query_table()) {
        const auto pattern = words_in(q.pattern);
        if (pattern.size() != given.size()) continue;
        QueryArguments taken;
        bool all = true;
        for (std::size_t i = 0; all && i < pattern.size(); ++i)
            all = take_argument(pattern[i], given[i], taken);
        if (!all) continue;
        arg = std::move(taken);
        return &q;
    }
    return nullptr;
}

bool same_text(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    a = trimmed(a);
    b = trimmed(b);
    return a.size() == b.size()
           && std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool option_matches(const LessonQuestion::Option& option, const Answer& answer) {
    if (same_text(option.value, answer.text)) return true;
    const auto number = parse_guess(option.value);
    return answer.kind == Answer::Kind::number && number
           && std::abs(*number - answer.number) <= 0.005 * std::abs(answer.number);
}

// Gives the size of a typed unit: "TB" is 1e12 bytes, "ms" 1e-3 seconds, "k" 1,000 of the unit that is asked
// for.
struct UnitSize {
    double size = 1;
    char kind = 0;      // 'B' bytes, 's' seconds
    bool bare = false;  // only a prefix
};
std::optional<UnitSize> size_of_unit(std::string_view unit) {
    if (unit.ends_with("/s")) unit.remove_suffix(2);
    if (unit == "s") return UnitSize{1, 's'};
    if (unit == "ms") return UnitSize{1e-3, 's'};
    if (unit == "us" || unit == "µs") return UnitSize{1e-6, 's'};
    static constexpr std::string_view kPrefixes = "kMGT";
    std::string_view rest = unit;
    double decimal = 1, binary = 1;
    if (!rest.empty()) {
        const char first = rest.front() == 'K' ? 'k' : rest.front();
        const std::size_t at = kPrefixes.find(first);
        if (at != std::string_view::npos) {
            decimal = std::pow(1e3, static_cast<double>(at + 1));
            binary = std::pow(1024.0, static_cast<double>(at + 1));
            rest.remove_prefix(1);
        }
    }
    if (rest == "iB") return UnitSize{binary, 'B'};
    if (rest == "B" && decimal > 1) return UnitSize{decimal, 'B'};
    if (rest == "B") return UnitSize{1, 'B'};
    if (rest.empty() && decimal > 1) return UnitSize{decimal, 0, true};
    return std::nullopt;
}

}  // namespace

Plan plan_with(const Plan& plan, const std::vector<std::string>& sets, const Presets& presets) {
    Plan out = plan;
    std::vector<std::string> fields;
    const auto flush = [&] {
        if (!fields.empty()) out = parse_plan(write_plan(out), "", presets, fields);
        fields.clear();
    };
    for (const std::string& set : sets) {
        const std::size_t equals = set.find('=');
        const auto axis = parse_name<Axis>(std::string_view(set).substr(0, equals));
        std::int64_t factor = 0;
        const std::string_view value = std::string_view(set).substr(std::min(equals + 1, set.size()));
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
        if (axis && error == std::errc() && end == value.data() + value.size() && factor > 0) {
            flush();
            out = with_factor(out, *axis, factor, true);
        } else {
            fields.push_back(set);
        }
    }
    flush();
    return out;
}

Plan plan_shown(const Lesson& lesson, std::size_t i, const Plan& base, const Presets& presets) {
    const LessonPlan from = plan_of_step(lesson, i);
    Plan plan = plan_with(from.open.empty() ? base : presets.plan(from.open), from.sets, presets);
    const LessonStep& step = lesson.steps[i];
    if (!from.sets.empty() || (step.question && !from.open.empty())) plan.name = step.title;
    return plan;
}

AskedQuery split_query(std::string_view text) {
    AskedQuery out;
    out.query = trimmed(text);
    constexpr std::string_view kChanged = "with ";
    if (!out.query.starts_with(kChanged)) return out;
    const std::size_t colon = out.query.find(':');
    if (colon == std::string_view::npos) {
        out.wrong = "\"with a=1, b=2: query\" needs its colon";
        return out;
    }
    std::string_view list = out.query.substr(kChanged.size(), colon - kChanged.size());
    out.query = trimmed(out.query.substr(colon + 1));
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view one = trimmed(list.substr(0, comma));
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos || equals == 0)
            out.wrong = "\"" + shown_text(one) + "\" is no POINTER=VALUE";
        else
            out.sets.push_back(std::string(trimmed(one.substr(0, equals))) + "="
                               + std::string(trimmed(one.substr(equals + 1))));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return out;
}

Answer answer_query(std::string_view text, const Plan& plan, const Evaluation& evaluation,
                    const Presets& presets) {
    const AskedQuery asked = split_query(text);
    Answer out;
    QueryArguments arg;
    const Query* q = find_query(asked.query, arg);
    if (!asked.wrong.empty() || q == nullptr) {
        out.working = check_query(text);
        return out;
    }
    if (arg.word.starts_with(' ')) arg.word.erase(0, 1);
    if (asked.sets.empty()) return q->answer({plan, evaluation, arg});
    try {
        const Plan changed = plan_with(plan, asked.sets, presets);
        const Evaluation e = evaluate(changed);
        out = q->answer({changed, e, arg});
    } catch (const Error& error) {
        out.working = error.what();
    }
    return out;
}

std::string check_query(std::string_view text) {
    const AskedQuery asked = split_query(text);
    if (!asked.wrong.empty()) return asked.wrong;
    QueryArguments arg;
    if (find_query(asked.query, arg) != nullptr) return "";
    std::vector<std::string_view> known;
    for (const Query& q : query_table()) known.push_back(q.pattern);
    return "there is no query \"" + shown_text(asked.query) + "\"; the closest is \""
           + std::string(nearest(asked.query, known))
           + "\" (AXIS is one of tp, cp, pp, ep ..., N a number; `pentamesh lesson --queries` lists all)";
}

std::vector<QueryHelp> lesson_queries() {
    std::vector<QueryHelp> out;
    for (const Query& q : query_table()) out.push_back({q.pattern, q.what});
    return out;
}

std::string expand(std::string_view text, const Plan& plan, const Evaluation& evaluation,
                   const Presets& presets) {
    std::string out;
    std::size_t at = 0;
    for (const Placeholder& p : placeholders(text)) {
        out += text.substr(at, p.begin - at);
        const Answer a = answer_query(p.query, plan, evaluation, presets);
        out += a.kind == Answer::Kind::none ? "(not in this plan)" : a.text;
        at = p.end;
    }
    out += text.substr(at);
    return out;
}

bool Solution::solvable(QuestionKind kind) const {
    switch (kind) {
    case QuestionKind::choose: return option >= 0;
    case QuestionKind::number: return answer.kind == Answer::Kind::number;
    case QuestionKind::ranks: return answer.kind == Answer::Kind::ranks;
    case QuestionKind::tier: return tier >= 0;
    }
    return false;
}

Solution solve(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
               const Presets& presets) {
    Solution out;
    if (question.kind == QuestionKind::choose && question.rule != LessonQuestion::Rule::matches) {
        const bool least = question.rule == LessonQuestion::Rule::lowest;
        int ties = 0;
        for (std::size_t i = 0; i < question.options.size(); ++i) {
            const Answer a = answer_query(question.options[i].value, plan, evaluation, presets);
            out.of_options.push_back(a.kind == Answer::Kind::none ? "impossible" : a.text);
            out.options.push_back(a);
            if (a.kind != Answer::Kind::number) continue;
            const bool better =
                out.option < 0 || (least ? a.number < out.answer.number : a.number > out.answer.number);
            if (out.option >= 0 && a.number == out.answer.number)
                ++ties;
            else if (better)
                ties = 0;
            if (better) {
                out.option = static_cast<int>(i);
                out.answer = a;
            }
        }
        if (ties > 0) out.option = -1;
        return out;
    }
    out.answer = answer_query(question.query, plan, evaluation, presets);
    if (question.kind == QuestionKind::choose) {
        int matching = 0;
        for (std::size_t i = 0; i < question.options.size(); ++i)
            if (option_matches(question.options[i], out.answer)) {
                out.option = static_cast<int>(i);
                ++matching;
            }
        if (matching != 1) out.option = -1;
    }
    if (question.kind == QuestionKind::tier)
        for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i)
            if (plan.cluster.tiers[i].name == out.answer.text) out.tier = static_cast<int>(i);
    return out;
}

std::string hide_answer(const LessonStep& step) {
    std::string words = step.words;
    if (!step.question) return words;
    const std::string asked = "{{" + step.question->query + "}}";
    for (std::size_t at = words.find(asked); at != std::string::npos; at = words.find(asked, at))
        words.replace(at, asked.size(), "**?**");
    return words;
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
    case QuestionKind::ranks: {
        std::vector<std::int64_t> a = given.ranks, b = solution.answer.ranks;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        return a == b;
    }
    }
    return false;
}

const LessonQuestion::Mistake* mistake_made(const LessonQuestion& question,
                                            std::span<const LessonQuestion::Mistake> mistakes,
                                            const Given& given, const Plan& plan, std::string_view unit) {
    constexpr double kSame = 0.006;  // of what was read off with three digits
    const auto is = [&](const std::string& text) {
        switch (question.kind) {
        case QuestionKind::choose: return given.option >= 0 && question.options[given.option].label == text;
        case QuestionKind::tier: return given.option >= 0 && plan.cluster.tiers[given.option].name == text;
        case QuestionKind::number: {
            const auto wrong = parse_guess(text, unit);
            return wrong && std::any_of(given.numbers.begin(), given.numbers.end(), [&](double n) {
                       return std::abs(n - *wrong) <= kSame * std::abs(*wrong) + 1e-9;
                   });
        }
        case QuestionKind::ranks: return parse_ranks(text) == given.ranks;
        }
        return false;
    };
    const auto made =
        std::find_if(mistakes.begin(), mistakes.end(), [&](const auto& m) { return is(m.given); });
    return made == mistakes.end() ? nullptr : &*made;
}

namespace {

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
    return of_typed && (of_typed->bare || of_typed->kind == of_unit->kind)
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
    std::string clean(text);
    std::replace(clean.begin(), clean.end(), ',', ' ');
    for (const std::string_view word : words_in(clean)) {
        const std::size_t dash = word.find('-');
        const auto number = [](std::string_view s) {
            std::int64_t n = -1;
            const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
            return error == std::errc() && end == s.data() + s.size() && !s.empty() ? n : -1;
        };
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

}  // namespace pentamesh
