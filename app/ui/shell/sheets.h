// The sheets over the window: every field of the plan, layers of the stages, import, export, calibration,
// ranks that fail together, and the plan's notes.
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/panels/blame_panel.h"
#include "app/ui/panels/calibrate_sheet.h"
#include "app/ui/panels/export_sheet.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/plan_editor.h"
#include "app/ui/panels/stage_editor.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/window.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

class Sheets {
  public:
    explicit Sheets(Window& window) : window_(window) {}

    // Draws the open sheets. Returns an edit that was made in one.
    [[nodiscard]] std::optional<PlanEdit> draw(Ui& ui, Scene& scene);
    [[nodiscard]] std::optional<PlanEdit> draw_notes(Ui& ui);
    void close();
    // Collects the fit that runs in the background.
    void update();
    [[nodiscard]] bool works() const { return calibrate_.made.running; }

    void open_fields(FieldTopic section) { editor_.open_at(section); }
    // The plan gets a model to be typed in, and the sheet of its fields opens.
    void begin_new_model();
    void open_stages() { stages_.open_now(); }
    void open_blame(std::string ranks) { blame_ = {.open = true, .text = std::move(ranks)}; }
    void open_notes();
    // `log`: the file of the text, where its steps can be read as a run too.
    void import(std::string text, const std::string& origin, std::filesystem::path log = {}) {
        import_.open_with(std::move(text), origin, std::move(log));
    }
    [[nodiscard]] bool calibrates() const { return calibrate_.open; }
    void add_runs(const std::filesystem::path& path);
    void save_settings_text(const std::filesystem::path& path);
    [[nodiscard]] const CalibrateSheetState& calibration() const { return calibrate_; }

    // Returns true if a sheet of fields or stages is open and no field of it has the keyboard.
    [[nodiscard]] bool takes_undo() const {
        return (editor_.open && editor_.editing.empty()) || (stages_.open && stages_.editing < 0);
    }
    [[nodiscard]] bool types_number() const { return stages_.editing >= 0; }
    // Returns true if the last letter of the notes was typed a moment ago.
    [[nodiscard]] bool types_notes() const;
    // Returns the edit of notes that were typed and are not in the plan yet.
    [[nodiscard]] std::optional<PlanEdit> typed_notes();
    // Returns the kind of preset that the sheet of fields is asked to save.
    [[nodiscard]] std::optional<PresetKind> take_wanted_preset();

    void add_flags_commands(std::vector<Command>& commands);
    void add_interop_commands(std::vector<Command>& commands);
    void add_calibrate_command(std::vector<Command>& commands);

  private:
    using Fit = Beside<Calibrated, std::uint64_t>;
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
    CalibrateSheetState calibrate_;
    std::optional<NotesEdit> notes_;
    std::unique_ptr<Fit> fit_;  // null until it is wanted

    void draw_interop(Ui& ui, const Scene& scene);
    void draw_calibrate(Ui& ui);
    void use_calibrated(bool save);
};

// Returns the framework whose flags the plan's fields show on hover, by the settings.
[[nodiscard]] std::optional<interop::Framework> flags_framework(const Settings& settings, Software software);

}  // namespace pentamesh::ui
