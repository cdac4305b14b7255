// Draws the page of wires: a gigabyte runs down all of them at once; below stands who fills its wire how
// often, and the step with an axis on another wire.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/map/view.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr double kSlowed = 1000;  // times: a millisecond lasts a second
constexpr float kRaceHead = 22, kRaceFoot = 26;
constexpr float kWide = 760;  // room for the ticks next to the orders

Film film_of(const WireRace& race) {
    return {.end = race.end_s(),
            .telling = race.telling_s,
            .a_second = 1 / kSlowed,
            .after = [&race](double at) { return race.moment_after(at); },
            .before = [&race](double at) { return race.moment_before(at); }};
}

// A wire is thick by the logarithm of its speed.
float thickness(double bytes_per_s, float most) {
    return held_between(4 + 8.5f * static_cast<float>(std::log10(bytes_per_s / 1e9)), 4.0f, most);
}

// `asked`: who crosses which wire is the question, so each stands with its rate, as the cluster lists it.
void draw_lane(Ui& ui, Rect row, const RaceLane& lane, double at_s, bool asked) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const bool wide = row.w >= 620;
    Rect label = row.cut_left(wide ? 200 : 110);
    Rect right = row.cut_right(wide ? 130 : 76);
    right.cut_left(14);
    const float y = row.center().y;
    const bool two = row.h >= 34;
    const std::string rate = bandwidth_text(lane.bytes_per_s);
    const float label_w = label.w - 8;
    const std::array names{asked ? lane.name + ", " + rate : lane.name, lane.name};
    const std::string name(wording(ui, label_w, names, ui.title()));
    ui.label({label.x, two ? y - 18 : y - 9, label_w, 18}, name, ui.title());
    if (two) {
        const bool rated = asked && name == names[0];  // it is not said twice
        const std::array reaches{asked ? lane.reach : rate + ", " + lane.reach, rated ? "" : rate};
        ui.label({label.x, y, label_w, 17}, wording(ui, label_w, reaches, ui.small()), ui.small());
    }
    const float h = thickness(lane.bytes_per_s, std::min(34.0f, row.h - 4));
    const Rect tube{row.x, y - h / 2, row.w, h};
    const double share = std::min(1.0, at_s / lane.takes_s());
    const bool done = share >= 1 - 1e-9;
    c.box(tube, theme.raised, theme.hairline, 1, h / 2);
    const float filled = tube.w * static_cast<float>(share);
    if (filled > 0) c.rect({tube.x, tube.y, filled, h}, theme.secondary, std::min(h, filled) / 2);
    if (!done && row.h >= h + 30) {
        const std::string words = percent(share) + " of the GB";
        const float w = c.text_width(words, ui.small(Tone::text)) + 2;
        c.text_in({std::min(tube.x + filled, tube.right() - w), tube.y - 17, w, 16}, words,
                  ui.small(Tone::text));
    }
    write_left(ui, right, time_text(lane.takes_s()),
               ui.style(14, done ? Tone::text : Tone::secondary, Face::semibold), 8);
    if (done && right.w > 30) c.text_in(right, "done", ui.small());
    if (ui.hovers({label.x, row.y, right.right() - label.x, row.h}))
        ui.tooltip(lane.name + ", " + lane.reach + "\n" + bandwidth_text(lane.bytes_per_s)
                   + " for each GPU, one direction\n1 GB takes " + time_text(lane.takes_s()) + "; at "
                   + time_text(at_s) + " " + percent(share) + " of it is over");
}

void draw_race_foot(Ui& ui, Rect row, MapRaceState& s, const Film& film) {
    Canvas& c = ui.canvas();
    const std::string moment =
        (ui.state().for_picture ? "stopped at " : "") + time_text(moment_of(s.played, film));
    if (ui.state().for_picture) {
        c.text_in(row, moment, ui.style(12), Align::right);
        return;
    }
    Rect box = row.cut_right(std::min(row.w, 190.0f));
    draw_player(ui, box, "map.race", s.played, film);
    c.text_in(box, moment, ui.style(12), Align::right);
    if (row.w > 330)
        c.text_in(row, "Space plays, left and right step", ui.style(11, Tone::secondary), Align::right);
}

void draw_race_lanes(Ui& ui, Rect room, MapRaceState& s, const Film& film, bool asked) {
    const double at_s = moment_of(s.played, film);
    Rect head = room.cut_top(kRaceHead);
    write_left(ui, head, "One GB into every wire at once", ui.title(), 10);
    const std::array<std::string, 3> wordings{
        "of each GPU, one direction; slowed a thousandfold: 1 ms lasts 1 s",
        "slowed a thousandfold: 1 ms lasts 1 s", "1 ms lasts 1 s"};
    ui.label(head, wording(ui, head.w, wordings, ui.small()), ui.small());
    draw_race_foot(ui, room.cut_bottom(kRaceFoot), s, film);
    const float h = std::min(72.0f, room.h / static_cast<float>(s.race->lanes.size()));
    for (const RaceLane& lane : s.race->lanes) draw_lane(ui, room.cut_top(h), lane, at_s, asked);
}

constexpr float kTalkName = 176, kTalkRow = 42;
constexpr float kTickPitch = 3, kTickLine = 11, kTick = 8;

struct TickPlace {
    Rect room;
    [[nodiscard]] int per_line() const { return std::max(1, static_cast<int>(room.w / kTickPitch)); }
    [[nodiscard]] int lines() const { return std::max(1, static_cast<int>((room.h - 4) / kTickLine)); }
    [[nodiscard]] double holds() const { return static_cast<double>(per_line()) * lines(); }
};

// Returns how many messages a tick stands for: 1, 2 or 5 of a decade, so that each axis has room.
double messages_of_tick(const std::vector<TickPlace>& places, const WireRace& race) {
    for (double decade = 1;; decade *= 10)
        for (const double k : {1.0, 2.0, 5.0}) {
            bool fits = true;
            for (std::size_t i = 0; i < places.size(); ++i)
                fits = fits && race.talk[i].calls / (k * decade) <= places[i].holds();
            if (fits) return k * decade;
        }
}

void draw_tick_lines(Ui& ui, const TickPlace& place, double ticks, Color color) {
    const int per_line = place.per_line();
    const auto n = static_cast<int>(std::ceil(ticks - 1e-9));
    const float w = n <= 12 ? 4.0f : 2.0f, pitch = n <= 12 ? 9.0f : kTickPitch;
    for (int i = 0; i < n; ++i) {
        const int line = i / per_line, in_line = i % per_line;
        const Vec2 at{place.room.x + static_cast<float>(in_line) * pitch,
                      place.room.y + 4 + static_cast<float>(line) * kTickLine};
        const double last = ticks - i;  // the last may stand for a part
        ui.canvas().rect({at.x, at.y, w, last < 1 ? std::max(2.0f, kTick * static_cast<float>(last)) : kTick},
                         color);
    }
}

std::string messages_text(double calls) {
    const std::int64_t n = std::llround(calls);
    return std::abs(calls - static_cast<double>(n)) < 0.01 ? plural(n, "message", "messages")
                                                           : significant(calls) + " messages";
}

// Draws one order: its wire, the step, and the part that waits. Returns true if it was clicked.
bool draw_order(Ui& ui, Rect row, const Scene& scene, const WireRace& race, std::size_t i, double most) {
    const OtherOrder& o = race.orders[i];
    Canvas& c = ui.canvas();
    const std::string axis(name_of(*race.moved));
    const Color color = color_of(ui.theme(), group_of(*race.moved));
    const double share = o.step_s > 0 ? o.waits_s / o.step_s : 0;
    const Hit hit = ui.area("map.order", row, i, !o.own);
    row_ground(ui, row, hit);
    if (hit.hovered) ui.tooltip(o.where + ", click to set" + (o.lacks.empty() ? "" : "\n" + o.lacks));
    const bool words = row.h >= 42, two = row.h >= 38;  // lines of the label
    row = row.inset(4, 2);
    Rect label = row.cut_left(std::min(132.0f, row.w * 0.3f));
    ui.label(label.cut_top(18), tier_name(scene.plan.cluster, o.tier), ui.title());
    if (two) ui.label(label.cut_top(17), o.where, ui.small());
    row.cut_right(66);
    const float w = row.w * static_cast<float>(o.step_s / most), waits = w * static_cast<float>(share);
    const Rect bar{row.x, row.y, w, two ? std::clamp(row.h - 18, 8.0f, 24.0f) : 18.0f};
    c.rect({bar.x, bar.y, bar.w - waits, bar.h}, ui.theme().secondary);
    const Rect part{bar.right() - waits, bar.y, waits, bar.h};
    c.pattern(part, Pattern::hatched, color);
    c.frame(part, color, 1);
    c.text_in({bar.right() + 8, bar.y, 70, bar.h}, time_text(o.step_s),
              ui.style(13, Tone::text, Face::semibold));
    const std::string waiting = "waits for " + axis + ": " + percent(share);
    if (words) ui.label({row.x, bar.bottom() + 2, row.w + 66, 16}, waiting, ui.small());
    return hit.clicked;
}

// Says what is drawn, or why there is nothing to compare.
std::string orders_note(const Scene& scene, const WireRace& race) {
    if (scene.asked) return "Drawn when the question is answered.";
    if (!race.moved)
        return race.talk.empty() ? "No axis is on: nobody sends."
                                 : "Only data parallelism talks: every order of the ranks is the same.";
    if (race.orders.size() > 1) return "only the order of the ranks is another: factors and batch stay";
    if (!race.refused.empty()) return race.refused;
    return "In every order of the ranks " + std::string(name_of(*race.moved)) + " crosses "
           + std::string(tier_name(scene.plan.cluster, race.orders.front().tier)) + ".";
}

// Draws how often each axis fills its wire in a step: a tick is a message.
void draw_map_ticks(Ui& ui, Rect room, const Scene& scene, const WireRace& race) {
    Canvas& c = ui.canvas();
    Rect title = room.cut_top(20), note = room.cut_top(20);
    ui.label(title, "How often is a wire filled in one step?", ui.title());
    if (race.talk.empty()) {
        ui.label(note, "No axis is on: nobody sends.", ui.small());
        return;
    }
    const auto shown =
        std::min(race.talk.size(), static_cast<std::size_t>(std::max(1.0f, room.h / kTalkRow)));
    std::vector<TickPlace> places;
    for (std::size_t i = 0; i < shown; ++i) {  // the chattiest has what the others leave
        constexpr float kTallest = 118;
        const float first = std::min(kTallest, room.h - kTalkRow * static_cast<float>(shown - 1));
        Rect row = room.cut_top(i > 0 ? kTalkRow : first);
        row.cut_left(std::min(kTalkName, row.w * 0.5f));
        places.push_back({row});
    }
    const double each = messages_of_tick(places, race);
    std::string words = "a tick is "
                        + (each == 1 ? std::string("a message") : thousands(std::llround(each)) + " messages")
                        + " of " + rows_device_text(scene.evaluation.comm);
    if (shown < race.talk.size())
        words += "; the " + thousands(static_cast<std::int64_t>(shown)) + " that talk most";
    ui.label(note, words, ui.small());
    for (std::size_t i = 0; i < shown; ++i) {
        const WireTalk& t = race.talk[i];
        const Color color = color_of(ui.theme(), t.kind);
        const Rect row = places[i].room;
        Rect text{row.x - kTalkName, row.y, kTalkName - 8, 18};
        text.x = std::max(text.x, room.x);
        text.w = row.x - text.x - 8;
        Rect below{text.x, text.bottom(), text.w, 17};
        names_axis(ui, t.kind, text);
        ui.swatch({text.x, text.center().y - 5}, color);
        text.cut_left(16);
        write_left(ui, text, axis_label(t.kind), ui.title(), 6);
        const std::string messages = messages_text(t.calls), sent = traffic_text(t.sent_bytes),
                          wire(tier_name(scene.plan.cluster, t.tier));
        const std::array counts{messages, messages.substr(0, messages.find(' '))};
        ui.label(text, wording(ui, text.w, counts, ui.small(Tone::text)), ui.small(Tone::text));
        const std::array over{sent + " over " + wire, wire, sent};
        // The wire that an axis crosses may be the answer.
        ui.label(below, scene.asked ? std::string_view(sent) : wording(ui, below.w, over, ui.small()),
                 ui.small());
        const Canvas::Clip clip = c.clip({row.x, row.y, row.w, row.h + 2});
        draw_tick_lines(ui, places[i], t.calls / each, color);
    }
}

// Draws the same step with an axis on other wires.
std::optional<PlanEdit> draw_map_orders(Ui& ui, Rect room, const Scene& scene, const WireRace& race) {
    const std::string axis(race.moved ? name_of(*race.moved) : "an axis");
    ui.label(room.cut_top(20), "The same step, with " + axis + " on another wire", ui.title());
    put_paragraph(ui, room, orders_note(scene, race), ui.small(), 17, 3);
    double most = 0;
    for (const OtherOrder& o : race.orders) most = std::max(most, o.step_s);
    if (scene.asked || most <= 0) return std::nullopt;
    std::string words = sentence_of(race, scene.plan.cluster);
    const auto lacks = [](const OtherOrder& o) { return !o.lacks.empty(); };
    if (const auto o = std::ranges::find_if(race.orders, lacks); o != race.orders.end())
        words += (words.empty() ? "Not run: " : " Not run: ") + o->lacks + ".";
    const auto n = static_cast<float>(race.orders.size());
    if (!words.empty()) {
        const TextStyle style = ui.small(Tone::text);
        const float h = ui.canvas().paragraph_height(room.w, words, style, 17) + 2;
        constexpr float kLeastRow = 22;
        if (room.h - h >= n * kLeastRow) ui.canvas().paragraph(room.cut_bottom(h), words, style, 17);
    }
    const float h = std::min(62.0f, room.h / n);
    std::optional<PlanEdit> edit;
    for (std::size_t i = 0; i < race.orders.size(); ++i)
        if (draw_order(ui, room.cut_top(h), scene, race, i, most))
            edit = PlanEdit{race.orders[i].plan, race.orders[i].where, ""};
    return edit;
}

}  // namespace

std::optional<PlanEdit> draw_map_race(Ui& ui, Rect room, Scene& scene, MapViewState& state,
                                      std::uint64_t revision, bool space) {
    MapRaceState& s = state.race;
    if (s.race.update(revision, [&] { return wire_race(scene.plan, scene.evaluation); }))
        s.played.playing = false;
    if (s.race->lanes.empty()) {
        ui.canvas().text_in(room, "The cluster gives no bandwidths.", ui.small(), Align::center);
        return std::nullopt;
    }
    const Film film = film_of(*s.race);
    answer_player_keys(ui, scene, s.played, film, space);
    // Next to a lesson's answer the step on other wires is what stands below, with lanes of one line.
    const bool tells = scene.in_lesson && !scene.asked && s.race->orders.size() > 1 && room.w < kWide;
    constexpr float kGap = 16, kOrders = 112, kBoth = 150;
    const float lane = tells ? 22 : 34, least_below = tells ? kOrders : kBoth;
    const auto n = static_cast<float>(s.race->lanes.size());
    const float least = kRaceHead + kRaceFoot + n * lane, most = kRaceHead + kRaceFoot + n * 72;
    const bool below = room.h >= least + kGap + least_below;
    const float h =
        below ? std::clamp(room.h * 0.46f, least, std::min(most, room.h - kGap - least_below)) : room.h;
    draw_race_lanes(ui, room.cut_top(h), s, film, scene.asked);
    if (!below) return std::nullopt;
    room.cut_top(kGap);
    if (tells) return draw_map_orders(ui, room, scene, *s.race);
    if (room.w < kWide) {
        draw_map_ticks(ui, room, scene, *s.race);
        return std::nullopt;
    }
    draw_map_ticks(ui, room.cut_left(std::floor(room.w * 0.48f)), scene, *s.race);
    room.cut_left(32);
    return draw_map_orders(ui, room, scene, *s.race);
}

}  // namespace pentamesh::ui
