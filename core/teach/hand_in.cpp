#include "core/teach/hand_in.h"

#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/space.h"
#include "core/io/plan_json.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/teach/lesson_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace pentamesh {
namespace {

constexpr std::array<GoalField, 15> kGoalFields{{
    {"plan.valid", "valid", "The plan can run"},
    {"memory.fits", "fits", "It fits"},
    {"memory.fullest", "memory fullest", "The fullest GPU holds"},
    {"step.time", "step time", "A step takes"},
    {"step.mfu", "mfu", "MFU"},
    {"step.tokens_per_s", "tokens per second", "Tokens a second"},
    {"step.bubble", "bubble fraction", "The pipeline's bubble"},
    {"world", "world", "Ranks"},
    {"experts.per_gpu", "experts per gpu", "Experts of a layer on a GPU"},
    {"training.microbatches", "microbatches", "Micro-batches of a replica"},
    {"groups.AXIS.slowest_tier", "tier_of AXIS", "The slowest wire of AXIS"},
    {"groups.AXIS.inside", "inside AXIS", "Every group of AXIS stays in the fast domain"},
    {"groups.AXIS.degree", "degree AXIS", "Ranks in a group of AXIS"},
    {"groups.AXIS.exposed", "exposed AXIS", "The step waits for AXIS"},
    {"groups.AXIS.bytes", "bytes AXIS per step", "Bytes over AXIS that leave a GPU in a step"},
}};
constexpr std::array<std::string_view, 5> kOperators{">=", "<=", "==", ">", "<"};
constexpr std::string_view kAxisWord = "AXIS";

std::string with_axis(std::string_view text, std::string_view axis) {
    std::string out(text);
    if (const std::size_t at = out.find(kAxisWord); at != std::string::npos)
        out.replace(at, kAxisWord.size(), axis);
    return out;
}

// Holds the query for a goal's field, and its name.
struct GoalQuery {
    std::string query, name;
    std::string pointer;  // of a field of the plan, where it is that
};
GoalQuery query_of_goal(std::string_view field) {
    for (const GoalField& f : kGoalFields) {
        if (f.field == field) return {std::string(f.query), std::string(f.name), ""};
        if (f.field.find(kAxisWord) == std::string_view::npos) continue;
        for (const GroupKind kind : all_of<GroupKind>()) {
            const std::string_view axis = name_of(kind);
            if (with_axis(f.field, axis) == field)
                return {with_axis(f.query, axis), with_axis(f.name, axis), ""};
        }
    }
    std::string pointer = "/" + std::string(field);
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    if (range_of(pointer)) return {"", "`" + std::string(field) + "`", pointer};
    return {std::string(field), std::string(field), ""};
}

std::string wanted_text(const TaskGoal& goal) {
    if (goal.op == ">=") return "at least " + goal.value;
    if (goal.op == "<=") return "at most " + goal.value;
    if (goal.op == ">") return "more than " + goal.value;
    if (goal.op == "<") return "less than " + goal.value;
    return goal.value;
}

// Returns the goal's number in the unit of the answer: "40 %" and 0.4 are the same share.
std::optional<double> wanted_number(const TaskGoal& goal, const std::string& unit) {
    if (unit == "%" && goal.value.find('%') == std::string::npos) {
        const std::optional<double> share = parse_double(goal.value);
        return share ? std::optional(*share * 100) : std::nullopt;
    }
    return parse_guess(goal.value, unit);
}

bool holds(double value, const std::string& op, double wanted) {
    if (op == ">=") return value >= wanted;
    if (op == "<=") return value <= wanted;
    if (op == ">") return value > wanted;
    if (op == "<") return value < wanted;
    return std::abs(value - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
}

Answer asked_of(const GoalQuery& q, const Plan& plan, const Evaluation& evaluation, const Presets& presets) {
    if (q.pointer.empty()) return answer_query(q.query, plan, evaluation, presets);
    Answer a;
    a.text = json_text_of(plan, q.pointer);
    const std::optional<double> number = parse_double(a.text);
    a.kind = number ? Answer::Kind::number : Answer::Kind::text;
    a.number = number.value_or(0);
    return a;
}

GoalState judge_goal(const TaskGoal& goal, const Plan& plan, const Evaluation& evaluation,
                     const Presets& presets) {
    const GoalQuery q = query_of_goal(goal.field);
    const Answer a = asked_of(q, plan, evaluation, presets);
    if (a.kind == Answer::Kind::none)
        return {false, q.name + ": " + a.working + "; wanted: " + wanted_text(goal)};
    if (a.kind == Answer::Kind::number) {
        const bool met = holds(a.number, goal.op, wanted_number(goal, a.unit).value_or(0));
        return {met, q.name + ": " + a.text + "; wanted: " + wanted_text(goal)};
    }
    const bool met = (a.text == goal.value) == (goal.op == "==");
    const bool yes_no = a.text == "yes" || a.text == "no";
    if (yes_no && goal.value == "yes")
        return {met, q.name + ": " + a.text + (met || a.working.empty() ? "" : " (" + a.working + ")")};
    return {met, q.name + ": " + a.text + "; wanted: " + wanted_text(goal)};
}

bool is_data_parallel(const std::string& pointer) {
    return pointer == "/layout/dp_shard" || pointer == "/layout/dp_replicate";
}
bool moves_data_parallel(const std::string& pointer) {
    return pointer == "/layout/tp" || pointer == "/layout/cp" || pointer == "/layout/pp"
           || pointer == "/cluster/gpus";
}

std::string dotted(std::string pointer) {
    pointer.erase(0, 1);
    std::replace(pointer.begin(), pointer.end(), '/', '.');
    return pointer;
}

bool allowed(const LessonTask& task, const std::string& name) {
    return std::any_of(task.allow.begin(), task.allow.end(), [&](const std::string& a) {
        return name == a || (name.starts_with(a) && name[a.size()] == '.');
    });
}
bool allowed(const LessonTask& task, const FieldUnit& unit) {
    return allowed(task, unit.kind == FieldUnit::Kind::model     ? "model"
                         : unit.kind == FieldUnit::Kind::cluster ? "cluster"
                                                                 : dotted(unit.pointers.front()));
}

}  // namespace

std::vector<GoalField> goal_fields() {
    return {kGoalFields.begin(), kGoalFields.end()};
}

TaskGoal parse_goal(std::string_view text) {
    for (const std::string_view op : kOperators) {
        const std::size_t at = text.find(op);
        if (at == std::string_view::npos) continue;
        return {std::string(trimmed(text.substr(0, at))), std::string(op),
                std::string(trimmed(text.substr(at + op.size()))), 0};
    }
    return {std::string(trimmed(text)), "==", "yes", 0};
}

std::string check_goal(const TaskGoal& goal) {
    if (goal.field.empty() || goal.value.empty())
        return "a goal is a field, an operator (>=, <=, ==, >, <) and a value, such as step.mfu >= 40 %";
    const GoalQuery q = query_of_goal(goal.field);
    if (!q.pointer.empty()) return "";
    return check_query(q.query);
}

std::string missing_unit(const TaskGoal& goal, const Plan& plan, const Evaluation& evaluation,
                         const Presets& presets) {
    const Answer a = asked_of(query_of_goal(goal.field), plan, evaluation, presets);
    const bool measured = a.kind == Answer::Kind::number && !a.unit.empty() && a.unit != "%";
    return measured && parse_double(goal.value) ? a.unit : std::string();
}

std::vector<std::string> task_mistakes(const LessonTask& task) {
    std::vector<std::string> out;
    if (task.prompt.empty()) out.emplace_back("a task needs a prompt");
    if (task.goals.empty()) out.emplace_back("a task needs a line \"goal: ...\"");
    if (task.hints.size() != 3) out.emplace_back("a task has three lines \"hint: ...\"");
    if (task.solution.empty()) out.emplace_back("a task needs a line \"solution: POINTER = VALUE\"");
    if (task.allow.empty()) out.emplace_back("a task says what may be changed: \"allow: layout\"");
    return out;
}

TaskState judge_task(const LessonTask& task, const Plan& start, const Plan& plan,
                     const Evaluation& evaluation, const Presets& presets) {
    TaskState out;
    const std::vector<FieldUnit> units = units_between(start, plan);
    bool moved = false, shards = false;
    for (const FieldUnit& u : units)
        moved = moved || (!u.pointers.empty() && moves_data_parallel(u.pointers.front()));
    std::vector<GoalState> broken;
    for (const FieldUnit& u : units) {
        if (u.kind == FieldUnit::Kind::field && is_data_parallel(u.pointers.front())) {
            if (moved || std::exchange(shards, true)) continue;  // of the other axis, or the other half
        }
        ++out.edits;
        if (!allowed(task, u))
            broken.push_back({false, "Not to be changed here: " + words_of_change(u, start, plan)});
    }
    for (const TaskGoal& goal : task.goals) out.goals.push_back(judge_goal(goal, plan, evaluation, presets));
    if (!evaluation.valid)
        for (const Problem& p : evaluation.problems)
            if (p.severity == Severity::error) {
                broken.push_back({false, "The plan cannot run: " + p.message});
                break;
            }
    if (task.edits > 0 && out.edits > task.edits)
        broken.push_back({false, count_text(out.edits, "choice") + " changed; at most "
                                     + std::to_string(task.edits) + (task.edits == 1 ? " is" : " are")
                                     + " wanted"});
    out.goals.insert(out.goals.end(), broken.begin(), broken.end());
    out.passed = std::all_of(out.goals.begin(), out.goals.end(), [](const GoalState& g) { return g.met; });
    return out;
}

std::vector<std::string> excluding_goals(const LessonTask& task, const Plan& plan,
                                         const Evaluation& evaluation, const Presets& presets) {
    // Holds the values that a goal allows: from `low` to `high`, both of it or not.
    struct Allowed {
        double low = -1e300, high = 1e300;
        bool open = false;
    };
    const auto allowed_by = [](const TaskGoal& goal, double wanted) -> Allowed {
        const bool open = goal.op == "<" || goal.op == ">";
        if (goal.op == "==") return {wanted, wanted, false};
        return goal.op.front() == '>' ? Allowed{wanted, 1e300, open} : Allowed{-1e300, wanted, open};
    };
    std::vector<std::string> out;
    for (std::size_t i = 0; i < task.goals.size(); ++i)
        for (std::size_t k = i + 1; k < task.goals.size(); ++k) {
            const TaskGoal &a = task.goals[i], &b = task.goals[k];
            if (a.field != b.field) continue;
            const Answer asked = asked_of(query_of_goal(a.field), plan, evaluation, presets);
            bool excluded = a.op == "==" && b.op == "==" && a.value != b.value;
            if (asked.kind == Answer::Kind::number) {
                const auto first = wanted_number(a, asked.unit), second = wanted_number(b, asked.unit);
                if (!first || !second) continue;
                const Allowed x = allowed_by(a, *first), y = allowed_by(b, *second);
                const double low = std::max(x.low, y.low), high = std::min(x.high, y.high);
                excluded = low > high || (low == high && (x.open || y.open));
            }
            const auto words = [](const TaskGoal& g) { return g.field + " " + g.op + " " + g.value; };
            if (excluded) out.push_back(words(a) + " and " + words(b));
        }
    return out;
}

std::string wanted_of(const TaskGoal& goal) {
    std::string name = query_of_goal(goal.field).name;
    if (goal.op == "==" && goal.value == "yes") return name;
    return name + ": " + wanted_text(goal);
}

void keep_to_task(const LessonTask& task, std::vector<Problem>& problems) {
    const auto forbidden = [&](const Problem& p) {
        return std::any_of(p.fix.begin(), p.fix.end(),
                           [&](const Edit& e) { return !allowed(task, dotted(e.path)); });
    };
    std::erase_if(problems, [&](const Problem& p) {
        return p.severity == Severity::info && p.rule == Rule::advice && forbidden(p);
    });
    for (Problem& p : problems)
        if (forbidden(p)) p.drop_fix();
}

std::string allowed_text(const LessonTask& task) {
    std::string out;
    for (const std::string& a : task.allow) {
        const std::string said = a == "layout"    ? "everything in the layout"
                                 : a == "cluster" ? "the cluster"
                                 : a == "model"   ? "the model"
                                                  : panel_name(a);
        out += (out.empty() ? "" : ", ") + said;
    }
    return out;
}

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kFormat = "pentamesh-hand-in";
constexpr std::size_t kMostLessons = 1000;

std::string text_at(const json& object, const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::vector<std::string> texts_at(const json& object, const char* key) {
    std::vector<std::string> out;
    const auto at = object.find(key);
    if (at == object.end() || !at->is_array()) return out;
    for (const json& text : *at) out.push_back(text.is_string() ? text.get<std::string>() : std::string());
    return out;
}

// A name is one line, and no formula where it comes into a sheet of cells.
std::string plain_name(std::string text) {
    constexpr std::size_t kLongest = 120;
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    text.erase(0, text.find_first_not_of(" =+-@"));
    if (text.size() > kLongest) text.resize(kLongest);
    return as_utf8(text);  // the cut may go through a letter
}

// Returns an answer in the one form of all that mean the same.
std::string one_form(const AnswerKey::Step& step, const Given& given, std::string_view typed) {
    std::string out;
    for (const double x : given.numbers) {
        out += (out.empty() ? "" : ", ") + three_digits(x);
        if (step.question->kind == QuestionKind::number) break;  // the others are what it may mean too
    }
    const std::string& unit = step.solution.answer.unit;
    if (!out.empty()) return out + (unit.empty() ? "" : " ") + unit;
    const std::string text = given_text(*step.question, given, step.plan);
    return plain_name(text.empty() ? std::string(typed) : text);
}

void mark_answer(const AnswerKey::Step& step, Mark claimed, MarkedStep& out) {
    const auto read = [&](const std::string& typed) {
        return given_as_typed(*step.question, step.solution, typed, step.plan);
    };
    const auto say_wrong = [&](const std::string& typed) {
        const Given given = read(typed);
        out.wrong = one_form(step, given, typed);
        out.mistake = mistake_made(*step.question, step.mistakes, step.solution, given, step.plan);
    };
    if (is_right(*step.question, step.solution, read(out.given))) {
        out.mark = claimed == Mark::right ? Mark::right : Mark::second;
        if (!out.missed.empty()) say_wrong(out.missed);
        return;
    }
    out.mark = Mark::wrong;
    out.overclaimed = claimed == Mark::right || claimed == Mark::second;
    say_wrong(out.given);
}

void mark_task(const AnswerKey::Step& step, const std::string& text, const Presets& presets,
               MarkedStep& out) {
    if (text.empty()) return;
    try {
        const Plan plan = parse_plan(text, "", presets);
        const TaskState judged = judge_task(*step.task, step.plan, plan, assess(plan), presets);
        if (judged.passed)
            out.mark = Mark::done;
        else
            out.note = "its plan does not pass";
    } catch (const Error&) {
        out.note = "its plan cannot be read";
    }
}

// Works out the answer of a step, or why it has none.
void solve_step(const Lesson& lesson, std::size_t i, const Plan* base, const Presets& presets,
                AnswerKey::Step& step) {
    if (base == nullptr && plan_of_step(lesson, i).open.empty()) {
        step.unjudged = "it is about the plan that was open: --plan PLAN";
        return;
    }
    try {
        step.plan = plan_shown(lesson, i, base != nullptr ? *base : Plan(), presets);
    } catch (const Error& e) {
        step.unjudged = e.what();
        return;
    }
    if (!step.question) return;
    const Evaluation e = assess(step.plan);
    step.solution = solve(*step.question, step.plan, e, presets);
    if (!step.solution.solvable(step.question->kind)) step.unjudged = "this plan has no answer to it";
    for (const LessonQuestion::Mistake& m : step.question->mistakes)
        step.mistakes.push_back(
            {expand(m.given, step.plan, e, presets), expand(m.because, step.plan, e, presets), m.line});
}

}  // namespace

std::string version_of(const Lesson& lesson) {
    constexpr std::size_t kDigits = 16;
    std::string asked;
    const auto add = [&](const std::string& text) { asked += text + '\n'; };
    for (const LessonStep& step : lesson.steps) {
        add(step.title);
        add(step.scene.open);
        for (const std::string& set : step.scene.sets) add(set);
        if (step.question) {
            add(step.question->query);
            for (const LessonQuestion::Option& o : step.question->options) add(o.label), add(o.value);
        }
        if (step.task)
            for (const TaskGoal& g : step.task->goals) add(g.field), add(g.op), add(g.value);
    }
    return sha256_of(asked).substr(0, kDigits);
}

ordered_json progress_to_json(const std::vector<LessonProgress>& lessons) {
    ordered_json out = ordered_json::array();
    for (const LessonProgress& p : lessons)
        out.push_back({{"title", p.title},
                       {"step", p.step},
                       {"marks", p.marks},
                       {"version", p.version},
                       {"given", p.given},
                       {"missed", p.missed},
                       {"software", p.software}});
    return out;
}

std::vector<LessonProgress> progress_from_json(const json& list) {
    std::vector<LessonProgress> out;
    if (!list.is_array()) return out;
    for (const json& one : list) {
        if (!one.is_object() || out.size() >= kMostLessons) continue;
        LessonProgress p{text_at(one, "title"),   0,
                         text_at(one, "marks"),   text_at(one, "version"),
                         texts_at(one, "given"),  texts_at(one, "missed"),
                         text_at(one, "software")};
        if (!parse_name<Software>(p.software)) p.software.clear();
        if (const auto step = one.find("step"); step != one.end() && step->is_number_unsigned())
            p.step = step->get<std::size_t>();
        if (p.title.empty() || p.marks.find_first_not_of("-rswvt ") != std::string::npos) continue;
        if (std::none_of(out.begin(), out.end(), [&](const auto& q) { return q.title == p.title; }))
            out.push_back(std::move(p));
    }
    return out;
}

std::string summary_of(const std::string& marks, int tasks) {
    const auto count = [&](Mark m) {
        return static_cast<int>(std::count(marks.begin(), marks.end(), static_cast<char>(m)));
    };
    const int steps =
        static_cast<int>(marks.size()) - static_cast<int>(std::count(marks.begin(), marks.end(), ' '));
    if (count(Mark::none) == steps && tasks == 0) return {};
    const int asked = steps - count(Mark::done), at_once = count(Mark::right),
              right = at_once + count(Mark::second);
    const auto of = [](int n, int all) { return std::to_string(n) + " of " + std::to_string(all); };
    std::string out;
    if (asked > 0) {
        out = of(right, asked) + (asked == 1 ? " question right" : " questions right");
        if (at_once < right) out += ", " + std::to_string(at_once) + " at the first try";
    }
    if (tasks > 0)
        out += (out.empty() ? "" : "; ") + of(count(Mark::done), tasks)
               + (tasks == 1 ? " task done" : " tasks done");
    return out;
}

std::string write_hand_in(const HandIn& h) {
    const ordered_json out{{"format", kFormat},
                           {"learner", h.learner},
                           {"date", h.date},
                           {"lessons", progress_to_json(h.lessons)},
                           {"tasks_helped", h.helped}};
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

HandIn read_hand_in(std::string_view text, const std::string& source) {
    const json read = json::parse(text, nullptr, false);
    if (!read.is_object() || text_at(read, "format") != kFormat)
        throw Error(ErrorKind::invalid, source, "",
                    "is no file that was handed in: Learn > Results of the tasks > Hand in writes one");
    HandIn out{plain_name(text_at(read, "learner")),
               plain_name(text_at(read, "date")),
               {},
               texts_at(read, "tasks_helped")};
    if (const auto lessons = read.find("lessons"); lessons != read.end())
        out.lessons = progress_from_json(*lessons);
    for (LessonProgress& p : out.lessons) p.title = plain_name(std::move(p.title));
    return out;
}

Given given_as_typed(const LessonQuestion& q, const Solution& solution, std::string_view typed,
                     const Plan& plan) {
    Given out;
    switch (q.kind) {
    case QuestionKind::number: out.numbers = guesses_of(typed, solution.answer.unit); break;
    case QuestionKind::curve: out.numbers = typed_points(q, solution, typed); break;
    case QuestionKind::ranks: out.ranks = parse_ranks(typed).value_or(std::vector<std::int64_t>{}); break;
    case QuestionKind::choose:
        for (std::size_t i = 0; i < q.options.size(); ++i)
            if (q.options[i].label == typed) out.option = static_cast<int>(i);
        break;
    case QuestionKind::tier:
        for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i)
            if (plan.cluster.tiers[i].name == typed) out.option = static_cast<int>(i);
        break;
    }
    return out;
}

std::string given_text(const LessonQuestion& q, const Given& given, const Plan& plan) {
    const auto at = static_cast<std::size_t>(given.option);
    if (q.kind == QuestionKind::ranks) return ranks_text(given.ranks);
    if (q.kind == QuestionKind::tier && at < plan.cluster.tiers.size()) return plan.cluster.tiers[at].name;
    if (q.kind == QuestionKind::choose && at < q.options.size()) return q.options[at].label;
    return {};
}

AnswerKey answer_key(const Lesson& lesson, const Plan* base, const Presets& presets) {
    AnswerKey out{lesson.title, version_of(lesson), {}};
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& from = lesson.steps[i];
        AnswerKey::Step& step = out.steps.emplace_back();
        step.title = from.title;
        step.question = from.question;
        step.task = from.task;
        if (step.question || step.task) solve_step(lesson, i, base, presets, step);
    }
    return out;
}

int MarkedLesson::count(Mark mark) const {
    return static_cast<int>(
        std::count_if(steps.begin(), steps.end(), [&](const MarkedStep& s) { return s.mark == mark; }));
}

MarkedLesson mark_lesson(const LessonProgress& progress, const AnswerKey& key, const Presets& presets,
                         const std::vector<std::string>& helped) {
    MarkedLesson out{progress.title, {}, {}, progress.software};
    if (progress.version != key.version || progress.marks.size() != key.steps.size()) {
        out.refused = "it was answered in another version of the lesson";
        return out;
    }
    const auto of = [](const std::vector<std::string>& texts, std::size_t i) {
        return i < texts.size() ? texts[i] : std::string();
    };
    for (std::size_t i = 0; i < key.steps.size(); ++i) {
        const AnswerKey::Step& step = key.steps[i];
        if (!step.task && !step.question) continue;
        const auto claimed = static_cast<Mark>(progress.marks[i]);
        MarkedStep& marked = out.steps.emplace_back();
        marked.step = i;
        marked.note = step.unjudged;
        if (!step.unjudged.empty()) continue;
        if (step.task) {
            mark_task(step, of(progress.given, i), presets, marked);
            marked.overclaimed = claimed == Mark::done && marked.mark != Mark::done;
            marked.helped = marked.mark == Mark::done
                            && std::find(helped.begin(), helped.end(), step.title) != helped.end();
            continue;
        }
        marked.given = of(progress.given, i), marked.missed = of(progress.missed, i);
        if (claimed == Mark::shown)
            marked.mark = claimed;
        else if (claimed != Mark::none && !marked.given.empty())
            mark_answer(step, claimed, marked);
    }
    return out;
}

}  // namespace pentamesh
