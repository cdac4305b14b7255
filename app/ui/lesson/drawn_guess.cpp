#include "app/ui/kit/format.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/teach/wire_race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

struct GuessScale {
    Rect track;
    double end = 1;

    [[nodiscard]] float x_of(double value) const {
        return track.x + track.w * static_cast<float>(std::clamp(value / end, 0.0, 1.0));
    }
};

// Returns into how many parts a scale is cut, so that its figures are exact: of 150 thirds, not 112.5.
int guess_parts(double end) {
    const double first = end / std::pow(10, std::floor(std::log10(end)));
    return std::abs(first - 1.5) < 0.01 || std::abs(first - 3) < 0.01 ? 3 : 4;
}

void draw_ticks(Ui& ui, const GuessScale& scale, Rect labels, const std::string& unit) {
    const TextStyle style = ui.small();
    const int parts = guess_parts(scale.end);
    for (int i = 0; i <= parts; ++i) {
        const double value = scale.end * i / parts;
        const float x = scale.x_of(value);
        ui.canvas().line({x, scale.track.y}, {x, labels.y}, ui.theme().hairline);
        const std::string text = three_digits(value) + (i == parts && !unit.empty() ? " " + unit : "");
        const float w = ui.canvas().text_width(text, style);
        ui.canvas().text_in(
            {held_between(x - w / 2, labels.x, labels.right() - w), labels.y, w + 1, labels.h}, text, style);
    }
}

// Writes a value as it would be typed, as fine as a tenth of the smallest step of the arrows.
void type_guess(StepState& state, double end, double value) {
    const double step = end / kFineSteps / 10;
    state.typed = three_digits(std::clamp(std::round(value / step) * step, 0.0, end));
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
    if (value != now) type_guess(state, scale.end, value);
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
                           guess_scale(session.solution, step->title)};
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

namespace {

constexpr double kGuessGib = 1024.0 * 1024 * 1024;

// Returns true if the end of a bar of bytes is drawn.
bool draws_bytes(const LessonSession& session) {
    const LessonStep* step = session.current();
    return session.open && step != nullptr && step->question && step->question->drawn
           && step->question->kind == QuestionKind::number && session.solution.answer.unit == "GiB";
}

}  // namespace

double drawn_bytes(const LessonSession& session) {
    if (!draws_bytes(session)) return 0;
    return std::max(0.0, parse_guess(session.state().typed, "GiB").value_or(0)) * kGuessGib;
}

void draw_bytes(LessonSession& session, double bytes) {
    if (!draws_bytes(session) || !session.waits_for_answer()) return;
    const double end = guess_scale(session.solution, session.current()->title);
    type_guess(session.state(), end, bytes / kGuessGib);
}

int drawn_zero(const LessonSession& session) {
    if (!draws_bytes(session)) return -1;
    const AskedQuery asked = split_query(session.current()->question->query);
    if (asked.query != "memory fullest" || asked.sets.size() != 1) return -1;
    for (int zero = 0; zero < static_cast<int>(kZeroStages); ++zero)
        if (asked.sets.front() == "layout.zero=" + std::to_string(zero)) return zero;
    return -1;
}

// A curve that is drawn before it is known: each point is dragged up and down; then the true one over it.

namespace {

constexpr float kPlotHeight = 150, kShownHeight = 112, kSide = 22, kPoint = 5;

struct CurvePlot {
    Rect box;
    double end = 1;
    std::size_t points = 2;

    [[nodiscard]] Vec2 at(std::size_t i, double value) const {
        const float step = (box.w - 2 * kSide) / static_cast<float>(points - 1);
        return {box.x + kSide + step * static_cast<float>(i),
                box.bottom() - box.h * static_cast<float>(std::clamp(value / end, 0.0, 1.0))};
    }
    [[nodiscard]] double value_at(float y) const {
        return std::clamp(static_cast<double>((box.bottom() - y) / box.h) * end, 0.0, end);
    }
};

// Moves a point by the mouse, or by the arrows while it has the keyboard.
void move_point(Ui& ui, const CurvePlot& plot, std::size_t i, std::vector<double>& points, StepState& state) {
    const Vec2 at = plot.at(i, points[i]);
    const float half = (plot.box.w - 2 * kSide) / static_cast<float>(plot.points - 1) / 2;
    const Hit hit = ui.area("lesson.point", {at.x - half, plot.box.y, 2 * half, plot.box.h}, i);
    move_drawn_point(ui, hit, plot.value_at(ui.frame().mouse.y), plot.end, i, points, state);
    if (hit.focused) ui.canvas().ring(at, kPoint + 4, ui.theme().text, 1);
}

void draw_axes(Ui& ui, const CurvePlot& plot, Rect labels, const LessonQuestion& q, const Solution& s) {
    Canvas& c = ui.canvas();
    for (const double share : {0.0, 0.5, 1.0}) {
        const float y = plot.box.bottom() - plot.box.h * static_cast<float>(share);
        c.line({plot.box.x, y}, {plot.box.right(), y}, ui.theme().hairline);
        c.text({plot.box.x, y - (share == 0 ? 14.0f : 0.0f)},
               three_digits(plot.end * share) + (share == 1 ? " " + s.answer.unit : ""), ui.small());
    }
    for (std::size_t i = 0; i < q.options.size(); ++i)
        c.text_in({plot.at(i, 0).x - 30, labels.y, 60, labels.h}, q.options[i].label, ui.small(),
                  Align::center);
}

// Draws the true curve with the band in which a point counts as right.
void draw_truth(Ui& ui, const CurvePlot& plot, const LessonQuestion& q, const Solution& s, Color color) {
    Canvas& c = ui.canvas();
    std::vector<Vec2> line;
    for (std::size_t i = 0; i < s.options.size(); ++i) line.push_back(plot.at(i, s.options[i].number));
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        const double a = s.options[i].number, b = s.options[i + 1].number;
        const std::array<Vec2, 4> band{
            plot.at(i, a * (1 + q.tolerance)), plot.at(i + 1, b * (1 + q.tolerance)),
            plot.at(i + 1, b * (1 - q.tolerance)), plot.at(i, a * (1 - q.tolerance))};
        c.polygon(band, color.alpha(0.16f));
    }
    c.polyline(line, color, 2);
    TextStyle style = ui.small();
    style.color = color;
    for (std::size_t i = 0; i < line.size(); ++i) {
        c.circle(line[i], 3.5f, color);
        c.text_in({line[i].x - 40, line[i].y - 20, 80, 16}, s.options[i].text, style, Align::center);
    }
}

Color color_of_curve(const Theme& theme, const LessonQuestion& q) {
    const AskedQuery asked = split_query(q.options.front().value);
    const std::string& set = asked.sets.front();
    const auto axis = parse_name<Axis>(std::string_view(set).substr(0, set.find('=')));
    return axis ? color_of(theme, group_of(*axis)) : theme.good;
}

}  // namespace

void move_drawn_point(Ui& ui, const Hit& hit, double under_mouse, double end, std::size_t i,
                      std::vector<double>& points, StepState& state) {
    double value = hit.held ? under_mouse : points[i];
    if (hit.focused) {
        const double by = end / (ui.frame().shift ? kCoarseSteps : kFineSteps);
        if (pressed({.key = Key::up, .shift = ui.frame().shift}, true)) value += by;
        if (pressed({.key = Key::down, .shift = ui.frame().shift}, true)) value -= by;
    }
    if (value == points[i]) return;
    points[i] = std::clamp(value, 0.0, end);
    state.typed.clear();
    for (const double p : points) state.typed += (state.typed.empty() ? "" : ", ") + three_digits(p);
}

std::vector<double> drawn_points(const LessonQuestion& q, const Solution& s, const StepState& state,
                                 double end) {
    std::vector<double> out = typed_points(q, s, state.typed);
    const bool has_given = q.given >= 0;
    if (out.empty()) {
        const double level = has_given ? s.options[static_cast<std::size_t>(q.given)].number : end / 2;
        out.assign(q.options.size(), level);
    }
    if (has_given)
        out[static_cast<std::size_t>(q.given)] = s.options[static_cast<std::size_t>(q.given)].number;
    return out;
}

float draw_curve(Ui& ui, Rect room, LessonSession& session, bool draw) {
    const float top = room.y;
    const LessonStep* step = session.current();
    const Solution& s = session.solution;
    if (step == nullptr || !s.solvable(QuestionKind::curve) || session.curve_in_view) return 0;
    const LessonQuestion& q = *step->question;
    StepState& state = session.state();
    room.cut_top(6);
    const CurvePlot plot{room.cut_top(state.shown() ? kShownHeight : kPlotHeight),
                         curve_scale(s, step->title), q.options.size()};
    const Rect labels = room.cut_top(18);
    const Rect says = room.cut_top(20);
    room.cut_top(4);
    if (!draw) return room.y - top;
    draw_axes(ui, plot, labels, q, s);
    std::vector<double> points = drawn_points(q, s, state, plot.end);
    if (!state.shown())
        for (std::size_t i = 0; i < points.size(); ++i)
            if (static_cast<int>(i) != q.given) move_point(ui, plot, i, points, state);
    if (state.shown()) draw_truth(ui, plot, q, s, color_of_curve(ui.theme(), q));
    if (state.shown() && state.typed.empty()) return room.y - top;  // nobody drew one
    Canvas& c = ui.canvas();
    std::vector<Vec2> line;
    for (std::size_t i = 0; i < points.size(); ++i) line.push_back(plot.at(i, points[i]));
    c.polyline(line, ui.theme().text, 1.5f, false, Dash::dashed);
    for (std::size_t i = 0; i < line.size(); ++i) {
        c.circle(line[i], kPoint, ui.theme().window);
        c.ring(line[i], kPoint, ui.theme().text, static_cast<int>(i) == q.given ? 3.0f : 1.5f);
    }
    if (!state.shown()) {
        if (q.given >= 0) {
            const auto given = static_cast<std::size_t>(q.given);
            c.text_in({line[given].x - 50, line[given].y + 8, 100, 16}, "given: " + s.options[given].text,
                      ui.small(Tone::text), Align::center);
        }
        c.text_in(says, "drag the points, or type them below", ui.small());
        return room.y - top;
    }
    if (!state.given.numbers.empty())
        c.text_in(says,
                  std::to_string(points_right(q, s, state.given.numbers)) + " of "
                      + std::to_string(q.options.size() - (q.given >= 0 ? 1 : 0)) + " points within "
                      + percent(q.tolerance),
                  ui.title());
    return room.y - top;
}

}  // namespace pentamesh::ui
