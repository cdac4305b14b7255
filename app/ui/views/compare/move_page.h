// Draws the page `move` of Compare: what goes from A to B, the tensor that travels farthest as a sheet cut
// two ways, which axis makes it move, and the bound.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"
#include "core/sharding/move.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct ComparedPair;

// Holds what is drawn of a move: of these plans, this GPU of B and this choice.
struct MoveShown {
    std::pair<std::uint64_t, std::uint64_t> key{};
    bool made = false;
    std::int64_t rank = 0;  // of B
    MoveOptions options{};
    std::string why;  // there is no move; empty where there is one
    Move move;
    std::vector<MovePiece> pieces;  // of the rank
    MoveSheet sheet;
    std::optional<MoveSheet> optimizer{};  // of the same tensor, where its states move too
};
// A window works out so many GPUs of A and B together while it draws a frame, in half a second; more are left
// to `pentamesh move`.
inline constexpr std::int64_t kMostMoved = 150000;

// Works it out where the key, the rank or the choice is another. With more than `most` GPUs it says so.
void keep_move(MoveShown& shown, const ComparedPair& pair, std::pair<std::uint64_t, std::uint64_t> key,
               std::int64_t rank, const MoveOptions& options, std::int64_t most = kMostMoved);
// Returns the rank of B whose cell was clicked; -1: none was.
[[nodiscard]] std::int64_t draw_move_page(Ui& ui, Rect room, const ComparedPair& pair,
                                          const MoveShown& shown);

}  // namespace pentamesh::ui
