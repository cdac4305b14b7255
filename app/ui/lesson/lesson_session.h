// A lesson is open: which step, which answers, and the file behind it, read again when it changes. No drawing
// happens here.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "render/canvas.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Somebody's work on one question.
struct StepState {
    Given given;
    bool answered = false;  // judged and shown, with the working
    bool right = false;
    bool revealed = false;  // shown without an answer
    std::string typed;      // number, or ranks by keyboard
    // As they are handed in: what was answered, or the plan that passed a task; the first of two answers.
    std::string handed, handed_first;
    int tries = 0;        // answers given so far; the first wrong one has a second
    int missed = -1;      // the option that the first of two was
    std::string remark;   // why what was given is no answer yet
    std::string mistake;  // the mistake that leads to the given answer, if the lesson says it
    std::vector<std::int64_t> picked;
    std::size_t hints = 0;  // of a task, shown so far
    bool passed = false;    // the task was, at least once
    bool helped = false;    // its solution was asked for
    bool counting = false;  // the room's votes are being typed
    std::string votes_typed, votes_refusal;
    std::vector<int> votes, votes_after;  // by option: before the answer, and after it
    Mark before = Mark::none;             // of the last time that the lesson was open
    [[nodiscard]] bool shown() const { return answered || revealed; }
};

// Says what a point of a curve rests on: shown with the answer.
struct CurveFact {
    std::optional<MemoryFit> fit;
    double memory_bytes = 0;          // of the fullest GPU
    GroupKind group = GroupKind::tp;  // the axis that the curve is over
    int tier = -1;                    // the slowest that its groups cross; -1: it is over no axis
    double waits_s = 0;               // of a step, for that axis; 0 where no time is asked
};

struct LessonSession {
    bool open = false;
    std::filesystem::path file;
    Lesson lesson;
    std::vector<LessonError> errors;  // of the file as it is now; the lesson may be an older, whole one
    std::size_t step = 0;
    std::vector<StepState> states;
    bool scene_wanted = false;  // the step's scene is to be applied
    std::size_t reached = 0;    // the step that was shown last time; 0: none, or it was the last
    bool continued = false;     // from there: what came of the steps before counts
    std::string scene_error;    // why it could not be

    // Texts have their queries answered, and the question its solution: they are kept as long as plan and
    // step are the same.
    std::uint64_t made_of = 0;
    std::size_t made_step = 0;
    bool made_asked = false;  // with the answer hidden
    std::string words, more, prompt, why, notes;
    KeptSoftware keeps_software;  // why the step's plan is not run by what the room runs
    Solution solution;
    AskedPlans asked;              // that the answer may show
    std::vector<CurveFact> curve;  // of the answer to a curve, by point; empty: it is not shown yet
    bool curve_in_view = false;    // the curve is drawn in the step's view, not next to the words
    double answered_s = -1e9;      // when the answer was shown
    CommonAxes axes;               // the larger of the step's plan and of the one that is asked about
    std::shared_ptr<const Plan> axis_plan;  // the one that is asked about, where its scales may be seen
    HiddenAnswer hidden_answer;             // hides the open question's answer
    Plan start;                             // the step's own plan
    Evaluation start_evaluation;
    bool plan_changed = false;  // since
    TaskState task;
    std::vector<std::string> hints;
    std::vector<LessonQuestion::Mistake> mistakes;

    std::filesystem::file_time_type file_time{};
    double checked_s = 0;  // when the file was last looked at
    float scroll = 0;
    bool follow = false;      // the answer just came: bring it into view
    bool show_more = false;   // the folded words are read
    int asked_shown = -1;     // of `asked`; -1: the picture shows the step's own plan
    bool fold_words = false;  // the answer leaves no room for them
    bool tight = false;       // lines and gaps are smaller, so that all of a step is seen
    bool refocus = false;     // a guess was no answer: the next one is typed in the same place
    std::string next_title;   // of the lesson that follows this one; empty: none
    bool leads_back = false;  // Back on the first step leads to the lesson that was before
    double begun_s = 0;
    bool asks_software = false;  // what the room runs is being chosen
    bool plan_hidden = false;    // the window has no room for both the plan and the lesson

    [[nodiscard]] const LessonStep* current() const {
        return step < lesson.steps.size() ? &lesson.steps[step] : nullptr;
    }
    [[nodiscard]] StepState& state() { return states[step]; }
    [[nodiscard]] const StepState& state() const { return states[step]; }
    [[nodiscard]] bool can_go_back() const { return step > 0 || leads_back; }
    // Returns true if a question waits for its answer.
    [[nodiscard]] bool waits_for_answer() const {
        const LessonStep* now = current();
        return now != nullptr && now->question && !state().shown();
    }
    // Returns the question that was answered and whose answer has a page of its own, else null.
    [[nodiscard]] const LessonQuestion* on_answer_page() const {
        const LessonStep* now = current();
        return now != nullptr && state().shown() ? now->with_answer_page() : nullptr;
    }
    // Returns true if a question waits for GPUs to be clicked.
    [[nodiscard]] bool asks_for_ranks() const;
    // Returns the rank that such a question is about, or -1.
    [[nodiscard]] std::int64_t asked_rank() const;
};

struct LessonEntry {
    std::string id;  // file name without .md
    std::string title;
    std::filesystem::path file;
    int minutes = 0;                   // 0: not said
    std::vector<std::string> tasks{};  // titles of the steps that are one
    bool only_tasks = false;           // every step is
    std::string then{};                // of a course: the id of the lesson that follows it
    std::string language{};            // of one's own, where it says so: "de"
    bool own = false;                  // of one's own: it does not ship
};
// Returns the lessons of a folder, by file name; a broken one under its file's name. It is empty where the
// folder does not exist.
[[nodiscard]] std::vector<LessonEntry> list_lessons(const std::filesystem::path& folder);

// Names the folders that hold lessons, their courses/, and a glossary.
struct LessonFolders {
    std::filesystem::path shipped, own;                        // own: of one's own; empty: nowhere
    [[nodiscard]] std::filesystem::path own_glossary() const;  // empty where there is no such file
};
// `named` holds one's own; empty: they lie in lessons/ of the folder of own presets.
[[nodiscard]] LessonFolders lesson_folders(const Presets& presets, const std::filesystem::path& named = {});
// Returns the lessons of both folders by id, or the courses in them. One of one's own in another language
// than English stands behind the shipped one of its id, any other in its place.
[[nodiscard]] std::vector<LessonEntry> list_lessons(const LessonFolders& folders);
[[nodiscard]] std::vector<LessonEntry> list_courses(const LessonFolders& folders);
// Returns the lesson that follows a lesson or a course, in its language where there is one: the next id, or
// the one that the course names; null after the last. The tour, which is no part of the workshop, leads to
// its first lesson.
[[nodiscard]] const LessonEntry* lesson_after(const std::vector<LessonEntry>& lessons,
                                              const std::vector<LessonEntry>& courses,
                                              const std::filesystem::path& file);

// Reads a lesson or a course of lessons, and says what is wrong with it; of its plans too where there are
// presets. Never throws.
[[nodiscard]] ParsedLesson read_lesson(const std::filesystem::path& file, const Presets* presets = nullptr);
// Reads a lesson and goes to its first step. A file that cannot be read or has no step leaves a session that
// says so.
void begin_lesson(LessonSession& session, const std::filesystem::path& file, const Presets& presets,
                  double now_s);
// Reads the file again where its time changed; looks at most once a second. True where something changed.
// A file with errors keeps the lesson as it was.
bool reload_lesson(LessonSession& session, const Presets& presets, double now_s);
// Returns true if a step shows a plan of the lesson's own, which the room's software may run.
[[nodiscard]] bool may_ask_software(const Lesson& lesson);
// Returns true if the lesson's file was written since it was read.
[[nodiscard]] bool file_changed(const LessonSession& session);
void go_to_step(LessonSession& session, std::size_t step);

// Returns the plan that the step shows; `base` where no step opened one. Throws Error where a field does not
// fit.
[[nodiscard]] Plan plan_of(const LessonSession& session, const Plan& base, const Presets& presets);
// Returns a step's result in this run, or, where the lesson is continued, in the one before.
[[nodiscard]] Mark mark_of(const LessonSession& session, std::size_t step);
// Returns one letter for each step; a blank where nothing is asked.
[[nodiscard]] std::string marks_of(const LessonSession& session);
using pentamesh::summary_of;  // of marks
[[nodiscard]] std::string summary_of(const LessonSession& session);

// Answers the texts' queries and solves the question, both for the step's own plan, even after it was
// changed; a task is judged on the plan as it is now.
void make_texts(LessonSession& session, const Plan& plan, const Evaluation& evaluation,
                const Presets& presets, std::uint64_t revision);
// Judges the answer given so far: an option, a typed number, picked ranks. Returns false if nothing was given
// that can be judged, or it is wrong and a second try is left; the remark says which.
bool judge(LessonSession& session);

}  // namespace pentamesh::ui
