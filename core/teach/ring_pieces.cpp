#include "core/teach/ring_pieces.h"

namespace pentamesh {
namespace {

std::int64_t around(std::int64_t i, std::int64_t n) {
    return ((i % n) + n) % n;
}

}  // namespace

std::int64_t piece_sent(RingPart part, std::int64_t n, std::int64_t member, std::int64_t step) {
    switch (part) {
    case RingPart::after_reduce: return around(member + 1 - step, n);
    case RingPart::exchange: return around(member + 1 + step, n);
    case RingPart::reduce:
    case RingPart::gather: break;
    }
    return around(member - step, n);
}

double piece_held(RingPart part, std::int64_t n, std::int64_t member, std::int64_t piece,
                  std::int64_t steps) {
    // Pieces behind the member's own, in the order in which they come.
    const std::int64_t behind = around(member - piece, n);
    switch (part) {
    case RingPart::gather: return behind <= steps ? 1 : 0;
    case RingPart::after_reduce: return around(member + 1 - piece, n) <= steps ? 1 : 0;
    case RingPart::exchange: return behind <= steps ? 1 : 0;
    case RingPart::reduce: break;
    }
    const auto share = [&](std::int64_t members) {
        return static_cast<double>(members) / static_cast<double>(n);
    };
    if (behind < steps) return 0;                                       // passed on
    return behind == steps && steps > 0 ? share(steps + 1) : share(1);  // the piece that came last, with its
                                                                        // own added
}

}  // namespace pentamesh
