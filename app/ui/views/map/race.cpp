// Draws the page of wires: a gigabyte runs down all of them at once, and below stands who belongs where.
#include "app/ui/kit/format.h"
#include "app/ui/kit/player.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/view_head.h"
#include "app/ui/views/map/map_parts.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr double kSlowed = 1000;  // times: a millisecond lasts a second
constexpr float kRaceHead = 22, kRaceFoot = 26;

Film film_of(const WireRace& race) {
    return {.end = race.end_s(),
            .telling = race.telling_s,
            .a_second = 1 / kSlowed,
            .after = [&race](double at) { return race.moment_after(at); },
            .before = [&race](double at) { return race.moment_before(at); }};
}

// A wire is thick by the logarithm of its speed.
float thickness(double bytes_per_s, float most) {
    return std::clamp(4 + 8.5f * static_cast<float>(std::log10(bytes_per_s / 1e9)), 4.0f, most);
}

void draw_lane(Ui& ui, Rect row, const RaceLane& lane, double at_s) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const bool wide = row.w >= 620;
    Rect label = row.cut_left(wide ? 200 : 110);
    Rect right = row.cut_right(wide ? 130 : 76);
    right.cut_left(14);
    const float y = row.center().y;
    const bool two = row.h >= 34;
    ui.label({label.x, two ? y - 18 : y - 9, label.w - 8, 18}, lane.name, ui.title());
    if (two)
        ui.label({label.x, y, label.w - 8, 17}, bandwidth_text(lane.bytes_per_s) + ", " + lane.reach,
                 ui.small());
    const float h = thickness(lane.bytes_per_s, std::min(34.0f, row.h - 4));
    const Rect tube{row.x, y - h / 2, row.w, h};
    const double share = std::min(1.0, at_s / lane.takes_s());
    const bool done = share >= 1 - 1e-9;
    c.rect(tube, theme.raised, h / 2);
    c.frame(tube, theme.hairline, 1, h / 2);
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

void draw_race_lanes(Ui& ui, Rect room, MapRaceState& s, const Film& film) {
    const double at_s = moment_of(s.played, film);
    Rect head = room.cut_top(kRaceHead);
    write_left(ui, head, "One GB into every wire at once", ui.title(), 10);
    ui.label(head, "of each GPU, one direction; slowed a thousandfold: 1 ms lasts 1 s", ui.small());
    draw_race_foot(ui, room.cut_bottom(kRaceFoot), s, film);
    const float h = std::min(72.0f, room.h / static_cast<float>(s.race->lanes.size()));
    for (const RaceLane& lane : s.race->lanes) draw_lane(ui, room.cut_top(h), lane, at_s);
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
    constexpr float kGap = 16, kLeastBelow = 150;
    const auto n = static_cast<float>(s.race->lanes.size());
    const float least = kRaceHead + kRaceFoot + n * 34, most = kRaceHead + kRaceFoot + n * 72;
    const bool below = room.h >= least + kGap + kLeastBelow;
    const float h =
        below ? std::clamp(room.h * 0.46f, least, std::min(most, room.h - kGap - kLeastBelow)) : room.h;
    draw_race_lanes(ui, room.cut_top(h), s, film);
    if (!below) return std::nullopt;
    room.cut_top(kGap);
    if (room.w < 760) {
        draw_map_ticks(ui, room, scene, *s.race);
        return std::nullopt;
    }
    draw_map_ticks(ui, room.cut_left(std::floor(room.w * 0.48f)), scene, *s.race);
    room.cut_left(32);
    return draw_map_orders(ui, room, scene, *s.race);
}

}  // namespace pentamesh::ui
