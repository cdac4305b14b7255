// Explains the selection; the explanation is empty where no selected thing has one.
#pragma once

#include "app/ui/scene/scene.h"
#include "core/base/explain.h"
#include "core/sharding/sharding.h"

#include <optional>

namespace pentamesh::ui {

[[nodiscard]] Explanation explain_selection(const Scene& scene);

// Returns the placement of the selected tensor or activation; nullopt where nothing is selected, or it no
// longer exists.
[[nodiscard]] std::optional<Placement> selected_tensor(const Scene& scene, Moment moment);

}  // namespace pentamesh::ui
