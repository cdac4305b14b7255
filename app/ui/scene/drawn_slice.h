// A part of the step as it is drawn: after an edit it glides to its place, and its old place stays as an
// outline.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/step/step.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace pentamesh::ui {

// Tells the parts of one step apart, as the index of an area.
[[nodiscard]] std::uint64_t index_of(const StepSlice& slice);

struct DrawnSlice {
    StepSlice now;
    std::optional<StepSlice> before;  // where its time was another before the edit
};
// `name` is that of the bar or waterfall which it is part of.
[[nodiscard]] DrawnSlice drawn_slice(const Ui& ui, std::string_view name, const StepSlice& slice);

}  // namespace pentamesh::ui
