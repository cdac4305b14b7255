// Reads the lines of a question, an "ask" block of a lesson.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/teach/lesson.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class QuestionReader {
  public:
    // `line` is that of the block's first fence. Without `checked` nothing is looked up.
    QuestionReader(LessonFaults& faults, int line, bool checked) : faults_(faults), checked_(checked) {
        q_.line = query_line_ = line;
    }
    void line(std::string_view line, int number);
    // Checks the whole, once it is read.
    [[nodiscard]] LessonQuestion finish();

  private:
    LessonFaults& faults_;
    bool checked_;
    LessonQuestion q_;
    bool any_kind_ = false, any_tolerance_ = false;
    int query_line_ = 0, given_line_ = 0;
    std::string given_;  // the value of the point that is shown
    std::vector<int> option_lines_;
    std::string* last_ = nullptr;  // what a line without a key goes on with

    void kind(QuestionKind kind, std::string_view query, int number);
    void rule(QuestionRule rule);
    void guess(std::string_view value, int number);
    void curve(std::string_view query, std::string_view over, int number);
    void check_given();
    void text(std::string& into, std::string_view value);
    void show(std::string_view value, int number);
    void mistake(std::string_view value, int number);
    void check_mistake(const LessonQuestion::Mistake& m);
    void check_options();
};

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

struct QueryHelp {
    std::string_view pattern, what;
};
[[nodiscard]] std::vector<QueryHelp> lesson_queries();

// Returns the text with every {{query}} answered; one that has no answer becomes "(not in this plan)".
[[nodiscard]] std::string expand(std::string_view text, const Plan& plan, const Evaluation& evaluation,
                                 const Presets& presets);

// Returns words of a step before its question is answered: a question mark replaces the answer.
[[nodiscard]] std::string hide_answer(const LessonStep& step, std::string words);

// Holds the answer to a question put to a plan.
struct Solution {
    Answer answer;                        // with lowest and highest: of the right option
    int option = -1;                      // choose: the right one; -1: none or more than one
    std::vector<std::string> of_options;  // lowest, highest and a curve: what each comes to
    std::vector<Answer> options;          // the same, as it was answered
    int tier = -1;                        // tier: index into cluster.tiers
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
// Returns how many points are within the tolerance, of those that were not given. A curve is right with one
// that is not, at the most.
[[nodiscard]] int points_right(const LessonQuestion& question, const Solution& solution,
                               std::span<const double> points);
// Returns where the scale ends on which an answer is drawn before it is known: a round number above it, by a
// factor that the step's title chooses, so that the scale gives nothing away.
[[nodiscard]] double guess_scale(double answer, std::string_view unit, std::string_view title);
// Returns the same for a curve: of its largest point.
[[nodiscard]] double curve_scale(const Solution& solution, std::string_view title);
// Reads "0, 2, 4-7".
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text);

// Says which texts must not be read on a page while a question is open: its answer. Other texts in the same
// place are hidden too, or the answer would show itself as the only hidden figure.

struct HiddenAnswer {
    // Says where a text is. The plan's own fields are the scene that a question is about.
    enum class Place : std::uint8_t { view, plan };
    struct Figure {
        double value = 0;      // in `unit`
        double tolerance = 0;  // of the value: what would be judged right
        std::string unit;      // empty: a count
    };
    bool covers = false;               // the picture itself is the answer: it is not shown
    std::string covers_view;           // nor is that view, which is not the step's own
    bool covers_figures = false;       // memory, step and MFU are hidden too, with any values
    std::vector<std::string> phrases;  // hidden wherever they stand as whole words, in any case
    std::vector<std::string> lines;    // a text that has one of these words is hidden whole
    std::vector<std::string> nouns;    // a number next to one of these words is hidden: "4 groups", "tp 8"
    std::vector<std::string> own;      // next to these only the answer is hidden: a scene states other
                                       // numbers there
    std::optional<Figure> figure;      // hidden where it stands with its unit, or has three digits
    std::vector<Figure> others;        // values of several options: each is hidden in the same way
    std::vector<std::string> scenery;  // of these no number is hidden: the GPU's name and its memory
    bool everywhere = false;           // the figure, a count, is hidden however short and next to any word
    bool bare_in_view = false;         // texts that are nothing but a number
    std::vector<std::int64_t> stated;  // these stay: the scene states them, and none is the answer
    bool bare_in_plan = false;
    bool ratios = false;  // texts that are nothing but "3 of 10" are hidden

    [[nodiscard]] bool hides() const;
    // Returns the text with "?" in the place of each hidden part.
    [[nodiscard]] std::string words(std::string_view given, Place place = Place::view) const;
    // Returns the step's own words: the author's sentences stay, only the figure is hidden.
    [[nodiscard]] std::string figures(std::string_view text) const;
};

// Returns what to hide for the question of a step, put to a plan. A step without one hides nothing.
[[nodiscard]] HiddenAnswer hidden_answer_of(const LessonStep& step, const Solution& solution,
                                            const Plan& plan, const Evaluation& evaluation);

}  // namespace pentamesh
