// Presenter mode: one view and the lesson's words large; the plan and the notes on a side that is shown when
// it is asked for; a blank screen, a spotlight about the pointer.
#include "app/ui/kit/plot.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/shell/lesson_desk.h"
#include "core/advice/advice.h"
#include "render/canvas.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kSpot = 120;
constexpr float kApartSize = 15, kAskedSize = 13;

// All of the window is larger already; the words, which are read from the last row, a little more so.
float presenter_size(float width) {
    return width >= 800 ? 16.0f : 13.0f;
}
constexpr float kReadable = 13;     // from the last row
constexpr float kLeastPixels = 16;  // of type, where all of a step has no room else
// The words have a third of the window at most, the picture the rest; next to the plan they have less.
float words_width(float window, float room) {
    return std::clamp(std::min(window / 3, room * 0.4f), 260.0f, 760.0f);
}
constexpr RichStyle kNotesStyle{13, 20, 8, Tone::text};
std::string notes_text(const LessonSession& lesson) {
    return lesson.notes.empty() ? "No notes for this step." : lesson.notes;
}
Rect inside_words(Rect words, float size, bool tight) {
    return words.inset(size * 1.2f, tight ? 10.0f : 20.0f);
}

}  // namespace

// Words and question of a step are seen at once: they get smaller until they are. The words that were read
// give way to an answer first, then lines and gaps get smaller; only what is still too much is scrolled.
void LessonDesk::fit_words(Ui& ui, float width, float height, const Scene& scene) {
    const float most = presenter_size(ui.frame().size.x);
    if (!presenter_.on) {  // its button to leave was pressed in this frame: the window folds no words
        presenter_.words_size = most;
        return;
    }
    const float least = std::clamp(kLeastPixels / ui.frame().scale, 9.0f, 11.0f);
    const StepState none;
    const StepState& s = lesson_.current() != nullptr ? lesson_.state() : none;
    std::string of = std::to_string(window_.evaluated);
    for (const float v : {width,
                          height,
                          most,
                          static_cast<float>(lesson_.step),
                          static_cast<float>(s.hints),
                          static_cast<float>(s.tries),
                          static_cast<float>(s.shown() ? 1 : 0),
                          static_cast<float>(s.remark.size()),
                          static_cast<float>(lesson_.words.size()),
                          static_cast<float>(lesson_.show_more ? lesson_.more.size() : 0),
                          static_cast<float>(s.counting ? 1 : 0),
                          static_cast<float>(s.votes.size()),
                          static_cast<float>(s.votes_after.size()),
                          static_cast<float>(s.votes_refusal.size()),
                          static_cast<float>(s.picked.size()),
                          static_cast<float>(s.mistake.size()),
                          static_cast<float>(lesson_.asks_software ? 1 : 0),
                          static_cast<float>(lesson_.plan_changed ? 1 : 0),
                          static_cast<float>(lesson_.scene_error.size()),
                          static_cast<float>(lesson_.errors.size())})
        of += " " + std::to_string(v);
    if (presenter_.fits == of) return;
    presenter_.fits = of;
    const LessonStep* step = lesson_.current();
    const bool shown = s.shown() || (step != nullptr && step->task && lesson_.task.passed);
    const auto fits = [&](float size, bool folded, bool tight) {
        presenter_.words_size = size;
        lesson_.fold_words = folded;
        lesson_.tight = tight;
        const Rect inner = inside_words({0, 0, width, height}, size, tight);
        return lesson_height(ui, inner.w, scene, lesson_, size) <= inner.h;
    };
    for (const bool folded : {false, true})
        for (float size = most; size >= kReadable && (shown || !folded); size -= 1)
            if (fits(size, folded, false)) return;
    for (float size = kReadable - 1; size > least; size -= 1)
        if (fits(size, shown, false) || fits(size, shown, true)) return;
    // The rest has no room in this size either: it is scrolled, and is as little as can be.
    if (!fits(least, shown, false)) static_cast<void>(fits(least, shown, true));
}

float LessonDesk::presented_words_width(const Ui& ui, Rect room) {
    return words_width(ui.frame().size.x, room.w);
}

void LessonDesk::draw_presented_words(Ui& ui, Rect& room, const Scene& scene) {
    const float width = presented_words_width(ui, room);
    fit_words(ui, width, room.h, scene);
    const Rect words = room.cut_right(width);
    ui.canvas().rect(words, ui.theme().panel);
    ui.canvas().line({words.x, words.y}, {words.x, words.bottom()}, ui.theme().hairline);
    draw(ui, inside_words(words, presenter_.words_size, lesson_.tight), scene, presenter_.words_size, true);
}

void LessonDesk::draw_presented_plans(Ui& ui, Rect& room) {
    if (lesson_.current() == nullptr) return;
    LessonAction action;
    const Rect below = room.inset(16, 0);
    const float height = draw_asked(ui, below, lesson_, kAskedSize, action, false);
    if (height == 0) return;
    const Rect strip = room.cut_bottom(height);
    ui.canvas().line({strip.x, strip.y}, {strip.right(), strip.y}, ui.theme().hairline);
    draw_asked(ui, strip.inset(16, 0), lesson_, kAskedSize, action);
    if (action.kind != LessonAction::Kind::none) wanted_ = action;
}

void LessonDesk::draw_presenter_notes(Ui& ui, Rect& side) {
    // They are as high as they need to be; the plan has the rest.
    const float height = 54 + rich_text(ui, side.inset(16, 0), notes_text(lesson_), kNotesStyle, false);
    Rect notes = side.cut_bottom(std::min(height, side.h * 0.5f));
    ui.canvas().line({notes.x, notes.y}, {notes.right(), notes.y}, ui.theme().hairline);
    const Canvas::Clip clip = ui.canvas().clip(notes);
    notes = notes.inset(16, 12);
    ui.section(notes.cut_top(18), "NOTES");
    notes.cut_top(4);
    rich_text(ui, notes, notes_text(lesson_), kNotesStyle);
}

void LessonDesk::draw_presenter_foot(Ui& ui, Rect foot) {
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
    const double spent = window_.now_s - presenter_.begun_s;
    std::string time = clock_text(spent);
    if (lesson_.lesson.minutes > 0) time += " of " + std::to_string(lesson_.lesson.minutes) + " min";
    const TextStyle plain = ui.style(13, Tone::secondary);
    ui.canvas().text_in(foot.cut_right(ui.canvas().text_width(time, plain) + 28), time, plain, Align::center);
    if (!lesson_.open) return;
    const std::size_t n = lesson_.lesson.steps.size();
    if (button("present.back", foot.cut_left(60), "Back", lesson_.can_go_back())) wanted_ = {Kind::back, 0};
    if (button("present.next", foot.cut_left(60), "Next", n > 0)) wanted_ = {Kind::next, 0};
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
        if (hit.clicked) wanted_ = {Kind::jump, i};
    }
    foot.cut_left(12);
    if (foot.w <= 80 || lesson_.current() == nullptr) return;
    const std::string& title = lesson_.current()->title;  // stands over the words, too
    if (ui.canvas().text_width(title, plain) <= foot.w) ui.canvas().text_in(foot, title, plain);
}

// Draws over everything: black, or darkness around a circle at the pointer.
void LessonDesk::draw_presenter_cover(Ui& ui) {
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
    front.frame({at.x - kSpot, at.y - kSpot, 2 * kSpot, 2 * kSpot}, ui.theme().text, 2, kSpot);
}

// The window fills the screen meanwhile, and is as it was afterwards. The clock goes on for one who leaves
// and comes back.
void LessonDesk::set_presenting(bool on) {
    if (presenter_.on == on) return;
    const bool restores = presenter_.made_full && window_.fullscreen;
    presenter_ = {.on = on, .begun_s = presenter_.begun_s > 0 ? presenter_.begun_s : window_.now_s};
    lesson_.fold_words = lesson_.tight = false;
    presenter_.apart = on && window_.host.has_second_screen && window_.host.has_second_screen();
    presenter_.made_full = on && !window_.fullscreen && window_.host.set_fullscreen;
    if (presenter_.made_full || restores) window_.host.set_fullscreen(window_.fullscreen = on);
    window_.dirty = true;
}

void LessonDesk::present_keys() {
    using Kind = LessonAction::Kind;
    if (pressed({Key::escape})) {
        if (presenter_.blank)
            presenter_.blank = false;
        else if (window_.typed)  // what had the keyboard lets go of it first
            leave_text_field();
        else if (!shows_view() || lesson_.asked_shown >= 0)
            back_to_scene();
        else
            set_presenting(false);
        window_.state.focus = 0;
        window_.state.focus_visible = false;
        window_.dirty = true;
        return;
    }
    const bool arrows = window_.selection.rank < 0 && !window_.state.focus_visible;
    if (arrows && pressed({Key::right})) act({Kind::next, 0});
    if (arrows && pressed({Key::left})) act({Kind::back, 0});
}

void LessonDesk::add_presenter_commands(std::vector<Command>& commands) {
    const auto on = [this] { return presenter_.on; };
    const std::size_t first = commands.size();
    commands.push_back({.id = "present.black",
                        .title = "Present: blank screen",
                        .menu = "Learn",
                        .chord = {.key = Key::b},
                        .separator = true,
                        .run = [this] { presenter_.blank = !presenter_.blank; },
                        .enabled = on});
    commands.push_back(in_menu(
        "Learn", "present.light", "Present: spotlight", {Key::s},
        [this] { presenter_.spotlight = !presenter_.spotlight; }, on));
    commands.push_back(in_menu(
        "Learn", "present.notes", "Present: plan and notes", {Key::n},
        [this] { presenter_.side = !presenter_.side; }, on));
    commands.push_back(in_menu(
        "Learn", "present.reveal", "Present: show the answer", {Key::r},
        [this] {
            act({LessonAction::Kind::reveal, 0});
        },
        [this] { return presenter_.on && lesson_.open; }));
    commands.push_back(in_menu(
        "Learn", "present.apart", "Present: notes on the second screen", {}, [this] { toggle_apart(); },
        [this] { return presenter_.on && lesson_.open; }, [this] { return presenter_.apart; }));
    put_in_group(commands, first, "While presenting");
}

// Makes the page of the next step, its queries answered for its own plan: once for each step and plan.
void LessonDesk::make_next_step() {
    const std::size_t next = lesson_.step + 1;
    const std::string of =
        lesson_.file.string() + " " + std::to_string(next) + " " + std::to_string(window_.evaluated);
    if (next_of_ == of) return;
    next_of_ = of;
    page_ = {.scroll = lesson_.step == page_step_ ? page_.scroll : 0};
    page_step_ = lesson_.step;
    if (next >= lesson_.lesson.steps.size()) return;
    const LessonStep& step = lesson_.lesson.steps[next];
    page_.next_title = step.title;
    page_.next_asks = step.question.has_value();
    page_.next_task = step.task.has_value();
    const Plan plan = plan_shown(lesson_.lesson, next, window_.own_document().plan(), window_.presets);
    const Evaluation evaluation = assess(plan);
    page_.next_words = expand(step.words, plan, evaluation, window_.presets);
    page_.next_notes = expand(step.notes, plan, evaluation, window_.presets);
}

void LessonDesk::presenter_frame(const FrameInfo& info) {
    second_.reduced_motion = window_.settings.reduced_motion;
    second_.redraw_all = true;
    window_.guarded("The next step", [&] { make_next_step(); });
    page_.spent_s = window_.now_s - presenter_.begun_s;
    page_.blank = presenter_.blank;
    Ui ui(second_, info, theme_of(window_.settings.theme), frame_canvas(info));
    fill_frame(info, nullptr, ui.theme().window);
    PresenterAction action;
    window_.draw_guarded(ui, "The page of notes", {0, 0, info.size.x, info.size.y}, [&] {
        action = draw_presenter_page(ui, {0, 0, info.size.x, info.size.y}, lesson_, page_, kApartSize);
    });
    ui.move_focus();
    act(action.lesson);
    if (action.blank) presenter_.blank = !presenter_.blank;
    if (action.leave) set_presenting(false);
    if (action.blank || action.leave) window_.dirty = true;
}

void LessonDesk::second_window_closed(const std::string& reason) {
    presenter_.apart = false;
    window_.dirty = true;
    if (!reason.empty())
        window_.say("The notes have no screen of their own: " + reason + ". N shows them here");
}

void LessonDesk::toggle_apart() {
    if (!presenter_.apart && !(window_.host.has_second_screen && window_.host.has_second_screen())) {
        window_.say("There is one screen. N shows the notes here, where the room sees them too");
        return;
    }
    presenter_.apart = !presenter_.apart;
}

}  // namespace pentamesh::ui
