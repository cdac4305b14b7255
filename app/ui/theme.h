// Colours with a meaning. Tokens of the look; the axes' palette is Okabe-Ito, safe for colour-blind people,
// and stands for nothing else.
#pragma once

#include "core/mesh.h"
#include "core/schedules/schedule.h"
#include "render/canvas.h"

#include <array>
#include <string_view>

namespace pentamesh::ui {

enum class ThemeId : std::uint8_t { dark, light, high_contrast };
inline constexpr int kThemeCount = 3;
[[nodiscard]] std::string_view name_of(ThemeId id);  // "dark", "light", "high-contrast"

struct Theme {
    ThemeId id = ThemeId::dark;
    Color window, panel, raised, hairline;
    Color text, secondary, faint;
    Color good, amber, bad, link;
    std::array<Color, kAxisCount> axis;  // by Axis, without etp
    Color etp;
    std::array<Color, 4> memory;  // parameters, gradients, optimizer, activations
    Color forward, backward, weight_grad;
};
[[nodiscard]] const Theme& theme_of(ThemeId id);

// The colour of a group kind: an axis' own, a combination's outermost part.
[[nodiscard]] Color color_of(const Theme& theme, GroupKind kind);
[[nodiscard]] Color color_of(const Theme& theme, OpKind op);

// A dozen shades of one colour in an order that sets neighbours apart.
inline constexpr int kShadeCount = 12;
[[nodiscard]] std::array<Color, kShadeCount> shades(const Theme& theme, Color base);

// Black or white, whichever reads better on `ground`.
[[nodiscard]] Color ink_on(Color ground);

// Verdict of a tier: index 0 is the fast domain. Colour, line and name always go together.
struct TierMark {
    Color color;
    Dash dash = Dash::solid;
};
[[nodiscard]] TierMark mark_of_tier(const Theme& theme, const Cluster& cluster, int tier);

}  // namespace pentamesh::ui
