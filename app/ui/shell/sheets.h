// The card of an axis: one sentence, a small loaf, what it costs in this plan, and the next factors tried.
#pragma once

#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/scene/scene.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/window.h"
#include "app/ui/views/shards/shards_sheets.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// A factor that one or two presses reach, and the step with it.
struct AxisTry {
    std::int64_t factor = 1;
    bool now = false;
    std::optional<double> memory, step_s;  // without a value: the plan is impossible
    double filled = 0;                     // share of a GPU that the fullest one holds
    std::string note;                      // "does not fit", or why it is impossible
};
struct AxisCardFigures {
    std::vector<MapRow> rows;
    std::vector<AxisTry> tries;
};
struct AxisCardState {
    std::optional<UiState::Named> asked;  // F1 was pressed on this name
    Vec2 asked_at;                        // the mouse then: the card goes when it moves
    Rect over;                            // the name that the mouse rests on,
    double since_s = 0;                   // and since when
    bool dismissed = false;               // by a click or Esc, until the mouse leaves the name
    bool shown = false;                   // in the last frame: Esc sends it away and does nothing else
    std::optional<MiniLoaves> loaves;
    Kept<AxisCardFigures, std::pair<std::uint64_t, Axis>> figures;  // by revision and axis
};

// Returns the name of an axis that has the mouse, or the keyboard where it was used last, or null.
[[nodiscard]] const UiState::Named* named_axis(const UiState& state);
// Draws the card over everything, next to the name that F1 asked for or that the mouse rests on. It takes no
// press itself.
void draw_axis_card(Ui& ui, Scene& scene, AxisCardState& state, std::uint64_t revision);

// The sheets over the window: every field of the plan, layers of the stages, import, export, ranks that
// fail together, and the plan's notes.

class Sheets {
  public:
    explicit Sheets(Window& window) : window_(window) {}

    // Draws the open sheets.
    [[nodiscard]] Effects draw(Ui& ui, Scene& scene);
    [[nodiscard]] std::optional<PlanEdit> draw_notes(Ui& ui);
    void close();

    // `field` is the pointer of the one that gets the keyboard; empty: the first one.
    void open_fields(FieldTopic section, std::string field = {}) {
        editor_.open_at(section, std::move(field));
    }
    // The plan gets a model to be typed in, and the sheet of its fields opens.
    void begin_new_model();
    void open_stages() { stages_.open_now(); }
    void open_blame(std::string ranks) { blame_ = {.open = true, .text = std::move(ranks)}; }
    void open_notes();
    // `log`: the file of the text, where its steps can be read as a run too.
    void import(std::string text, const std::string& origin, std::filesystem::path log = {}) {
        import_.open_with(std::move(text), origin, std::move(log));
    }
    void save_settings_text(const std::filesystem::path& path);

    // Returns true if a sheet of fields or stages is open and no field of it has the keyboard.
    [[nodiscard]] bool takes_undo() const {
        return (editor_.open && editor_.editing.empty()) || (stages_.open && !stages_.numbers.types());
    }
    [[nodiscard]] bool types_number() const { return stages_.numbers.types(); }
    // Returns true if the last letter of the notes was typed a moment ago.
    [[nodiscard]] bool types_notes() const;
    // Returns the edit of notes that were typed and are not in the plan yet.
    [[nodiscard]] std::optional<PlanEdit> typed_notes();

    void add_flags_commands(std::vector<Command>& commands);
    void add_interop_commands(std::vector<Command>& commands);

  private:
    // The plan's notes while they are written.
    struct NotesEdit {
        std::string text{}, known{};
        double changed_s = -1;   // when it began to differ from the plan's; < 0: the plan has the text
        double letter_s = -1e9;  // the last change
        bool fresh = true, undo_held = false;  // fresh: until it has the keyboard
    };
    Window& window_;
    PlanEditorState editor_;
    StageEditorState stages_;
    BlamePanelState blame_;
    ImportSheetState import_;
    ExportSheetState export_;
    std::optional<NotesEdit> notes_;

    void draw_interop(Ui& ui, const Scene& scene);
};

// Returns the tool whose flags the plan's fields show on hover, by the settings.
[[nodiscard]] const interop::Tool* flags_tool(const Settings& settings, Software software);

}  // namespace pentamesh::ui
