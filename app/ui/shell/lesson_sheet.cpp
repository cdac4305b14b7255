#include "app/ui/shell/lesson_sheet.h"

#include "app/ui/kit/format.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/teach/lesson_pieces.h"
#include "core/teach/task.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr Vec2 kPictureSize{1024, 576};  // drawn larger on paper: its small type is read in a room

}  // namespace

StepSheet sheet_of(const Lesson& lesson, std::size_t i, const Plan& base, const Presets& presets) {
    StepSheet s{lesson.steps[i], {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    s.plan = plan_shown(lesson, i, base, presets);
    s.plan.name = s.step.title;  // a preset's may be another step's, or the answer
    s.evaluation = assess(s.plan);
    if (!s.step.scene.against.empty()) {
        s.against = plan_with(s.plan, s.step.scene.against, presets);
        s.against->name.clear();
    }
    const auto said = [&](const std::string& text) {
        return expand(on_paper(text), s.plan, s.evaluation, presets);
    };
    const std::string all = s.step.words + (s.step.more.empty() ? "" : "\n\n" + s.step.more);
    s.words = s.asked = said(all);
    if (s.step.task) {
        s.prompt = said(s.step.task->prompt);
        // The words after the task are about the plan that its solution gives.
        const Plan solved = plan_with(s.plan, s.step.task->solution, presets);
        s.why = expand(on_paper(s.step.task->why), solved, assess(solved), presets);
        for (const std::string& hint : s.step.task->hints) s.hints.push_back(said(hint));
    }
    if (!s.step.question) return s;
    s.asked = said(hide_answer(s.step, all));
    s.prompt = said(s.step.question->prompt);
    s.why = said(s.step.question->why);
    s.solution = solve(*s.step.question, s.plan, s.evaluation, presets);
    s.hidden_answer = hidden_answer_of(s.step, s.solution, s.plan, s.evaluation);
    s.asked = s.hidden_answer.figures(s.asked);
    return s;
}

std::string answer_of(const StepSheet& s) {
    const LessonQuestion& q = *s.step.question;
    if (!s.solution.solvable(q.kind)) return "no answer in this plan: " + s.solution.answer.working;
    return answer_words(q, s.solution);
}

std::string lettered_answer_of(const StepSheet& s) {
    const bool tier = s.step.question->kind == QuestionKind::tier;
    const int option = tier ? s.solution.tier : s.solution.option;
    const bool listed = option >= 0 && s.solution.solvable(s.step.question->kind) && !choices_of(s).empty();
    return (listed ? std::string(1, static_cast<char>('a' + option)) + ") " : std::string()) + answer_of(s);
}

std::vector<std::string> choices_of(const StepSheet& s) {
    std::vector<std::string> out;
    if (s.step.question->kind == QuestionKind::curve) return out;
    for (const LessonQuestion::Option& o : s.step.question->options) out.push_back(o.label);
    if (s.step.question->kind == QuestionKind::tier)
        for (std::size_t i = 0; i < s.plan.cluster.tiers.size(); ++i)
            out.push_back(tier_label(s.plan.cluster, static_cast<int>(i)) + ", "
                          + bandwidth_text(bytes_per_s_of(s.plan.cluster.tiers[i])));
    return out;
}

namespace {

// Returns where the scale ends on which the answer is drawn; 0: it is not drawn.
double scale_end(const StepSheet& s) {
    const LessonQuestion& q = *s.step.question;
    if (!s.solution.solvable(q.kind)) return 0;
    if (q.kind == QuestionKind::curve) return curve_scale(s.solution, s.step.title);
    const Answer& answer = s.solution.answer;
    return q.drawn ? guess_scale(answer.number, answer.unit, s.step.title) : 0;
}

std::string end_words(const StepSheet& s) {
    const std::string& unit = s.solution.answer.unit;
    return three_digits(scale_end(s)) + (unit.empty() ? "" : " ") + unit;
}

}  // namespace

std::string scale_of(const StepSheet& s) {
    if (scale_end(s) <= 0) return "";
    if (s.step.question->kind != QuestionKind::curve)
        return "Draw it on a line from 0 to " + end_words(s) + ".";
    const std::string values =
        join(s.step.question->options, ", ", [](const LessonQuestion::Option& o) { return o.label; });
    return "Draw a line over " + values + ", on a scale from 0 to " + end_words(s) + ".";
}

float scale_height(const StepSheet& s) {
    if (!s.step.question || scale_end(s) <= 0) return 0;
    return s.step.question->kind == QuestionKind::curve ? 190.0f : 46.0f;
}

void draw_scale(Canvas& c, Rect room, const StepSheet& s, const TextStyle& text, Color line) {
    const float label = text.size * 1.4f;
    const Rect labels = room.cut_bottom(label);
    const auto mark = [&](float x, const std::string& words) {
        const float w = c.text_width(words, text) + 1;
        c.text_in(
            {std::clamp(x - w / 2, labels.x, std::max(labels.x, labels.right() - w)), labels.y, w, label},
            words, text);
    };
    const LessonQuestion& q = *s.step.question;
    if (q.kind != QuestionKind::curve) {
        const float y = room.bottom() - 6;
        c.line({room.x, y}, {room.right(), y}, line, 1.5f);
        constexpr int kTenths = 10;
        for (int i = 0; i <= kTenths; ++i) {
            const float x = room.x + room.w * static_cast<float>(i) / kTenths;
            c.line({x, y - (i % 5 == 0 ? 10.0f : 5.0f)}, {x, y}, line, 1.5f);
        }
        mark(room.x, "0");
        mark(room.right(), end_words(s));
        return;
    }
    c.text_in(room.cut_top(label), end_words(s), text);
    c.line({room.x, room.y}, {room.x, room.bottom()}, line, 1.5f);
    c.line({room.x, room.bottom()}, {room.right(), room.bottom()}, line, 1.5f);
    const float step = room.w / static_cast<float>(q.options.size());
    for (std::size_t i = 0; i < q.options.size(); ++i) {
        const float x = room.x + step * (static_cast<float>(i) + 0.5f);
        c.line({x, room.y}, {x, room.bottom()}, line.alpha(0.4f), 1);
        mark(x, q.options[i].label);
        if (static_cast<int>(i) != q.given) continue;
        const double share = s.solution.options[i].number / scale_end(s);
        c.circle({x, room.bottom() - room.h * static_cast<float>(share)}, 4, text.color);
    }
}

std::vector<std::string> goals_of(const StepSheet& s) {
    std::vector<std::string> out;
    for (const TaskGoal& g : s.step.task->goals) out.push_back(wanted_of(g));
    const int edits = s.step.task->edits;
    out.push_back("You may change " + allowed_text(*s.step.task) + (edits > 0 ? ": at most " : ".")
                  + (edits > 0 ? std::to_string(edits) + (edits == 1 ? " choice." : " choices.") : ""));
    return out;
}

std::string solution_of(const StepSheet& s) {
    return sets_text(s.step.task->solution);
}

bool picture_answers(const StepSheet& s) {
    const std::string& view = s.step.scene.view;
    const bool proposes = view == view_of(ViewId::search).name || view == view_of(ViewId::compare).name;
    return s.hidden_answer.covers || (proposes && !s.step.question);
}

std::optional<AskedPicture> asked_picture_of(const StepSheet& s, const Presets& presets) {
    if (!s.step.question || s.step.scene.view.empty()) return std::nullopt;
    const AskedPlans asked = asked_plans(*s.step.question, s.solution);
    if (asked.first < 0) return std::nullopt;
    const AskedPlan& first = asked.plans[static_cast<std::size_t>(asked.first)];
    AskedPicture out{"With " + sets_text(first.sets) + ":", plan_with(s.plan, first.sets, presets)};
    out.plan.name = s.step.title;
    return out;
}

PictureRequest picture_request_of(const StepSheet& s, bool open) {
    PictureRequest request;
    const auto views = picture_views();
    request.view = s.step.scene.view;
    if (std::find(views.begin(), views.end(), request.view) == views.end()) request.view = kDashboardName;
    request.page = s.step.scene.page;
    request.size = kPictureSize;
    request.task = s.step.task;
    request.theme = ThemeId::light;
    request.brief = true;
    const bool asks = open && s.step.question && s.step.question->kind == QuestionKind::ranks;
    if (open) request.hidden_answer = s.hidden_answer;
    request.uncolored = asks;
    if (s.against) request.compared = {*s.against};
    if (!asks && s.step.scene.rank < s.evaluation.mesh.world) request.rank = s.step.scene.rank;
    for (const GroupKind kind : all_of<GroupKind>())
        if (!asks && name_of(kind) == s.step.scene.axis) request.group = kind;
    return request;
}

bool moves_pieces(const StepSheet& s) {
    const LessonScene& scene = s.step.scene;
    return scene.view == view_of(ViewId::mesh).name && scene.page == "fold";
}

PictureRequest asked_request_of(const StepSheet& s) {
    PictureRequest request = picture_request_of(s, false);
    request.rank = -1;  // the step's own plan has it
    if (moves_pieces(s)) request.compared = {s.plan};
    return request;
}

}  // namespace pentamesh::ui
