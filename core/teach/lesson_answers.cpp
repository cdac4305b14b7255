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

}  // namespace pentamesh
