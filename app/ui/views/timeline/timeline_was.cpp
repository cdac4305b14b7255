// Holds the shown timeline against plan A, which was there before the question: A's blocks as outlines over
// each row, and the bubble of both from 0, where it kept its length.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kLeastOutline = 3;  // narrower blocks of A share one outline

// Returns A's timeline where it stands on the same rows as the shown one.
const Timeline* timeline_of_a(const Scene& scene) {
    if (scene.outlined == nullptr) return nullptr;
    const Timeline& a = scene.outlined->timeline;
    return a.empty() || a.device.size() != scene.evaluation.timeline.device.size() ? nullptr : &a;
}

}  // namespace

bool has_track_of_a(const Scene& scene) {
    return timeline_of_a(scene) != nullptr;
}

void draw_track_of_a(Ui& ui, Rect track, const Scene& scene, int device, const TimeScale& scale) {
    const Timeline* a = timeline_of_a(scene);
    if (a == nullptr) return;
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const auto d = static_cast<std::size_t>(device);
    const float left = scale.plot.x, right = scale.plot.right();
    const auto x = [&](double at_s) { return held_between(scale.x(at_s), left, right); };
    c.frame({x(0), track.y, x(a->makespan) - x(0), track.h}, theme.faint, 1, 0, Dash::dashed);
    float from = 0, to = -1;  // of blocks that are too narrow for an outline each
    Color ink = theme.secondary;
    const auto end_run = [&] {
        if (to > from) c.frame({from, track.y, to - from, track.h}, ink, 1.2f);
        to = -1;
    };
    for (std::size_t i = a->order.begin[d]; i < a->order.begin[d + 1]; ++i) {
        const float x0 = x(a->start[i]), x1 = x(a->end[i]);
        const Color own = a->order.ops[i].kind == OpKind::F ? theme.text : theme.secondary;
        const bool wide = x1 - x0 >= kLeastOutline;
        if (wide || to < from || x0 > to + 1) end_run();
        if (to < from) from = x0, ink = own;
        to = std::max(to, x1);
        if (wide) end_run();
    }
    end_run();
}

bool bubble_stays(const Scene& scene) {
    constexpr double kSame = 0.02;  // as for a question of what a change does
    if (scene.outlined == nullptr || !scene.outlined->step || !scene.evaluation.step) return false;
    const double a = schedule_bubble_s(*scene.outlined->step), b = schedule_bubble_s(*scene.evaluation.step);
    return b > 0 && scene.outlined->step->time_s != scene.evaluation.step->time_s
           && std::abs(b - a) <= kSame * std::max(a, b);
}

void draw_same_bubble(Ui& ui, Rect band, const Scene& scene, const TimeScale& scale) {
    constexpr float kRow = 18, kBetween = 6, kLetter = 20, kWords = 190, kShares = 240;
    const Step &step_a = *scene.outlined->step, &step_b = *scene.evaluation.step;
    const double a = schedule_bubble_s(step_a), b = schedule_bubble_s(step_b);
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Rect row_a{scale.plot.x, band.y + 2, scale.x(a) - scale.x(0), kRow};
    const Rect row_b{scale.plot.x, row_a.bottom() + kBetween, scale.x(b) - scale.x(0), kRow};
    const auto letter = [&](Rect row, std::string_view text, Tone tone) {
        c.text_in({row.x - kLetter, row.y, kLetter - 6, row.h}, text, ui.style(12, tone, Face::semibold),
                  Align::right);
    };
    letter(row_a, "A", Tone::secondary);
    letter(row_b, "B", Tone::text);
    c.frame(row_a, theme.text, 1.3f, 0, Dash::dashed);
    c.pattern(row_b, Pattern::hatched, theme.bad, theme.window);
    c.frame(row_b, theme.bad, 1.3f);
    const float x = std::max(row_a.right(), row_b.right()) + 8;
    c.polyline(std::array{Vec2{x - 4, row_a.y}, Vec2{x, row_a.y}, Vec2{x, row_b.bottom()},
                          Vec2{x - 4, row_b.bottom()}},
               theme.text, 1.5f);
    Rect words{x + 12, row_a.y, band.right() - x - 12, row_b.bottom() - row_a.y};
    Rect shares = words.w >= kWords + kShares + 24 ? words.cut_right(kShares) : Rect{};
    words.cut_right(shares.empty() ? 0.0f : 24.0f);
    const Rect bold = words.cut_top(words.h / 2);
    c.text_in(bold, time_text(b) + ", as long as before", ui.style(16, Tone::text, Face::semibold));
    const TextStyle small = ui.style(12, Tone::secondary);
    const std::array<std::string, 3> idle{"what the schedule leaves idle on the busiest stage",
                                          "idle on the busiest stage", "idle"};
    c.text_in(words, wording(ui, words.w, idle, small), small);
    if (shares.empty()) return;
    // The share of the step is another thing than the length: both stand on one scale of 100 %.
    const auto share = [&](Rect row, double of, Dash dash) {
        Rect bar = row.cut_left(kShares * 0.42f).inset(0, 3);
        c.rect(bar, theme.raised);
        const Rect part{bar.x, bar.y, bar.w * static_cast<float>(of), bar.h};
        if (dash == Dash::solid) c.pattern(part, Pattern::hatched, theme.bad, theme.window);
        c.frame(part, dash == Dash::solid ? theme.bad : theme.text, 1.2f, 0, dash);
        row.cut_left(8);
        c.text_in(row, percent(of) + " of the step", ui.style(12, Tone::text, Face::semibold));
    };
    const Rect own_a{shares.x, row_a.y, shares.w, kRow}, own_b{shares.x, row_b.y, shares.w, kRow};
    share(own_a, a / step_a.time_s, Dash::dashed);
    share(own_b, b / step_b.time_s, Dash::solid);
}

}  // namespace pentamesh::ui
