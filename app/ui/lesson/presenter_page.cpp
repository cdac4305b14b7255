#include "app/ui/lesson/presenter_page.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "core/base/files.h"
#include "render/page.h"
#include "render/png.h"

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
    if (left("apart.back", 72, "Back", session.can_go_back())) out.lesson.kind = Kind::back;
    if (left("apart.next", 72, "Next", n > 0)) out.lesson.kind = Kind::next;
    const LessonStep* step = session.current();
    const bool task = step != nullptr && step->task, asks = task || (step != nullptr && step->question);
    const bool waits = asks && !(task ? session.state().helped : session.state().shown());
    if (left("apart.reveal", 130, task ? "Show the solution" : "Show the answer", waits))
        out.lesson.kind = Kind::reveal;
    if (left("apart.blank", 150, page.blank ? "Show the screen" : "Blank the screen", true)) out.blank = true;
    if (ui.button("apart.leave", foot.cut_right(72), "Leave")) out.leave = true;
    return out;
}

void take_keys(PresenterAction& out, const LessonSession& session) {
    const LessonStep* step = session.current();
    if (pressed({Key::page_down}) || pressed({Key::right})) out.lesson.kind = Kind::next;
    if (pressed({Key::page_up}) || pressed({Key::left})) out.lesson.kind = Kind::back;
    if (pressed({Key::r}) && step != nullptr && (step->question || step->task))
        out.lesson.kind = Kind::reveal;
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
        at.cut_top(p.part(at, session.state().helped ? "ITS SOLUTION, SHOWN" : "ITS SOLUTION, NOT SHOWN YET",
                          "**" + sets_text(step.task->solution) + "**"));
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
    page.scroll = held_between(page.scroll, 0.0f, used - room.h);
    return out;
}

namespace {

constexpr float kTaskRow = 26, kTaskLine = 18, kHeadRow = 22, kBetween = 14, kLeastColumn = 230, kGap = 20;
constexpr float kMark = 22, kDone = 82;  // before and behind a task's title
constexpr std::size_t kOwnColumn = 3;    // tasks, from which on a lesson has a column of its own
constexpr float kPictureWidth = 1200;

struct ResultsColumn {
    std::size_t rows = 0;
    std::vector<std::size_t> lessons;
};

// Returns the height of a title that wraps where the column is too narrow for it.
float height_of(Ui& ui, const ResultsOfLesson::Task& task, float width) {
    const float text =
        ui.canvas().paragraph_height(width - kMark - kDone, task.title, ui.style(13), kTaskLine);
    return std::max(kTaskRow, text + kTaskRow - kTaskLine);
}

float questions_height(Ui& ui, const ResultsOfLesson& lesson, float width) {
    if (lesson.questions.empty()) return 0;
    return ui.canvas().paragraph_height(width, lesson.questions, ui.style(13), kTaskLine) + 6;
}

// Each lesson of tasks has a column; lessons with one task among questions share the first. Where there is no
// room for that many, the shortest column takes the next lesson.
std::vector<ResultsColumn> columns_of(const Results& results, float width) {
    const auto most = static_cast<std::size_t>(std::max(1.0f, std::floor((width + kGap) / kLeastColumn)));
    std::vector<ResultsColumn> out;
    std::optional<std::size_t> shared;
    for (std::size_t i = 0; i < results.size(); ++i) {
        std::size_t at = out.size();
        if (results[i].tasks.size() < kOwnColumn && shared)
            at = *shared;
        else if (out.size() >= most)
            at = static_cast<std::size_t>(
                std::min_element(out.begin(), out.end(),
                                 [](const auto& a, const auto& b) { return a.rows < b.rows; })
                - out.begin());
        if (at == out.size()) out.emplace_back();
        if (results[i].tasks.size() < kOwnColumn && !shared) shared = at;
        out[at].lessons.push_back(i);
        out[at].rows += results[i].tasks.size() + 1;
    }
    return out;
}

bool draw_result(Ui& ui, Rect row, const ResultsOfLesson::Task& task, std::uint64_t index) {
    const Hit hit = ui.area("results.task", row, index);
    Canvas& c = ui.canvas();
    const Vec2 mark{row.x + 7, row.y + kTaskRow / 2};
    if (task.done)
        c.circle(mark, 5, ui.theme().good);
    else
        c.frame({mark.x - 5, mark.y - 5, 10, 10}, ui.theme().secondary, 1.5f, 5);
    if (task.done)
        c.text_in({row.right() - kDone, row.y, kDone, kTaskRow}, task.helped ? "with hints" : "done",
                  ui.small(), Align::right);
    c.paragraph({row.x + kMark, row.y + (kTaskRow - kTaskLine) / 2, row.w - kMark - kDone, row.h}, task.title,
                ui.style(13, hit.hovered || task.done ? Tone::text : Tone::secondary), kTaskLine);
    if (hit.focused) ui.focus_ring(row, 4);
    return hit.clicked;
}

}  // namespace

std::string results_file(const std::string& learner, std::string_view ending) {
    const std::string name = file_stem(learner);
    return "pentamesh-results" + (name.empty() ? "" : "-" + name) + std::string(ending);
}

std::string results_head(const Results& results) {
    std::size_t done = 0, all = 0;
    for (const ResultsOfLesson& lesson : results)
        for (const auto& task : lesson.tasks) done += task.done, ++all;
    return "Tasks: " + std::to_string(done) + " of " + std::to_string(all) + " done";
}

std::string results_text(const Results& results) {
    std::string text = results_head(results) + "\n";
    for (const ResultsOfLesson& lesson : results) {
        text += "\n" + lesson.title + "\n";
        if (!lesson.questions.empty()) text += "  " + lesson.questions + "\n";
        for (const auto& task : lesson.tasks)
            text += std::string(task.done ? "  done  " : "  open  ") + task.title
                    + (task.done && task.helped ? " (with hints)\n" : "\n");
    }
    return text;
}

float results_height(Ui& ui, const Results& results, float width) {
    const std::vector<ResultsColumn> columns = columns_of(results, width);
    const float wide = (width + kGap) / static_cast<float>(std::max<std::size_t>(1, columns.size())) - kGap;
    float most = 0;
    for (const ResultsColumn& c : columns) {
        float h = 0;
        for (const std::size_t i : c.lessons) {
            h += kHeadRow + kBetween + questions_height(ui, results[i], wide);
            for (const auto& task : results[i].tasks) h += height_of(ui, task, wide);
        }
        most = std::max(most, h);
    }
    return most;
}

std::optional<PickedTask> draw_results_columns(Ui& ui, Rect room, const Results& results) {
    const std::vector<ResultsColumn> columns = columns_of(results, room.w);
    std::optional<PickedTask> picked;
    const float wide = (room.w + kGap) / static_cast<float>(std::max<std::size_t>(1, columns.size()));
    for (const ResultsColumn& c : columns) {
        Rect at = room.cut_left(wide);
        at.w = wide - kGap;
        for (const std::size_t i : c.lessons) {
            ui.section(at.cut_top(kHeadRow), results[i].title);
            const Rect said = at.cut_top(questions_height(ui, results[i], at.w));
            if (said.h > 0) ui.canvas().paragraph(said, results[i].questions, ui.style(13), kTaskLine);
            for (std::size_t k = 0; k < results[i].tasks.size(); ++k)
                if (draw_result(ui, at.cut_top(height_of(ui, results[i].tasks[k], at.w)), results[i].tasks[k],
                                i * 100 + k))
                    picked = PickedTask{i, k};
            at.cut_top(kBetween);
        }
    }
    return picked;
}

std::string results_of_whom(const std::string& learner) {
    const std::string date = today_in_words();
    return learner.empty() ? date : learner + ", " + date;
}

std::string make_results_picture(const Results& results, const std::string& of_whom, ThemeId theme,
                                 std::string_view ending, const FontFiles& fonts) {
    if (ending != "png" && ending != "svg" && ending != "pdf")
        throw Error(ErrorKind::usage, "", "",
                    "a picture is .png, .svg or .pdf, not \"." + std::string(ending) + "\"");
    constexpr Vec2 kPad{32, 26};
    constexpr float kHead = 62;
    const float inner = kPictureWidth - 2 * kPad.x;
    Vec2 size{kPictureWidth, 400};
    const bool vector = ending != "png";
    const float scale = vector ? 1.0f : 2.0f;
    Offscreen surface(size, scale, fonts);
    UiState state;
    state.for_picture = true;
    const auto draw = [&](const FrameInfo& info, Page* page) {
        Ui ui(state, info, theme_of(theme), frame_canvas(info, page));
        fill_frame(info, page, ui.theme().window);
        size.y = std::round(results_height(ui, results, inner) + kHead + 2 * kPad.y);
        ui.canvas().rect({0, 0, info.size.x, info.size.y}, ui.theme().window);
        Rect room = Rect{0, 0, info.size.x, info.size.y}.inset(kPad.x, kPad.y);
        Rect head = room.cut_top(kHead);
        ui.canvas().text_in(head.cut_top(28), results_head(results),
                            {Face::semibold, 20, ui.theme().text, 0});
        ui.canvas().text_in(head.cut_top(20), of_whom + " · Pentamesh " PENTAMESH_VERSION,
                            ui.style(13, Tone::secondary));
        (void)draw_results_columns(ui, room, results);
    };
    for (int i = 0; i < 2; ++i) {  // the first says how high it is
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) { draw(info, nullptr); });
        if (i == 0) surface.resize(size, scale);
    }
    if (!vector) return encode_png(surface.read(), {{"Title", results_head(results)}});
    Page page(ending == "pdf" ? PageFormat::pdf : PageFormat::svg, size, fonts, results_head(results), "");
    page.begin_piece("Figure", results_head(results));
    surface.frame({}, 2 / 60.0, [&](const FrameInfo& info) { draw(info, &page); });
    page.end_piece();
    return page.finish();
}

}  // namespace pentamesh::ui
