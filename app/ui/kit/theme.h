// Colours have a meaning. These are the tokens of the look; the axes' palette is Okabe-Ito, safe for
// colour-blind people, and stands for nothing else.
#pragma once

#include "render/canvas.h"

#include <array>
#include <cstdint>
#include <string_view>

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

}  // namespace pentamesh::ui
