// Shows every field of a plan: model, GPU, fabric, layout and training in a sheet over the window.
#pragma once

#include "app/ui/kit/kept.h"
#include "app/ui/kit/menu.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/scene.h"
#include "core/io/plan_by_hand.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct PlanEditorState {
    bool open = false;
    bool fresh = false;  // opened in this frame
    FieldTopic section = FieldTopic::size;
    ScrollState scroll;
    std::string editing, edit_text;  // pointer of the field that is typed
    bool edit_fresh = false;
    std::string refused, refusal;  // the field whose last value was refused, and why
    std::string choosing;          // pointer of the field whose choices are open
    Rect choices_anchor;
    MenuState choices;
    Kept<std::vector<PlanField>> fields;  // by revision
    // Holds the plan with the text being typed, by revision and text; nullopt where that is no value yet.
    Kept<std::optional<Plan>, std::pair<std::uint64_t, std::string>> tried;
    std::optional<PresetKind> wants_preset;  // this part of the plan is to be kept as a preset

    void open_at(FieldTopic at) {
        *this = {};
        open = fresh = true;
        section = at;
    }
};
[[nodiscard]] std::optional<PlanEdit> draw_plan_editor(Ui& ui, const Scene& scene, PlanEditorState& state,
                                                       std::uint64_t revision);

}  // namespace pentamesh::ui
