// A lesson is plain text that an author writes, read into steps. A step is a scene (which plan, which view,
// what is highlighted), words and, often, a question. Its right answer is a query on the plan that is open
// (lesson_answers.h), never a stored one. The format is in docs/lessons.md.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class Presets;

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
    std::string why;                 // words shown with the answer
    bool shows = true;               // after the answer the views show the plan that was asked about
    std::vector<std::string> shown;  // the step's plan with these set instead; empty: the question's own
    int line = 0;
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
};

struct Lesson {
    std::string title, summary;
    int minutes = 0;
    std::vector<LessonStep> steps;
};

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
// Reads as much as it can and never throws. Queries are checked by name and arguments (lesson_answers.h);
// plans and their fields too where there are presets.
[[nodiscard]] ParsedLesson parse_lesson(std::string_view text, const LessonNames& names);
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

// Reads pieces of a lesson's lines: numbers, lists, "key: value".

// Returns false if the text is not exactly one integer.
[[nodiscard]] bool parse_integer(std::string_view text, std::int64_t& out);
// Reads "10 %" or "0.1" of the answer.
[[nodiscard]] bool parse_tolerance(std::string_view text, double& out);
// Reads "a, b": the parts between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

// Reads the same, where a comma between brackets or quotes belongs to its part: a=["x","y"], b=2.
[[nodiscard]] std::vector<std::string> split_values(std::string_view text);
// Returns a text as it is read on the screen, or on paper: of "[[Click it.|Mark it.]]" one form stays.
[[nodiscard]] std::string on_screen(std::string_view text);
[[nodiscard]] std::string on_paper(std::string_view text);
// Returns true if each "[[" of a text has its "|" and its "]]".
[[nodiscard]] bool has_whole_forms(std::string_view text);
// Reads "POINTER = VALUE" as "POINTER=VALUE": blanks about the sign are the author's. The text is empty where
// the line has another form.
[[nodiscard]] std::string pointer_value(std::string_view text);

// Returns how the plan's panel names a field: "ZeRO" for "layout.zero", "dp_shard" for an axis.
[[nodiscard]] std::string panel_name(std::string_view pointer);

struct KeyValue {
    std::string_view key, value;
};
// Reads "key: value" with a lower-case word before the colon.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

// Collects what is wrong with a lesson's file, each at its own line, and knows what a lesson may name.

class LessonFaults {
  public:
    LessonFaults(const LessonNames& names, std::vector<LessonError>& out) : names_(names), out_(out) {}

    void error(int line, std::string message);
    // Says that no such thing has that name, which is the closest, and what there is.
    void unknown(int line, std::string_view what, std::string_view word,
                 const std::vector<std::string_view>& known);
    void check_view(int line, std::string_view name);
    void check_page(int line, std::string_view view, std::string_view page);
    // Follows the plan that steps show, so that a field that does not fit is found at its line.
    void open_plan(int line, std::string_view id);
    void set_field(int line, const std::string& set);
    // Checks "POINTER=VALUE" without setting it. `what` is its place: "against", "show".
    void check_field(int line, std::string_view what, const std::string& set);
    void check_query(int line, std::string_view query);
    // Checks each {{query}} of a line; of a text that goes over several lines, what was not found in those.
    void check_text(int line, std::string_view text);
    void check_whole_text(int line, std::string_view text);

  private:
    LessonNames names_;
    std::vector<LessonError>& out_;
    std::optional<Plan> plan_;    // of the step that is read; none: it is not known
    std::set<std::string> seen_;  // queries that were checked line by line

    [[nodiscard]] std::string wrong_field(const std::string& set) const;
};

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

}  // namespace pentamesh
