#include "app/ui/lesson/lesson_panel.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/teach/lesson.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

using Kind = LessonAction::Kind;

float line_of_words(const LessonSession& session, float size) {
    return std::round(size * (session.tight ? 1.35f : 1.5f));
}

struct Pen {
    Ui& ui;
    const Scene& scene;
    LessonSession& session;
    float size;
    Rect room;  // the rest, unbounded below
    Rect view;  // the visible part of it
    LessonAction action;
    bool measures = false;  // nothing is drawn, nothing can be pressed
    bool to_room = true;    // a room sees it, whose votes can be counted

    [[nodiscard]] float line() const { return line_of_words(session, size); }
    // Returns a gap of that height, or of half where the room is tight.
    [[nodiscard]] float gap(float height) const { return session.tight ? std::round(height * 0.5f) : height; }
    void words(std::string_view text, Tone tone = Tone::text) {
        room.cut_top(rich_text(ui, room, text, {size, line(), std::round(size * 0.7f), tone}, !measures));
    }
    [[nodiscard]] Hit area(std::string_view name, Rect r, std::uint64_t index = 0, bool enabled = true,
                           bool focusable = true) {
        return measures ? Hit{} : ui.area(name, r, index, enabled, focusable);
    }
    [[nodiscard]] bool link(std::string_view name, Vec2 at, std::string_view label, float font = 12) {
        return !measures && ui.link(name, at, label, 0, font);
    }
    void head(std::string_view text, Color color) {
        TextStyle s = ui.style(size, Tone::text, Face::semibold);
        s.color = color;
        const Rect row = room.cut_top(line());
        if (!measures) ui.canvas().text_in(row, text, s);
    }
    // A control that the keyboard reached is brought into view.
    void keep_seen(const Hit& hit, Rect r) {
        if (!hit.focused || !ui.state().focus_visible) return;
        if (r.bottom() > view.bottom()) session.scroll += r.bottom() - view.bottom() + 8;
        if (r.y < view.y) session.scroll -= view.y - r.y + 8;
    }
};

// Draws one row to press: its mark says whether it was chosen, is right or wrong; the words say it too.
bool draw_choice(Pen& p, std::string_view name, std::uint64_t index, std::string_view label,
                 std::string_view remark, bool chosen, bool right) {
    const StepState& state = p.session.state();
    Canvas& c = p.ui.canvas();
    const Theme& t = p.ui.theme();
    const float pad = 10, mark_w = 22;
    const float votes_w = votes_width(p.ui, state, p.size);
    const float text_w = p.room.w - 2 * pad - mark_w - votes_w;
    std::string text(label);
    if (state.shown() && !remark.empty()) text += "  (" + std::string(remark) + ")";
    const RichStyle style{p.size, p.line(), 4, Tone::text};
    const float above = p.gap(6);
    const float h = rich_text(p.ui, {0, 0, text_w, 0}, text, style, false) + 2 * above;
    const Rect r = p.room.cut_top(h);
    p.room.cut_top(p.gap(6));
    if (p.measures) return false;
    const Hit hit = p.ui.area(name, r, index, !state.shown());
    c.rect(r, t.raised, 6);
    if (votes_w > 0)
        draw_votes(p.ui, r, {r.right() - pad - votes_w, r.y, votes_w, r.h}, state,
                   static_cast<std::size_t>(index), p.size);
    const bool missed = state.missed == static_cast<int>(index);
    const bool judged = (state.shown() && (right || chosen)) || missed;
    const Color edge = judged                  ? (right && !missed ? t.good : t.bad)
                       : hit.hovered || chosen ? t.secondary
                                               : t.hairline;
    c.frame(r, edge, judged || chosen ? 2.0f : 1.0f, 6,
            judged && (!right || missed) ? Dash::dashed : Dash::solid);
    const Vec2 at{r.x + pad + 6, r.y + above + p.line() / 2};
    if (judged && right && !missed) {
        const std::array<Vec2, 3> tick{Vec2{at.x - 5, at.y}, Vec2{at.x - 1, at.y + 4},
                                       Vec2{at.x + 6, at.y - 5}};
        c.polyline(tick, t.good, 2);
    } else if (judged) {
        c.line({at.x - 4, at.y - 4}, {at.x + 4, at.y + 4}, t.bad, 2);
        c.line({at.x - 4, at.y + 4}, {at.x + 4, at.y - 4}, t.bad, 2);
    } else {
        c.frame({at.x - 5, at.y - 5, 10, 10}, t.secondary, 1.5f, 5);
        if (chosen) c.circle(at, 2.5f, t.text);
    }
    rich_text(p.ui, {r.x + pad + mark_w, r.y + above, text_w, h}, text, style);
    if (hit.focused) p.ui.focus_ring(r, 6);
    p.keep_seen(hit, r);
    return hit.clicked;
}

void draw_options(Pen& p, const LessonQuestion& q) {
    StepState& state = p.session.state();
    const Solution& s = p.session.solution;
    for (std::size_t i = 0; i < q.options.size(); ++i) {
        const std::string remark = i < s.of_options.size() ? s.of_options[i] : std::string();
        const int n = static_cast<int>(i);
        if (draw_choice(p, "lesson.option", i, q.options[i].label, remark, state.given.option == n,
                        s.option == n)) {
            state.given.option = n;
            if (judge(p.session)) p.action.kind = Kind::judged;
        }
    }
}

// Draws the axis as a chip that is dragged onto a tier; pressing a tier puts it there too.
void draw_tiers(Pen& p, const LessonQuestion& q) {
    StepState& state = p.session.state();
    const Solution& s = p.session.solution;
    const std::string axis = q.query.substr(q.query.find_last_of(' ') + 1);
    Rect row = p.room.cut_top(34);
    const float w = p.ui.canvas().text_width(axis, p.ui.style(p.size)) + 40;
    Rect chip = row.cut_left(w).inset(0, 3);
    const Hit drag = p.area("lesson.chip", chip, 0, !state.shown(), false);
    if (!p.measures)
        p.ui.canvas().text_in({chip.right() + 12, chip.y, row.w - 12, chip.h},
                              state.shown() ? "" : "drag it, or press a tier",
                              p.ui.style(12, Tone::secondary));
    const auto& tiers = p.scene.plan.cluster.tiers;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
        const Rect before = p.room;
        const std::string label = tier_label(p.scene.plan.cluster, static_cast<int>(i)) + " · "
                                  + bandwidth_text(bytes_per_s_of(tiers[i])) + " to "
                                  + thousands(domain_of(p.scene.plan.cluster, i));
        const int n = static_cast<int>(i);
        const bool pressed_row =
            draw_choice(p, "lesson.tier", i, label, "", state.given.option == n, s.tier == n);
        const Rect r{before.x, before.y, before.w, p.room.y - before.y};
        const bool dropped = drag.released && !state.shown() && r.contains(p.ui.frame().mouse);
        if (!pressed_row && !dropped) continue;
        state.given.option = n;
        if (judge(p.session)) p.action.kind = Kind::judged;
    }
    if (p.measures) return;
    if (drag.held) chip = {chip.x + drag.drag.x, chip.y + drag.drag.y, chip.w, chip.h};
    Canvas& c = p.ui.canvas();
    c.rect(chip, p.ui.theme().raised, 6);
    c.frame(chip, drag.hovered || drag.held ? p.ui.theme().text : p.ui.theme().secondary, 1, 6);
    for (const GroupKind kind : all_of<GroupKind>())
        if (name_of(kind) == axis)
            p.ui.swatch({chip.x + 10, chip.center().y - 5}, color_of(p.ui.theme(), kind));
    c.text_in({chip.x + 28, chip.y, chip.w - 30, chip.h}, axis, p.ui.style(p.size));
}

void draw_entry(Pen& p, const LessonQuestion& q) {
    StepState& state = p.session.state();
    const bool ranks = q.kind == QuestionKind::ranks;
    if (ranks) {
        std::string picked =
            state.picked.empty() ? "Click GPUs in the mesh; a second click takes one back." : "Picked: ";
        for (std::size_t i = 0; i < state.picked.size(); ++i)
            picked += (i == 0 ? "" : ", ") + thousands(state.picked[i]);
        if (!state.picked.empty() && !state.shown()) picked += ". A second click takes one back.";
        p.room.cut_top(rich_text(p.ui, p.room, picked, {12, 18, 4, Tone::secondary}, !p.measures) + 6);
    }
    if (q.kind == QuestionKind::curve)
        p.room.cut_top(draw_curve(p.ui, p.room, p.session, !p.measures));
    else if (q.drawn)
        p.room.cut_top(draw_guess(p.ui, p.room, p.session, p.size, !p.measures));
    if (state.shown()) return;
    Rect row = p.room.cut_top(30);
    p.room.cut_top(8);
    if (p.measures) return;
    const Rect check = row.cut_right(84);
    row.cut_right(8);
    const std::string& unit = p.session.solution.answer.unit;
    if (!ranks && !unit.empty()) {
        const float w = p.ui.canvas().text_width(unit, p.ui.style(13)) + 10;
        p.ui.canvas().text_in(row.cut_right(w), unit, p.ui.style(13, Tone::secondary), Align::center);
    }
    p.keep_seen({.focused = p.ui.state().focus == id_of("lesson.entry")}, check);
    // Before a room the letters are keys again once a guess was taken; else the next one is typed there.
    const bool again = std::exchange(p.session.refocus, false) && !p.to_room;
    const bool curve = q.kind == QuestionKind::curve;
    std::string_view hint = ranks   ? "or type them: 1, 4-7"
                            : curve ? "or type the points: 9, 8, 7"
                                    : "your guess";
    constexpr float kAroundHint = 24;
    if (p.ui.canvas().text_width(hint, p.ui.style(13)) + kAroundHint > row.w)  // no word of it is cut
        hint = ranks ? "1, 4-7" : curve ? "9, 8, 7" : hint;
    const bool entered = p.ui.text_field("lesson.entry", row, state.typed, hint, again);
    const bool pressed_check = p.ui.button("lesson.check", check, "Check");
    if (!entered && !pressed_check) return;
    const int tries = state.tries;
    if (judge(p.session)) p.action.kind = Kind::judged;
    if (!p.to_room || state.tries == tries) return;
    leave_text_field();
    p.ui.state().edit = p.ui.state().focus = 0;
    p.ui.state().focus_visible = false;
}

void draw_answer(Pen& p, const LessonQuestion& q) {
    const StepState& state = p.session.state();
    const Solution& s = p.session.solution;
    const Theme& t = p.ui.theme();
    p.room.cut_top(p.gap(6));
    if (!s.solvable(q.kind)) {
        p.words("This plan has no answer to that: " + s.answer.working, Tone::secondary);
        return;
    }
    if (state.answered) p.head(state.right ? "Right." : "Not quite.", state.right ? t.good : t.bad);
    if (state.answered && q.kind == QuestionKind::number)
        p.words("You said " + state.typed + ".", Tone::secondary);
    if (!state.mistake.empty()) p.words(state.mistake);
    std::string right = s.answer.text;
    if (s.option >= 0) right = q.options[s.option].label;
    const bool marked = q.kind == QuestionKind::choose || q.kind == QuestionKind::tier;
    const bool short_of_room = p.session.fold_words;
    // A curve has its figures at its points, an option its tick.
    if (q.kind != QuestionKind::curve && !(marked && short_of_room)) {
        p.words("The answer: **" + right + "**");
        p.room.cut_top(4);
    }
    if (!s.answer.working.empty() && !short_of_room) p.words(s.answer.working, Tone::secondary);
    if (!p.session.why.empty()) {
        p.room.cut_top(p.gap(8));
        p.words(p.session.why);
    }
    if (p.session.step + 1 == p.session.lesson.steps.size()) {  // the room's score closes the lesson
        p.room.cut_top(8);
        p.words("**" + summary_of(p.session) + "**");
    }
    if (!p.to_room)  // which has them at the picture
        p.room.cut_top(draw_asked(p.ui, p.room, p.session, p.size - 1, p.action, !p.measures));
    p.room.cut_top(p.gap(8));
    if (p.link("lesson.retry", p.room.min(), "ask again")) p.action.kind = Kind::retry;
    p.room.cut_top(20);
}

std::size_t options_of(const Pen& p, const LessonQuestion& q) {
    return q.kind == QuestionKind::tier ? p.scene.plan.cluster.tiers.size() : q.options.size();
}

void draw_question(Pen& p, const LessonQuestion& q) {
    const float top = p.room.y;
    if (!p.session.fold_words) {
        p.room.cut_top(p.gap(14));
        if (!p.measures)
            p.ui.canvas().line({p.room.x, p.room.y}, {p.room.right(), p.room.y}, p.ui.theme().hairline);
        p.room.cut_top(p.gap(12));
    }
    if (!p.session.state().shown()) {
        const Rect head = p.room.cut_top(20);
        if (!p.measures) p.ui.section({head.x, head.y, head.w, 16}, "BEFORE YOU LOOK");
    }
    p.words(p.session.prompt);
    p.room.cut_top(p.gap(8));
    if (q.kind == QuestionKind::choose)
        draw_options(p, q);
    else if (q.kind == QuestionKind::tier)
        draw_tiers(p, q);
    else
        draw_entry(p, q);
    const StepState& counted = p.session.state();
    const bool by_option = q.kind == QuestionKind::choose || q.kind == QuestionKind::tier;
    // An answer with little room has no button for it: only V counts once more.
    const bool counts = p.to_room && !counted.shown(), counted_before = !counted.votes.empty();
    if (by_option && (counts || counted.counting || (counted_before && !p.session.tight)))
        p.room.cut_top(draw_counting(p.ui, p.room, p.session.state(), options_of(p, q), !p.measures));
    // The panel scrolls down to the end of the answer, but keeps the question in view.
    const auto follow = [&] {
        if (!p.measures && std::exchange(p.session.follow, false))
            p.session.scroll += held_between(p.room.y - p.view.bottom(), 0.0f, top - p.view.y);
    };
    if (p.session.state().shown()) {
        draw_answer(p, q);
        follow();
    } else {
        if (!p.session.state().remark.empty()) {
            p.words(p.session.state().remark);
            p.room.cut_top(4);
        }
        if (p.link("lesson.reveal", p.room.min() + Vec2{0, 2}, "show the answer"))
            p.action.kind = Kind::reveal;
        p.room.cut_top(22);
        follow();  // remark about a wrong answer
    }
}

void draw_errors(Pen& p) {
    const auto& errors = p.session.errors;
    if (errors.empty() && p.session.scene_error.empty()) return;
    p.head(errors.empty() ? "This step's scene does not fit" : "The file has mistakes", p.ui.theme().bad);
    for (std::size_t i = 0; i < errors.size() && i < 6; ++i)
        p.words((errors[i].line > 0 ? "line " + std::to_string(errors[i].line) + ": " : "")
                    + errors[i].message,
                Tone::secondary);
    if (errors.size() > 6) p.words(and_more(errors.size() - 6), Tone::secondary);
    if (!p.session.scene_error.empty()) p.words(p.session.scene_error, Tone::secondary);
    p.room.cut_top(12);
}

const RoomSoftware* room_software(const Lesson& lesson) {
    const auto at = std::ranges::find_if(
        kRoomSoftware, [&](const RoomSoftware& r) { return lesson.software == r.software; });
    return at == kRoomSoftware.end() ? nullptr : &*at;
}

// Asks once what the room runs: the plans of the steps, their answers and words follow.
void draw_software(Pen& p) {
    const Lesson& lesson = p.session.lesson;
    const bool first = p.session.step == 0 && (!lesson.software || !p.to_room);
    if (!may_ask_software(lesson) || (!first && !p.session.asks_software)) return;
    constexpr float kWidest = 400;
    const Rect head = p.room.cut_top(18), row = p.room.cut_top(26);
    p.room.cut_top(10);
    if (p.measures) return;
    p.ui.section(head, "WHAT DO YOU RUN?");
    std::array<std::string_view, kRoomSoftware.size()> names;
    std::ranges::transform(kRoomSoftware, names.begin(), &RoomSoftware::name);
    const RoomSoftware* now = room_software(lesson);
    const int chosen = now == nullptr ? -1 : static_cast<int>(now - kRoomSoftware.data());
    const Rect segments{row.x, row.y, std::min(row.w, kWidest), row.h};
    const int pressed = p.ui.segments("lesson.software", segments, names, chosen);
    if (pressed != chosen) p.action = {Kind::run_by, static_cast<std::size_t>(pressed)};
}

void draw_head(Ui& ui, Rect& room, LessonSession& session, LessonAction& action) {
    Rect row = room.cut_top(18);
    std::string place = "LESSON";
    if (!session.lesson.steps.empty())
        place =
            "STEP " + std::to_string(session.step + 1) + " OF " + std::to_string(session.lesson.steps.size());
    if (session.lesson.minutes > 0) place += "  ·  " + std::to_string(session.lesson.minutes) + " MIN";
    ui.section(row, place);
    if (const RoomSoftware* now = room_software(session.lesson); now != nullptr && session.step > 0) {
        const float after = ui.canvas().text_width(place, ui.style(11.5f, Tone::text, Face::semibold)) + 14;
        if (ui.link("lesson.run_by", {row.x + after, row.y}, now->name))
            session.asks_software = !session.asks_software;
    }
    const float w = ui.canvas().text_width("leave", ui.style(12)) + 2;
    if (ui.link("lesson.leave", {row.right() - w, row.y}, "leave")) action.kind = Kind::leave;
    const Rect title = room.cut_top(22);
    if (ui.canvas().text_in(title, session.lesson.title, ui.title()) && ui.hovers(title))
        ui.tooltip(session.lesson.title);
    room.cut_top(6);
}

// The step marks controls of the plan panel, for which the window has no room next to this one: a link shows
// it.
void draw_way_to_plan(Pen& p, const LessonStep& step) {
    static constexpr std::array<std::string_view, 4> kOfPlan{"layout.", "mod.", "order.", "plan."};
    const auto of_plan = [](std::string_view name) {
        return std::any_of(kOfPlan.begin(), kOfPlan.end(), [&](auto k) { return name.starts_with(k); });
    };
    const std::vector<std::string> marked = marked_controls(step);
    if (!p.session.plan_hidden || std::none_of(marked.begin(), marked.end(), of_plan)) return;
    const Rect row = p.room.cut_top(p.line());
    if (p.link("lesson.show_plan", row.min(), "What is marked is in the plan: show it", p.size))
        p.action.kind = Kind::show_plan;
    p.room.cut_top(std::round(p.size * 0.7f));
}

// Links lead to the step where the lesson was left, and to the step's plan where it was changed.
void draw_ways_back(Pen& p, const LessonStep& step) {
    const auto way = [&](std::string_view name, const std::string& label, LessonAction action) {
        const Rect row = p.room.cut_top(p.line() + 4);
        if (p.link(name, row.min(), label)) p.action = action;
    };
    // It is an offer to one who begins: no room wants it, nor does one who has begun.
    const StepState& s = p.session.state();
    const bool begun = s.shown() || s.tries > 0 || s.given.option >= 0 || !s.typed.empty()
                       || !s.picked.empty() || s.hints > 0 || p.session.plan_changed;
    if (p.session.step == 0 && p.session.reached > 0 && !begun && !p.to_room)
        way("lesson.continue", "You came to step " + std::to_string(p.session.reached + 1) + ": go on there",
            {Kind::go_on, p.session.reached});
    if (p.session.plan_changed && !step.task)
        way("lesson.own_plan", "You changed the plan: back to the step's own", {Kind::restart, 0});
}

// The link folds the rest of the words, or shows them.
void draw_more(Pen& p) {
    if (p.session.more.empty() || p.session.fold_words) return;
    const Rect row = p.room.cut_top(p.line());
    if (p.link("lesson.more", row.min(), p.session.show_more ? "less  M" : "more  M"))
        p.action.kind = Kind::more;
    p.room.cut_top(std::round(p.size * 0.5f));
    if (p.session.show_more) p.words(p.session.more);
}

// A task's plan may have problems that are none of its goals: the line of figures counts them, the words say
// which. A room reads their titles, so that the type stays large.
void draw_problems(Pen& p) {
    constexpr std::size_t kMost = 2;
    std::size_t drawn = 0, all = 0;
    for (const Problem& problem : p.scene.evaluation.problems) {
        if (problem.severity == Severity::info) continue;
        if (++all > kMost) continue;
        ++drawn;
        p.words((problem.severity == Severity::error ? "**A problem:** " : "**A warning:** ")
                    + (p.to_room ? std::string(title_of(problem.code)) + "." : problem.message),
                Tone::secondary);
    }
    if (all > drawn) p.words(and_more(all - drawn), Tone::secondary);
}

void draw_step(Pen& p) {
    draw_errors(p);
    const LessonStep* step = p.session.current();
    if (step == nullptr) return;
    const TextStyle s = p.ui.style(p.size + 3, Tone::text, Face::semibold);
    const float line = std::round(s.size * 1.35f);
    Canvas& c = p.ui.canvas();
    p.room.cut_top((p.measures ? c.paragraph_height(p.room.w, step->title, s, line)
                               : c.paragraph(p.room, step->title, s, line))
                   + p.gap(8));
    draw_ways_back(p, *step);
    draw_software(p);
    if (!p.session.fold_words) p.words(p.session.words);
    // In a room its first words are enough: the reason stands in the panel and on paper.
    if (const KeptSoftware& own = p.session.keeps_software; !own.whose.empty())
        p.words(p.to_room ? own.whose + "." : own.sentence(), Tone::secondary);
    draw_more(p);
    draw_way_to_plan(p, *step);
    if (step->question) draw_question(p, *step->question);
    if (!step->task) return;
    p.room.cut_top(draw_task(p.ui, p.room, p.session, p.size, p.action.kind, !p.measures));
    draw_problems(p);
}

// A ring this small is drawn rounder as a rounded frame.
void draw_circle(Ui& ui, Vec2 at, float radius) {
    ui.canvas().frame({at.x - radius, at.y - radius, 2 * radius, 2 * radius}, ui.theme().secondary, 1.5f,
                      radius);
}

void draw_foot(Ui& ui, Rect foot, LessonSession& session, LessonAction& action) {
    const std::size_t n = session.lesson.steps.size();
    const bool last = session.step + 1 >= n, goes_on = last && !session.next_title.empty();
    const Rect back = foot.cut_left(72), next = foot.cut_right(goes_on ? 104.0f : 72.0f);
    if (ui.button("lesson.back", back, "Back", 0, session.can_go_back())) action.kind = Kind::back;
    if (ui.button("lesson.next", next, goes_on ? "Next lesson" : last ? "Done" : "Next"))
        action.kind = goes_on ? Kind::next_lesson : last ? Kind::leave : Kind::next;
    if (goes_on && ui.hovers(next)) ui.tooltip(session.next_title);
    const float pitch = std::min(16.0f, (foot.w - 16) / static_cast<float>(std::max<std::size_t>(1, n)));
    float x = foot.center().x - pitch * static_cast<float>(n) / 2;
    for (std::size_t i = 0; i < n; ++i, x += pitch) {
        const Rect dot{x, foot.y, pitch, foot.h};
        const Hit hit = ui.area("lesson.step", dot, i);
        const bool here = i == session.step;
        const Vec2 at = dot.center();
        if (here)
            ui.canvas().circle(at, std::min(5.0f, pitch / 2), ui.theme().text);
        else if (session.states[i].answered || session.states[i].passed
                 || session.states[i].before != Mark::none)
            ui.canvas().circle(at, std::min(3.5f, pitch / 2), ui.theme().secondary);
        else
            draw_circle(ui, at, std::min(3.5f, pitch / 2));
        if (hit.hovered) ui.tooltip(session.lesson.steps[i].title);
        if (hit.focused) ui.focus_ring(dot.inset(0, 6), 4);
        if (hit.clicked) action = {Kind::jump, i};
    }
}

}  // namespace

float lesson_height(Ui& ui, float width, const Scene& scene, const LessonSession& session, float size) {
    LessonSession shown = session;  // drawing may scroll it
    Pen p{ui, scene, shown, size, {0, 0, width - 8, 1e6f}, {0, 0, width, 1e6f}, {}, true};
    draw_step(p);
    return p.room.y;
}

Id first_of_question(QuestionKind kind) {
    return id_of(kind == QuestionKind::choose ? "lesson.option"
                 : kind == QuestionKind::tier ? "lesson.tier"
                                              : "lesson.entry");
}

LessonAction draw_lesson_panel(Ui& ui, Rect room, const Scene& scene, LessonSession& session, float size,
                               bool bare) {
    Pen p{ui, scene, session, size, room, room, {}, false, bare};
    Rect head, foot;
    if (!bare) {
        room = room.inset(16, 12);
        head = room.cut_top(46);
        foot = room.cut_bottom(30);
        room.cut_bottom(10);
    }
    ui.scrolls("lesson.words", room);
    session.scroll -= ui.take_swipe(room);
    session.scroll -= ui.take_wheel(room) * 3 * p.line();
    const float scrolled = session.scroll;
    p.room = {room.x, room.y - std::round(scrolled), room.w - 8, 1e6f};
    p.view = room;
    {
        const Canvas::Clip clip = ui.canvas().clip({room.x - 4, room.y, room.w + 8, room.h});
        draw_step(p);
    }
    const float used = p.room.y + std::round(scrolled) - room.y;
    session.scroll = held_between(session.scroll, 0.0f, used - room.h);
    if (used > room.h) {  // height of the rest
        const float h = std::max(24.0f, room.h * room.h / used);
        const float y = room.y + (room.h - h) * session.scroll / std::max(1.0f, used - room.h);
        ui.canvas().rect({room.right() - 3, y, 3, h}, ui.theme().faint, 1.5f);
    }
    if (session.scroll != scrolled) ui.state().wants_frame = true;
    if (!bare) {  // after the question: so the keyboard goes through them
        draw_foot(ui, foot, session, p.action);
        draw_head(ui, head, session, p.action);
    }
    const LessonStep* step = session.current();
    const bool open = step != nullptr && step->question && !session.state().shown();
    ui.state().focus_home = open ? first_of_question(step->question->kind) : id_of("lesson.next");
    return p.action;
}

namespace {

constexpr float kChipGap = 6, kAround = 20, kOneRow = 480, kHeadWidth = 144;

// A chip is as wide as its words; chips go on in the next row.
class ChipRow {
  public:
    ChipRow(Ui& ui, Rect room, float size, bool draw)
        : ui_(ui), room_(room), size_(size), draw_(draw), x_(room.x), y_(room.y) {}

    // Returns true if it was pressed.
    bool chip(std::uint64_t index, const std::string& label, bool chosen) {
        const TextStyle style = ui_.style(size_, chosen ? Tone::text : Tone::secondary);
        const float w = std::min(room_.w, std::ceil(ui_.canvas().text_width(label, style)) + kAround);
        if (x_ > room_.x && x_ + w > room_.right()) x_ = room_.x, y_ += height() + kChipGap;
        const Rect r{x_, y_, w, height()};
        x_ += w + kChipGap;
        if (!draw_) return false;
        const Hit hit = ui_.area("lesson.asked", r, index);
        const Theme& t = ui_.theme();
        ui_.canvas().rect(r, t.raised, 6);
        ui_.canvas().frame(r,
                           chosen        ? t.text
                           : hit.hovered ? t.secondary
                                         : t.hairline,
                           chosen ? 2.0f : 1.0f, 6);
        if (ui_.canvas().text_in(r.inset(10, 0), label, style) && hit.hovered) ui_.tooltip(label);
        if (hit.focused) ui_.focus_ring(r, 6);
        return hit.clicked;
    }
    // Returns the width of a row of all of them.
    [[nodiscard]] static float width_of(Ui& ui, const std::vector<std::string>& labels, float size) {
        float out = 0;
        for (const std::string& label : labels)
            out += std::ceil(ui.canvas().text_width(label, ui.style(size))) + kAround + kChipGap;
        return out - kChipGap;
    }
    // Returns what is left of the last row.
    [[nodiscard]] Rect rest() const { return {x_ + kChipGap, y_, room_.right() - x_ - kChipGap, height()}; }
    [[nodiscard]] float used() const { return y_ + height() - room_.y; }

  private:
    Ui& ui_;
    Rect room_;
    float size_;
    bool draw_;
    float x_, y_;

    [[nodiscard]] float height() const { return std::round(size_ * 2); }
};

}  // namespace

float draw_asked(Ui& ui, Rect room, const LessonSession& session, float size, LessonAction& action,
                 bool draw) {
    const float top = room.y;
    const auto& plans = session.asked.plans;
    if (plans.empty() || !session.state().shown()) return 0;
    room.cut_top(8);
    const bool one_row = room.w >= kOneRow;
    // If the words of the options take more than a row, the picture would pay for it: their settings
    // stand there, where those of each are shorter. Some by their words and some by settings would read as if
    // they were of different questions.
    std::vector<std::string> labels{"as it was"}, settings{"as it was"};
    bool shorter = true;
    for (const AskedPlan& p : plans) {
        labels.push_back(p.label);
        settings.push_back(sets_text(p.sets));
        shorter = shorter && settings.back().size() < p.label.size();
    }
    const float beside = one_row ? room.w - kHeadWidth : room.w;
    const auto fits = [&](const std::vector<std::string>& in, float width) {
        return ChipRow::width_of(ui, in, size) <= width;
    };
    if (shorter && !fits(labels, beside)) labels = std::move(settings);
    // The head gives its place to chips that would need another row for it.
    const bool headed = !one_row || fits(labels, beside);
    const Rect head = one_row ? Rect{room.x, room.y, kHeadWidth, std::round(size * 2)} : room.cut_top(20);
    if (draw && headed) ui.section(head, "THE PICTURE SHOWS");
    Rect chips = room;
    if (one_row && headed) chips.cut_left(kHeadWidth);
    ChipRow row(ui, chips, size, draw);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const bool chosen = session.asked_shown == static_cast<int>(i) - 1;
        if (row.chip(i, labels[i], chosen)) action = {LessonAction::Kind::ask_plan, i};
    }
    room.cut_top(row.used() + 6);
    std::string says = "V: the plan that was asked about, or the step's own.";
    if (session.asked_shown >= 0) {
        const AskedPlan& shown = plans[static_cast<std::size_t>(session.asked_shown)];
        const std::string sets = sets_text(shown.sets);
        if (sets != shown.label) says = sets + ". " + says;
    }
    if (one_row) {  // V stands among the keys as well
        const TextStyle plain = ui.style(size - 1, Tone::secondary);
        if (draw && ui.canvas().text_width(says, plain) <= row.rest().w)
            ui.canvas().text_in(row.rest(), says, plain);
        return room.y - top;
    }
    const RichStyle style{std::max(10.0f, size - 1), std::round(size * 1.4f), 4, Tone::secondary};
    room.cut_top(rich_text(ui, room, says, style, draw) + 8);
    return room.y - top;
}

// Marks over the window: outlined controls, and the cover of a picture that would be the answer.

ControlName control_of(const std::string& text) {
    const std::size_t space = text.find_last_of(' ');
    ControlName out{text.substr(0, space), 0};
    if (space == std::string::npos) return out;
    const auto [end, error] = std::from_chars(text.data() + space + 1, text.data() + text.size(), out.index);
    if (error != std::errc() || end != text.data() + text.size()) return {text, 0};
    return out;
}

std::vector<std::string> marked_controls(const LessonStep& step) {
    if (!step.scene.highlight.empty() || !step.task) return step.scene.highlight;
    struct Control {
        std::string_view field, name;
    };
    static constexpr std::array kControls{Control{"layout.zero", "mod.zero"},
                                          Control{"layout.schedule", "mod.schedule"},
                                          Control{"layout.virtual_stages", "mod.schedule"},
                                          Control{"training.recompute", "mod.recompute"},
                                          Control{"training.micro_batch", "mod.batch"},
                                          Control{"training.offload", "mod.offload"}};
    std::vector<std::string> out;
    for (const std::string& field : step.task->allow) {
        const auto at = std::find_if(kControls.begin(), kControls.end(), [&](const Control& c) {
            return field == c.field || field.starts_with(std::string(c.field) + ".");
        });
        out.push_back(at == kControls.end() ? field : std::string(at->name));
    }
    return out;
}

std::optional<Rect> rect_of_marked(const UiState& state, const std::string& name) {
    const ControlName control = control_of(name);
    if (control.name != name) return state.rect_of(control.name, control.index);
    std::optional<Rect> out;
    for (std::uint64_t i = 0; const auto r = state.rect_of(name, i); ++i)
        out = out ? Rect{std::min(out->x, r->x), std::min(out->y, r->y),
                         std::max(out->right(), r->right()) - std::min(out->x, r->x),
                         std::max(out->bottom(), r->bottom()) - std::min(out->y, r->y)}
                  : *r;
    return out;
}

void draw_highlights(Ui& ui, const LessonSession& session) {
    const LessonStep* step = session.current();
    if (!session.open || step == nullptr) return;
    for (const std::string& name : marked_controls(*step))
        if (const auto r = rect_of_marked(ui.state(), name))
            ui.canvas().frame(r->inset(-4), ui.theme().text, 2, 8);
}

namespace {

constexpr int kMostVotes = 9999;

// Reads "21 6 3" or "21, 6, 3"; empty where it is no list of counts.
std::vector<int> parse_votes(std::string_view text) {
    std::vector<int> out;
    for (const std::string_view word : split_words(text, " \t\r,")) {
        std::int64_t n = -1;
        if (!parse_integer(word, n) || n < 0 || n > kMostVotes) return {};
        out.push_back(static_cast<int>(n));
    }
    return out;
}

// Takes the counts of so many options, or says why they do not fit. Those that come after the answer stand
// after the first ones.
void take_votes(StepState& state, std::size_t options) {
    std::vector<int> votes = parse_votes(state.votes_typed);
    if (votes.size() != options) {
        state.votes_refusal = "Type " + std::to_string(options) + " counts, one for each option.";
        return;
    }
    (state.shown() ? state.votes_after : state.votes) = std::move(votes);
    state.votes_typed.clear();
    state.votes_refusal.clear();
    state.counting = false;
}

}  // namespace

float draw_counting(Ui& ui, Rect room, StepState& state, std::size_t options, bool draw) {
    const float top = room.y;
    const Rect link = room.cut_top(22);
    if (draw && ui.link("lesson.count", link.min(), state.counting ? "no votes" : "count the votes"))
        state.counting = !state.counting;
    if (!state.counting) return room.y - top;
    const Rect field = room.cut_top(30);
    room.cut_top(6);
    if (draw
        && ui.text_field("lesson.votes", field, state.votes_typed, "a count for each option: 21 6 3",
                         false)) {
        take_votes(state, options);
        if (!state.counting) {  // the keys are the presenter's again
            ui.state().edit = ui.state().focus = 0;
            ui.state().focus_visible = false;
        }
    }
    if (!state.votes_refusal.empty()) {
        const Rect row = room.cut_top(20);
        if (draw) ui.canvas().text_in(row, state.votes_refusal, ui.style(12, Tone::secondary));
    }
    return room.y - top;
}

namespace {

// A room reads the counts from its last row.
TextStyle style_of_votes(const Ui& ui, float size) {
    return ui.style(std::max(15.0f, size + 1), Tone::text, Face::semibold);
}

// Returns "21", or "21 → 4" once a room was counted again.
std::string votes_text(const StepState& state, std::size_t option) {
    const auto count = [&](const std::vector<int>& votes) {
        return option < votes.size() ? std::to_string(votes[option]) : std::string();
    };
    const std::string first = count(state.votes), second = count(state.votes_after);
    return first + (first.empty() || second.empty() ? "" : " → ") + second;
}

}  // namespace

float votes_width(Ui& ui, const StepState& state, float size) {
    float w = 0;
    for (std::size_t i = 0; i < std::max(state.votes.size(), state.votes_after.size()); ++i)
        w = std::max(w, ui.canvas().text_width(votes_text(state, i), style_of_votes(ui, size)) + 8);
    return w;
}

void draw_votes(Ui& ui, Rect row, Rect figures, const StepState& state, std::size_t option, float size) {
    const auto& last = state.votes_after.empty() ? state.votes : state.votes_after;
    if (option >= last.size()) return;
    int most = 1;
    for (const std::vector<int>* votes : {&state.votes, &state.votes_after})
        for (const int n : *votes) most = std::max(most, n);
    const auto bar_of = [&](int n) {
        return Rect{row.x, row.y, row.w * static_cast<float>(n) / static_cast<float>(most), row.h};
    };
    const Theme& t = ui.theme();
    if (last[option] > 0) ui.canvas().rect(bar_of(last[option]), mix(t.raised, t.secondary, 0.34f), 6);
    if (!state.votes_after.empty() && option < state.votes.size()) {  // clear of the words
        const Rect first = bar_of(state.votes[option]);
        const float end = std::max(first.right() - 3, row.x + 5), y = row.bottom() - 3;
        ui.canvas().line({row.x + 4, y}, {end, y}, t.text, 2, Dash::dashed);
        ui.canvas().line({end, y - 6}, {end, y + 1}, t.text, 2);
    }
    ui.canvas().text_in(figures, votes_text(state, option), style_of_votes(ui, size), Align::right);
}

namespace {

struct TaskPen {
    Ui& ui;
    Rect room;
    float size;
    bool draw;
    bool tight = false;

    [[nodiscard]] float line() const { return std::round(size * (tight ? 1.35f : 1.5f)); }
    [[nodiscard]] float gap(float height) const { return tight ? std::round(height * 0.5f) : height; }
    void words(std::string_view text, Tone tone = Tone::text) {
        room.cut_top(rich_text(ui, room, text, {size, line(), std::round(size * 0.7f), tone}, draw));
    }
    bool link(std::string_view name, std::string_view label) {
        const bool pressed = draw && ui.link(name, room.min() + Vec2{0, 2}, label);
        room.cut_top(24);
        return pressed;
    }
};

// Draws a tick or a cross by shape; the words say it too.
void draw_goal(TaskPen& p, const GoalState& goal) {
    const Theme& t = p.ui.theme();
    Canvas& c = p.ui.canvas();
    const Vec2 at{p.room.x + 8, p.room.y + p.line() / 2};
    if (!p.draw) {
        // it is only measured
    } else if (goal.met) {
        const std::array<Vec2, 3> tick{Vec2{at.x - 5, at.y}, Vec2{at.x - 1, at.y + 4},
                                       Vec2{at.x + 6, at.y - 5}};
        c.polyline(tick, t.good, 2);
    } else {
        c.frame({at.x - 5, at.y - 5, 10, 10}, t.secondary, 1.5f, 2);
    }
    Rect text{p.room.x + 24, p.room.y, p.room.w - 24, p.room.h};
    const RichStyle style{p.size, p.line(), 4, goal.met ? Tone::secondary : Tone::text};
    p.room.cut_top(rich_text(p.ui, text, goal.text, style, p.draw) + 6);
}

void draw_state(TaskPen& p, const LessonTask& task, const LessonSession& session) {
    for (const GoalState& goal : session.task.goals) draw_goal(p, goal);
    p.room.cut_top(4);
    std::string changed = session.task.edits == 1 ? "1 choice changed"
                                                  : std::to_string(session.task.edits) + " choices changed";
    if (task.edits > 0) changed += " of at most " + std::to_string(task.edits);
    if (session.task.passed && p.tight) return;  // it is done: nothing need be changed
    p.words(changed + ". You may change " + allowed_text(task) + ".", Tone::secondary);
    p.room.cut_top(p.gap(8));
}

}  // namespace

float draw_task(Ui& ui, Rect room, LessonSession& session, float size, LessonAction::Kind& action,
                bool draw) {
    const LessonStep& step = *session.current();
    StepState& state = session.state();
    TaskPen p{ui, room, size, draw, session.tight};
    p.room.cut_top(p.gap(14));
    if (draw) ui.canvas().line({p.room.x, p.room.y}, {p.room.right(), p.room.y}, ui.theme().hairline);
    p.room.cut_top(p.gap(12));
    const Rect head = p.room.cut_top(16);
    if (draw) ui.section(head, "YOUR TASK");
    p.room.cut_top(4);
    p.words(session.prompt);
    p.room.cut_top(p.gap(8));
    draw_state(p, *step.task, session);
    if (session.task.passed) {
        TextStyle done = ui.style(size, Tone::text, Face::semibold);
        done.color = ui.theme().good;
        const Rect row = p.room.cut_top(p.line());
        const std::string words = state.helped      ? "Done, with the solution."
                                  : state.hints > 0 ? "Done, with hints."
                                                    : "Done.";
        if (draw) ui.canvas().text_in(row, words, done);
        p.words(session.why);
        p.room.cut_top(p.gap(8));
    }
    if (state.helped)
        p.words("The solution: **" + sets_text(step.task->solution) + "**. Ctrl+Z takes it back.",
                Tone::secondary);
    for (std::size_t i = 0; i < std::min(state.hints, session.hints.size()); ++i)
        p.words("**Hint " + std::to_string(i + 1) + ".** " + session.hints[i], Tone::secondary);
    if (state.hints > 0) p.room.cut_top(6);
    if (!session.task.passed && state.hints < session.hints.size()
        && p.link("lesson.hint", state.hints == 0 ? "a hint" : "another hint"))
        ++state.hints, ui.state().wants_frame = true;
    if (!session.task.passed && state.hints >= session.hints.size()
        && p.link("lesson.solve", "show a solution"))
        action = LessonAction::Kind::solve;
    if (session.task.edits > 0 && p.link("lesson.restart", "start again"))
        action = LessonAction::Kind::restart;
    return p.room.y - room.y;
}

}  // namespace pentamesh::ui
