// Tests tasks: each that ships is solved by its sample and not by its start; its missing goals are named in
// words.
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "tests/core/shipped_lessons.h"

#include <algorithm>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>

using namespace pentamesh;

namespace {

struct ShippedTask {
    std::string where;
    Lesson lesson;
    std::size_t step = 0;
};
std::vector<ShippedTask> shipped_tasks() {
    std::vector<ShippedTask> out;
    const auto folder = std::filesystem::path(SOURCE_DIR) / "assets" / "lessons";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".md") continue;
        const ParsedLesson read = test::parse_shipped(file.path());
        CHECK_MESSAGE(read.errors.empty(), file.path().string());
        for (std::size_t i = 0; i < read.lesson.steps.size(); ++i)
            if (read.lesson.steps[i].task)
                out.push_back(
                    {file.path().filename().string() + ": " + read.lesson.steps[i].title, read.lesson, i});
    }
    return out;
}

std::string all_of(const TaskState& state) {
    std::string text;
    for (const GoalState& g : state.goals) text += (g.met ? "[met] " : "[open] ") + g.text + "\n";
    return text;
}

}  // namespace

TEST_CASE("every task that ships is passed by its sample solution and not by its start") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const std::vector<ShippedTask> tasks = shipped_tasks();
    CHECK(tasks.size() >= 24);
    for (const ShippedTask& shipped : tasks) {
        CAPTURE(shipped.where);
        const LessonTask& task = *shipped.lesson.steps[shipped.step].task;
        const LessonPlan at = plan_of_step(shipped.lesson, shipped.step);
        REQUIRE_FALSE(at.open.empty());
        const Plan start = plan_with(presets.plan(at.open), at.sets, presets);
        const TaskState before = judge_task(task, start, start, assess(start), presets);
        CHECK_MESSAGE(!before.passed, all_of(before));
        CHECK(before.edits == 0);
        const Plan solved = plan_with(start, task.solution, presets);
        const TaskState after = judge_task(task, start, solved, assess(solved), presets);
        CHECK_MESSAGE(after.passed, all_of(after));
        CHECK(after.edits >= 1);
        for (const GoalState& g : after.goals) CHECK(g.text.find("not in this plan") == std::string::npos);
    }
}

TEST_CASE("a task says what is missing, counts choices and names what was not to be changed") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    LessonTask task;
    task.goals = {parse_goal("step.mfu >= 0.9"), parse_goal("memory.fits"),
                  parse_goal("groups.tp.slowest_tier == NVLink")};
    task.allow = {"layout.tp"};
    task.edits = 1;
    const Plan start = presets.plan("llama-3-70b-3d");
    TaskState state = judge_task(task, start, start, assess(start), presets);
    REQUIRE(state.goals.size() == 3);
    CHECK_FALSE(state.goals[0].met);
    CHECK(state.goals[0].text.starts_with("MFU: "));
    CHECK(state.goals[0].text.ends_with("wanted: at least 0.9"));
    CHECK(state.goals[1].met);
    CHECK(state.goals[2].met);
    // The GPUs that data parallelism gives to tp are not a second edit.
    Plan plan = plan_with(start, {"tp=4"}, presets);
    state = judge_task(task, start, plan, assess(plan), presets);
    CHECK(state.edits == 1);
    CHECK(state.goals.size() == 3);
    plan = plan_with(start, {"tp=4", "layout.zero=3"}, presets);
    state = judge_task(task, start, plan, assess(plan), presets);
    CHECK(state.edits == 2);
    REQUIRE(state.goals.size() == 5);
    CHECK(state.goals[3].text.find("Not to be changed here") != std::string::npos);
    CHECK(state.goals[4].text.find("at most 1") != std::string::npos);
    // A plan that cannot run passes nothing, and says why.
    plan = plan_with(start, {"layout.tp=3"}, presets);
    state = judge_task(task, start, plan, assess(plan), presets);
    CHECK_FALSE(state.passed);
    CHECK(all_of(state).find("cannot run") != std::string::npos);
}

TEST_CASE("a goal is a field, an operator and a value; a share is the same in percent") {
    const TaskGoal goal = parse_goal(" step.bubble<5 % ");
    CHECK(goal.field == "step.bubble");
    CHECK(goal.op == "<");
    CHECK(goal.value == "5 %");
    CHECK(check_goal(goal).empty());
    CHECK(check_goal(parse_goal("memory.fits")).empty());
    CHECK(check_goal(parse_goal("layout.tp == 8")).empty());
    CHECK(check_goal(parse_goal("bubble share <= 10 %")).empty());
    CHECK(check_goal(parse_goal("step.speed >= 4")).find("step.speed") != std::string::npos);
    CHECK(check_goal(parse_goal(">= 4")).starts_with("a goal is a field, an operator"));
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mesh-8");
    LessonTask task;
    task.allow = {"layout"};
    for (const char* same : {"step.mfu >= 0.5", "step.mfu >= 50 %", "memory.fullest <= 0.07 TiB"}) {
        task.goals = {parse_goal(same)};
        CHECK(judge_task(task, plan, plan, assess(plan), presets).passed);
    }
}

TEST_CASE("advice that a task forbids goes with the words about it, and nothing else of the message does") {
    const std::string finding = "tp = 16 crosses nodes.", words = "With tp = 1 a step takes 2 s.";
    Problem crosses{.severity = Severity::warning,
                    .rule = Rule::advice,
                    .code = ProblemCode::tp_spans_nodes,
                    .message = finding,
                    .pointer = "/layout/tp",
                    .fix = {{"/layout/tp", std::int64_t{1}}},
                    .help = words};
    CHECK(crosses.said() == "tp = 16 crosses nodes. With tp = 1 a step takes 2 s.");
    LessonTask task;
    task.allow = {"layout.tp"};
    std::vector<Problem> problems{crosses};
    keep_to_task(task, problems);
    CHECK(problems == std::vector<Problem>{crosses});
    task.allow = {"layout.pp"};
    keep_to_task(task, problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].said() == finding);
    CHECK(problems[0].fix.empty());
    // A problem that only advises the change is not said at all.
    crosses.severity = Severity::info;
    problems = {crosses};
    keep_to_task(task, problems);
    CHECK(problems.empty());
}

TEST_CASE("where the words about a fix stand apart, they name it, and what is left is whole sentences") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    int apart = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        CAPTURE(entry.id);
        for (Problem p : assess(presets.plan(entry.id)).problems) {
            CAPTURE(p.said());
            CHECK(p.message.back() == '.');
            if (p.help.empty() || p.fix.empty()) continue;
            ++apart;
            const std::string words = p.help;
            CHECK(words.front() != ' ');
            CHECK(words.back() == '.');
            CHECK(p.said() == p.message + " " + words);
            p.drop_fix();
            CHECK(p.fix.empty());
            CHECK(p.said() == p.message);
        }
    }
    CHECK(apart == 8);
}

TEST_CASE("a course takes steps out of lessons, each with the plan of its own lesson") {
    const std::string lesson = "---\ntitle: One\nminutes: 8\n---\n## a\nopen: mesh-8\n\nA\n## b\nset: tp = "
                               "4\n\nB\n## c\nset: layout.zero = 1\n\nC\n";
    const std::string text =
        "---\ncourse: yes\ntitle: Short\nsummary: S\n---\n## one\nsteps: 3, 1\nminutes: 5\n## one\n"
        "title: Again\n";
    CHECK(is_course(text));
    CHECK_FALSE(is_course(lesson));
    const auto source = [&](const std::string& id) {
        return id == "one" ? std::optional(lesson) : std::nullopt;
    };
    const ParsedLesson read = lesson_of_course(parse_course(text), source, {test::kLessonViews});
    CHECK(read.errors.empty());
    CHECK(read.lesson.title == "Short");
    CHECK(read.lesson.minutes == 13);
    REQUIRE(read.lesson.steps.size() == 5);
    CHECK(read.lesson.steps[0].title == "c");
    CHECK(read.lesson.steps[0].part == "One");
    CHECK(read.lesson.steps[0].scene.open == "mesh-8");
    CHECK(read.lesson.steps[0].scene.sets == std::vector<std::string>{"tp=4", "layout.zero=1"});
    CHECK(read.lesson.steps[1].part.empty());
    CHECK(read.lesson.steps[2].part == "Again");
    CHECK(plan_of_step(read.lesson, 1).sets.empty());
    CHECK(plan_of_step(read.lesson, 4).sets == std::vector<std::string>{"tp=4", "layout.zero=1"});
    const ParsedLesson wrong = lesson_of_course(
        parse_course("---\ncourse: yes\ntitle: X\n---\n## two\nsteps: 1\n## one\nsteps: 9\nminutes: x\n"),
        source, {test::kLessonViews});
    REQUIRE(wrong.errors.size() == 3);
    CHECK(wrong.errors[0].line == 9);
    CHECK(wrong.errors[1].message.find("\"two\"") != std::string::npos);
    CHECK(wrong.errors[2].message.find("no step 9") != std::string::npos);
}

namespace {

// Returns what is wrong with a lesson of one task on mesh-8, which takes 3.75 s and holds 59 GiB.
std::vector<LessonError> faults_of_task(const std::string& goals, const std::string& solution) {
    const std::string text = "---\ntitle: T\nminutes: 5\n---\n## a\nopen: mesh-8\n\n```task\nprompt: P\n"
                             + goals + "allow: layout\nhint: a\nhint: b\nhint: c\nsolution: " + solution
                             + "\nwhy: W\n```\n";
    return parse_lesson(text, {test::kLessonViews, &test::presets()}).errors;
}

bool says(const std::vector<LessonError>& errors, std::string_view words) {
    return std::any_of(errors.begin(), errors.end(), [&](const LessonError& e) {
        return e.line == 8 && e.message.find(words) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("a goal for a measured number names its unit, a share may be a plain number") {
    const auto unit = [](const std::string& goal) -> std::string {
        for (const LessonError& e : faults_of_task("goal: " + goal + "\n", "layout.zero = 1"))
            if (const std::size_t at = e.message.find("has a unit: "); at != std::string::npos) {
                CHECK(e.line == 10);  // of the goal itself
                return e.message.substr(at + 12);
            }
        return "";
    };
    CHECK(unit("memory.fullest <= 75") == "\"75 GiB\", not \"75\"");
    CHECK(unit("step.time <= 9") == "\"9 s\", not \"9\"");
    CHECK(unit("groups.tp.bytes <= 6") == "\"6 GB\", not \"6\"");
    CHECK(unit("memory.fullest <= 75 GiB").empty());
    CHECK(unit("step.mfu >= 0.4").empty());
    CHECK(unit("step.mfu >= 40 %").empty());
    CHECK(unit("world == 8").empty());
    CHECK(unit("layout.zero == 1").empty());
}

TEST_CASE("a lesson's reader judges its tasks before a room does") {
    CHECK(faults_of_task("goal: layout.zero == 1\n", "layout.zero = 1").empty());
    CHECK(says(faults_of_task("goal: step.time <= 9 s\n", "layout.zero = 1"), "met before anybody acts"));
    CHECK(says(faults_of_task("goal: step.time <= 1 ms\n", "layout.zero = 1"), "does not meet the task"));
    CHECK(says(
        faults_of_task("goal: layout.zero == 1\n", "layout.zero = 1\nsolution: training.micro_batch = 2"),
        "Not to be changed here"));
    const std::vector<LessonError> both =
        faults_of_task("goal: step.time <= 2000 ms\ngoal: step.time >= 3 s\n", "layout.zero = 1");
    CHECK(says(both, "step.time <= 2000 ms and step.time >= 3 s exclude each other"));
    CHECK(says(faults_of_task("goal: layout.zero == 1\ngoal: layout.zero == 2\n", "layout.zero = 1"),
               "exclude each other"));
    CHECK_FALSE(says(faults_of_task("goal: layout.zero >= 1\ngoal: layout.zero <= 1\n", "layout.zero = 1"),
                     "exclude each other"));
}

TEST_CASE("a figure that is asked for does not stand in a lesson's words") {
    const auto faults = [](const std::string& words) {
        const std::string text = "---\ntitle: T\nminutes: 5\n---\n## a\nopen: mesh-8\n\n" + words
                                 + "\n\n```ask\nguess: step time\nprompt: How long?\nwhy: W\n```\n";
        return parse_lesson(text, {test::kLessonViews, &test::presets()}).errors;
    };
    const double step_s = evaluate(test::presets().plan("mesh-8")).step->time_s;
    char said[32];
    std::snprintf(said, sizeof said, "%.2f s", step_s);
    CHECK(faults("A step takes a while, 12 s on others.").empty());
    CHECK(faults("A step takes {{step time}}.").empty());  // which is covered
    const std::vector<LessonError> told = faults(std::string("A step takes ") + said + ".");
    REQUIRE(told.size() == 1);
    CHECK(told[0].message.find(said) != std::string::npos);
}
