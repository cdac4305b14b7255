// Reads a framework's own settings into the window: the text with its lines marked, the result of each
// setting, missing values as inputs, and the plan that comes out.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/menu.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/scene/scene.h"
#include "core/interop/export.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Returns true if the sheet reads such a text: settings of a framework, or a table of nccl-tests.
[[nodiscard]] bool is_settings_text(const std::string& text);

struct ImportSheetState {
    bool open = false;
    std::string origin{};  // "run.sh", "the clipboard"
    std::string text{};
    std::filesystem::path log{};  // the text's file, where it is of a run that says its steps too
    std::string read_as{};        // a name of tools.h; empty: guessed
    std::string gpus{}, model{}, cluster{}, recipe{};  // as typed and picked; empty: the text says
    bool own_model = false;                            // the open plan's model stands in
    bool stale = true;                                 // to be read again
    std::optional<interop::Import> made{};  // none where it could not be read at all: `error` says why
    std::optional<interop::FabricReading> links{};
    std::string error{};
    MarkedText shown{};
    MarkedTextState lines{};
    ScrollState lists{};
    std::string choosing{};  // the menu that is open: "from", "model", "cluster", "recipe"
    Rect anchor{};
    MenuState menu{};
    bool fresh = true;

    void open_with(std::string new_text, std::string new_origin, std::filesystem::path new_log = {}) {
        *this = {};
        open = true;
        text = std::move(new_text);
        origin = std::move(new_origin);
        log = std::move(new_log);
    }
};

// Draws the sheet while it is open. Returns the plan to open, once Open is pressed.
struct Imported {
    Plan plan;
    std::string what;             // "the settings of run.sh"
    std::string hosts{};          // the hosts that the text names
    bool edits = false;           // the open plan with other figures, no other plan
    std::filesystem::path run{};  // a log whose steps are to be read instead
};
[[nodiscard]] std::optional<Imported> draw_import_sheet(Ui& ui, const Scene& scene, ImportSheetState& state);

// Shows the plan as a framework's own settings: the text, the fields it cannot express, and buttons to copy
// and save.

struct ExportSheetState {
    bool open = false, fresh = true;
    const interop::Tool* target = interop::written_tools().front();
    interop::Export made{};
    std::uint64_t of = 0;  // revision of the plan that it was made from; 0: none yet
    MarkedText shown{};
    MarkedTextState lines{};
    ScrollState lists{};
    bool choosing = false;
    Rect anchor{};
    MenuState menu{};

    void open_at(const interop::Tool& at) {
        *this = {};
        open = true;
        target = &at;
    }
};
enum class ExportAction : std::uint8_t { none, copy, save };
// Draws the sheet while it is open. Returns what is to be done with the text, which is `state.made.text`.
[[nodiscard]] ExportAction draw_export_sheet(Ui& ui, const Scene& scene, ExportSheetState& state,
                                             std::uint64_t revision);

// Adds a line to the tooltip of a control of the plan: the framework's own setting for it. Those controls lie
// in `panel`.
void draw_flag_words(Ui& ui, Rect panel, const interop::Tool& tool);

}  // namespace pentamesh::ui
