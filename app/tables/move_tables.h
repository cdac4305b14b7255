// Tables say what moves from one layout to another: by wire, by cause, by tensor, and where one GPU gets its
// pieces.
#pragma once

#include "app/tables/table.h"
#include "core/sharding/move.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pentamesh {

// Returns what stays and what each wire brings, in all, for a GPU of B on average, and the least seconds.
[[nodiscard]] Table move_wires_table(const Move& move, const std::vector<Tier>& tiers);
// Returns why a GPU has not what it needs, with the sizes of the axis in A and B.
[[nodiscard]] Table move_causes_table(const Move& move, const MoveEnd& a, const MoveEnd& b);
// Returns a row a tensor, the one with most bytes first.
[[nodiscard]] Table move_tensors_table(const Move& move, const std::vector<Tier>& tiers);
// Returns a row for each tensor, run of layers and sender.
[[nodiscard]] Table move_pieces_table(std::span<const MovePiece> pieces, const std::vector<Tier>& tiers);

// Returns the size of the axis that a cause belongs to; 0 for new GPUs.
[[nodiscard]] std::int64_t size_of_cause(const MoveEnd& end, MoveCause cause);
// Returns "stays", "NVLink".
[[nodiscard]] std::string wire_words(const std::vector<Tier>& tiers, int tier);

}  // namespace pentamesh
