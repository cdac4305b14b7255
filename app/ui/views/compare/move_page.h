// Draws the page `move` of Compare: what goes from A to B, the tensor that travels farthest as a sheet cut
// two ways, which axis makes it move, and the bound.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"
#include "core/sharding/move.h"

#include <cstdint>
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
    bool optimizer = false;
    std::string why;  // there is no move; empty where there is one
    Move move;
    std::vector<MovePiece> pieces;  // of the rank
    MoveSheet sheet;
};

// Works it out where the key, the rank or the choice is another.
void keep_move(MoveShown& shown, const ComparedPair& pair, std::pair<std::uint64_t, std::uint64_t> key,
               std::int64_t rank, bool optimizer);
// Returns the rank of B whose cell was clicked; -1: none was.
[[nodiscard]] std::int64_t draw_move_page(Ui& ui, Rect room, const ComparedPair& pair,
                                          const MoveShown& shown);

}  // namespace pentamesh::ui
