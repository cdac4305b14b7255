// Presenter mode: one view and the lesson's words large; the plan and the notes on a side that is shown when
// it is asked for; a blank screen, a spotlight about the pointer.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rich_text.h"
#include "app/ui/shell/shell.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kFoot = 40, kFigures = 28, kSpot = 120;

// All of the window is larger already; the words, which are read from the last row, a little more so.
float presenter_size(float width) {
    return width >= 800 ? 16.0f : 13.0f;
}
constexpr float kLeastSize = 10, kReadable = 13;       // from the last row
constexpr std::array kWordsShares{0.4f, 0.5f, 0.58f};  // of the width; the wider ones once it gets tight
float words_width(float room, float share) {
    return std::clamp(room * share, 260.0f, 760.0f);
}
constexpr RichStyle kNotesStyle{13, 20, 8, Tone::text};
std::string notes_text(const LessonSession& lesson) {
    return lesson.notes.empty() ? "No notes for this step." : lesson.notes;
}
Rect inside_words(Rect words, float size) {
    return words.inset(size * 1.2f, 20);
}

}  // namespace

// Words and question of a step are seen at once: they get smaller until they are, and wider from the middle
// of the way on.
void Shell::fit_words(Ui& ui, float width, float height, const Scene& scene) {
    const float most = presenter_size(ui.frame().size.x);
    const StepState none;
    const StepState& s = lesson_.current() != nullptr ? lesson_.state() : none;
    std::string of = std::to_string(evaluated_);
    for (const float v : {width, height, most, static_cast<float>(lesson_.step), static_cast<float>(s.hints),
                          static_cast<float>(s.tries), static_cast<float>(s.shown() ? 1 : 0),
                          static_cast<float>(s.remark.size()), static_cast<float>(lesson_.words.size()),
                          static_cast<float>(lesson_.errors.size())})
        of += " " + std::to_string(v);
    if (presenter_.fits == of) return;
    presenter_.fits = of;
    const auto fits = [&](float size, std::size_t share, bool folded) {
        presenter_.words_size = size;
        presenter_.words_share = kWordsShares[share];
        lesson_.fold_words = folded;
        const Rect inner = inside_words({0, 0, words_width(width, kWordsShares[share]), height}, size);
        return lesson_height(ui, inner.w, scene, lesson_, size) <= inner.h;
    };
    const auto found = [&](float from, float to, bool folded) {
        for (float size = from; size >= to; size -= 1)
            for (std::size_t i = 0; i < kWordsShares.size(); ++i)
                if (size <= most - 2 * static_cast<float>(i) && fits(size, i, folded)) return true;
        return false;
    };
    if (found(most, kReadable, false)) return;
    if (s.shown() && found(most, kReadable, true)) return;  // the words were read; the answer is not yet
    if (!found(kReadable - 1, kLeastSize, false)) (void)fits(kReadable, kWordsShares.size() - 1, s.shown());
}

std::optional<PlanEdit> Shell::draw_presenter(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    std::optional<PlanEdit> edit;
    lesson_.plan_hidden = false;  // the side is for whoever presents
    draw_presenter_foot(ui, room.cut_bottom(kFoot));
    // The room sees what an edit did: memory, step, MFU and, for a while, what the last change made of them.
    const Rect figures = room.cut_bottom(kFigures);
    ui.canvas().rect(figures, theme.panel);
    ui.canvas().line({0, figures.y}, {figures.right(), figures.y}, theme.hairline);
    draw_status(ui, figures, scene, -1, nullptr, veil_.covers_figures);
    const bool task = lesson_.current() != nullptr && lesson_.current()->task;
    if (presenter_.side || task) {  // a task cannot be done without the plan
        Rect side = room.cut_left(std::min(320.0f, room.w * 0.35f));
        ui.canvas().rect(side, theme.panel);
        ui.canvas().line({side.right() - 1, side.y}, {side.right() - 1, side.bottom()}, theme.hairline);
        // What whoever presents reads on another screen, the room does not see.
        if (!presenter_.apart && presenter_.side) {
            // As high as they are; the plan has the rest.
            const float notes =
                54 + rich_text(ui, side.inset(16, 0), notes_text(lesson_), kNotesStyle, false);
            draw_presenter_side(ui, side.cut_bottom(std::min(notes, side.h * 0.5f)));
        }
        edit = draw_plan(ui, side, scene);
    }
    if (lesson_.open) {
        fit_words(ui, room.w, room.h, scene);
        const Rect words = room.cut_right(words_width(room.w, presenter_.words_share));
        ui.canvas().rect(words, theme.panel);
        ui.canvas().line({words.x, words.y}, {words.x, words.bottom()}, theme.hairline);
        draw_lesson(ui, inside_words(words, presenter_.words_size), scene, presenter_.words_size, true);
    }
    draw_middle(ui, room, scene);
    draw_highlights(ui, lesson_);
    return edit;
}

void Shell::draw_presenter_side(Ui& ui, Rect notes) {
    ui.canvas().line({notes.x, notes.y}, {notes.right(), notes.y}, ui.theme().hairline);
    const Canvas::Clip clip = ui.canvas().clip(notes);
    notes = notes.inset(16, 12);
    ui.section(notes.cut_top(18), "NOTES");
    notes.cut_top(4);
    const Rewording as_it_is;
    const Reworded plain(as_it_is);
    rich_text(ui, notes, notes_text(lesson_), kNotesStyle);
}

void Shell::draw_presenter_foot(Ui& ui, Rect foot) {
    ui.canvas().rect(foot, ui.theme().panel);
    ui.canvas().line({0, foot.y}, {foot.right(), foot.y}, ui.theme().hairline);
    foot = foot.inset(16, 5);
    using Kind = LessonAction::Kind;
    const auto button = [&](std::string_view name, Rect r, std::string_view label, bool enabled = true) {
        return ui.button(name, r, label, 0, enabled, true);
    };
    const auto right = [&](std::string_view name, std::string_view label) {
        return button(name, foot.cut_right(ui.canvas().text_width(label, ui.style(13)) + 20), label);
    };
    if (right("present.leave", "Leave")) set_presenting(false);
    if (right("present.side", presenter_.apart ? "Plan N" : "Notes N")) presenter_.side = !presenter_.side;
    if (foot.w > 560) {
        if (right("present.spot", "Spot S")) presenter_.spotlight = !presenter_.spotlight;
        if (right("present.blank", "Blank B")) presenter_.blank = true;
    }
    const double spent = now_s_ - presenter_.begun_s;
    std::string time = clock_text(spent);
    if (lesson_.lesson.minutes > 0) time += " of " + std::to_string(lesson_.lesson.minutes) + " min";
    ui.canvas().text_in(foot.cut_right(100), time, ui.style(13, Tone::secondary), Align::center);
    if (!lesson_.open) return;
    const std::size_t n = lesson_.lesson.steps.size();
    if (button("present.back", foot.cut_left(60), "Back", lesson_.step > 0)) lesson_action_ = {Kind::back, 0};
    if (button("present.next", foot.cut_left(60), "Next", lesson_.step + 1 < n))
        lesson_action_ = {Kind::next, 0};
    foot.cut_left(8);
    const float pitch = std::min(18.0f, foot.w * 0.5f / static_cast<float>(std::max<std::size_t>(1, n)));
    for (std::size_t i = 0; i < n; ++i) {
        const Rect dot = foot.cut_left(pitch);
        const Hit hit = ui.area("present.step", dot, i);
        const float radius = std::min(i == lesson_.step ? 5.0f : 3.5f, pitch / 2);
        if (i == lesson_.step)
            ui.canvas().circle(dot.center(), radius, ui.theme().text);
        else if (lesson_.states[i].answered || lesson_.states[i].passed)
            ui.canvas().circle(dot.center(), radius, ui.theme().secondary);
        else
            ui.canvas().frame({dot.center().x - radius, dot.center().y - radius, 2 * radius, 2 * radius},
                              ui.theme().secondary, 1.5f, radius);
        if (hit.hovered) ui.tooltip(lesson_.lesson.steps[i].title);
        if (hit.focused) ui.focus_ring(dot.inset(0, 6), 4);
        if (hit.clicked) lesson_action_ = {Kind::jump, i};
    }
    foot.cut_left(12);
    if (foot.w > 80) ui.canvas().text_in(foot, lesson_.lesson.title, ui.style(13, Tone::secondary));
}

// Over everything: black, or all but the pointer's surroundings darkened.
void Shell::draw_presenter_cover(Ui& ui) {
    if (!presenter_.on || (!presenter_.blank && !presenter_.spotlight)) return;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const Vec2 size = ui.frame().size, at = ui.frame().mouse;
    if (presenter_.blank) {
        front.rect({0, 0, size.x, size.y}, rgb(0x000000));
        ui.tooltip({});
        return;
    }
    const Color dark = rgb(0x000000).alpha(0.6f);
    front.rect({0, 0, size.x, std::max(0.0f, at.y - kSpot)}, dark);
    front.rect({0, at.y + kSpot, size.x, std::max(0.0f, size.y - at.y - kSpot)}, dark);
    constexpr float kStrip = 2;  // the ring that is drawn over them hides their steps
    for (float y = -kSpot; y < kSpot; y += kStrip) {
        const float middle = y + kStrip / 2, half = std::sqrt(kSpot * kSpot - middle * middle);
        front.rect({0, at.y + y, std::max(0.0f, at.x - half), kStrip}, dark);
        front.rect({at.x + half, at.y + y, std::max(0.0f, size.x - at.x - half), kStrip}, dark);
    }
    front.frame({at.x - kSpot, at.y - kSpot, 2 * kSpot, 2 * kSpot}, ui.theme().link, 2, kSpot);
}

// The window fills the screen meanwhile, and is as it was afterwards. The clock goes on for whoever comes
// back.
void Shell::set_presenting(bool on) {
    if (presenter_.on == on) return;
    const bool restores = presenter_.made_full && fullscreen_;
    presenter_ = {.on = on, .begun_s = presenter_.begun_s > 0 ? presenter_.begun_s : now_s_};
    lesson_.fold_words = false;
    presenter_.apart = on && host_.has_second_screen && host_.has_second_screen();
    presenter_.made_full = on && !fullscreen_ && host_.set_fullscreen;
    if (presenter_.made_full || restores) host_.set_fullscreen(fullscreen_ = on);
    dirty_ = true;
}

void Shell::present_keys() {
    using Kind = LessonAction::Kind;
    if (pressed({Key::escape})) {
        if (presenter_.blank)
            presenter_.blank = false;
        else if (typed_)  // what had the keyboard lets go of it first
            leave_text_field();
        else if (!shows_lesson_view())
            show_lesson_view();
        else
            set_presenting(false);
        state_.focus = 0;
        state_.focus_visible = false;
        dirty_ = true;
        return;
    }
    const bool arrows = selection_.rank < 0 && !state_.focus_visible;
    if (arrows && pressed({Key::right})) do_lesson({Kind::next, 0});
    if (arrows && pressed({Key::left})) do_lesson({Kind::back, 0});
}

void Shell::make_present_command() {
    add({.id = "present",
         .title = "Present",
         .menu = "Learn",
         .chord = {.key = Key::f5},
         .run = [this] { set_presenting(!presenter_.on); },
         .checked = [this] { return presenter_.on; }});
}

void Shell::make_presenter_commands() {
    const auto on = [this] { return presenter_.on; };
    add({.id = "present.black",
         .title = "Present: blank screen",
         .menu = "Learn",
         .chord = {.key = Key::b},
         .separator = true,
         .run = [this] { presenter_.blank = !presenter_.blank; },
         .enabled = on});
    add({.id = "present.light",
         .title = "Present: spotlight",
         .menu = "Learn",
         .chord = {.key = Key::s},
         .run = [this] { presenter_.spotlight = !presenter_.spotlight; },
         .enabled = on});
    add({.id = "present.notes",
         .title = "Present: plan and notes",
         .menu = "Learn",
         .chord = {.key = Key::n},
         .run = [this] { presenter_.side = !presenter_.side; },
         .enabled = on});
    add({.id = "present.reveal",
         .title = "Present: show the answer",
         .menu = "Learn",
         .chord = {.key = Key::r},
         .run =
             [this] {
                 do_lesson({LessonAction::Kind::reveal, 0});
             },
         .enabled = [this] { return presenter_.on && lesson_.open; }});
    make_apart_commands();
}

}  // namespace pentamesh::ui
