// Reads the lines of a question, and says what is wrong with them.
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/teach/lesson.h"
#include "core/teach/lesson_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh {
namespace {

constexpr std::size_t kMostOptions = 8;
constexpr double kDrawnTolerance = 0.25;
constexpr std::string_view kOver = " over ";
constexpr std::array<std::string_view, 3> kChanges{"more", "same", "less"};

}  // namespace

void QuestionReader::line(std::string_view line, int number) {
    if (trimmed(line).empty()) return;
    if (checked_) faults_.check_text(number, line);
    const auto kv = key_value(line);
    if (!kv) {
        // A line that is no "key: value" belongs to the text before it.
        if (last_ == nullptr)
            faults_.error(number, "expected \"key: value\"");
        else
            *last_ += " " + std::string(trimmed(line));
        return;
    }
    last_ = nullptr;
    if (kv->key == "choose") {
        kind(QuestionKind::choose, kv->value, number);
        chosen_ = kv->value;
        chosen_line_ = number;
        if (kv->value == "lowest") rule(QuestionRule::lowest);
        if (kv->value == "highest") rule(QuestionRule::highest);
        if (kv->value == "change") rule(QuestionRule::change);
    } else if (kv->key == "number") {
        kind(QuestionKind::number, kv->value, number);
    } else if (kv->key == "guess") {
        guess(kv->value, number);
    } else if (kv->key == "given") {
        given_ = kv->value;
        given_line_ = number;
    } else if (kv->key == "ranks") {
        kind(QuestionKind::ranks, kv->value, number);
    } else if (kv->key == "tier") {
        kind(QuestionKind::tier, kv->value, number);
    } else if (kv->key == "query") {
        q_.query = kv->value;
        query_line_ = changed_line_ = number;
    } else if (kv->key == "prompt") {
        text(q_.prompt, kv->value);
    } else if (kv->key == "why") {
        text(q_.why, kv->value);
    } else if (kv->key == "instead") {
        instead(kv->value, number);
    } else if (kv->key == "tolerance") {
        any_tolerance_ = true;
        if (!parse_tolerance(kv->value, q_.tolerance))
            faults_.error(number, "tolerance is a share of the answer, such as 10 %");
    } else if (kv->key == "option") {
        const std::size_t arrow = kv->value.find("=>");
        const bool plain = arrow == std::string_view::npos;
        q_.options.push_back({std::string(trimmed(kv->value.substr(0, arrow))),
                              std::string(plain ? kv->value : trimmed(kv->value.substr(arrow + 2)))});
        option_lines_.push_back(number);
    } else if (kv->key == "mistake") {
        mistake(kv->value, number);
    } else if (kv->key == "show") {
        show(kv->value, number);
    } else if (kv->key == "picture") {
        picture(kv->value, number);
    } else {
        faults_.unknown(number, "field of a question", kv->key,
                        {"choose", "number", "guess", "given", "ranks", "tier", "query", "prompt", "option",
                         "mistake", "tolerance", "why", "instead", "show", "picture"});
    }
}

// Reads "SOFTWARE => WORDS": they stand in the place of `why` where the plan is run by that software.
void QuestionReader::instead(std::string_view value, int number) {
    const std::size_t arrow = std::min(value.find("=>"), value.size());
    const std::string_view name = trimmed(value.substr(0, arrow));
    const auto software = parse_name<Software>(name);
    if (arrow == value.size()) {
        faults_.error(number, "words for one software are written SOFTWARE => WORDS");
        return;
    }
    if (!software) {
        std::vector<std::string_view> names;
        for (const Software s : all_of<Software>()) names.push_back(name_of(s));
        faults_.unknown(number, "software", name, names);
        return;
    }
    q_.why_in.push_back({*software, std::string()});
    text(q_.why_in.back().why, trimmed(value.substr(arrow + 2)));
}

void QuestionReader::kind(QuestionKind kind, std::string_view query, int number) {
    if (any_kind_) faults_.error(number, "a question is of one kind");
    any_kind_ = true;
    q_.kind = kind;
    q_.query = query;
    query_line_ = number;
}

// Reads "QUERY", whose number is drawn, or "QUERY over FIELD v, v", a curve.
void QuestionReader::guess(std::string_view value, int number) {
    const std::size_t over = value.find(kOver);
    const bool curved = over != std::string_view::npos;
    kind(curved ? QuestionKind::curve : QuestionKind::number, trimmed(value.substr(0, over)), number);
    if (curved) curve(q_.query, trimmed(value.substr(over + kOver.size())), number);
    q_.drawn = true;
    if (!any_tolerance_) q_.tolerance = kDrawnTolerance;
}

// Reads "tp 1, 2, 4": the query is asked of the plan with each of these values.
void QuestionReader::curve(std::string_view query, std::string_view over, int number) {
    const std::size_t space = std::min(over.find(' '), over.size());
    const std::string field(over.substr(0, space));
    for (const std::string& value : split_values(over.substr(space))) {
        q_.options.push_back({value, sentence("with ", field, "=", value, ": ", query)});
        option_lines_.push_back(number);
    }
}

// Finds the point that is shown among the values of the curve.
void QuestionReader::check_given() {
    if (given_.empty()) return;
    std::string values;
    for (std::size_t i = 0; i < q_.options.size(); ++i) {
        if (q_.options[i].label == given_) q_.given = static_cast<int>(i);
        values += (i == 0 ? "" : ", ") + q_.options[i].label;
    }
    if (q_.kind != QuestionKind::curve)
        faults_.error(given_line_, "only a curve, guess: QUERY over FIELD v, v, has a point that is given");
    else if (q_.given < 0)
        faults_.error(given_line_, "the curve has no point \"" + given_ + "\"; there are: " + values);
}

void QuestionReader::rule(QuestionRule rule) {
    q_.rule = rule;
    q_.query.clear();
}

// A line "query:" is that of a change. Behind another kind it would take the place of its query unseen.
bool QuestionReader::check_changed() {
    if (changed_line_ == 0 || q_.rule == QuestionRule::change) return true;
    static constexpr std::array<std::string_view, 3> kRules{"change", "lowest", "highest"};
    if (chosen_line_ > 0 && q_.rule == QuestionRule::matches && !check_query(chosen_).empty())
        faults_.unknown(chosen_line_, "rule of choose", chosen_, {kRules.begin(), kRules.end()});
    else
        faults_.error(changed_line_, "a line \"query:\" stands only with \"choose: change\"");
    return false;
}

void QuestionReader::text(std::string& into, std::string_view value) {
    into = value;
    last_ = &into;
}

void QuestionReader::show(std::string_view value, int number) {
    q_.shows = value != "no";
    if (value == "no" || value == "yes") return;
    for (const std::string& part : split_values(value)) {
        const std::string set = pointer_value(part);
        if (set.empty()) {
            faults_.error(number, "show is yes, no or POINTER = VALUE, such as tp = 4, layout.zero = 3");
            return;
        }
        if (checked_) faults_.check_field(number, "show", set);
        q_.shown.push_back(set);
    }
}

// Reads "VIEW" or "VIEW, PAGE".
void QuestionReader::picture(std::string_view value, int number) {
    const std::size_t comma = std::min(value.find(','), value.size());
    q_.view = trimmed(value.substr(0, comma));
    q_.page = comma < value.size() ? trimmed(value.substr(comma + 1)) : std::string_view();
    if (!checked_) return;
    faults_.check_view(number, q_.view);
    if (!q_.page.empty()) faults_.check_page(number, q_.view, q_.page);
}

// Reads "GIVEN => why that is wrong".
void QuestionReader::mistake(std::string_view value, int number) {
    const std::size_t arrow = value.find("=>");
    LessonQuestion::Mistake m{"", "", number};
    if (arrow == std::string_view::npos || trimmed(value.substr(0, arrow)).empty()
        || trimmed(value.substr(arrow + 2)).empty())
        faults_.error(number, "a mistake is \"mistake: WHAT IS GIVEN => where it comes from\"");
    else
        m = {std::string(trimmed(value.substr(0, arrow))), std::string(trimmed(value.substr(arrow + 2))),
             number};
    q_.mistakes.push_back(std::move(m));
    last_ = &q_.mistakes.back().because;
}

void QuestionReader::check_mistake(const LessonQuestion::Mistake& m) {
    faults_.check_whole_text(m.line, m.because);
    if (q_.kind == QuestionKind::curve && std::ranges::find(kShapes, m.given) == kShapes.end())
        faults_.unknown(m.line, "shape of a curve", m.given, {kShapes.begin(), kShapes.end()});
    std::vector<std::string_view> labels;
    for (const auto& o : q_.options) labels.push_back(o.label);
    if (q_.kind != QuestionKind::choose || m.given.empty()
        || std::find(labels.begin(), labels.end(), m.given) != labels.end())
        return;
    faults_.error(m.line, "no option reads \"" + shown_text(m.given) + "\", the closest is \""
                              + std::string(nearest(m.given, labels)) + "\"");
}

void QuestionReader::check_options() {
    if (q_.kind != QuestionKind::choose && q_.kind != QuestionKind::curve) {
        if (!q_.options.empty()) faults_.error(option_lines_.front(), "only choose has options");
        return;
    }
    if (q_.options.size() < 2 || q_.options.size() > kMostOptions)
        faults_.error(query_line_,
                      q_.kind == QuestionKind::curve
                          ? "a curve has 2 to " + std::to_string(kMostOptions)
                                + " values: guess: QUERY over FIELD v, v, ..."
                          : "choose offers 2 to " + std::to_string(kMostOptions) + " lines \"option: ...\"");
    for (std::size_t i = 0; i < q_.options.size(); ++i) {
        const LessonQuestion::Option& o = q_.options[i];
        if (q_.compares_options() || q_.kind == QuestionKind::curve)
            faults_.check_query(option_lines_[i], o.value);
        if (q_.rule == QuestionRule::change
            && std::find(kChanges.begin(), kChanges.end(), o.value) == kChanges.end())
            faults_.unknown(option_lines_[i], "change", o.value, {kChanges.begin(), kChanges.end()});
    }
}

LessonQuestion QuestionReader::finish() {
    check_given();
    if (!checked_) return std::move(q_);
    if (!any_kind_) {
        faults_.error(q_.line,
                      "a question has one of choose, number, guess, ranks or tier, and a query behind it");
        return std::move(q_);
    }
    if (q_.prompt.empty()) faults_.error(q_.line, "a question needs a prompt");
    faults_.check_whole_text(q_.line, q_.prompt);
    faults_.check_whole_text(q_.line, q_.why);
    for (const LessonQuestion::WhyIn& in : q_.why_in) faults_.check_whole_text(q_.line, in.why);
    for (const LessonQuestion::Mistake& m : q_.mistakes) check_mistake(m);
    if (!check_changed()) return std::move(q_);
    if (q_.rule == QuestionRule::change && split_query(q_.query).sets.empty())
        faults_.error(query_line_, "change asks of a changed plan: query: with POINTER=VALUE: QUERY");
    else if (q_.rule == QuestionRule::matches || q_.rule == QuestionRule::change)
        faults_.check_query(query_line_, q_.query);
    check_options();
    return std::move(q_);
}

}  // namespace pentamesh
