// A lesson is plain text that an author writes, read into steps. A step is a scene (which plan, which view,
// what is highlighted), words and, often, a question. Its right answer is a query on the plan that is open
// (Answer, below), never a stored one. The format is in docs/lessons.md.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct LessonScene {
    std::string open;                    // plan preset; empty: the plan of the step before
    std::vector<std::string> sets;       // "layout.tp=4", in their order
    std::vector<std::string> against;    // the plan pinned for comparison: its own with these set
    std::string view;                    // "mesh", "memory" ..., "dashboard"; empty: as it is
    std::string page;                    // of that view; empty: its first
    std::string axis;                    // the group kind that is coloured; empty: as it is
    std::string stage;                   // empty: none selected
    std::int64_t rank = -1;              // selected; -1: none
    std::vector<std::int64_t> ranks;     // outlined in the mesh
    std::vector<std::string> highlight;  // names of controls, "mod.zero" or "mod.zero 3"
    bool broken = false;                 // the plan may be impossible: that is what the step shows
    bool flies = false;                  // the zoom flies down to one part and back when the step is shown
    bool operator==(const LessonScene&) const = default;
};

enum class QuestionKind : std::uint8_t { choose, number, ranks, tier, curve };

struct LessonQuestion {
    // Says which option is right: with `matches`, the one whose value is the query's answer; with `lowest`
    // and `highest`, the one whose value is a query with the least or the largest number of all options; with
    // `change`, the one that says what a changed plan does to the query's number: "more", "same" or "less".
    enum class Rule : std::uint8_t { matches, lowest, highest, change };
    struct Option {
        std::string label, value;
    };
    QuestionKind kind = QuestionKind::choose;
    Rule rule = Rule::matches;
    std::string query;  // empty with lowest and highest
    std::string prompt;
    // Choose has one for each answer; a curve a point each: the field's value, and the query with it.
    std::vector<Option> options;
    int given = -1;          // curve: the point that is shown before the answer; -1: none
    double tolerance = 0.1;  // number, curve: of the right answer
    bool drawn = false;      // number: as the end of a bar, before the true one
    // Holds an answer that is often given instead, and where it comes from. `given` is an option's label, a
    // tier's name, a number (a {{query}} may make it) or ranks, as they are typed.
    struct Mistake {
        std::string given, because;
        int line = 0;
    };
    std::vector<Mistake> mistakes;
    std::string why;  // words shown with the answer
    // The same where the plan is run by that software.
    struct WhyIn {
        Software software;
        std::string why;
    };
    std::vector<WhyIn> why_in{};
    bool shows = true;               // after the answer the views show the plan that was asked about
    std::vector<std::string> shown;  // the step's plan with these set instead; empty: the question's own
    std::string view, page;          // that show the answer; empty: the step's
    int line = 0;
    [[nodiscard]] const std::string& why_of(Software software) const;
    // Returns true if each option has a query of its own.
    [[nodiscard]] bool compares_options() const {
        return kind == QuestionKind::choose && (rule == Rule::lowest || rule == Rule::highest);
    }
};

using QuestionRule = LessonQuestion::Rule;

// This is a condition on the plan and its evaluation (hand_in.h lists its fields).
struct TaskGoal {
    std::string field, op, value;  // "step.mfu", ">=", "40 %"
    int line = 0;
};

// A plan is to be changed until its goals hold. It is judged while it is changed (hand_in.h).
struct LessonTask {
    std::string prompt;
    std::vector<TaskGoal> goals;
    std::vector<std::string> allow;  // fields that may be changed, "layout.tp", or groups of them, "layout"
    int edits = 0;                   // at most so many choices may differ from the start; 0: any number
    std::vector<std::string> hints;  // from the direction to the field
    std::vector<std::string> solution;  // one that passes, "tp=8": as LessonScene::sets
    std::string why;                    // words shown once it is done
    int line = 0;
};

struct LessonStep {
    std::string title;
    LessonScene scene;
    std::string words;  // paragraphs, "- " bullets, **bold**, `code`, {{query}}
    std::string more;   // the same, folded until somebody asks for it
    std::optional<LessonQuestion> question;
    std::optional<LessonTask> task;
    std::string part;                 // of a course: the lesson that begins here; empty: none does
    std::string notes;                // only for the presenter
    std::vector<std::string> covers;  // ids of the teaching checklist
    int line = 0;                     // of its heading
    // Returns the question whose answer has a page of its own, else null.
    [[nodiscard]] const LessonQuestion* with_answer_page() const {
        return question && !question->view.empty() ? &*question : nullptr;
    }
};

struct Lesson {
    std::string title, summary;
    int minutes = 0;
    std::vector<LessonStep> steps;
    // The room runs this: it runs the plans of the steps as well, where it can. Empty: their own software.
    std::optional<Software> software{};
};

// The software that a room is asked for, by the name that it has there.
struct RoomSoftware {
    Software software;
    std::string_view name;
};
inline constexpr std::array<RoomSoftware, 4> kRoomSoftware{{{Software::torchtitan, "PyTorch"},
                                                            {Software::megatron, "Megatron"},
                                                            {Software::deepspeed, "DeepSpeed"},
                                                            {Software::maxtext, "JAX"}}};

struct LessonError {
    int line = 0;  // from 1; 0: the file as a whole
    std::string message;
};

struct ParsedLesson {
    Lesson lesson;                    // the readable part
    std::vector<LessonError> errors;  // empty: everything could
};
// A view that a lesson may name, and its pages.
struct LessonView {
    std::string_view name;
    std::span<const std::string_view> pages = {};
};
struct LessonNames {
    std::span<const LessonView> views;
    const Presets* presets = nullptr;  // null: plans and fields are not checked
};
// Reads as much as it can and never throws. Queries are checked by name and arguments; plans
// and their fields too where there are presets.
[[nodiscard]] ParsedLesson parse_lesson(std::string_view text, const LessonNames& names);
// Returns what is wrong with a lesson that was read, at the lines of its tasks and questions: a task that is
// met at its start or not by its own solution, goals that exclude each other, words that say what is asked.
// Steps that open no plan are not checked.
[[nodiscard]] std::vector<LessonError> check_lesson(const Lesson& lesson, const Presets& presets);
// Reads the same where titles, minutes and kinds of steps are enough: nothing is checked.
[[nodiscard]] Lesson skim_lesson(std::string_view text);

// Returns how many words are read before a step's answer: its own, the prompt and the options, a {{query}}
// for one; not what is folded.
[[nodiscard]] int words_before(const LessonStep& step);
// A room reads about so many while somebody speaks.
inline constexpr int kMostWords = 60;

// Holds the plan that step `i` shows: the last `open` at or before it, with every `set` since.
struct LessonPlan {
    std::string open;  // empty: the plan that is open when the lesson begins
    std::vector<std::string> sets;
};
[[nodiscard]] LessonPlan plan_of_step(const Lesson& lesson, std::size_t i);

// Holds the queries between {{ and }} of a text, with the place of each (begin and end of the braces).
struct Placeholder {
    std::size_t begin = 0, end = 0;
    std::string query;
};
[[nodiscard]] std::vector<Placeholder> placeholders(std::string_view text);
// Returns a text as it is read on the screen, or on paper: of "[[Click it.|Mark it.]]" one form stays.
[[nodiscard]] std::string on_screen(std::string_view text);
[[nodiscard]] std::string on_paper(std::string_view text);
// Returns false if the text is not exactly one integer.
[[nodiscard]] bool parse_integer(std::string_view text, std::int64_t& out);

// A course says which steps of which lessons fill an hour or a morning. It is read into one lesson, so that
// everything a lesson can do (window, presenter, handout) it can do.

struct CoursePart {
    std::string lesson;              // its id: the file's name without .md
    std::string title;               // over its steps; empty: the lesson's own
    std::vector<std::size_t> steps;  // from 0, in their order; empty: all
    int minutes = 0;                 // 0: the lesson's own
    int line = 0;
};
struct Course {
    std::string title, summary;
    std::string then;  // the id of a lesson that follows it; empty: none does
    std::vector<CoursePart> parts;
};
struct ParsedCourse {
    Course course;
    std::vector<LessonError> errors;
};

// Returns true if a text's head says that it is a course: "course: yes".
[[nodiscard]] bool is_course(std::string_view text);
// Reads as much as it can and never throws.
[[nodiscard]] ParsedCourse parse_course(std::string_view text);

// Such a function returns the text of a lesson by its id; nullopt where it does not exist.
using LessonSource = std::function<std::optional<std::string>(const std::string& id)>;
// Returns the course's steps one after another, each with the whole plan that it shows in its own lesson.
// Minutes are the sum of the parts. Mistakes of a lesson are named with its id.
[[nodiscard]] ParsedLesson lesson_of_course(const ParsedCourse& from, const LessonSource& lessons,
                                            const LessonNames& names);
// Returns the minutes of the course as lesson_of_course sums them, 0 for a lesson that does not exist.
[[nodiscard]] int minutes_of(const Course& course, const LessonSource& lessons);

// A lesson asks a plan by named queries, answered from its evaluation with the working. The same queries fill
// the {{...}} of a lesson's words, so that words and window cannot disagree.

struct Answer {
    enum class Kind : std::uint8_t { none, number, text, ranks };
    Kind kind = Kind::none;
    double number = 0;  // in `unit`
    std::string unit;   // "GiB", "%", "" a count
    std::string text;   // as it is said: "66.1 GiB", "NVLink", "0, 2"
    std::vector<std::int64_t> ranks;
    std::string working;  // its derivation, in this plan's numbers
};

// Answers "memory fullest", "tier_of ep", or the same of a changed plan: "with layout.tp=4, layout.zero=3:
// memory fullest". The kind is `none` where the plan has no answer (its working says why) or the query is
// wrong. Never throws.
[[nodiscard]] Answer answer_query(std::string_view text, const Plan& plan, const Evaluation& evaluation,
                                  const Presets& presets);
// Holds the parts of "with a=1, b=2: query"; it has no sets where it does not begin so. `wrong` says why it
// cannot be read.
struct AskedQuery {
    std::vector<std::string> sets;
    std::string_view query;  // of the text that was given
    std::string wrong;
};
[[nodiscard]] AskedQuery split_query(std::string_view text);
// Returns what is wrong with a query, for any plan; empty where nothing is.
[[nodiscard]] std::string check_query(std::string_view text);

// Returns the plan with fields set: "layout.zero=3" is a field of the plan file, "tp=4" a factor whose
// difference data parallelism takes or gives (edits.h). Throws Error where a field or value does not fit.
[[nodiscard]] Plan plan_with(const Plan& plan, const std::vector<std::string>& sets, const Presets& presets);

// Returns the plan that step `i` shows; `base` where no step opened one. A step that changes a preset or asks
// about it shows it under the step's title: the preset's title may not hold any more, or be the answer.
// Throws Error where a field does not fit.
[[nodiscard]] Plan plan_shown(const Lesson& lesson, std::size_t i, const Plan& base, const Presets& presets);
// Says that a step keeps its own software, "This step is Megatron's", and why: "torchtitan has no ...". Both
// are empty where it does not.
struct KeptSoftware {
    std::string whose, because;
    // Returns both as one sentence.
    [[nodiscard]] std::string sentence() const {
        return whose.empty() ? whose : whose + ": " + because + ".";
    }
};
// Says it of a step that shows `shown` while the room runs another software. A step that chooses its software
// itself keeps none.
[[nodiscard]] KeptSoftware keeps_its_software(const Lesson& lesson, std::size_t i, const Plan& shown);

struct QueryHelp {
    std::string_view pattern, what;
};
[[nodiscard]] std::vector<QueryHelp> lesson_queries();

// Returns the text with every {{query}} answered; one that has no answer becomes "(not in this plan)".
[[nodiscard]] std::string expand(std::string_view text, const Plan& plan, const Evaluation& evaluation,
                                 const Presets& presets);

// Holds the answer to a question put to a plan.
struct Solution {
    Answer answer;                        // with lowest and highest: of the right option
    int option = -1;                      // choose: the right one; -1: none or more than one
    std::vector<std::string> of_options;  // lowest, highest and a curve: what each comes to
    std::vector<Answer> options;          // the same, as it was answered
    int tier = -1;                        // tier: index into cluster.tiers
    double own = 0;  // a number of the step's plan, where the question changes it; else 0
    [[nodiscard]] bool solvable(QuestionKind kind) const;
};
// Returns the right answer of a question that is solvable: the option's label, or what the query comes to.
[[nodiscard]] std::string answer_words(const LessonQuestion& question, const Solution& solution);
[[nodiscard]] Solution solve(const LessonQuestion& question, const Plan& plan, const Evaluation& evaluation,
                             const Presets& presets);

// Holds a plan that a question is about: its step's with these set. The views show it after the answer.
struct AskedPlan {
    std::string label;
    std::vector<std::string> sets;
};
struct AskedPlans {
    std::vector<AskedPlan> plans;  // empty: the question is about the step's own plan
    int first = -1;                // the one that the answer shows; -1: the right one is the step's own
};
[[nodiscard]] AskedPlans asked_plans(const LessonQuestion& question, const Solution& solution);
// Returns "tp 8, zero 3" of "layout.tp=8", "layout.zero=3".
[[nodiscard]] std::string sets_text(const std::vector<std::string>& sets);

// Holds somebody's answer. `option` also stands for the tier.
struct Given {
    int option = -1;
    std::vector<double> numbers;  // all that was typed may mean
    std::vector<std::int64_t> ranks;
};
// Says how a line goes: "falls", "rises", "flat" or "bends". A mistake of a curve is named by it.
inline constexpr std::array<std::string_view, 4> kShapes{"falls", "rises", "flat", "bends"};
[[nodiscard]] std::string_view shape_of(std::span<const double> points);
// Returns why the answer that was given is wrong, of mistakes with their queries answered, and of those that
// are known of any question: GB for GiB, a share for its per cent. A number counts as a person rounds it; of
// two mistakes it is the nearer. It is empty where the answer is right or the mistake another one.
[[nodiscard]] std::string mistake_made(const LessonQuestion& question,
                                       std::span<const LessonQuestion::Mistake> mistakes,
                                       const Solution& solution, const Given& given, const Plan& plan);
[[nodiscard]] bool is_right(const LessonQuestion& question, const Solution& solution, const Given& given);
// Reads a typed number in `unit`. It may have thousands separators or be a fraction (7/39), have a prefix
// (129 k) or another unit of the same kind (1.13 TB for GB, 820 ms for s).
[[nodiscard]] std::optional<double> parse_guess(std::string_view text, std::string_view unit = {});
// Returns all that it may mean: as a count, "16K" is 16,000 and 16,384, as lengths are written. It is empty
// where it is no number.
[[nodiscard]] std::vector<double> guesses_of(std::string_view text, std::string_view unit = {});
// Reads the points of a curve, "9, 8.5, 8 s": as many as it has, or none.
[[nodiscard]] std::vector<double> parse_points(std::string_view text, std::string_view unit,
                                               std::size_t points);
// Reads the points of a question: all of them, or all but the one that is given.
[[nodiscard]] std::vector<double> typed_points(const LessonQuestion& question, const Solution& solution,
                                               std::string_view text);
// Returns how many points are within the tolerance, of those that were not given. A curve is right with one
// that is not, at the most.
[[nodiscard]] int points_right(const LessonQuestion& question, const Solution& solution,
                               std::span<const double> points);
// Returns where the scale ends on which an answer is drawn before it is known: a round number above it, by a
// factor that the step's title chooses, so that the scale gives nothing away.
[[nodiscard]] double guess_scale(double answer, std::string_view unit, std::string_view title);
// Returns the end of the scale of a solution that is a number: what the step's plan has lies on it too, and
// its end does not say in which direction the number goes.
[[nodiscard]] double guess_scale(const Solution& solution, std::string_view title);
// Returns the same for a curve: of its largest point.
[[nodiscard]] double curve_scale(const Solution& solution, std::string_view title);
// Reads "0, 2, 4-7".
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text);

// Returns words of a step before its question is answered: a question mark stands in the place of each
// {{query}} that says the answer of this plan, or is the question's own.
[[nodiscard]] std::string hide_answer(const LessonStep& step, const Solution& solution,
                                      const std::string& words, const Plan& plan,
                                      const Evaluation& evaluation, const Presets& presets);

// Says what is not shown while a question is open, because its answer could be read there. What is covered
// says so in its place.
struct HiddenAnswer {
    bool open = false;  // a question is open that the plan answers: cards, advice and exports wait for it
    // All of what is asked is which messages an axis sends: a picture that leaves them out may be seen.
    bool of_messages = false;
    // The same of the wires that axes cross; and of what other plans hold, while a single GPU is shown, of
    // which nothing is cut: a picture without figures may be seen.
    bool of_wires = false, of_other_plans = false;
    // The step's words say what the GPU holds and has: the line of figures says so too.
    bool memory_said = false;
    std::vector<std::string_view> places;  // names of views; kFiguresPlace, kPlanPlace; kAllViews
    [[nodiscard]] bool covers(std::string_view place) const;
};
// Name the line of figures, the panel of the plan, and every view.
inline constexpr std::string_view kFiguresPlace = "figures", kPlanPlace = "plan", kAllViews = "views";

// Returns what is covered for the question of a step that shows this plan. A step without one covers nothing;
// a query of a changed plan covers only what shows the same answer of this one.
[[nodiscard]] HiddenAnswer hidden_answer_of(const LessonStep& step, const Solution& solution,
                                            const Plan& plan, const Evaluation& evaluation,
                                            const Presets& presets);

}  // namespace pentamesh
