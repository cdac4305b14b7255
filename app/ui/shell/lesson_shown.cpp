// After an answer the views show the plan that was asked about. It is no edit: the step's own plan waits with
// its history, is pinned as A, and comes back.
#include "app/ui/shell/lesson_desk.h"
#include "core/base/error.h"
#include "core/io/own_presets.h"
#include "core/plan/names.h"

#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

// Returns the axis that the sets touch first: its groups are coloured then.
std::optional<GroupKind> touched_axis(const std::vector<std::string>& sets) {
    for (const std::string& set : sets) {
        std::string field = set.substr(0, set.find('='));
        if (field.starts_with("layout.")) field.erase(0, std::string("layout.").size());
        if (const auto kind = parse_name<Axis>(field) ? axis_named(field) : std::nullopt) return kind;
    }
    return std::nullopt;
}

}  // namespace

// Shows plan `index` of those that were asked about; -1: the step's own.
void LessonDesk::show_asked(int index) {
    if (!lesson_.open || index >= static_cast<int>(lesson_.asked.plans.size())) return;
    end_asked();
    if (index < 0) return;
    const AskedPlan& asked = lesson_.asked.plans[static_cast<std::size_t>(index)];
    Plan plan;
    try {
        plan = plan_with(lesson_.start, asked.sets, window_.presets);
    } catch (const Error& e) {
        window_.say(std::string("This plan cannot be shown: ") + e.what());
        return;
    }
    plan.name = lesson_.start.name;
    if (!pinned_before_) {
        pinned_before_ = window_.views.compare.kept;
        window_.views.compare.kept.clear();
        window_.views.compare.pin(lesson_.start, lesson_.start_evaluation);
        pinned_asked_ = true;
    }
    const Document own = window_.document;
    aside_ = own;
    window_.document = Document(std::move(plan));
    window_.document.continue_after(own.revision());
    lesson_.asked_shown = index;
    const Selection before = window_.selection;
    if (const auto kind = touched_axis(asked.sets)) {
        window_.selection.choose(*kind);
        group_before_ = before.group;
    }
    window_.dirty = window_.state.redraw_all = true;
}

// The step's own plan comes back. What was changed in the other one is kept for redo.
void LessonDesk::end_asked() {
    lesson_.asked_shown = -1;
    if (!aside_) return;
    const std::uint64_t seen = window_.document.revision();
    std::optional<Plan> changed;
    if (window_.document.modified()) changed = window_.document.plan();
    window_.document = std::move(*aside_);
    aside_.reset();
    window_.document.rewrite([this](const Plan& plan) { return with_same_meaning(plan, window_.presets); });
    window_.document.continue_after(seen);
    if (changed) window_.document.looked_at(std::move(*changed), "the plan that was asked about");
    if (std::exchange(pinned_asked_, false)) unpin();
    if (group_before_) window_.selection.choose(*std::exchange(group_before_, std::nullopt));
    window_.dirty = window_.state.redraw_all = true;
}

// Shows what was asked about, as soon as the answer is seen.
void LessonDesk::show_first_asked() {
    make_texts(lesson_, window_.document.plan(), window_.evaluation, window_.presets, window_.evaluated);
    if (lesson_.asked.first >= 0) show_asked(lesson_.asked.first);
}

// V counts the votes of a room before the answer; after it, it goes there and back.
void LessonDesk::turn_asked() {
    if (!lesson_.state().shown()) {
        lesson_.state().counting = !lesson_.state().counting;
        if (lesson_.state().counting) window_.state.focus = id_of("lesson.votes");
        window_.state.focus_visible = true;
        window_.dirty = true;
        return;
    }
    if (lesson_.asked_shown >= 0)
        show_asked(-1);
    else
        show_asked(std::max(0, lesson_.asked.first));
}

void LessonDesk::back_to_scene() {
    if (lesson_.asked_shown >= 0)
        end_asked();
    else
        show_view();
}

void LessonDesk::add_step_commands(std::vector<Command>& commands) {
    commands.push_back(in_menu(
        "Learn", "lesson.more", "Read more of the step", {Key::m},
        [this] {
            act({LessonAction::Kind::more, 0});
        },
        [this] { return lesson_.open && !lesson_.more.empty(); }, [this] { return lesson_.show_more; }));
    commands.push_back(in_menu(
        "Learn", "lesson.asked", "Count the votes, or show the plan that was asked about", {Key::v},
        [this] { turn_asked(); },
        [this] {
            const LessonStep* step = lesson_.open ? lesson_.current() : nullptr;
            if (step == nullptr || !step->question) return false;
            const QuestionKind kind = step->question->kind;
            return lesson_.state().shown() ? !lesson_.asked.plans.empty()
                                           : kind == QuestionKind::choose || kind == QuestionKind::tier;
        },
        [this] { return lesson_.asked_shown >= 0; }));
}

}  // namespace pentamesh::ui
