// A plan keeps what the window shows (/scene), so that a file or a picture opens as it was left.
#pragma once

#include "app/ui/views/table.h"

#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// "memory activations, stage 2, rank 5": what the inspector speaks of stands first.
[[nodiscard]] std::string selection_words(const Selection& selection);
// Words that are not known, and numbers that the plan has no such thing for, select nothing.
[[nodiscard]] Selection selection_named(std::string_view words, const Evaluation& evaluation);

// `full`: the view that fills the window; nullopt: the dashboard. A scene's page is, of a view, which of its
// own pages it shows; of the dashboard, which views stand in its panes.
[[nodiscard]] SavedScene scene_as_saved(const ViewStates& views, const Selection& selection,
                                        std::optional<ViewId> full);
// Returns the selection of a plan that is opened and keeps no scene: nothing, over the expert mesh if the
// step waits most for one of its axes.
[[nodiscard]] Selection selection_at_first(const Evaluation& evaluation);
// Shows what the scene states and leaves the rest as it is. Selects only what the evaluation has.
void show_saved_scene(const SavedScene& scene, const Evaluation& evaluation, ViewStates& views,
                      Selection& selection, std::optional<ViewId>& full);

}  // namespace pentamesh::ui
