// Finds the assumptions that would turn a decision, each with the value at which it does: the decision holds
// from the present value to there. Every candidate is evaluated anew at each value.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/step/constants.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pentamesh {

// A decision among plans. [0] is the one under review.
struct Candidates {
    std::vector<Plan> plans;
    std::optional<std::size_t> taken{};  // nullopt: none is, because none fits
    bool for_memory = false;  // it is taken because it holds less than [0]: only that one is its rival
};

enum class TurnKind : std::uint8_t {
    fits_no_more,      // what is taken does not fit, or cannot be built
    is_slower,         // another one that fits is faster by kWorthIt or more
    frees_too_little,  // it was taken for what it frees: that is less than kMuchMemory of a GPU's memory
    fits_after_all     // one of those fits of which none did
};
struct TurnPoint {
    double at = 0;  // the decision holds up to here, and no more beyond
    TurnKind kind = TurnKind::is_slower;
    std::size_t by = 0;           // of the candidates: which is then faster, or fits
    bool by_may_not_fit = false;  // that one fits by the sum only
};

// Says how a decision breaks with these plans in the place of its candidates; nullopt: it holds. Plans are
// compared by tokens a second and GPU. `by` is the fastest of those that break it.
[[nodiscard]] std::optional<TurnPoint> broken_by(const Candidates& decision, const std::vector<Plan>& plans);

// Values between `least` and `most` are tried: so many on either side of the present one, at equal steps by
// their logarithm; where one of them turns the decision, the place before it is found by halving, to within
// a thousandth.
inline constexpr double kTurnFactor = 2;  // twice and half, as far as the constant may go
inline constexpr int kTurnValues = 5;     // on either side
struct Turns {
    Constant constant;                          // with its present value
    double least = 0, most = 0;                 // what was searched
    std::optional<TurnPoint> below{}, above{};  // the nearest on either side that was found
    [[nodiscard]] bool any() const { return below || above; }
    // Returns how far the nearer of them is, as a factor of at least 1; infinite where nothing turns it.
    [[nodiscard]] double nearest() const;
};

// Looks at every constant of the plan that is taken, or of [0], except those that are 0 or a switch: those
// that turn the decision first, the nearest of them before the others. Candidates with other hardware have
// their own constant changed by the same factor. There is nothing where no candidate has a step, or where the
// decision does not hold as it is. `threads`: 0 means one for each core.
[[nodiscard]] std::vector<Turns> turns_of(const Candidates& decision, const Presets& presets,
                                          int threads = 0);

// Does the same for the batch, halved and doubled up to twice: a value that a candidate cannot have is left
// out. The constant is the batch, its unit a ratio; `at` is the first value that turns the decision.
[[nodiscard]] Turns batch_turns(const Candidates& decision);

}  // namespace pentamesh
