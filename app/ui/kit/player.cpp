#include "app/ui/kit/player.h"

#include <algorithm>
#include <array>
#include <string>

namespace pentamesh::ui {

bool player_button(Ui& ui, std::string_view name, Rect r, PlayerMark mark, std::string_view what) {
    const Hit hit = ui.area(name, r);
    Canvas& c = ui.canvas();
    if (hit.hovered) {
        c.rect(r, ui.theme().raised, 6);
        ui.tooltip(std::string(what));
    }
    const Color ink = hit.hovered ? ui.theme().text : ui.theme().secondary;
    const Vec2 m = r.center();
    const auto triangle = [&](float x, float to) {
        const std::array<Vec2, 3> p{Vec2{x, m.y - 5}, Vec2{x, m.y + 5}, Vec2{to, m.y}};
        const std::array<Vec2, 3> q{p[0], p[2], p[1]};
        c.polygon(to > x ? q : p, ink);
    };
    switch (mark) {
    case PlayerMark::play: triangle(m.x - 3.5f, m.x + 5); break;
    case PlayerMark::pause:
        c.rect({m.x - 4.5f, m.y - 5, 3, 10}, ink);
        c.rect({m.x + 1.5f, m.y - 5, 3, 10}, ink);
        break;
    case PlayerMark::back:
        triangle(m.x + 4, m.x - 3);
        c.rect({m.x - 5.5f, m.y - 5, 2, 10}, ink);
        break;
    case PlayerMark::forward:
        triangle(m.x - 4, m.x + 3);
        c.rect({m.x + 3.5f, m.y - 5, 2, 10}, ink);
        break;
    }
    if (hit.focused) ui.focus_ring(r, 6);
    return hit.clicked;
}

double moment_of(const Playback& played, const Film& film) {
    return played.at < 0 ? film.telling : std::min(played.at, film.end);
}

void play_on(Ui& ui, Playback& played, const Film& film) {
    constexpr double kRestBetween_s = 0.9, kLongestFrame_s = 0.1;
    if (!played.playing) return;
    const double passed_s = ui.frame().time_s - played.played_at;
    ui.state().wants_frame = true;
    if (ui.state().reduced_motion) {
        if (passed_s < kRestBetween_s) return;
        played.at = film.after(moment_of(played, film));
    } else {
        played.at = moment_of(played, film) + std::clamp(passed_s, 0.0, kLongestFrame_s) * film.a_second;
    }
    played.played_at = ui.frame().time_s;
    if (played.at >= film.end) played.at = film.end, played.playing = false;
}

void play_or_pause(Ui& ui, Playback& played, const Film& film) {
    if (!played.playing && (played.at < 0 || played.at >= film.end)) played.at = 0;
    played.playing = !played.playing;
    played.played_at = ui.frame().time_s;
    ui.state().wants_frame = true;
}

void step_film(Playback& played, const Film& film, int by) {
    const double at = moment_of(played, film);
    played.at = by > 0 ? film.after(at) : film.before(at);
    played.playing = false;
}

PlayerClick player_buttons(Ui& ui, Rect& row, std::string_view name, bool playing, const PlayerWords& words,
                           float width) {
    const std::string of(name), key = "  (" + std::string(words.key) + ")";
    const auto clicked = [&](const char* which, PlayerMark mark, const std::string& what) {
        return player_button(ui, of + which, row.cut_left(width), mark, what);
    };
    PlayerClick out = PlayerClick::nothing;
    if (clicked(".back", PlayerMark::back, std::string(words.back))) out = PlayerClick::back;
    if (clicked(".play", playing ? PlayerMark::pause : PlayerMark::play, (playing ? "pause" : "play") + key))
        out = PlayerClick::play;
    if (clicked(".forward", PlayerMark::forward, std::string(words.forward))) out = PlayerClick::forward;
    return out;
}

void draw_player(Ui& ui, Rect& row, std::string_view name, Playback& played, const Film& film) {
    const PlayerClick clicked =
        player_buttons(ui, row, name, played.playing,
                       {"back to the moment before  (left)", "Space", "on to the next moment  (right)"});
    if (clicked == PlayerClick::play) play_or_pause(ui, played, film);
    if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
        step_film(played, film, clicked == PlayerClick::back ? -1 : 1);
}

}  // namespace pentamesh::ui
