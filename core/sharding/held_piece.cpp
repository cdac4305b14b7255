#include "core/sharding/held_piece.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pentamesh {

namespace {

using CellPlace = HeldPiece::Place;

// Returns the place of the n-th number of a box in the order of rows; n may be one past the last.
CellPlace place_in(const std::array<Range, 3>& box, std::int64_t n) {
    const std::int64_t columns = std::max<std::int64_t>(box[2].size(), 1),
                       rows = std::max<std::int64_t>(box[1].size(), 1);
    const std::int64_t row = n / columns;
    return {box[0].begin + row / rows, box[1].begin + row % rows, box[2].begin + n % columns};
}

// Returns how many numbers of a box come before a place.
std::int64_t numbers_before(const std::array<Range, 3>& box, const CellPlace& place) {
    std::int64_t before = 0, below = box[1].size() * box[2].size();
    for (std::size_t d = 0; d < 3; ++d) {
        before += std::clamp<std::int64_t>(place[d] - box[d].begin, 0, box[d].size()) * below;
        if (place[d] < box[d].begin || place[d] >= box[d].end) return before;
        if (d < 2) below = d == 0 ? box[2].size() : 1;
    }
    return before;
}

std::int64_t numbers_between(const std::array<Range, 3>& box, const CellPlace& first, const CellPlace& end) {
    for (const Range& r : box)
        if (r.size() <= 0) return 0;
    return std::max<std::int64_t>(numbers_before(box, end) - numbers_before(box, first), 0);
}

// Returns the part of the box in which numbers between first and end lie: a flat cut touches few rows of it.
std::array<Range, 3> touched_box(const HeldPiece& p) {
    std::array<Range, 3> box = p.box;
    for (std::size_t d = 0; d < 2; ++d) {
        // The last number is before `end`: in the same line, unless that begins there.
        const std::int64_t last = std::min(p.end[d] + 1, p.box[d].end);
        box[d] = {std::max(p.first[d], p.box[d].begin), last};
        if (p.end[d] > p.first[d]) break;
    }
    return box;
}

auto order_of(const HeldPiece& p) {
    return std::make_tuple(p.box[0].begin, p.box[1].begin, p.box[2].begin, p.first);
}

}  // namespace

HeldPiece piece_of(const Part& part, std::int64_t rows) {
    HeldPiece p;
    p.box = part.box;
    p.first = place_in(part.box, part.flat.begin);
    p.end = place_in(part.box, part.flat.end);
    p.box[1] = {std::min(p.box[1].begin, rows), std::min(p.box[1].end, rows)};
    p.numbers = part.flat.size() > 0 ? numbers_between(p.box, p.first, p.end) : 0;
    return p;
}

std::int64_t shared_numbers(const HeldPiece& a, const HeldPiece& b) {
    if (a.numbers == 0 || b.numbers == 0) return 0;
    std::array<Range, 3> box;
    for (std::size_t d = 0; d < 3; ++d) {
        box[d] = {std::max(a.box[d].begin, b.box[d].begin), std::min(a.box[d].end, b.box[d].end)};
        if (box[d].size() <= 0) return 0;
    }
    return numbers_between(box, std::max(a.first, b.first), std::min(a.end, b.end));
}

PieceIndex::PieceIndex(std::vector<HeldPiece> pieces) : pieces_(std::move(pieces)) {
    std::erase_if(pieces_, [](const HeldPiece& p) { return p.numbers == 0; });
    std::sort(pieces_.begin(), pieces_.end(),
              [](const HeldPiece& a, const HeldPiece& b) { return order_of(a) < order_of(b); });
    pieces_.erase(std::unique(pieces_.begin(), pieces_.end()), pieces_.end());
    for (const HeldPiece& p : pieces_) numbers_ += p.numbers;
}

std::int64_t PieceIndex::shared_with(const HeldPiece& wanted) const {
    return wanted.numbers == 0 ? 0 : shared_in(0, pieces_.size(), 0, {wanted, touched_box(wanted)});
}

// The pieces begin .. end - 1 have the same box in the dimensions below `dimension`. In this one their ranges
// are equal or apart, in ascending order: those that overlap stand together.
std::int64_t PieceIndex::shared_in(std::size_t begin, std::size_t end, std::size_t dimension,
                                   const Wanted& wanted) const {
    const auto at = [&](std::size_t i) { return pieces_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::int64_t shared = 0;
    if (dimension == 3) {
        const auto first = std::partition_point(
            at(begin), at(end), [&](const HeldPiece& p) { return p.end <= wanted.piece.first; });
        for (auto p = first; p != at(end) && p->first < wanted.piece.end; ++p)
            shared += shared_numbers(*p, wanted.piece);
        return shared;
    }
    const Range& w = wanted.touched[dimension];
    const auto begin_of = [&](const HeldPiece& p) { return p.box[dimension].begin; };
    auto first = std::partition_point(at(begin), at(end),
                                      [&](const HeldPiece& p) { return p.box[dimension].end <= w.begin; });
    while (first != at(end) && begin_of(*first) < w.end) {
        const auto last = std::partition_point(
            first, at(end), [&, from = begin_of(*first)](const HeldPiece& p) { return begin_of(p) == from; });
        shared += shared_in(static_cast<std::size_t>(first - pieces_.begin()),
                            static_cast<std::size_t>(last - pieces_.begin()), dimension + 1, wanted);
        first = last;
    }
    return shared;
}

}  // namespace pentamesh
