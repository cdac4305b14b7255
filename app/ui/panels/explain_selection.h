// The explanation that belongs to what is selected; empty where nothing that is selected has one.
#pragma once

#include "app/ui/scene/scene.h"
#include "core/base/explain.h"
#include "core/sharding/sharding.h"

#include <optional>

namespace pentamesh::ui {

[[nodiscard]] Explanation explain_selection(const Scene& scene);

// The placement of the selected tensor or activation; nullopt: none is selected, or it is no more.
[[nodiscard]] std::optional<Placement> selected_tensor(const Scene& scene, Moment moment);

}  // namespace pentamesh::ui
