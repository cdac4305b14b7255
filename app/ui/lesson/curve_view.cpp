// A curve that is asked for is drawn in the place of the view that will show it: first the room's line over a
// covered plot, then the true one over it, on the same axes.
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/base/text.h"
#include "core/memory/memory.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kDot = 6, kSteep = 40;
constexpr double kGrow_s = 0.6;  // the truth grows out of the guess

// Draws one question in one room; nothing of the answer is drawn before it is given.
class CurveView {
  public:
    CurveView(Ui& ui, Rect room, LessonSession& session)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), session_(session), q_(*session.current()->question),
          s_(session.solution), state_(session.state()), room_(room) {}

    void draw() {
        if (!s_.solvable(QuestionKind::curve)) return;
        shown_ = state_.shown();
        end_ = curve_scale(s_, session_.current()->title);
        drawn_ = !state_.typed.empty();
        points_ = drawn_points(q_, s_, state_, end_);
        words();
        place();
        if (shown_) draw_facts();
        axes();
        if (shown_)
            draw_truth();
        else
            ask();
    }

  private:
    // Says what to do, or what came of it.
    void words() {
        const TextStyle strong = ui_.style(16, Tone::text, Face::semibold),
                        plain = ui_.style(13, Tone::secondary);
        std::string first = q_.given >= 0 ? "Draw it. One point is given." : "Draw it.";
        std::string second = "drag the points up and down, or type them";
        if (shown_) {
            const auto asked = q_.options.size() - (q_.given >= 0 ? 1 : 0);
            const int right = points_right(q_, s_, state_.given.numbers);
            first = !drawn_ ? "This is the line." : state_.right ? "Your line holds." : "Another line.";
            second = drawn_ ? std::to_string(right) + " of " + std::to_string(asked) + " points within "
                                  + percent(q_.tolerance)
                            : "nobody drew one";
        }
        c_.text_in(room_.cut_top(22), first, strong);
        room_.cut_top(c_.paragraph(room_, second, plain, 18) + 8);
    }

    void place() {
        Rect area = room_;
        const std::string longest = three_digits(end_) + " " + s_.answer.unit;
        area.cut_left(c_.text_width(longest, ui_.small()) + 12);
        area.cut_bottom(24);
        area.cut_right(40);
        area.cut_top(10);
        area_ = area;
    }
    [[nodiscard]] float x_of(std::size_t i) const {
        const float step = area_.w / static_cast<float>(q_.options.size());
        return area_.x + step * (static_cast<float>(i) + 0.5f);
    }
    [[nodiscard]] float edge(std::size_t i) const {  // the left end of a point's range
        return area_.x + area_.w / static_cast<float>(q_.options.size()) * static_cast<float>(i);
    }
    [[nodiscard]] Vec2 at(std::size_t i, double value) const {
        return {x_of(i), area_.bottom() - area_.h * static_cast<float>(std::clamp(value / end_, 0.0, 1.0))};
    }

    void axes() {
        constexpr int kTicks = 5;
        for (int i = 0; i <= kTicks; ++i) {
            const double value = end_ * i / kTicks;
            const float y = area_.bottom() - area_.h * static_cast<float>(i) / kTicks;
            c_.line({area_.x, y}, {area_.right(), y}, theme_.hairline);
            const std::string text =
                three_digits(value) + (i == kTicks && !s_.answer.unit.empty() ? " " + s_.answer.unit : "");
            c_.text_in({room_.x, y - 9, area_.x - room_.x - 8, 18}, text, ui_.small(), Align::right);
        }
        for (std::size_t i = 0; i < q_.options.size(); ++i)
            c_.text_in({x_of(i) - 40, area_.bottom() + 4, 80, 18}, q_.options[i].label,
                       static_cast<int>(i) == q_.given ? ui_.title() : ui_.style(13, Tone::secondary),
                       Align::center);
        c_.text_in({area_.right() + 4, area_.bottom() + 4, 60, 18}, axis_name(), ui_.small());
    }
    // Returns "tp" of "tp=8", "global batch" of a field.
    [[nodiscard]] std::string axis_name() const {
        const AskedQuery asked = split_query(q_.options.front().value);
        if (asked.sets.empty()) return {};
        const std::string words = sets_text({asked.sets.front()});
        return words.substr(0, words.rfind(' '));
    }

    void ask() {
        c_.rect(area_, theme_.raised.alpha(0.55f));
        c_.pattern(area_, Pattern::sparse, theme_.hairline);
        c_.text_in({area_.x, area_.y + 10, area_.w, 20}, "nothing is shown here until the line is drawn",
                   ui_.style(12, Tone::secondary), Align::center);
        std::optional<std::size_t> active;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (static_cast<int>(i) != q_.given && move_point(i)) active = i;
        guess_line();
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const Vec2 p = at(i, points_[i]);
            const bool given = static_cast<int>(i) == q_.given;
            if (given)
                c_.circle(p, kDot, theme_.text);
            else if (active == i)
                c_.ring(p, kDot + 4, theme_.text, 1.5f);
            if (given || active == i)
                label(p, given ? "given: " + s_.options[i].text : three_digits(points_[i]), given);
        }
    }

    // Moves a point by the mouse, or by the arrows while it has the keyboard. Returns true while it is meant.
    bool move_point(std::size_t i) {
        const Rect column{edge(i), area_.y, edge(i + 1) - edge(i), area_.h};
        const Hit hit = ui_.area("lesson.point", column, i);
        const double under = static_cast<double>((area_.bottom() - ui_.frame().mouse.y) / area_.h) * end_;
        move_drawn_point(ui_, hit, under, end_, i, points_, state_);
        return hit.focused || hit.held || hit.hovered;
    }

    void guess_line() const {
        std::vector<Vec2> line;
        for (std::size_t i = 0; i < points_.size(); ++i) line.push_back(at(i, points_[i]));
        c_.polyline(line, theme_.text, 1.6f, false, Dash::dashed);
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (static_cast<int>(i) == q_.given) continue;
            c_.circle(line[i], kDot, theme_.window);
            c_.ring(line[i], kDot, theme_.text, 1.6f);
        }
    }

    // The words stand to the left where the line goes on steeply.
    void label(Vec2 point, const std::string& words, bool strong, bool steep = false) const {
        const TextStyle style = ui_.style(13, Tone::text, strong ? Face::semibold : Face::regular);
        const float w = c_.text_width(words, style) + 4;
        const float x = held_between(point.x - (steep ? w + 6 : w / 2), area_.x, area_.right() - w);
        const float y = point.y - 28 < area_.y ? point.y + 10 : point.y - 28;
        c_.text_in({x, y, w, 18}, words, style, Align::center);
    }

    // Draws what the answer rests on: what does not fit, where another wire begins.
    void draw_facts() const {
        const std::vector<CurveFact>& facts = session_.curve;
        if (facts.size() != q_.options.size()) return;
        std::string unfit;
        for (std::size_t i = 0; i < facts.size(); ++i) {
            if (facts[i].fit != MemoryFit::no) continue;
            c_.pattern({edge(i), area_.y, edge(i + 1) - edge(i), area_.h}, Pattern::hatched,
                       theme_.bad.alpha(0.28f));
            unfit = "does not fit: " + axis_name() + " " + q_.options[i].label + " wants "
                    + memory_text(facts[i].memory_bytes);
        }
        if (!unfit.empty())
            c_.text_in({area_.x + 6, area_.y + 4, area_.w / 2, 16}, unfit, ui_.small().in(theme_.bad));
        const TextStyle small = ui_.small();
        for (std::size_t i = 1; i < facts.size(); ++i) {
            const int before = facts[i - 1].tier, now = facts[i].tier;
            if (before < 0 || now < 0 || before == now) continue;
            const float x = edge(i);
            c_.line({x, area_.y}, {x, area_.bottom()}, theme_.secondary, 1, Dash::dashed);
            const Cluster& cluster = session_.start.cluster;
            c_.text_in({x - 126, area_.y + 22, 120, 16}, tier_label(cluster, before), small, Align::right);
            c_.text_in({x + 6, area_.y + 22, 120, 16}, tier_label(cluster, now), small);
        }
        if (std::ranges::all_of(facts, [](const CurveFact& f) { return f.waits_s <= 0; })) return;
        // The part of a time that waits for the axis lies under the line.
        std::vector<Vec2> line;
        for (std::size_t i = 0; i < facts.size(); ++i) line.push_back(at(i, grown(facts[i].waits_s, 0)));
        const Color color = color_of(theme_, facts.front().group);
        for (std::size_t i = 1; i < line.size(); ++i) {
            const std::array<Vec2, 4> below{line[i - 1], line[i], Vec2{line[i].x, area_.bottom()},
                                            Vec2{line[i - 1].x, area_.bottom()}};
            c_.polygon(below, color.alpha(0.22f));
        }
        c_.polyline(line, color, 2);
        c_.text_in({line.back().x + 10, line.back().y - 9, 120, 18},
                   "of it " + axis_label(facts.front().group), ui_.small().in(color));
    }

    // Returns a true value on its way from where it was drawn.
    [[nodiscard]] double grown(double truth, double from) const {
        const double passed = ui_.frame().time_s - session_.answered_s;
        if (ui_.state().reduced_motion || ui_.state().for_picture || passed >= kGrow_s || passed < 0)
            return truth;
        ui_.state().wants_frame = true;
        return from + (truth - from) * passed / kGrow_s;
    }

    void draw_truth() const {
        std::vector<Vec2> line;
        for (std::size_t i = 0; i < s_.options.size(); ++i)
            line.push_back(at(i, grown(s_.options[i].number, points_[i])));
        if (drawn_) {
            misses(line);
            guess_line();
            label_end(at(points_.size() - 1, points_.back()), "yours", ui_.small());
        }
        c_.polyline(line, theme_.text, 3.4f);
        for (std::size_t i = 0; i < line.size(); ++i) {
            c_.circle(line[i], 5, theme_.text);
            label(line[i], s_.options[i].text, true,
                  i + 1 < line.size() && line[i + 1].y < line[i].y - kSteep);
        }
    }
    void label_end(Vec2 point, const std::string& words, const TextStyle& style) const {
        c_.text_in({point.x + 12, point.y - 9, 80, 18}, words, style);
    }

    // Joins what was drawn and what is true; the largest three misses have their factor.
    void misses(const std::vector<Vec2>& truth) const {
        std::vector<std::size_t> order;
        const auto factor = [&](std::size_t i) {
            const double a = std::max(points_[i], 1e-12), b = std::max(s_.options[i].number, 1e-12);
            return std::max(a / b, b / a);
        };
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (static_cast<int>(i) == q_.given) continue;
            const bool within =
                std::abs(points_[i] - s_.options[i].number) <= q_.tolerance * std::abs(s_.options[i].number);
            const Vec2 a = truth[i], b = at(i, points_[i]);
            c_.rect({a.x - 3, std::min(a.y, b.y), 6, std::abs(a.y - b.y)},
                    (within ? theme_.good : theme_.bad).alpha(0.55f));
            if (!within) order.push_back(i);
        }
        std::ranges::sort(order, std::greater<>(), factor);
        constexpr std::size_t kNamed = 3;
        for (std::size_t k = 0; k < std::min(order.size(), kNamed); ++k) {
            const std::size_t i = order[k];
            const bool above = points_[i] > s_.options[i].number;
            const float y = (truth[i].y + at(i, points_[i]).y) / 2;
            c_.text_in({x_of(i) + 8, y - 9, 70, 18}, (above ? "× " : "÷ ") + three_digits(factor(i)),
                       ui_.style(13, Tone::text, Face::semibold).in(theme_.bad));
        }
    }

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    LessonSession& session_;
    const LessonQuestion& q_;
    const Solution& s_;
    StepState& state_;
    Rect room_, area_;
    bool shown_ = false, drawn_ = false;
    double end_ = 1;
    std::vector<double> points_;
};

}  // namespace

void draw_curve_view(Ui& ui, Rect room, LessonSession& session) {
    if (asks_for_curve(session)) CurveView(ui, room, session).draw();
}

bool asks_for_curve(const LessonSession& session) {
    const LessonStep* step = session.current();
    return session.open && step != nullptr && step->question && step->question->kind == QuestionKind::curve;
}

}  // namespace pentamesh::ui
