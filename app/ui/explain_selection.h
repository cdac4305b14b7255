// The explanation that belongs to what is selected; empty where nothing that is selected has one.
#pragma once

#include "app/ui/scene.h"
#include "core/explain.h"

namespace pentamesh::ui {

[[nodiscard]] Explanation explain_selection(const Scene& scene);

}  // namespace pentamesh::ui
