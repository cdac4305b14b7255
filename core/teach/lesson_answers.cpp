#include "core/teach/lesson.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace pentamesh {
namespace {

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
        arg.n = parse_whole(word).value_or(-1);
        return arg.n >= 0 && arg.n <= 1 << 26;
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

}  // namespace

const Query* find_query(std::string_view text, QueryArguments& arg) {
    const auto given = split_words(text);
    for (const Query& q : query_table()) {
        const auto pattern = split_words(q.pattern);
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

Plan plan_with(const Plan& plan, const std::vector<std::string>& sets, const Presets& presets) {
    Plan out = plan;
    std::vector<std::string> fields;
    const auto flush = [&] {
        if (!fields.empty()) out = follow_sets(out, fields, presets).plan;
        fields.clear();
    };
    for (const std::string& set : sets) {
        const std::size_t equals = set.find('=');
        const auto axis = parse_name<Axis>(std::string_view(set).substr(0, equals));
        const std::int64_t factor =
            parse_whole(std::string_view(set).substr(std::min(equals + 1, set.size()))).value_or(0);
        if (axis && factor > 0) {
            flush();
            out = with_factor(out, *axis, factor, true);
        } else {
            fields.push_back(set);
        }
    }
    flush();
    return out;
}

namespace {

// Returns true if the room's software stands in the place of the step's: a step that opens no plan is about
// somebody's own, and one that sets the software is about that.
bool takes_room_software(const Lesson& lesson, const LessonPlan& from) {
    return lesson.software && !from.open.empty()
           && std::ranges::none_of(from.sets, [](const std::string& set) {
                  return set.starts_with("training.software") || set.starts_with("/training/software");
              });
}

// Keeps the states in the types that the room's software keeps them in, where neither the step nor its plan
// asks for others.
void take_state_types(const LessonPlan& from, Training& training) {
    constexpr std::array<std::string_view, 4> kTypes{"parameters", "gradients", "optimizer_state",
                                                     "master_weights"};
    const Training usual;
    const bool asks = training.parameters != usual.parameters || training.gradients != usual.gradients
                      || training.optimizer_state != usual.optimizer_state
                      || training.master_weights != usual.master_weights;
    const auto sets_one = [&](const std::string& set) {
        return std::ranges::any_of(kTypes, [&](std::string_view name) {
            return set.starts_with("/training/" + std::string(name))
                   || set.starts_with("training." + std::string(name));
        });
    };
    if (asks || !runs_of(training.software).keeps_fp32 || std::ranges::any_of(from.sets, sets_one)) return;
    training.parameters = training.gradients = training.optimizer_state = Dtype::fp32;
    training.master_weights = MasterWeights::none;
}

// Returns true if the room's software lacks a plan that a step asks about, or a task's solution, and the
// step's own software runs it. What neither runs is a question about layouts, not about software.
bool asks_beyond(const LessonStep& step, const Plan& plan, Software own, const Presets& presets) {
    std::vector<std::vector<std::string>> asked;
    if (step.task) asked.push_back(step.task->solution);
    if (step.question) {
        asked.push_back(split_query(step.question->query).sets);
        for (const LessonQuestion::Option& o : step.question->options)
            asked.push_back(split_query(o.value).sets);
    }
    return std::ranges::any_of(asked, [&](const std::vector<std::string>& sets) {
        if (sets.empty()) return false;
        try {
            const Plan changed = plan_with(plan, sets, presets);
            return changed.training.software == plan.training.software
                   && lacks_of(changed, plan.training.software).any() && !lacks_of(changed, own).any();
        } catch (const Error&) {
            return false;
        }
    });
}

// Returns true if a task can be done where that plan begins it: goals are figures, and another software has
// others.
bool can_be_done(const LessonTask& task, const Plan& start, const Presets& presets) {
    const auto passes = [&](const Plan& plan) {
        return judge_task(task, start, plan, evaluate(plan), presets).passed;
    };
    try {
        return !passes(start) && passes(plan_with(start, task.solution, presets));
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

const std::string& LessonQuestion::why_of(Software software) const {
    const auto own = std::ranges::find(why_in, software, &WhyIn::software);
    return own == why_in.end() ? why : own->why;
}

KeptSoftware keeps_its_software(const Lesson& lesson, std::size_t i, const Plan& shown) {
    if (!takes_room_software(lesson, plan_of_step(lesson, i)) || shown.training.software == *lesson.software)
        return {};
    Plan run = shown;
    run.training.software = *lesson.software;
    const auto lack = lacks_of(run, *lesson.software).first();
    std::string because = sentence(runs_of(*lesson.software).who, " does not run what is asked about");
    if (lesson.steps[i].task) because = "its goals are figures of that software";
    if (lack) because = words_of(*lack, run, *lesson.software);
    return {"This step is " + std::string(runs_of(shown.training.software).who) + "'s", because};
}

Plan plan_shown(const Lesson& lesson, std::size_t i, const Plan& base, const Presets& presets) {
    const LessonPlan from = plan_of_step(lesson, i);
    Plan plan = plan_with(from.open.empty() ? base : presets.plan(from.open), from.sets, presets);
    if (takes_room_software(lesson, from)) {
        const Training own = plan.training;
        plan.training.software = *lesson.software;
        take_state_types(from, plan.training);
        const auto& task = lesson.steps[i].task;
        if (lacks_of(plan, *lesson.software).any()
            || asks_beyond(lesson.steps[i], plan, own.software, presets)
            || (task && !can_be_done(*task, plan, presets)))
            plan.training = own;
    }
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
    const std::string_view list = out.query.substr(kChanged.size(), colon - kChanged.size());
    out.query = trimmed(out.query.substr(colon + 1));
    for (const std::string& one : split_values(list)) {
        const std::string set = pointer_value(one);
        if (set.empty())
            out.wrong = "\"" + shown_text(one) + "\" is no POINTER=VALUE";
        else
            out.sets.push_back(set);
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
    const std::string said = on_screen(text);
    std::string out;
    std::size_t at = 0;
    for (const Placeholder& p : placeholders(said)) {
        out.append(said, at, p.begin - at);
        const Answer a = answer_query(p.query, plan, evaluation, presets);
        out += a.kind == Answer::Kind::none ? "(not in this plan)" : a.text;
        at = p.end;
    }
    out.append(said, at);
    return out;
}

bool Solution::solvable(QuestionKind kind) const {
    switch (kind) {
    case QuestionKind::choose: return option >= 0;
    case QuestionKind::number: return answer.kind == Answer::Kind::number;
    case QuestionKind::ranks: return answer.kind == Answer::Kind::ranks;
    case QuestionKind::tier: return tier >= 0;
    case QuestionKind::curve:
        return !options.empty() && std::ranges::all_of(options, [](const Answer& a) {
            return a.kind == Answer::Kind::number;
        });
    }
    return false;
}

namespace {

// Solves "lowest" and "highest": each option has a query of its own.
Solution solve_options(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
                       const Presets& presets) {
    Solution out;
    const bool least = question.rule == QuestionRule::lowest;
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

// Answers the query at each value of the curve.
Solution solve_curve(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
                     const Presets& presets) {
    Solution out;
    out.answer.kind = Answer::Kind::text;
    for (const LessonQuestion::Option& o : question.options) {
        const Answer a = answer_query(o.value, plan, evaluation, presets);
        if (a.kind != Answer::Kind::number) out.answer.working = a.working;
        out.of_options.push_back(a.kind == Answer::Kind::none ? "impossible" : a.text);
        out.answer.text += (out.answer.text.empty() ? "" : ", ") + out.of_options.back();
        out.answer.unit = a.unit;
        out.options.push_back(a);
    }
    return out;
}

// Says what a changed plan does to a number: it is "same" within this share of it.
constexpr double kSameShare = 0.02;

Answer change_of(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
                 const Presets& presets) {
    Answer then = answer_query(question.query, plan, evaluation, presets);
    Answer now = answer_query(split_query(question.query).query, plan, evaluation, presets);
    if (then.kind != Answer::Kind::number) return then;
    if (now.kind != Answer::Kind::number) return now;
    const double by = then.number - now.number;
    const bool same = std::abs(by) <= kSameShare * std::abs(now.number);
    Answer out;
    out.kind = Answer::Kind::text;
    out.text = same ? "same" : by > 0 ? "more" : "less";
    out.working = now.text + " in this step's plan, " + then.text + " in the changed one";
    return out;
}

}  // namespace

Solution solve(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
               const Presets& presets) {
    if (question.compares_options()) return solve_options(question, plan, evaluation, presets);
    if (question.kind == QuestionKind::curve) return solve_curve(question, plan, evaluation, presets);
    Solution out;
    out.answer = question.kind == QuestionKind::choose && question.rule == QuestionRule::change
                     ? change_of(question, plan, evaluation, presets)
                     : answer_query(question.query, plan, evaluation, presets);
    if (const AskedQuery asked = split_query(question.query);
        question.kind == QuestionKind::number && !asked.sets.empty()) {
        const Answer now = answer_query(asked.query, plan, evaluation, presets);
        if (now.kind == Answer::Kind::number) out.own = now.number;
    }
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

std::string sets_text(const std::vector<std::string>& sets) {
    std::string out;
    for (const std::string& set : sets) {
        const std::size_t equals = set.find('=');
        const std::string pointer = set.substr(0, equals);
        std::string value = set.substr(std::min(equals + 1, set.size()));
        std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == '"'; });
        out += (out.empty() ? "" : ", ") + panel_name(pointer) + " " + value;
    }
    return out;
}

namespace {

// Returns the label of a plan that is asked about: of an order that ends with tp only that, else its sets.
std::string label_of_sets(const std::vector<std::string>& sets) {
    const std::string text = sets_text(sets);
    const bool moves_tp = sets.size() == 1 && text.starts_with("order ") && text.ends_with(",tp");
    return moves_tp ? "tp last" : text;
}

}  // namespace

AskedPlans asked_plans(const LessonQuestion& question, const Solution& solution) {
    AskedPlans out;
    if (!question.shows) return out;
    const auto add = [&](std::string label, const std::vector<std::string>& sets) {
        out.plans.push_back({std::move(label), sets});
        return static_cast<int>(out.plans.size()) - 1;
    };
    if (!question.shown.empty()) {
        out.first = add(label_of_sets(question.shown), question.shown);
    } else if (!question.compares_options() && question.kind != QuestionKind::curve) {
        const AskedQuery asked = split_query(question.query);
        if (!asked.sets.empty()) out.first = add(label_of_sets(asked.sets), asked.sets);
    } else {
        for (std::size_t i = 0; i < question.options.size(); ++i) {
            const AskedQuery asked = split_query(question.options[i].value);
            if (asked.sets.empty()) continue;
            const int at =
                add(question.kind == QuestionKind::curve ? sets_text(asked.sets) : question.options[i].label,
                    asked.sets);
            if (static_cast<int>(i) == solution.option) out.first = at;
        }
    }
    return out;
}

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

// Reads what people give as an answer, and judges it.

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
