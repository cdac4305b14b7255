// Presenter mode: one view and the lesson's words large; the plan and the notes on a side that is shown when
// it is asked for; a blank screen, a spotlight about the pointer. And the welcome of the first run.
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

}  // namespace

std::optional<PlanEdit> Shell::draw_presenter(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    std::optional<PlanEdit> edit;
    lesson_.plan_hidden = false;  // the side is for whoever presents
    draw_presenter_foot(ui, room.cut_bottom(kFoot));
    // The room sees what an edit did: memory, step, MFU and, for a while, what the last change made of them.
    const Rect figures = room.cut_bottom(kFigures);
    ui.canvas().rect(figures, theme.panel);
    ui.canvas().line({0, figures.y}, {figures.right(), figures.y}, theme.hairline);
    draw_status(ui, figures, scene, -1, nullptr, veil_.covers);
    if (presenter_.side) {
        Rect side = room.cut_left(std::min(320.0f, room.w * 0.35f));
        ui.canvas().rect(side, theme.panel);
        ui.canvas().line({side.right() - 1, side.y}, {side.right() - 1, side.bottom()}, theme.hairline);
        // What whoever presents reads on another screen, the room does not see.
        if (!presenter_.apart) draw_presenter_side(ui, side.cut_bottom(side.h * 0.38f));
        edit = draw_plan(ui, side, scene);
    }
    if (lesson_.open) {
        const float size = presenter_size(ui.frame().size.x);
        Rect words = room.cut_right(std::clamp(room.w * 0.4f, 260.0f, 640.0f));
        ui.canvas().rect(words, theme.panel);
        ui.canvas().line({words.x, words.y}, {words.x, words.bottom()}, theme.hairline);
        draw_lesson(ui, words.inset(size * 1.2f, 20), scene, size, true);
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
    const std::string text = lesson_.notes.empty() ? "No notes for this step." : lesson_.notes;
    rich_text(ui, notes, text, {13, 20, 8, lesson_.notes.empty() ? Tone::secondary : Tone::text});
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
    if (right("present.leave", "Leave")) presenter_.on = false;
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

void Shell::present_keys() {
    using Kind = LessonAction::Kind;
    if (pressed({Key::escape})) {
        if (presenter_.blank)
            presenter_.blank = false;
        else
            presenter_.on = false;
        dirty_ = true;
        return;
    }
    const bool arrows = selection_.rank < 0 && !state_.focus_visible;
    if (arrows && pressed({Key::right})) do_lesson({Kind::next, 0});
    if (arrows && pressed({Key::left})) do_lesson({Kind::back, 0});
}

void Shell::make_presenter_commands() {
    const auto on = [this] { return presenter_.on; };
    add({.id = "present",
         .title = "Present",
         .menu = "Learn",
         .chord = {.key = Key::f5},
         .separator = true,
         .run =
             [this] {
                 presenter_ = {.on = !presenter_.on};
                 presenter_.begun_s = now_s_;
                 presenter_.apart = presenter_.on && host_.has_second_screen && host_.has_second_screen();
             },
         .checked = on});
    add({.id = "present.black",
         .title = "Present: blank screen",
         .menu = "Learn",
         .chord = {.key = Key::b},
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

// ---- the first run --------------------------------------------------------------------------------------

void Shell::draw_welcome(Ui& ui) {
    const Vec2 size = ui.frame().size;
    const std::size_t recent = std::min<std::size_t>(3, settings_.recent.size());
    const float w = std::min(680.0f, size.x - 32), h = std::min(recent > 0 ? 336.0f : 312.0f, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("welcome", box, true);
    const bool open = layer.stays();
    Canvas& c = ui.canvas();
    Rect room = box.inset(24, 20);
    c.text_in(room.cut_top(26), "Welcome to Pentamesh", {Face::semibold, 16, ui.theme().text, 0});
    room.cut_top(4);
    room.cut_top(c.paragraph(
        room,
        "See how a training run lies over a cluster: who talks to whom, what each GPU holds, how long a "
        "step takes.",
        ui.style(13, Tone::secondary), 20));
    room.cut_top(14);
    struct Door {
        const char *name, *title;
        std::string text;
    };
    const auto count = std::count_if(lessons_.begin(), lessons_.end(),
                                     [](const LessonEntry& e) { return e.tasks.empty() && e.id != "tour"; });
    const std::array<Door, 3> ways{
        {{"welcome.preset", "Explore a preset",
          "Llama 3 405B on 16,384 GPUs, DeepSeek-V3, or one GPU: change what you like."},
         {"welcome.lesson", "Start the workshop",
          (count > 0 ? std::to_string(count) + " lessons" : "Lessons")
              + " that ask before they show. Courses and tasks: the menu Learn."},
         {"welcome.open", "Open my own",
          "A plan file or a Hugging Face config.json. Dropping one on the window does the same."}}};
    Rect doors = room.cut_top(std::min(120.0f, room.h - 44));
    const float door_w = (doors.w - 24) / 3;
    int picked = -1;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const Rect r = doors.cut_left(door_w);
        doors.cut_left(12);
        const Hit hit = ui.area(ways[i].name, r);
        c.rect(r, ui.theme().raised, 6);
        c.frame(r, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
        Rect text = r.inset(12, 10);
        c.text_in(text.cut_top(22), ways[i].title, ui.title());
        {
            const Canvas::Clip clip = c.clip(r);
            c.paragraph(text, ways[i].text, ui.small(), 18);
        }
        if (hit.focused) ui.focus_ring(r, 6);
        if (hit.clicked) picked = static_cast<int>(i);
    }
    room.cut_top(14);
    std::size_t reopened = recent;
    if (recent > 0) {
        Rect line = room.cut_top(34);
        line.cut_left(c.text(line.min(), "Recent:", ui.small()) + 10);
        for (std::size_t i = 0; i < recent; ++i) {
            const std::string label = recent_label(i);
            const float label_w = c.text_width(label, ui.style(12)) + 18;
            if (label_w > line.w) break;  // the menu File has them all
            if (ui.link("welcome.recent", line.min(), label, i)) reopened = i;
            line.cut_left(label_w);
        }
    }
    Rect row = room.cut_top(30);
    if (ui.button("welcome.tour", row.cut_left(150), "Two-minute tour")) picked = 3;
    row.cut_left(8);
    if (ui.button("welcome.model", row.cut_left(150), "Type in my model")) picked = 5;
    if (ui.button("welcome.skip", row.cut_right(90), "Not now", 0, true, true) || !open) picked = 4;
    if (reopened < recent)
        later("", [this, file = std::filesystem::path(settings_.recent[reopened])] { open_recent(file); });
    if (picked < 0 && reopened == recent) return;
    welcome_ = false;
    settings_.welcomed = true;
    dirty_ = true;
    const auto lesson = [&](std::string_view id) {
        for (const LessonEntry& e : lessons_)
            if (e.id.starts_with(id)) return later(e.title, [this, file = e.file] { open_lesson(file); });
    };
    if (picked == 0) palette_ = true, palette_state_ = {.filter = "Open preset"};
    if (picked == 1) lesson("01-");
    if (picked == 2) ask(DialogKind::open, "", nullptr);
    if (picked == 3) lesson("tour");
    if (picked == 5) later("New model", [this] { begin_new_model(); });
}

}  // namespace pentamesh::ui
