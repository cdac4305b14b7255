// Plots have scales, axes with round ticks, a grid, and the nearest point.
#pragma once

#include "app/ui/kit/ui.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

enum class ScaleKind : std::uint8_t { linear, logarithmic };

// Maps values to logical pixels along one axis. `from` and `to` are the places of `low` and `high`; from > to
// is fine (a y axis). A logarithmic scale needs low > 0.
struct PlotScale {
    double low = 0, high = 1;
    ScaleKind kind = ScaleKind::linear;
    float from = 0, to = 1;

    [[nodiscard]] float at(double value) const;  // beyond the ends where the value is
    [[nodiscard]] double value(float at) const;
};
// Returns the least of 1, 2 and 5 times powers of ten that is `least` or more, which is above 0: a step
// between labels, the length of a scale.
[[nodiscard]] double round_step(double least);
// Returns at most `count` (at least 2) round values within the scale: 1, 2 or 5 times a power of ten, in
// multiples of `unit` (1 GiB, 60 s). A logarithmic scale of two decades or more has powers of ten.
[[nodiscard]] std::vector<double> round_ticks(const PlotScale& scale, int count, double unit = 1);

struct PlotAxis {
    double low = 0, high = 1;
    ScaleKind kind = ScaleKind::linear;
    std::function<std::string(double)> label{};  // of a tick; empty: no labels
    double unit = 1;
    std::vector<double> ticks{};  // instead of round_ticks
    float spacing = 48;           // least logical pixels between ticks
    bool grid = true;
    std::string title{};  // stands next to the y axis' top, or below the x axis' end
};

struct Plot {
    Rect area;  // within the axes
    PlotScale x, y;
    [[nodiscard]] Vec2 at(double vx, double vy) const { return {x.at(vx), y.at(vy)}; }
};
// Draws the axes and their grid; the labels take their room off `room`.
[[nodiscard]] Plot draw_axes(Ui& ui, Rect room, const PlotAxis& x, const PlotAxis& y);

// Draws two upright zigzag lines, `apart` pixels to each side of `middle`: what lies between them is left
// out.
void draw_break(Canvas& canvas, const Theme& theme, Rect rows, float middle, float apart);

// Returns the index of the point nearest to `to` and within `reach`, or nullopt.
[[nodiscard]] std::optional<std::size_t> nearest_point(std::span<const Vec2> points, Vec2 to,
                                                       float reach = 24);

// Reads running text with **bold**, `code` and "- " bullets: lessons are written in it.

struct RichRun {
    std::string text;  // with its blanks
    bool bold = false, code = false;
};
// A paragraph goes over several lines of a text; a blank line or a bullet ends it.
struct RichParagraph {
    bool bullet = false;
    bool apart = false;  // a blank line stands before it, or nothing
    std::vector<RichRun> runs;
};
[[nodiscard]] std::vector<RichParagraph> read_rich(std::string_view text);

// A word is the pieces that no blank parts: "**bold**,". A number and its unit are one. They point into the
// paragraph.
struct RichPiece {
    std::string_view text;
    Face face = Face::regular;  // mono for code, semibold for bold
};
using RichWord = std::vector<RichPiece>;
[[nodiscard]] std::vector<RichWord> words_of(const RichParagraph& paragraph);
// Returns the text without its marks, for words that are bold as a whole.
[[nodiscard]] std::string without_marks(std::string_view text);

// Draws it, wrapped at words.

struct RichStyle {
    float size = 13;
    float line = 20;         // height of a line
    float gap = 8;           // between paragraphs
    Tone tone = Tone::text;  // bold is always Tone::text
};
// Draws into the box's width from its top; with `draw` false, it only measures. Returns the height used.
float rich_text(Ui& ui, Rect box, std::string_view text, const RichStyle& style, bool draw = true);

// Plays something: the buttons for it, and a moment that goes on by itself or step by step.

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
