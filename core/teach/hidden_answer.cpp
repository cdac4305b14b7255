// Says what a question leaves open: the views that would show its answer, and the words of its step.
#include "core/base/text.h"
#include "core/teach/lesson.h"
#include "core/teach/lesson_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace pentamesh {

bool HiddenAnswer::covers(std::string_view place) const {
    const bool view = place != kFiguresPlace && place != kPlanPlace;
    return std::any_of(places.begin(), places.end(),
                       [&](std::string_view p) { return p == place || (view && p == kAllViews); });
}

namespace {

// Returns how far off, as a share, a number may be that is judged right.
double tolerance_of(const LessonQuestion& q) {
    return std::max(0.005, q.kind == QuestionKind::number ? q.tolerance : 0);
}

// Returns true if one answer would be taken for the other.
bool is_same(const Answer& said, const Answer& answer, double share) {
    if (said.kind != answer.kind || said.kind == Answer::Kind::none || said.unit != answer.unit) return false;
    if (said.kind != Answer::Kind::number) return said.text == answer.text;
    return std::abs(said.number - answer.number) <= share * std::abs(answer.number);
}

// Returns true for short counts and words, "8" and "yes": they are in every page, and say nothing there.
bool is_short(const Answer& answer) {
    constexpr double kShort = 100;
    constexpr std::size_t kWord = 4;
    return answer.kind == Answer::Kind::number ? answer.unit.empty() && std::abs(answer.number) < kShort
                                               : answer.text.size() < kWord;
}

}  // namespace

HiddenAnswer hidden_answer_of(const LessonStep& step, const Solution& solution, const Plan& plan,
                              const Evaluation& evaluation, const Presets& presets) {
    HiddenAnswer out;
    if (!step.question) return out;
    const LessonQuestion& q = *step.question;
    // The view Compare says which part differs, and by how much.
    if (!step.scene.against.empty()) out.places = {kAllViews, kFiguresPlace};
    // A rank is clicked in a mesh without colours; a change is asked of a number that the page may show.
    if (q.kind == QuestionKind::ranks || q.rule == QuestionRule::change) return out;
    out.open = true;
    const auto cover = [&](std::string_view asked, const Answer& answer) {
        const AskedQuery of = split_query(asked);
        QueryArguments ignored;
        const Query* const query = find_query(of.query, ignored);
        if (query == nullptr) return;
        if (!of.sets.empty()) {
            const Answer shown = answer_query(of.query, plan, evaluation, presets);
            if (!is_same(shown, answer, tolerance_of(q))) return;  // the page shows another plan
        }
        for (const std::string_view place : split_words(query->shown_in)) out.places.push_back(place);
        out.of_messages = out.of_messages && query->of_messages;
        out.of_wires = out.of_wires && query->of_wires;
        out.of_other_plans = out.of_other_plans && !of.sets.empty();
    };
    out.of_messages = out.of_wires = step.scene.against.empty();
    out.of_other_plans = step.scene.against.empty() && q.compares_options() && evaluation.mesh.world == 1;
    if (q.compares_options() || q.kind == QuestionKind::curve)
        for (std::size_t i = 0; i < std::min(q.options.size(), solution.options.size()); ++i) {
            if (static_cast<int>(i) != q.given) cover(q.options[i].value, solution.options[i]);
        }
    else
        cover(q.query, solution.answer);
    constexpr std::string_view kHeld = "{{memory fullest}}", kHas = "{{memory hbm}}";
    const std::string both = std::string(kHeld) + std::string(kHas);
    const auto says = [&](std::string_view query) { return step.words.find(query) != std::string::npos; };
    out.memory_said = step.scene.against.empty() && says(kHeld) && says(kHas)
                      && hide_answer(step, solution, both, plan, evaluation, presets) == both;
    return out;
}

std::string hide_answer(const LessonStep& step, const Solution& solution, const std::string& words,
                        const Plan& plan, const Evaluation& evaluation, const Presets& presets) {
    if (!step.question) return words;
    const LessonQuestion& q = *step.question;
    const bool of_options = q.compares_options() || q.kind == QuestionKind::curve;
    const auto tells = [&](const std::string& query) {
        if (!of_options && query == q.query) return true;
        if (q.rule == QuestionRule::change) return false;  // the step may say how it is now
        const Answer said = answer_query(query, plan, evaluation, presets);
        if (is_short(said)) return false;
        if (!of_options) return is_same(said, solution.answer, tolerance_of(q));
        // A curve's points are hidden one by one: the one that is given may be said.
        for (std::size_t i = 0; i < solution.options.size(); ++i)
            if (static_cast<int>(i) != q.given && is_same(said, solution.options[i], 0.005)) return true;
        return false;
    };
    std::string out;
    std::size_t from = 0;
    for (const Placeholder& p : placeholders(words)) {
        if (!tells(p.query)) continue;
        out += words.substr(from, p.begin - from) + "**?**";
        from = p.end;
    }
    return out + words.substr(from);
}

}  // namespace pentamesh
