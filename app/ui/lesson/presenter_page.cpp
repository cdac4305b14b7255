#include "app/ui/lesson/presenter_page.h"

#include "app/ui/kit/rich_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace pentamesh::ui {

namespace {

using Kind = LessonAction::Kind;

struct PagePen {
    Ui& ui;
    float size;

    float words(Rect room, std::string_view text, Tone tone = Tone::text) const {
        return rich_text(ui, room, text, {size, std::round(size * 1.5f), std::round(size * 0.7f), tone});
    }
    // Draws a head over the words; returns the height of both.
    float part(Rect room, std::string_view head, std::string_view text, Tone tone = Tone::text) const {
        ui.section(room.cut_top(18), head);
        room.cut_top(4);
        return 22 + words(room, text, tone) + size;
    }
};

// Returns the answer that the room does not see yet.
std::string answer_line(const LessonSession& session) {
    const LessonStep* step = session.current();
    if (step == nullptr || !step->question) return {};
    const Solution& s = session.solution;
    if (!s.solvable(step->question->kind)) return "This plan has no answer.";
    std::string out = s.answer.text;
    if (s.option >= 0) out = step->question->options[static_cast<std::size_t>(s.option)].label;
    out = "**" + out + "**";
    return session.why.empty() ? out : out + "\n\n" + session.why;
}

void draw_clock(const PagePen& p, Rect row, const LessonSession& session, const PresenterPage& page) {
    Canvas& c = p.ui.canvas();
    const int planned = session.lesson.minutes * 60;
    TextStyle large{Face::semibold, std::round(p.size * 1.9f), p.ui.theme().text, 0};
    if (planned > 0 && page.spent_s > planned) large.color = p.ui.theme().bad;
    const std::string time = clock_text(page.spent_s);
    const float w = c.text_width(time, large) + 10;
    c.text_in(row.cut_left(w), time, large);
    if (planned <= 0) return;
    const std::string of = "of " + std::to_string(session.lesson.minutes) + " min"
                           + (page.spent_s > planned ? ", over time" : "");
    c.text_in(row, of, p.ui.style(p.size, Tone::secondary));
}

PresenterAction draw_buttons(Ui& ui, Rect foot, const LessonSession& session, const PresenterPage& page) {
    PresenterAction out;
    const std::size_t n = session.lesson.steps.size();
    const auto left = [&](std::string_view name, float w, std::string_view label, bool enabled) {
        const bool pressed = ui.button(name, foot.cut_left(w), label, 0, enabled);
        foot.cut_left(8);
        return pressed;
    };
    if (left("apart.back", 72, "Back", session.step > 0)) out.lesson.kind = Kind::back;
    if (left("apart.next", 72, "Next", session.step + 1 < n)) out.lesson.kind = Kind::next;
    const LessonStep* step = session.current();
    const bool asks = step != nullptr && step->question && !session.states[session.step].shown();
    if (left("apart.reveal", 130, "Show the answer", asks)) out.lesson.kind = Kind::reveal;
    if (left("apart.blank", 150, page.blank ? "Show the screen" : "Blank the screen", true)) out.blank = true;
    if (ui.button("apart.leave", foot.cut_right(72), "Leave")) out.leave = true;
    return out;
}

void take_keys(PresenterAction& out, const LessonSession& session) {
    const LessonStep* step = session.current();
    if (pressed({Key::page_down}) || pressed({Key::right})) out.lesson.kind = Kind::next;
    if (pressed({Key::page_up}) || pressed({Key::left})) out.lesson.kind = Kind::back;
    if (pressed({Key::r}) && step != nullptr && step->question) out.lesson.kind = Kind::reveal;
    if (pressed({Key::b})) out.blank = true;
    if (pressed({Key::escape}) || pressed({Key::f5})) out.leave = true;
}

}  // namespace

std::string clock_text(double seconds) {
    const int s = std::max(0, static_cast<int>(seconds));
    std::array<char, 24> text{};
    if (s >= 3600)
        std::snprintf(text.data(), text.size(), "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    else
        std::snprintf(text.data(), text.size(), "%d:%02d", s / 60, s % 60);
    return text.data();
}

namespace {

void draw_next(const PagePen& p, Rect room, const PresenterPage& page) {
    const Canvas::Clip clip = p.ui.canvas().clip(room);
    p.ui.section(room.cut_top(18), "NEXT");
    room.cut_top(4);
    if (page.next_title.empty()) {
        p.words(room, "This is the last step.", Tone::secondary);
        return;
    }
    const char* kind = page.next_asks ? " (asks)" : page.next_task ? " (a task)" : "";
    room.cut_top(p.words(room, "**" + page.next_title + "**" + kind) + 6);
    room.cut_top(p.words(room, page.next_words, Tone::secondary) + p.size);
    if (!page.next_notes.empty()) p.part(room, "ITS NOTES", page.next_notes, Tone::secondary);
}

// Draws the notes, and what the room is asked and reads; returns the height used.
float draw_step(const PagePen& p, Rect at, const LessonSession& session, const LessonStep& step) {
    const float top = at.y;
    at.cut_top(p.words(at, "**" + step.title + "**") + p.size * 0.6f);
    const bool none = session.notes.empty();
    at.cut_top(p.part(at, "NOTES", none ? "No notes for this step." : session.notes,
                      none ? Tone::secondary : Tone::text));
    if (step.question) {
        at.cut_top(p.part(at, "THE ROOM IS ASKED", session.prompt));
        at.cut_top(p.part(
            at, session.states[session.step].shown() ? "THE ANSWER, SHOWN" : "THE ANSWER, NOT SHOWN YET",
            answer_line(session)));
    } else if (step.task) {
        at.cut_top(p.part(at, "THE TASK", session.prompt));
    }
    at.cut_top(p.part(at, "THE ROOM READS", session.words, Tone::secondary));
    if (!session.more.empty()) at.cut_top(p.part(at, "AND UNDER MORE", session.more, Tone::secondary));
    return at.y - top;
}

}  // namespace

PresenterAction draw_presenter_page(Ui& ui, Rect room, const LessonSession& session, PresenterPage& page,
                                    float size) {
    const PagePen p{ui, size};
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.rect(room, theme.window);
    Rect foot = room.cut_bottom(48);
    c.rect(foot, theme.panel);
    c.line({foot.x, foot.y}, {foot.right(), foot.y}, theme.hairline);
    PresenterAction out = draw_buttons(ui, foot.inset(16, 9), session, page);
    take_keys(out, session);
    room = room.inset(24, 16);
    Rect head = room.cut_top(std::round(size * 2.4f));
    const std::string place = "step " + std::to_string(session.step + 1) + " of "
                              + std::to_string(session.lesson.steps.size())
                              + (page.blank ? " · the room's screen is blank" : "");
    draw_clock(p, head.cut_left(std::min(head.w * 0.6f, size * 16)), session, page);
    c.text_in(head, session.lesson.title + " · " + place, ui.style(size, Tone::secondary), Align::right);
    room.cut_top(8);
    c.line({room.x, room.y}, {room.right(), room.y}, theme.hairline);
    room.cut_top(14);

    draw_next(p, room.cut_right(std::round(room.w * 0.36f)), page);
    room.cut_right(28);
    const LessonStep* step = session.current();
    if (step == nullptr) return out;
    page.scroll = std::max(0.0f, page.scroll - ui.take_wheel(room) * 3 * size);
    const Canvas::Clip clip = c.clip(room);
    const float used = draw_step(p, {room.x, room.y - std::round(page.scroll), room.w, 1e6f}, session, *step);
    page.scroll = std::clamp(page.scroll, 0.0f, std::max(0.0f, used - room.h));
    return out;
}

}  // namespace pentamesh::ui
