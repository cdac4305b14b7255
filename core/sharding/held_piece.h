// Counts the numbers that two holders of a tensor have in common, however each of them cuts it.
#pragma once

#include "core/sharding/sharding.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pentamesh {

// One holder has this of a tensor of one layer: of a box of experts, rows and columns those numbers that lie,
// in the order of rows, from `first` to before `end`. Padding of the vocabulary is no part of it.
struct HeldPiece {
    using Place = std::array<std::int64_t, 3>;  // expert, row, column
    std::array<Range, 3> box{};
    Place first{}, end{};
    std::int64_t numbers = 0;
    bool operator==(const HeldPiece&) const = default;
};
// Makes a piece of a part; rows from `rows` on are padding.
[[nodiscard]] HeldPiece piece_of(const Part& part, std::int64_t rows);

// Returns the numbers that both hold. Two pieces of one placement are equal or have none in common, but those
// of different meshes may overlap in any way.
[[nodiscard]] std::int64_t shared_numbers(const HeldPiece& a, const HeldPiece& b);

// Holds the different pieces that some ranks have of one placement, so that those that overlap another piece
// are found without a look at all of them.
class PieceIndex {
  public:
    PieceIndex() = default;
    // Takes pieces of one placement, equal ones among them; empty ones are left out.
    explicit PieceIndex(std::vector<HeldPiece> pieces);
    // Returns all numbers of the pieces, each once.
    [[nodiscard]] std::int64_t numbers() const { return numbers_; }
    [[nodiscard]] std::int64_t shared_with(const HeldPiece& wanted) const;

  private:
    struct Wanted {
        const HeldPiece& piece;
        std::array<Range, 3> touched;  // the part of its box that has numbers of it
    };
    [[nodiscard]] std::int64_t shared_in(std::size_t begin, std::size_t end, std::size_t dimension,
                                         const Wanted& wanted) const;
    std::vector<HeldPiece> pieces_;  // by box, then by `first`
    std::int64_t numbers_ = 0;
};

}  // namespace pentamesh
