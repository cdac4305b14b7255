// Gives text to the reader of lessons, and its results to their users: plans, placeholders, questions.
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/teach/lesson.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

struct Open {
    Plan plan = presets().plan("mesh-8");
    Evaluation evaluation = evaluate(plan);
};

// Returns false for "with", which asks for a plan of its own, as large as its author likes: too slow here.
bool quick(std::string_view query) {
    return query.find("with") == std::string_view::npos;
}

void ask(const LessonStep& step, const Open& open) {
    for (const Placeholder& p : placeholders(step.words)) {
        if (p.begin >= p.end || p.end > step.words.size()) complain("a placeholder lies outside", step.words);
        if (quick(p.query)) static_cast<void>(answer_query(p.query, open.plan, open.evaluation, presets()));
    }
    static_cast<void>(words_before(step));
    if (!step.question) return;
    const LessonQuestion& q = *step.question;
    const bool all_quick =
        quick(q.query)
        && std::all_of(q.options.begin(), q.options.end(), [](const auto& o) { return quick(o.value); });
    if (!all_quick) return;
    const Solution s = solve(q, open.plan, open.evaluation, presets());
    if (s.option >= static_cast<int>(q.options.size())) complain("the right option is none", q.query);
    static_cast<void>(is_right(q, s, Given{}));
    if (std::ranges::all_of(placeholders(step.words), [](const Placeholder& p) { return quick(p.query); }))
        static_cast<void>(hide_answer(step, s, step.words, open.plan, open.evaluation, presets()));
    static_cast<void>(hidden_answer_of(step, s, open.plan, open.evaluation, presets()));
    const AskedPlans asked = asked_plans(q, s);
    if (asked.first >= static_cast<int>(asked.plans.size()))
        complain("the plan that is shown is none", q.query);
    static_cast<void>(parse_guess(q.prompt, s.answer.unit));
    static_cast<void>(parse_ranks(q.prompt));
}

// A lesson may name these views here: some of the window's, enough for each seed.
constexpr std::string_view kPages[] = {"stages", "saved"};
constexpr LessonView kViews[] = {{"dashboard"},      {"mesh"},     {"map"},
                                 {"memory", kPages}, {"timeline"}, {"comm"}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const Open kOpen;
    const std::string_view text = text_of(data, size);
    const ParsedLesson parsed = parse_lesson(text, {kViews});
    const auto lines = 2 + std::count(text.begin(), text.end(), '\n');
    for (const LessonError& e : parsed.errors)
        if (e.line < 0 || e.line > lines || e.message.empty()) complain("an error in no line", e.message);
    for (std::size_t i = 0; i < parsed.lesson.steps.size(); ++i) {
        static_cast<void>(plan_of_step(parsed.lesson, i));
        ask(parsed.lesson.steps[i], kOpen);
    }
    return 0;
}
