// The plan as a framework's own settings: the text, what it cannot say, and the ways out.
#pragma once

#include "app/ui/kit/menu.h"
#include "app/ui/panels/marked_text.h"
#include "app/ui/scene/scene.h"
#include "core/interop/export.h"

#include <string>
#include <string_view>

namespace pentamesh::ui {

// "Megatron-LM", "PyTorch DeviceMesh": as its users write it.
[[nodiscard]] std::string_view target_words(interop::Target target);
// Of a file with its settings: ".sh", ".py", ".yaml", ".json".
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
// While it is open. What the text is wanted for: it is `state.made.text`.
[[nodiscard]] ExportAction draw_export_sheet(Ui& ui, const Scene& scene, ExportSheetState& state,
                                             std::uint64_t revision);

// A line under what the mouse shows of a control of the plan: the framework's own setting for it.
// `panel`: where those controls are.
void draw_flag_words(Ui& ui, Rect panel, interop::Framework framework);

}  // namespace pentamesh::ui
