// The page Zoom of Mesh answers "where is one tensor's piece?": columns lead from the whole cluster, an axis
// a column, to a GPU's layers, to a layer's matrices, to the part of one matrix that the GPU keeps.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/zoom/exact_grid.h"
#include "core/sharding/placement.h"

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace pentamesh::ui {

struct NestOf {
    std::uint64_t revision = 0;
    Fold fold = Fold::dense;
    bool operator==(const NestOf&) const = default;
};

// Holds what the columns say of the GPU, layer and tensor that are taken.
struct ZoomFacts {
    NestPiece piece;
    std::string sentence;  // over the columns
    std::vector<std::string>
        tensor;  // below the tensor: bytes first, then how it is cut and who has the same
};

// Describes a matrix of the layer as it is drawn; `tensor` is an index into Nest::tensors.
struct MatrixBox {
    int tensor = -1;
    Rect r;
};

// The columns are the levels of the nest, then these three.
enum class ZoomInside : std::uint8_t { layers, matrices, tensor };
inline constexpr std::size_t kZoomInside = 3;

// Describes a column as it was drawn last; lengths are logical pixels.
struct ZoomColumn {
    Rect place;                       // all of it; no width where it is not shown
    bool on_strip = false;            // only its taken box is shown, at the left
    bool shown = false;               // it has room
    ExactGrid grid;                   // of a level, and of the layers
    std::vector<MatrixBox> matrices;  // of the layer
    std::vector<int> too_small;       // matrices of the layer that are too small to be drawn
    Rect body, taken;                 // what is drawn below the head; the box that is taken
};

struct ZoomViewState {
    static constexpr std::int64_t kEmbedding = -1, kHead = -2;
    std::int64_t rank = 0;            // that is followed
    std::int64_t layer = 0;           // the n-th of the GPU's layers, or kEmbedding, kHead
    int tensor = -1;                  // index into Nest::tensors; -1: none was chosen yet
    std::size_t item = 0;             // of the layers' column: `layer` in it
    int column = -1;                  // that the keyboard is on; -1: none
    int filled = -1;                  // column that fills the view; -1: none
    std::vector<ZoomColumn> columns;  // of the last frame
    // A flight is short, and it ends.
    std::vector<Rect> from;
    double begun_s = -1;  // < 0: none
    double lasts_s = 0;
    // A tour fills the view with one column after the other, by itself: asked for, under way, and until when
    // it rests.
    bool tour_asked = false, tours = false;
    double rests_until_s = 0;
    Kept<Nest, NestOf> nest;
    Kept<NestChildren, std::pair<NestOf, std::int64_t>> layers;
    Kept<ZoomFacts, std::tuple<NestOf, std::int64_t, std::size_t, int>> facts;
};
// `revision` is that of the plan, from 1.
void draw_zoom(Ui& ui, Rect head_row, Rect room, Scene& scene, ZoomViewState& state, std::uint64_t revision);
[[nodiscard]] Table zoom_data(const Scene& scene, const ZoomViewState& state);

// These are in zoom_columns.cpp.

// Lays out all columns of this frame; `amount` is from 0 to 1, how far a flight has come.
void lay_columns(Ui& ui, Rect room, ZoomViewState& s, double amount);
// `under` is the column under the mouse and its box, or -1.
struct ZoomUnder {
    int column = -1;
    std::int64_t box = -1;  // a box of the grid, an index into `matrices`
};
void draw_columns(Ui& ui, const Scene& scene, const ZoomViewState& s, ZoomUnder under);
// Returns the name of what is taken in a column: "replica 3", "rank 5", "layer 31", "attention.q".
[[nodiscard]] std::string taken_name(const ZoomViewState& s, std::size_t column);
// Returns the colour of the axis that cuts a level of the mesh; the text's where no axis does.
[[nodiscard]] Color color_of_level(const Theme& theme, const Nest& nest, std::size_t level);
// Returns the rank that is followed when a box of a level is taken: the other coordinates stay.
[[nodiscard]] std::int64_t rank_with(const Nest& nest, std::int64_t rank, std::size_t level,
                                     std::int64_t index);

// These are in zoom_matrices.cpp.

// Returns "gate", "shared gate".
[[nodiscard]] std::string matrix_name(const Placement& placement);
// Fills a room with a layer's matrices: area is bytes. Experts count as far as they lie on the GPU.
void lay_matrices(const Nest& nest, std::span<const int> tensors, std::int64_t rank, Rect room, float scale,
                  ZoomColumn& column);
void draw_matrices(Ui& ui, const Nest& nest, std::int64_t rank, std::span<const MatrixBox> boxes);
// Draws one tensor with its cut, and the words below or next to it.
void draw_tensor(Ui& ui, Rect room, const Nest& nest, int tensor, std::int64_t rank,
                 std::span<const std::string> words);
[[nodiscard]] ZoomFacts zoom_facts(const Scene& scene, const Nest& nest, const NestChildren& layers,
                                   std::int64_t rank, std::size_t item, int tensor);

}  // namespace pentamesh::ui
