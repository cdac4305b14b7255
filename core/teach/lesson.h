// Lessons: plain text that an author writes, read into steps. A step is a scene (which plan, which view, what
// is lit), words and, often, a question. Its right answer is a query on the plan that is open
// (lesson_answers.h), never a stored one. The format: docs/lessons.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct LessonScene {
    std::string open;                    // plan preset; empty: the plan of the step before
    std::vector<std::string> sets;       // "layout.tp=4", in their order
    std::vector<std::string> against;    // the plan that is pinned beside it: its own with these set
    std::string view;                    // "mesh", "memory" ..., "dashboard"; empty: as it is
    std::string axis;                    // the group kind that is coloured; empty: as it is
    std::string stage;                   // empty: none selected
    std::int64_t rank = -1;              // selected; -1: none
    std::vector<std::int64_t> ranks;     // outlined in the mesh
    std::vector<std::string> highlight;  // names of controls, "mod.zero" or "mod.zero 3"
    bool broken = false;                 // the plan may be impossible: that is what the step shows
    bool operator==(const LessonScene&) const = default;
};

enum class QuestionKind : std::uint8_t { choose, number, ranks, tier };

struct LessonQuestion {
    // What makes an option right: `matches`, its value is what the query answers; `lowest` and `highest`, its
    // value is a query whose number is the least or the most of all options.
    enum class Rule : std::uint8_t { matches, lowest, highest };
    struct Option {
        std::string label, value;
    };
    QuestionKind kind = QuestionKind::choose;
    Rule rule = Rule::matches;
    std::string query;  // empty with lowest and highest
    std::string prompt;
    std::vector<Option> options;  // choose only
    double tolerance = 0.1;       // number: of the right answer
    // What is often given in its place, and where it comes from. `given`: an option's label, a tier's name, a
    // number (a {{query}} may make it) or ranks, as they are typed.
    struct Mistake {
        std::string given, because;
        int line = 0;
    };
    std::vector<Mistake> mistakes;
    std::string why;  // words shown with the answer
    int line = 0;
};

// A condition on the plan and its evaluation (task.h says what it may ask for).
struct TaskGoal {
    std::string field, op, value;  // "step.mfu", ">=", "40 %"
    int line = 0;
};

// A plan to be changed until its goals hold. Judged while it is changed (task.h).
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
    std::optional<LessonQuestion> question;
    std::optional<LessonTask> task;
    std::string part;                 // of a course: the lesson that begins here; empty: none does
    std::string notes;                // for the presenter alone
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
    Lesson lesson;                    // what could be read
    std::vector<LessonError> errors;  // empty: everything could
};
// Never throws; reads what it can. Queries are checked by name and arguments (lesson_answers.h); `views` are
// the names that "view" may have.
[[nodiscard]] ParsedLesson parse_lesson(std::string_view text, std::span<const std::string_view> views);
// The same where titles, minutes and kinds of steps are enough: nothing is checked.
[[nodiscard]] Lesson skim_lesson(std::string_view text);

// The scene that step `i` shows: the last `open` at or before it, with every `set` since.
struct LessonPlan {
    std::string open;  // empty: whatever plan is open when the lesson begins
    std::vector<std::string> sets;
};
[[nodiscard]] LessonPlan plan_of_step(const Lesson& lesson, std::size_t i);

// The queries between {{ and }} of a text, with where each stands (begin and end of the braces).
struct Placeholder {
    std::size_t begin = 0, end = 0;
    std::string query;
};
[[nodiscard]] std::vector<Placeholder> placeholders(std::string_view text);

}  // namespace pentamesh
