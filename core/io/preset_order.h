// Puts presets into the order in which a list shows them.
#pragma once

#include "core/io/presets.h"

#include <vector>

namespace pentamesh {

// Returns the entries with the highest number of a family first, as in Llama 4, Llama 3.1, Llama 3, Llama 2;
// families, and those of one number, stay in the order of the entries. A number of parameters ("70B",
// "8x7B") is no such number.
[[nodiscard]] std::vector<const Presets::Entry*>
highest_number_first(const std::vector<Presets::Entry>& entries);

}  // namespace pentamesh
