// Gives the range of each number of a plan: one answer for typing, steppers and the wheel, from the field
// table.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

struct FieldRange {
    double least = 0, most = 0;
    bool above = false;  // the least itself is not allowed
    bool whole = false;

    [[nodiscard]] bool allows(double x) const {
        return x >= least && x <= most && !(above && x == least)
               && (!whole || x == static_cast<double>(static_cast<std::int64_t>(x)));
    }
};

// Returns the range of a number that the layout, the training or the GPU count holds, by its JSON pointer;
// nullopt where there is no such number.
[[nodiscard]] std::optional<FieldRange> range_of(std::string_view pointer);
// Returns "a whole number from 1 to 1,048,576".
[[nodiscard]] std::string range_text(const FieldRange& range);
// Returns the value that a stepper takes next: sizes, batches and GPUs double and halve, other counts go by
// one. It is the same value where the next one leaves the range or would be no whole number.
[[nodiscard]] std::int64_t next_value(std::string_view pointer, std::int64_t value, int by);

}  // namespace pentamesh
