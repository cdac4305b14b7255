#include "app/ui/kit/format.h"
#include "app/ui/views/scale/view.h"

#include <algorithm>
#include <array>
#include <string>

namespace pentamesh::ui {

namespace {

// Returns the plan's own point, or the last possible one.
const ScalePoint* shown_point(const Scale& scale) {
    const ScalePoint* own = scale.at(scale.own);
    if (own != nullptr && own->possible()) return own;
    const ScalePoint* last = nullptr;
    for (const ScalePoint& point : scale.points)
        if (point.possible()) last = &point;
    return last;
}

void draw_mark(const ScaleInk& ink, Vec2 at, int number) {
    const float r = ink.small * 0.78f;
    const bool refused = number == 0;
    if (refused) {
        ink.canvas.circle(at, r, ink.theme.bad);
    } else {
        ink.canvas.circle(at, r, ink.theme.window);
        ink.canvas.ring(at, r, ink.theme.text, 1.4f);
    }
    ink.canvas.text_in({at.x - r, at.y - r, 2 * r, 2 * r}, refused ? "!" : std::to_string(number),
                       ink.bold(refused ? ink_on(ink.theme.bad) : ink.theme.text), Align::center);
}

}  // namespace

std::string figures_of(const Scale& scale, const ScaleCrossing& c) {
    if (c.turn == ScaleTurn::refused) return c.why;
    const ScalePoint *own = shown_point(scale), *from = nullptr;
    for (const ScalePoint& p : scale.points)
        if (p.possible() && from == nullptr && static_cast<double>(p.at) >= c.at) from = &p;
    if (from == nullptr || own == nullptr) return "";
    const auto at = [](const ScalePoint& p) { return " at " + with_commas(p.at); };
    const auto two = [&](const auto& figure) {
        return figure(*from) + at(*from) + (own == from ? "" : ", " + figure(*own) + at(*own));
    };
    const GroupKind k = c.axis;
    switch (c.turn) {
    case ScaleTurn::memory: return two([](const ScalePoint& p) { return memory_text(p.memory_bytes); });
    case ScaleTurn::bubble:
        return two([&](const ScalePoint& p) {
            return time_text(p.bubble_s) + " against " + time_text(p.waits_s[k]);
        });
    case ScaleTurn::passes_compute:
        return two([&](const ScalePoint& p) {
            return time_text(p.time_s[k]) + " against " + time_text(p.compute_s);
        });
    default:
        if (from->waits_s[k] <= 0 && own->waits_s[k] <= 0) return "All of it hides behind compute";
        return "The step waits " + two([&](const ScalePoint& p) { return time_text(p.waits_s[k]); });
    }
}

float draw_turns(const ScaleInk& ink, Rect room, const Scale& scale) {
    const float top = room.y, left = ink.small * 2.2f, gap = ink.small * 0.7f;
    const std::vector<NamedTurn> turns = named_turns(scale);
    if (turns.empty()) {
        ink.canvas.text_in(room.cut_top(ink.line()), "Nothing, in this range.", ink.second());
        return room.y - top;
    }
    for (const NamedTurn& t : turns) {
        const std::string figures = figures_of(scale, *t.of), first = t.of->place;
        const float w = room.w - left;
        const float what = ink.canvas.paragraph_height(w, t.of->what, ink.plain(), ink.line());
        const float more = ink.canvas.paragraph_height(w, figures, ink.second(), ink.line());
        const bool whole = ink.line() + what + more <= room.h;
        if (!whole && ink.line() + what > room.h) break;
        Rect entry = room.cut_top(ink.line() + what + (whole ? more : 0));
        draw_mark(ink, {entry.x + ink.small * 0.8f, entry.y + ink.line() / 2}, t.number);
        entry.cut_left(left);
        ink.canvas.text_in(entry.cut_top(ink.line()), first, ink.bold());
        ink.canvas.paragraph(entry.cut_top(what), t.of->what, ink.plain(), ink.line());
        if (whole) ink.canvas.paragraph(entry, figures, ink.second(), ink.line());
        room.cut_top(std::min(gap, std::max(room.h, 0.0f)));
    }
    return room.y - top;
}

void draw_scale_memory(const ScaleInk& ink, Rect room, const Plan& plan, const Scale& scale) {
    const double hbm = plan.cluster.gpu.hbm_bytes;
    double most = hbm;
    for (const ScalePoint& p : scale.points) most = std::max(most, p.memory_bytes);
    if (scale.points.size() < 2 || hbm <= 0 || room.h < ink.line() * 3) return;
    const Rect foot = room.cut_bottom(ink.line());
    const std::string capacity = memory_text(hbm);
    room.cut_top(ink.line());
    const auto first = static_cast<double>(scale.points.front().at),
               last = static_cast<double>(scale.points.back().at);
    const PlotScale x{first, last, ScaleKind::logarithmic, room.x + 4, room.right() - 4};
    const PlotScale y{0, most, ScaleKind::linear, room.bottom(), room.y};
    const auto place = [&](const ScalePoint& p) {
        return Vec2{x.at(static_cast<double>(p.at)), y.at(p.memory_bytes)};
    };
    ink.canvas.line({room.x, room.bottom()}, {room.right(), room.bottom()}, ink.theme.hairline);
    const float full = y.at(hbm);
    for (std::size_t i = 1; i < scale.points.size(); ++i) {
        const ScalePoint &a = scale.points[i - 1], &b = scale.points[i];
        if (!a.possible() || !b.possible()) continue;
        const Vec2 from = place(a), to = place(b);
        const std::array<Vec2, 4> below{from, to, Vec2{to.x, room.bottom()}, Vec2{from.x, room.bottom()}};
        ink.canvas.polygon(below, ink.theme.memory[0].alpha(0.35f));
        ink.canvas.line(from, to, ink.theme.memory[1], 2);
    }
    ink.canvas.line({room.x, full}, {room.right(), full}, ink.theme.bad, 1.4f, Dash::dashed);
    const ScalePoint* own = shown_point(scale);
    const bool above = own == nullptr || place(*own).y > full + ink.line();
    const float next = above || full + ink.line() > room.bottom() ? full - ink.line() - 3 : full + 4;
    ink.canvas.text_in({room.x + 4, next, room.w - 8, ink.line()}, "a GPU has " + capacity,
                       ink.plain(ink.theme.text), Align::left);
    const auto value = [&](const ScalePoint& p, Align align) {
        ink.canvas.text_in({room.x, foot.y, room.w, foot.h},
                           with_commas(p.at) + ": "
                               + (p.possible() ? memory_text(p.memory_bytes) : "refused"),
                           ink.second(), align);
    };
    value(scale.points.front(), Align::left);
    value(scale.points.back(), Align::right);
    if (own == nullptr) return;
    const Vec2 at = place(*own);
    ink.canvas.circle(at, 4, ink.theme.text);
    const std::string words = memory_text(own->memory_bytes) + " at " + with_commas(own->at);
    const float w = ink.width(words, ink.bold());
    const float left = std::clamp(at.x - w / 2, room.x, std::max(room.x, room.right() - w));
    const bool below = at.y + ink.line() + 6 < room.bottom();  // the curve comes from above
    ink.canvas.text_in({left, below ? at.y + 6 : at.y - ink.line() - 5, w, ink.line()}, words,
                       ink.bold(own->fit == MemoryFit::yes ? ink.theme.text : ink.theme.bad));
}

}  // namespace pentamesh::ui
