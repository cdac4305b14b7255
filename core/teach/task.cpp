#include "core/teach/task.h"

#include "core/base/characters.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/units.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"
#include "core/plan/ranges.h"
#include "core/teach/lesson_pieces.h"

#include <algorithm>
#include <array>
#include <cmath>
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

}  // namespace pentamesh
