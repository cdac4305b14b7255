// Draws a slice of the loaf as blocks seen from the front, the right and above. One scale serves all slices
// of a picture: a block's volume is its bytes.
#pragma once

#include "app/ui/kit/theme.h"
#include "core/io/presets.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "render/canvas.h"

#include <array>
#include <cstdint>
#include <span>

namespace pentamesh::ui {

// Logical pixels of the front, and of the length that a byte has where it takes the whole front.
struct LoafScale {
    float w = 0, h = 0;
    double per_byte = 0;
};
// The corner of the front at the lower left.
struct LoafPlace {
    Vec2 at;
    LoafScale scale;
    // A point by its shares across and upright (0: top), and its length from the front in pixels.
    [[nodiscard]] Vec2 point(double across, double upright, float length) const;
};
[[nodiscard]] float length_of(const LoafScale& scale, const LoafBlock& block);
// Returns where each part begins and where the last ends, in pixels from the front.
using LoafStarts = std::array<float, kEnumCount<LoafPart> + 1>;
[[nodiscard]] LoafStarts starts_of(const LoafScale& scale, const LoafSlice& slice);
// Returns how far a slice reaches to the right from its own left edge.
[[nodiscard]] float width_of(const LoafScale& scale, const LoafSlice& slice);
// Returns the share across at which a slice begins.
[[nodiscard]] double left_of(const LoafSlice& slice);
// Returns the scale at which each of the slices has room, and how large that room is.
[[nodiscard]] LoafScale scale_for(std::span<const LoafSlice> slices, float width, float height);
// Returns the place in the middle of a room.
[[nodiscard]] LoafPlace place_in(Rect room, const LoafScale& scale, std::span<const LoafSlice> slices);

struct LoafLook {
    Color bread;  // of the activations
    double drawers_from = 1;
    int drawers = 0;  // lines between the experts; 0: none
    std::int64_t layers = 1;
    std::int64_t samples = 1;  // grooves in the bread
    bool ghost = false;        // an outline of the whole crust where the slice has only a part of it
};
void draw_slice(Canvas& canvas, const Theme& theme, const LoafPlace& place, const LoafSlice& slice,
                const LoafLook& look);

// Holds small loaves, one for each row of the map: a small model's step, cut by that axis only, over two
// GPUs.
using MiniLoaves = std::array<Loaf, kMapRowCount>;  // by MapRowId; without slices where a preset is missing
[[nodiscard]] MiniLoaves mini_loaves(const Presets& presets);
// Draws the slices in the middle of `room`, in the colour of the axis. `on`: else they are pale.
void draw_mini(Canvas& canvas, const Theme& theme, Rect room, const Loaf& loaf, Color color, bool on);

}  // namespace pentamesh::ui
