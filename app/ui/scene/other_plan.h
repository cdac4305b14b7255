// Holds a second plan next to the open one, with the figures that follow from it.
#pragma once

#include "app/ui/kit/kept.h"
#include "core/evaluate.h"

#include <cstdint>
#include <utility>

namespace pentamesh::ui {

struct OtherPlan {
    Plan plan;
    Evaluation evaluation;
};
using KeptOtherPlan = Kept<OtherPlan, std::pair<std::uint64_t, int>>;  // by revision and choice

}  // namespace pentamesh::ui
