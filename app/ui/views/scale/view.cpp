#include "app/ui/views/scale/view.h"

#include "app/tables/decide_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kWide = 860, kSide = 300, kLow = 300;

// Returns the pages that the plan has, as the switch offers them: weak scaling has a switch of its own.
std::vector<int> pages_over(const Plan& plan) {
    std::vector<int> out{0, 2, 3, 4, 5};
    if (plan.model.moe) out.push_back(6);
    out.push_back(7);
    return out;
}

void draw_switches(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, ScaleViewState& state) {
    const std::vector<int> pages = pages_over(scene.plan);
    std::vector<std::string_view> names;
    int shown = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        names.push_back(pages[i] == 0 ? "GPUs" : kScalePages[static_cast<std::size_t>(pages[i])]);
        if (pages[i] == state.page || (pages[i] == 0 && state.page == 1)) shown = static_cast<int>(i);
    }
    const Rect place = head_place(head_row, room, segments_width(ui, names, 0, shown));
    const int picked = ui.segments("scale.over", place, names, shown);
    if (picked != shown) state.page = pages[static_cast<std::size_t>(picked)];
    if (state.page > 1) return;
    static constexpr std::string_view kBatch[] = {"batch stays", "batch grows"};
    const Rect second = head_place(head_row, room, segments_width(ui, kBatch, 0, state.page));
    state.page = ui.segments("scale.batch", second, kBatch, state.page);
}

std::string tooltip_of(const Scale& s, const ScalePoint& p) {
    const std::string head = value_words(s.request.over, static_cast<double>(p.at));
    if (!p.possible()) return head + "\nrefused: " + p.reason;
    std::string out = head + "\n" + time_text(p.step_s) + " a step, " + count_text(p.tokens_per_s)
                      + " tokens/s, " + percent(p.of_best) + " of the best by GPU\n";
    for (const ScalePart& part : parts_of(p))
        if (part.time_s > 0) out += std::string(part.name) + " " + time_text(part.time_s) + "   ";
    out += "\nfullest GPU " + memory_text(p.memory_bytes) + ", which " + std::string(name_of(p.fit));
    return out + (p.at == s.own ? "\nthis plan" : "\nclick: make it the plan");
}

// Answers the mouse and the keyboard over a value. Returns true if it was clicked.
bool press_value(Ui& ui, std::string_view name, std::uint64_t index, Rect place, const Scale& s,
                 const ScalePoint& p) {
    const bool goes = p.possible() && p.at != s.own;
    const Hit hit = ui.area(name, place, index, goes);
    if (hit.hovered || ui.hovers(place)) ui.tooltip(tooltip_of(s, p));
    if (hit.focused) ui.focus_ring(place, 3);
    return goes && hit.clicked;
}

PlanEdit edit_to(const Plan& plan, const Scale& s, const ScalePoint& p) {
    return {scaled_plan(plan, s.request, p.at), value_words(s.request.over, static_cast<double>(p.at)), ""};
}

std::optional<PlanEdit> press_points(Ui& ui, const Plan& plan, const Scale& s, const Plot& plot) {
    std::optional<PlanEdit> edit;
    const auto at = [&](std::size_t i) { return plot.x.at(static_cast<double>(s.points[i].at)); };
    for (std::size_t i = 0; i < s.points.size(); ++i) {
        const float left = i > 0 ? (at(i - 1) + at(i)) / 2 : plot.area.x;
        const float right = i + 1 < s.points.size() ? (at(i) + at(i + 1)) / 2 : plot.area.right();
        const Rect place{left, plot.area.y, right - left, plot.area.h};
        if (ui.hovers(place))
            ui.canvas().line({at(i), place.y}, {at(i), place.bottom()}, ui.theme().secondary, 1);
        if (press_value(ui, "scale.point", i, place, s, s.points[i])) edit = edit_to(plan, s, s.points[i]);
    }
    return edit;
}

void draw_words(Ui& ui, Rect& room, const ScaleWords& words, bool low) {
    const TextStyle verdict = ui.style(low ? 13.0f : 16.0f, Tone::text, Face::semibold);
    room.cut_top(ui.canvas().paragraph(room, words.verdict, verdict, low ? 18.0f : 22.0f) + 2);
    if (!low) room.cut_top(ui.canvas().paragraph(room, words.held, ui.small(), 18) + 6);
}

std::optional<PlanEdit> draw_bars(Ui& ui, Rect room, const ScaleInk& ink, const Plan& plan,
                                  const ScalePicture& picture) {
    std::optional<PlanEdit> edit;
    ui.section(room.cut_top(18), "THE SAME QUESTION ASKED OF OTHER NUMBERS OF THE PLAN",
               room.w > 700 ? "seconds for the tokens of a step; below: memory, GiB" : "");
    room.cut_top(6);
    std::uint64_t index = 0;
    for (const ScaleBar& bar : draw_scale_bars(ink, room, plan, picture))
        if (press_value(ui, "scale.bar", index++, bar.place, *bar.of, *bar.point))
            edit = edit_to(plan, *bar.of, *bar.point);
    return edit;
}

void draw_side(Ui& ui, Rect side, const ScaleInk& ink, const Plan& plan, const ScalePicture& picture) {
    const float memory = std::clamp(side.h * 0.34f, 90.0f, 190.0f);
    Rect below = side.cut_bottom(memory);
    put_head(ui, side, 4, "WHERE IT TIPS");
    const float used = draw_turns(ink, side, picture.scale);
    // The memory follows the list where that is short.
    below.y = std::min(below.y, side.y + used + 10);
    put_head(ui, below, 4, "MEMORY OF THE FULLEST GPU");
    below.h = std::min(below.h, memory - 24);
    draw_scale_memory(ink, below, plan, picture);
}

}  // namespace

ScaleRequest scale_request(int page) {
    constexpr std::array kOver{ScaleOver::gpus, ScaleOver::gpus, ScaleOver::batch, ScaleOver::sequence,
                               ScaleOver::tp,   ScaleOver::cp,   ScaleOver::ep,    ScaleOver::pp};
    static_assert(kOver.size() == kScalePages.size());
    return {.over = kOver[static_cast<std::size_t>(page)], .weak = page == 1};
}

void ScaleViewState::put_beside(const Plan* plan, bool outlined, std::uint64_t revision) {
    beside_of = revision;
    const bool same = plan == nullptr
                          ? beside.plan == nullptr
                          : beside.plan != nullptr && *beside.plan == *plan && beside.outlined == outlined;
    if (same) return;
    beside = {plan == nullptr ? nullptr : std::make_shared<const Plan>(*plan), outlined};
    of.forget();
}

std::optional<PlanEdit> draw_scale(Ui& ui, Rect head_row, Rect room, Scene& scene, ScaleViewState& state,
                                   std::uint64_t revision) {
    if (state.page == 6 && !scene.plan.model.moe) state.page = 0;
    draw_switches(ui, head_row, room, scene, state);
    const bool there = state.of.is_of({revision, state.page});
    if (there && state.of.error().empty()) state.last = *state.of;
    if (there && !state.of.error().empty()) {
        ui.label(room.cut_top(24), "It could not be worked out: " + state.of.error(), ui.small());
        return std::nullopt;
    }
    if (!state.last) {
        ui.label(room.cut_top(24), "evaluating the plan over this number …", ui.small());
        return std::nullopt;
    }
    const ScalePicture& picture = *state.last;
    const Scale& s = picture.scale;
    const bool low = room.h < kLow, wide = room.w >= kWide;
    draw_words(ui, room, words_of(scene.plan, s), low);
    if (s.points.size() < 2) return std::nullopt;
    ScaleInk ink{ui.canvas(), ui.theme()};
    ink.numbered = wide || room.h > 2 * kLow;
    const float bars = scale_bars_height(ink) + 24;
    std::optional<PlanEdit> edit;
    if (wide && room.h > bars + 300 && !picture.others.empty()) {
        edit = draw_bars(ui, room.cut_bottom(bars), ink, scene.plan, picture);
        room.cut_bottom(14);
    }
    if (wide) {
        draw_side(ui, room.cut_right(std::min(std::max(kSide, room.w * 0.26f), 380.0f)), ink, scene.plan,
                  picture);
        room.cut_right(28);
    } else if (room.h > 2 * kLow) {
        draw_side(ui, room.cut_bottom(room.h * 0.45f), ink, scene.plan, picture);
        room.cut_bottom(14);
    }
    const Plot plot = draw_scale_plot(ink, room, scene.plan, picture);
    if (const auto pressed = press_points(ui, scene.plan, s, plot)) edit = pressed;
    return there ? edit : std::nullopt;
}

Table scale_data(const ScaleViewState& state, int part) {
    if (const auto& picture = *state.of; state.of.key() != nullptr && picture != nullptr)
        return part == 0 ? scale_table(picture->scale) : turns_table(picture->scale);
    Table none;
    none.columns = {{"how far it scales"}};
    none.rows = {{state.of.error().empty() ? "evaluating the plan over this number …"
                                           : "It could not be worked out: " + state.of.error()}};
    return none;
}

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
    if (c.turn == ScaleTurn::refused || c.turn == ScaleTurn::groups) return c.why;
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

void draw_scale_memory(const ScaleInk& ink, Rect room, const Plan& plan, const ScalePicture& picture) {
    const Scale& scale = picture.scale;
    const double hbm = plan.cluster.gpu.hbm_bytes;
    double most = hbm, first = 1e300, last = 0;
    const Scale* beside = picture.beside_over(scale.request);
    for (const Scale* s : {&scale, beside}) {
        if (s == nullptr || s->points.empty()) continue;
        for (const ScalePoint& p : s->points) most = std::max(most, p.memory_bytes);
        first = std::min(first, static_cast<double>(s->points.front().at));
        last = std::max(last, static_cast<double>(s->points.back().at));
    }
    if (scale.points.size() < 2 || hbm <= 0 || room.h < ink.line() * 3) return;
    const Rect foot = room.cut_bottom(ink.line());
    const std::string capacity = memory_text(hbm);
    room.cut_top(ink.line());
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
    if (const Scale* a = picture.outline_over(scale.request))
        for (std::size_t i = 1; i < a->points.size(); ++i)
            if (a->points[i - 1].possible() && a->points[i].possible())
                ink.canvas.line(place(a->points[i - 1]), place(a->points[i]), ink.theme.text, 1.3f,
                                Dash::dashed);
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
    const float left = held_between(at.x - w / 2, room.x, room.right() - w);
    const bool below = at.y + ink.line() + 6 < room.bottom();  // the curve comes from above
    ink.canvas.text_in({left, below ? at.y + 6 : at.y - ink.line() - 5, w, ink.line()}, words,
                       ink.bold(fits(own->fit) ? ink.theme.text : ink.theme.bad));
}

namespace {

constexpr double kSeen = 0.002;  // of the step, at any point: what is less has no curve
constexpr double kSame = 0.98;   // of its time: what waits so much waits whole

std::vector<double> seconds_of(const Scale& scale, const std::function<double(const ScalePoint&)>& of) {
    std::vector<double> out;
    for (const ScalePoint& p : scale.points) out.push_back(p.possible() ? of(p) : -1);
    return out;
}

// Returns the largest share of the step.
double most_share(const Scale& scale, const std::vector<double>& s) {
    double out = 0;
    for (std::size_t i = 0; i < s.size(); ++i)
        if (s[i] > 0) out = std::max(out, s[i] / scale.points[i].step_s);
    return out;
}

void add_axis(std::vector<ScaleCurve>& out, const Theme& theme, const Scale& scale, GroupKind k) {
    const Color color = color_of(theme, k);
    std::vector<double> waits = seconds_of(scale, [&](const ScalePoint& p) { return p.waits_s[k]; });
    std::vector<double> time = seconds_of(scale, [&](const ScalePoint& p) { return p.time_s[k]; });
    bool whole = true;
    for (std::size_t i = 0; i < waits.size(); ++i)
        whole = whole && (time[i] <= 0 || waits[i] >= kSame * time[i]);
    const bool waited = most_share(scale, waits) > kSeen;
    const std::string name = axis_label(k);
    if (!whole && most_share(scale, time) > kSeen)
        out.push_back({name + ", all of it", "", color, 1.2f, Dash::dashed, std::move(time), name});
    if (waited)
        out.push_back(
            {name, whole ? "all of it waits" : "waits", color, 2.4f, Dash::solid, std::move(waits)});
}

bool overlaps(Rect a, Rect b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// Returns true if the line from a to b passes through the box.
bool passes(Vec2 a, Vec2 b, Rect box) {
    float from = 0, to = 1;
    const auto cut = [&](float start, float by, float low, float high) {
        if (std::abs(by) < 1e-6f) return start >= low && start <= high;
        float t0 = (low - start) / by, t1 = (high - start) / by;
        if (t0 > t1) std::swap(t0, t1);
        from = std::max(from, t0), to = std::min(to, t1);
        return from <= to;
    };
    return cut(a.x, b.x - a.x, box.x, box.right()) && cut(a.y, b.y - a.y, box.y, box.bottom());
}

// Returns the step that perfect scaling from the best point would take; < 0 where the point is impossible.
double perfect_s(const ScalePoint& p) {
    return p.possible() ? p.step_s * p.of_best : -1;
}

}  // namespace

std::vector<ScaleCurve> curves_of(const Theme& theme, const Scale& scale) {
    std::vector<ScaleCurve> out;
    for (const GroupKind k : all_of<GroupKind>()) add_axis(out, theme, scale, k);
    std::vector<double> bubble = seconds_of(scale, [](const ScalePoint& p) { return p.bubble_s; });
    if (most_share(scale, bubble) > kSeen)
        out.push_back({"bubble", "idle", theme.bad, 2.4f, Dash::solid, std::move(bubble)});
    out.push_back({"compute", "", theme.forward, 2.2f, Dash::solid,
                   seconds_of(scale, [](const ScalePoint& p) { return p.compute_s; })});
    out.push_back({"perfect", "", theme.text, 1.2f, Dash::dotted, seconds_of(scale, perfect_s)});
    out.push_back({"step", "", theme.text, 3.4f, Dash::solid,
                   seconds_of(scale, [](const ScalePoint& p) { return p.step_s; })});
    return out;
}

bool NamePlaces::is_free(Rect box) const {
    if (box.x < area_.x || box.right() > area_.right() || box.y < area_.y || box.bottom() > area_.bottom())
        return false;
    for (const Rect& b : boxes_)
        if (overlaps(b, box)) return false;
    return std::none_of(lines_.begin(), lines_.end(), [&](const Line& l) { return passes(l.a, l.b, box); });
}

Rect NamePlaces::beside(const std::vector<Vec2>& curve, Vec2 size) {
    constexpr int kTries = 10;  // places between two points
    for (const float lift : {gap_, 2.5f * gap_})
        for (std::size_t i = 1; i < curve.size(); ++i)
            for (int k = 0; k < kTries; ++k) {
                const float t = static_cast<float>(k) / kTries;
                const Vec2 at = curve[i - 1] * (1 - t) + curve[i] * t;
                for (const bool above : {true, false}) {
                    // The box stands off the curve on the side to which the curve leans away from it.
                    const bool falls = curve[i].y > curve[i - 1].y;
                    const Rect box{above == falls ? at.x + gap_ / 2 : at.x - size.x - gap_ / 2,
                                   above ? at.y - lift - size.y : at.y + lift, size.x, size.y};
                    if (take(box)) return box;
                }
            }
    return {};
}

Rect NamePlaces::around(Vec2 point, float clear, Vec2 size) {
    constexpr int kRings = 6;
    constexpr std::array<Vec2, 8> kSides{Vec2{0, -1}, {0, 1},  {-1, -1}, {1, -1},
                                         Vec2{1, 1},  {-1, 1}, {1, 0},   {-1, 0}};
    for (int ring = 0; ring < kRings; ++ring)
        for (const Vec2 side : kSides) {
            const float off = clear + gap_ + size.y * 0.6f * static_cast<float>(ring);
            Rect box{point.x + side.x * (size.x / 2 + off) - size.x / 2,
                     point.y + side.y * (size.y / 2 + off) - size.y / 2, size.x, size.y};
            if (side.x == 0) box.x = held_between(box.x, area_.x, area_.right() - box.w);
            if (take(box)) return box;
        }
    return {};
}

bool NamePlaces::take(Rect box) {
    if (!is_free(box)) return false;
    boxes_.push_back(box);
    return true;
}

}  // namespace pentamesh::ui
