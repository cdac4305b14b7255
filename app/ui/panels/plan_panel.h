// Draws the plan panel: model, cluster, axes, order and modifiers, each of which may return an edit of the
// plan.
#pragma once

#include "app/ui/kit/menu.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/panels/plan_editor.h"
#include "app/ui/scene/scene.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh::ui {

struct PlanPanelState {
    ScrollState scroll;
    int dragged_chip = -1;  // Axis
    // Names the open menu: "model", "cluster", "schedule", "order", or a popover: "batch", "precision",
    // "optimizer", "attention", "overlap"; empty where no menu is open.
    std::string menu;
    Rect menu_anchor;
    MenuState menu_state;
    std::string editing;                 // the number that is being typed: "tp", "gpus" ...; empty: none
    std::string edit_text, edit_before;  // as it is, as it was
    bool edit_fresh = false;
    std::optional<FieldTopic> wants_editor;  // the sheet of all fields is to open there
    bool wants_presets = false;              // the list of one's own presets is to open
    bool wants_stages = false;               // the sheet of layers per stage is to open
    bool spare_replicates = false;           // GPUs that come are replicas, not shards
    std::string refused;  // the number whose last value was refused, until the next edit; empty: none
    std::string refusal;  // the typed text, and the allowed values
};
[[nodiscard]] std::optional<PlanEdit> draw_plan_panel(Ui& ui, Rect panel, Scene& scene,
                                                      PlanPanelState& state);
// The panel's menus are drawn after everything else.
// new_model_edit puts a model to be typed in, in the place of the plan's.
[[nodiscard]] PlanEdit new_model_edit(const Plan& plan);
[[nodiscard]] std::optional<PlanEdit> draw_plan_menus(Ui& ui, Scene& scene, PlanPanelState& state);

// Returns the edit that sets an axis' factor. With `drags` the edits of one drag are one step of undo.
[[nodiscard]] PlanEdit factor_edit(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus,
                                   bool drags = false);

}  // namespace pentamesh::ui
