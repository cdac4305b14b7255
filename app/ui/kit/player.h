// Plays something: the buttons for it, and a moment that goes on by itself or step by step.
#pragma once

#include "app/ui/kit/ui.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace pentamesh::ui {

enum class PlayerMark : std::uint8_t { back, play, pause, forward };

// Draws a quiet button with a drawn mark, so that no font needs it. Returns true if it was clicked; `what` is
// its tooltip.
[[nodiscard]] bool player_button(Ui& ui, std::string_view name, Rect r, PlayerMark mark,
                                 std::string_view what);

// Holds what the tooltips of the three buttons say.
struct PlayerWords {
    std::string_view back, key, forward;  // key: that plays and pauses
};
enum class PlayerClick : std::uint8_t { nothing, back, play, forward };
// Draws the buttons `name`.back, .play, .forward at the left of `row`, takes them off it, and returns which
// one was clicked.
[[nodiscard]] PlayerClick player_buttons(Ui& ui, Rect& row, std::string_view name, bool playing,
                                         const PlayerWords& words, float width = 28);

// Holds the moment that a picture is played to.
struct Playback {
    double at = -1;  // < 0: the moment that tells most
    bool playing = false;
    double played_at = 0;
};
// Says what is played.
struct Film {
    double end = 1, telling = 1;                  // the last moment, and the one that tells most
    double a_second = 1;                          // how much passes in one
    std::function<double(double)> after, before;  // the moments to step to
};
[[nodiscard]] double moment_of(const Playback& played, const Film& film);
// Goes on by what passed since the last frame; with reduced motion from moment to moment.
void play_on(Ui& ui, Playback& played, const Film& film);
void play_or_pause(Ui& ui, Playback& played, const Film& film);
void step_film(Playback& played, const Film& film, int by);
// Draws the three buttons, `name`.back, .play, .forward, at the left of `row`, and takes them off it.
void draw_player(Ui& ui, Rect& row, std::string_view name, Playback& played, const Film& film);

}  // namespace pentamesh::ui
