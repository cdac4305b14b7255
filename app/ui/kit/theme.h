// Colours have a meaning. These are the tokens of the look; the axes' palette is Okabe-Ito, safe for
// colour-blind people, and stands for nothing else.
#pragma once

#include "render/canvas.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace pentamesh::ui {

enum class ThemeId : std::uint8_t { dark, light, high_contrast };
inline constexpr int kThemeCount = 3;
[[nodiscard]] std::string_view name_of(ThemeId id);  // "dark", "light", "high-contrast"

struct Theme {
    ThemeId id = ThemeId::dark;
    Color window, panel, raised, hairline;
    Color text, secondary, faint;
    Color good, amber, bad;     // verdicts, and nothing else
    Color beam;                 // joins what is enlarged to where it is
    std::array<Color, 6> axis;  // tp, cp, ep, dp_shard, dp_replicate, pp; which is whose: scene/colors.h
    Color etp;
    std::array<Color, 4> memory;  // parameters, gradients, optimizer, activations
    Color forward, backward, weight_grad;
};
[[nodiscard]] const Theme& theme_of(ThemeId id);

// Returns a dozen shades of one colour in an order that sets neighbours apart.
inline constexpr int kShadeCount = 12;
[[nodiscard]] std::array<Color, kShadeCount> shades(const Theme& theme, Color base);

// Returns black or white, the one that reads better on `ground`.
[[nodiscard]] Color ink_on(Color ground);

// Moves figures from their old value to the new one after an edit, and keeps the old one as an outline for a
// while. A figure that was not on the screen when the edit came is there at once.

// Says in which way a change is shown. Outlines stay for `holds_s` after it.
struct MotionPace {
    double glides_s = 0.25;  // 0: all at once
    double holds_s = 2;
    bool goes_on = false;  // the same drag: outlines stay those of its start
};

struct MotionSpan {
    double begin_s = 0, end_s = 0;
    bool operator==(const MotionSpan&) const = default;
};

class Motion {
  public:
    // The figures that the next frame draws move there from what is on the screen.
    void begin(MotionPace pace);
    // Another plan is drawn: nothing moves, and no outline is left.
    void end();
    // Begins a frame, which draws every figure on the screen if `all` is true. Returns true if it must: after
    // an edit, and when all has arrived. Between the two a frame draws what glides.
    bool begin_frame(double now_s, bool all);

    // Returns the value to be drawn now. After an edit it waits `wait_s`, and then goes to `target` within
    // `takes_s` (0: the pace's own time).
    [[nodiscard]] double value(std::uint64_t id, double target, double wait_s = 0, double takes_s = 0);
    // Returns the value before the edit, as long as its outline stays; nullopt where it did not change.
    [[nodiscard]] std::optional<double> before(std::uint64_t id) const;
    // Returns true while something may move.
    [[nodiscard]] bool moves() const { return moves_; }
    // Returns when this value moves; nullopt: no more, or not at all.
    [[nodiscard]] std::optional<MotionSpan> span_of(std::uint64_t id) const;
    [[nodiscard]] double now_s() const { return now_s_; }
    [[nodiscard]] bool has_outlines() const { return outlines_; }
    // Outlines stay for another moment: the mouse rests on what tells of them.
    void hold();
    // Returns the time at which a frame must be drawn for it; infinity if none must.
    [[nodiscard]] double due_s() const;

  private:
    struct Track {
        double from = 0, to = 0, old = 0;
        double wait_s = 0, takes_s = 0;
        std::uint32_t edit = 0;  // the last that it was drawn after
        std::uint32_t frame = 0;
    };
    std::unordered_map<std::uint64_t, Track> tracks_;
    MotionPace pace_;
    double now_s_ = 0, begun_s_ = 0, last_begun_s_ = 0;
    std::uint32_t edit_ = 0, frame_ = 0;
    bool waits_ = false;  // for the frame that is the first after an edit
    bool moves_ = false, outlines_ = false, all_ = false;
    bool held_ = false;  // since the last frame that began

    // Returns what the track showed `since_s` after its edit.
    static double shown(const Track& t, double since_s, double glides_s);
};

}  // namespace pentamesh::ui
