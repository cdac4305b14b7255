// A curve that is asked for is drawn in the place of the view that will show it: first the room's line over a
// covered plot, then the true one over it, on the same axes.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/scale/view.h"
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

constexpr float kDot = 6;
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
        if (shown_) keep_clear_of_truth();
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
        places_ = NamePlaces({area.x, area.y, room_.right() - area.x, area.h}, 4);
    }
    // Words keep clear of a line and of its points.
    void keep_clear(const std::vector<Vec2>& line, float dot) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i > 0) places_.add_line(line[i - 1], line[i]);
            places_.add_box({line[i].x - dot, line[i].y - dot, 2 * dot, 2 * dot});
        }
    }
    [[nodiscard]] std::vector<Vec2> line_of(const std::vector<double>& values) const {
        std::vector<Vec2> out;
        for (std::size_t i = 0; i < values.size(); ++i) out.push_back(at(i, values[i]));
        return out;
    }
    [[nodiscard]] std::vector<double> truth() const {
        std::vector<double> out;
        for (const Answer& a : s_.options) out.push_back(a.number);
        return out;
    }
    // All lines come first, so that no word is put where a later one goes; the figures of the true one are
    // next.
    void keep_clear_of_truth() {
        const std::vector<Vec2> line = line_of(truth());
        keep_clear(line, 5);
        if (drawn_) keep_clear(line_of(points_), kDot);
        const std::vector<CurveFact>& facts = session_.curve;
        for (std::size_t i = 1; i < facts.size() && facts.size() == q_.options.size(); ++i)
            if (facts[i - 1].tier >= 0 && facts[i].tier >= 0 && facts[i - 1].tier != facts[i].tier)
                places_.add_line({edge(i), area_.y}, {edge(i), area_.bottom()});
        if (waits()) {
            std::vector<double> parts;
            for (const CurveFact& f : session_.curve) parts.push_back(f.waits_s);
            keep_clear(line_of(parts), 1);
        }
        for (std::size_t i = 0; i < line.size(); ++i)
            figures_.push_back(place_of(line[i], s_.options[i].text));
    }
    // Returns true if the part of each time that waits for the axis is drawn.
    [[nodiscard]] bool waits() const {
        return session_.curve.size() == q_.options.size()
               && std::ranges::any_of(session_.curve, [](const CurveFact& f) { return f.waits_s > 0; });
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
        std::optional<std::size_t> active;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (static_cast<int>(i) != q_.given && move_point(i)) active = i;
        guess_line();
        keep_clear(line_of(points_), kDot + 2);
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const Vec2 p = at(i, points_[i]);
            const bool given = static_cast<int>(i) == q_.given;
            if (given)
                c_.circle(p, kDot, theme_.text);
            else if (active == i)
                c_.ring(p, kDot + 4, theme_.text, 1.5f);
            if (!given && active != i) continue;
            const std::string words = given ? "given: " + s_.options[i].text : three_digits(points_[i]);
            label(p, place_of(p, words), words, given);
        }
        constexpr std::string_view kNote = "nothing is shown here until the line is drawn";
        const TextStyle note = ui_.style(12, Tone::secondary);
        const float w = c_.text_width(kNote, note) + 4;
        for (const float y : {area_.y + 10, area_.bottom() - 30})
            if (const Rect box{area_.center().x - w / 2, y, w, 20}; places_.take(box)) {
                c_.text_in(box, kNote, note, Align::center);
                break;
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
        const std::vector<Vec2> line = line_of(points_);
        c_.polyline(line, theme_.text, 1.6f, false, Dash::dashed);
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (static_cast<int>(i) == q_.given) continue;
            c_.circle(line[i], kDot, theme_.window);
            c_.ring(line[i], kDot, theme_.text, 1.6f);
        }
    }

    // Returns the place of words at a point, clear of all lines and other words; over the point if there is
    // no such place.
    [[nodiscard]] Rect place_of(Vec2 point, const std::string& words) {
        const Vec2 size{c_.text_width(words, ui_.title()) + 4, 18};
        const Rect free = places_.around(point, kDot, size);
        return free.empty() ? Rect{held_between(point.x - size.x / 2, area_.x, area_.right() - size.x),
                                   std::max(point.y - 28, room_.y), size.x, size.y}
                            : free;
    }
    // A line leads to words that stand farther from their point.
    void label(Vec2 point, Rect box, const std::string& words, bool strong) const {
        constexpr float kFar = 16;
        const Vec2 side{held_between(point.x, box.x, box.right()),
                        held_between(point.y, box.y, box.bottom())};
        const Vec2 way = point - side;
        if (way.x * way.x + way.y * way.y > kFar * kFar) c_.line(side, point, theme_.secondary, 1);
        c_.text_in(box, words, ui_.style(13, Tone::text, strong ? Face::semibold : Face::regular),
                   Align::center);
    }

    // Draws what the answer rests on: what does not fit, where another wire begins.
    void draw_facts() {
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
        constexpr float kBy = 8;  // words give way by so much
        const TextStyle small = ui_.small();
        if (!unfit.empty()) say_at_top(area_.x + 6, kBy, unfit, small.in(theme_.bad));
        for (std::size_t i = 1; i < facts.size(); ++i) {
            const int before = facts[i - 1].tier, now = facts[i].tier;
            if (before < 0 || now < 0 || before == now) continue;
            const float x = edge(i);
            c_.line({x, area_.y}, {x, area_.bottom()}, theme_.secondary, 1, Dash::dashed);
            const Cluster& cluster = session_.start.cluster;
            const std::string left = tier_label(cluster, before), right = tier_label(cluster, now);
            say_at_top(x - 8 - c_.text_width(left, small), -kBy, left, small);
            say_at_top(x + 6, kBy, right, small);
        }
        if (!waits()) return;
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
        label_end(at(facts.size() - 1, facts.back().waits_s), "of it " + axis_label(facts.front().group),
                  small.in(color));
    }
    // Writes words in the topmost row where they are free of lines and of other words, from `x` on or farther
    // to that side; on a ground of their own where there is no such row.
    void say_at_top(float x, float by, const std::string& words, const TextStyle& style) {
        constexpr float kRow = 18;
        const float w = c_.text_width(words, style) + 2;
        x = held_between(x, area_.x + 2, area_.right() - w);
        for (float y = area_.y + 3; y + kRow < area_.bottom(); y += kRow)
            for (float at = x; at >= area_.x && at + w <= area_.right(); at += by)
                if (const Rect box{at, y, w, 16}; places_.take(box)) {
                    c_.text_in(box, words, style);
                    return;
                }
        write_plate(ui_, {x, area_.y + 3, w + 6, 16}, words, style, theme_.window);
    }

    // Returns a true value on its way from where it was drawn.
    [[nodiscard]] double grown(double truth, double from) const {
        const double passed = ui_.frame().time_s - session_.answered_s;
        if (ui_.state().reduced_motion || ui_.state().for_picture || passed >= kGrow_s || passed < 0)
            return truth;
        ui_.state().wants_frame = true;
        return from + (truth - from) * passed / kGrow_s;
    }

    void draw_truth() {
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
            Rect box = figures_[i];
            box.y += line[i].y - at(i, s_.options[i].number).y;  // it comes with its point
            label(line[i], box, s_.options[i].text, true);
        }
    }
    void label_end(Vec2 point, const std::string& words, const TextStyle& style) {
        const Rect box = places_.around(point, kDot, {c_.text_width(words, style) + 2, 18});
        if (!box.empty()) c_.text_in(box, words, style);
    }

    // Joins what was drawn and what is true; the largest three misses have their factor.
    void misses(const std::vector<Vec2>& line) {
        std::vector<std::size_t> order;
        const auto factor = [&](std::size_t i) {
            const double a = std::max(points_[i], 1e-12), b = std::max(s_.options[i].number, 1e-12);
            return std::max(a / b, b / a);
        };
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (static_cast<int>(i) == q_.given) continue;
            const bool within =
                std::abs(points_[i] - s_.options[i].number) <= q_.tolerance * std::abs(s_.options[i].number);
            const Vec2 a = line[i], b = at(i, points_[i]);
            c_.rect({a.x - 3, std::min(a.y, b.y), 6, std::abs(a.y - b.y)},
                    (within ? theme_.good : theme_.bad).alpha(0.55f));
            if (!within) order.push_back(i);
        }
        std::ranges::sort(order, std::greater<>(), factor);
        constexpr std::size_t kNamed = 3;
        for (std::size_t k = 0; k < std::min(order.size(), kNamed); ++k) {
            const std::size_t i = order[k];
            const bool above = points_[i] > s_.options[i].number;
            const Vec2 middle = (at(i, s_.options[i].number) + at(i, points_[i])) * 0.5f;
            const std::string words = (above ? "× " : "÷ ") + three_digits(factor(i));
            const Rect box = places_.around(middle, 2, {c_.text_width(words, ui_.title()) + 2, 18});
            if (!box.empty()) c_.text_in(box, words, ui_.title().in(theme_.bad));
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
    NamePlaces places_{{}, 0};   // what is free of lines and words
    std::vector<Rect> figures_;  // at the points of the true line
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
