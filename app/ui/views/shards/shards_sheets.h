// Draws a slice of the loaf as blocks seen from the front, the right and above. One scale serves all slices
// of a picture: a block's volume is its bytes.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "core/io/presets.h"
#include "core/sharding/placement.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "render/canvas.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

// Describes tensors as sheets, packs them by area, and draws them with their cuts: which tensors of a layer
// are shown, each with its pieces and with one rank's part of it. A sheet's area is the bytes of its tensor.

struct Sheet {
    Placement placement;
    int tensor = -1;                    // index into list_placements of parameters; -1 for activations
    int activation = -1;                // into those of activations while computing; -1 for the others
    bool lying = false;                 // a vector, drawn along x
    CutOrder cuts;                      // the axes that cut it inside the layer
    TensorPieces coarse, fine;          // empty where it is cut too finely to be drawn
    Part part;                          // the rank's part of it
    std::vector<IndexBox> highlighted;  // the same, drawn
    std::int64_t expert = 0;            // the expert that is drawn
};

// Says which part of the model is shown.
enum class Block : std::uint8_t { layer, attention, mlp, ends };
inline constexpr int kBlockCount = 4;

struct SheetRequest {
    TensorState state = TensorState::parameters;
    Moment moment = Moment::at_rest;
    Block block = Block::layer;
    bool moe = false;  // the MoE layers of a model that has dense ones too
    std::int64_t rank = 0;
    std::int64_t expert = 0;
    bool operator==(const SheetRequest&) const = default;
};

void make_sheets(const Plan& plan, const Mesh& mesh, const SheetRequest& request, std::vector<Sheet>& out);

// Highlights another rank's part of the same sheets.
void light_sheets(const Plan& plan, const Mesh& mesh, std::int64_t rank, std::vector<Sheet>& sheets);

// Holds numbers and bytes of the sheets together: whole, and on the rank.
struct SheetTotals {
    double numbers = 0, numbers_here = 0;
    double bytes = 0, bytes_here = 0;
};
[[nodiscard]] SheetTotals totals_of(const std::vector<Sheet>& sheets);

// Returns name, shape, placement on each axis in words, the rank's range and its bytes, a line each.
[[nodiscard]] std::string sheet_tooltip(const Sheet& sheet, std::int64_t rank);

// Holds the place of a sheet: a matrix is below its name, a small tensor to the right of it.
struct SheetPlace {
    Rect slot, label, body;
    bool to_scale = true;  // false: too small to be seen, and drawn larger
};
struct PackedSheets {
    std::vector<SheetPlace> place;  // of each sheet; empty where they do not fit
    Rect said;                      // where the row of the small ones says that they are not to scale
};
// The widths of what is written: each sheet's name, and the words before the small ones.
struct PackedWords {
    std::vector<float> name;  // empty: nothing is written, and there are no rulers
    float said = 0;
    bool second_line = false;  // below the name: who cuts
};
[[nodiscard]] PackedSheets pack_sheets(const std::vector<Sheet>& sheets, Vec2 room, const PackedWords& words);

// Returns the bytes that a sheet draws: of experts, one of them.
[[nodiscard]] double drawn_bytes(const Sheet& sheet);
// Returns true for the rectangle of experts, which shows the bytes of one.
[[nodiscard]] inline bool shows_one_expert(const Sheet& sheet) {
    return drawn_bytes(sheet) < sheet.placement.bytes_whole;
}

// An axis that cuts rows has a ruler on the left, one that cuts columns has one above: the coarsest is
// outermost.
struct SheetRuler {
    Axis axis = Axis::tp;
    bool rows = true;
    float width = 0;
};
[[nodiscard]] std::vector<SheetRuler> rulers_of(const Sheet& sheet);

struct SheetLook {
    int isolate = -1;                        // an Axis: only what it cuts is shown; -1: all of them
    Coordinates dense{}, expert{};           // of the rank whose part is highlighted
    bool highlighted = true;                 // false: no part is highlighted
    bool only_own = false;                   // the rest is left dark: one GPU of several side by side
    std::optional<Color> highlighted_color;  // instead of the axis' own
};
// Draws solid for cut, hatched for copied, dotted for partial; the rank's part is bright and outlined.
void draw_sheet(Canvas& canvas, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look);
// Draws the rulers at the edges of a body: a segment for each holder on the axis that cuts there, the rank's
// own bright, with its number where there is room.
void draw_rulers(Ui& ui, Rect body, const Sheet& sheet, const SheetLook& look);
// Draws in a line who cuts and who copies: "tp 8 cuts rows". What has no room is left out, the last first.
void draw_cutters(Ui& ui, Rect line, const Sheet& sheet);

// Draws each expert on its rank of ep. `loads` has a number for each expert, drawn as a bar in its cell; it
// may be empty. Returns the expert at the mouse, or -1; the caller must ask if anything lies over the map.
[[nodiscard]] std::int64_t draw_experts(Ui& ui, Rect room, const Sheet& sheet, const SheetLook& look,
                                        std::int64_t shown, const std::vector<double>& loads = {});

[[nodiscard]] Color color_of(const Theme& theme, const Placement& placement, Axis axis);
// Fills a small mark as a tensor is drawn: solid for cut, hatched for copied, dotted for partial.
void fill_spread(Canvas& canvas, const Theme& theme, Rect box, Spread spread, Color color);
// Returns the ground of a part that the rank does not hold; every other one is darker.
[[nodiscard]] Color pale(const Theme& theme, Color base, bool odd);

}  // namespace pentamesh::ui
