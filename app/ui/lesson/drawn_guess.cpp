#include "app/ui/lesson/lesson_parts.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr int kTicks = 4;

struct GuessScale {
    Rect track;
    double end = 1;

    [[nodiscard]] float x_of(double value) const {
        return track.x + track.w * static_cast<float>(std::clamp(value / end, 0.0, 1.0));
    }
};

void draw_ticks(Ui& ui, const GuessScale& scale, Rect labels, const std::string& unit) {
    const TextStyle style = ui.small();
    for (int i = 0; i <= kTicks; ++i) {
        const double value = scale.end * i / kTicks;
        const float x = scale.x_of(value);
        ui.canvas().line({x, scale.track.y}, {x, labels.y}, ui.theme().hairline);
        const std::string text = three_digits(value) + (i == kTicks && !unit.empty() ? " " + unit : "");
        const float w = ui.canvas().text_width(text, style);
        ui.canvas().text_in({std::clamp(x - w / 2, labels.x, labels.right() - w), labels.y, w + 1, labels.h},
                            text, style);
    }
}

// Moves the end of the bar: by the mouse, or by the arrows while it has the keyboard.
void move_end(Ui& ui, Rect row, const GuessScale& scale, StepState& state, double now) {
    const Hit hit = ui.area("lesson.guess", row, 0);
    double value = now;
    if (hit.held) value = (ui.frame().mouse.x - scale.track.x) / scale.track.w * scale.end;
    if (hit.focused) {
        const double by = scale.end / (ui.frame().shift ? kCoarseSteps : kFineSteps);
        if (pressed({.key = Key::right, .shift = ui.frame().shift}, true)) value += by;
        if (pressed({.key = Key::left, .shift = ui.frame().shift}, true)) value -= by;
        ui.focus_ring(row, 4);
    }
    if (value == now) return;
    const double step = scale.end / kFineSteps / 10;
    state.typed = three_digits(std::clamp(std::round(value / step) * step, 0.0, scale.end));
}

void draw_bar(Ui& ui, Rect row, float end, Color color, bool outline) {
    const Rect bar{row.x, row.y + 3, std::max(2.0f, end - row.x), row.h - 6};
    if (outline)
        ui.canvas().frame(bar, color, 2, 3, Dash::dashed);
    else
        ui.canvas().rect(bar, color, 3);
}

}  // namespace

float draw_guess(Ui& ui, Rect room, LessonSession& session, float size, bool draw) {
    const float top = room.y;
    const Answer& answer = session.solution.answer;
    const LessonStep* step = session.current();
    if (step == nullptr || answer.kind != Answer::Kind::number || answer.number <= 0) return 0;
    StepState& state = session.state();
    const float line = std::round(size * 2);
    const Rect yours = room.cut_top(line);
    const Rect truth = state.shown() ? room.cut_top(line) : Rect{};
    const Rect labels = room.cut_top(18);
    const float bottom = room.y;
    const double guess = parse_guess(state.typed, answer.unit).value_or(0);
    const Rect says = state.shown() && guess > 0 ? room.cut_top(20) : Rect{};
    room.cut_top(6);
    if (!draw) return room.y - top;
    const GuessScale scale{{yours.x + 2, yours.y, yours.w - 16, bottom - top},
                           guess_scale(answer.number, answer.unit, step->title)};
    draw_ticks(ui, scale, labels, answer.unit);
    const Theme& t = ui.theme();
    if (guess > 0 || !state.shown())
        draw_bar(ui, {scale.track.x, yours.y, scale.track.w, yours.h}, scale.x_of(guess), t.text, true);
    if (!state.shown()) {
        const Rect grip{scale.x_of(guess) - 4, yours.y, 8, yours.h};
        ui.canvas().rect(grip, t.text, 3);
        if (state.typed.empty())
            ui.canvas().text_in({yours.x + 16, yours.y, yours.w - 16, yours.h},
                                "drag the end of the bar, or type below",
                                ui.style(size - 1, Tone::secondary));
        move_end(ui, yours, scale, state, guess);
        return room.y - top;
    }
    draw_bar(ui, {scale.track.x, truth.y, scale.track.w, truth.h}, scale.x_of(answer.number), t.good, false);
    if (guess > 0)
        ui.canvas().text_in(says, three_digits(answer.number / guess) + " times your guess",
                            ui.style(size, Tone::secondary));
    return room.y - top;
}

}  // namespace pentamesh::ui
