// A lesson is plain text that an author writes, read into steps. A step is a scene (which plan, which view,
// what is highlighted), words and, often, a question. Its right answer is a query on the plan that is open
// (lesson_answers.h), never a stored one. The format is in docs/lessons.md.
#pragma once

#include <cstdint>
#include <optional>
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

// This is a condition on the plan and its evaluation (task.h lists its fields).
struct TaskGoal {
    std::string field, op, value;  // "step.mfu", ">=", "40 %"
    int line = 0;
};

// A plan is to be changed until its goals hold. It is judged while it is changed (task.h).
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

}  // namespace pentamesh
