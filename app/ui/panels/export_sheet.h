// Shows the plan as a framework's own settings: the text, the fields it cannot express, and buttons to copy
// and save.
#pragma once

#include "app/ui/kit/menu.h"
#include "app/ui/panels/marked_text.h"
#include "app/ui/scene/scene.h"
#include "core/interop/export.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Returns the name as its users write it: "Megatron-LM", "PyTorch DeviceMesh".
[[nodiscard]] std::string_view target_words(interop::Target target);
// Returns the ending of a file with its settings: ".sh", ".py", ".yaml", ".json".
[[nodiscard]] std::string_view ending_of(interop::Target target);

struct ExportSheetState {
    bool open = false, fresh = true;
    interop::Target target = interop::Target::megatron;
    interop::Export made{};
    std::uint64_t of = 0;  // revision of the plan that it was made from; 0: none yet
    MarkedText shown{};
    MarkedTextState lines{};
    ScrollState lists{};
    bool choosing = false;
    Rect anchor{};
    MenuState menu{};

    void open_at(interop::Target at) {
        *this = {};
        open = true;
        target = at;
    }
};
enum class ExportAction : std::uint8_t { none, copy, save };
// Draws the sheet while it is open. Returns what is to be done with the text, which is `state.made.text`.
[[nodiscard]] ExportAction draw_export_sheet(Ui& ui, const Scene& scene, ExportSheetState& state,
                                             std::uint64_t revision);

// Adds a line to the tooltip of a control of the plan: the framework's own setting for it. Those controls lie
// in `panel`.
void draw_flag_words(Ui& ui, Rect panel, interop::Framework framework);

}  // namespace pentamesh::ui
