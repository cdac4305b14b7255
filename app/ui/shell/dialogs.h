// The dialogs in the middle of the window: files, pictures, reviews, presets, plans that were left. Each is a
// row of a table: its words, its height and the function that draws it.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/review/review.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/dialog_picture.h"
#include "app/ui/shell/files.h"
#include "app/ui/shell/window.h"
#include "core/io/presets.h"
#include "render/surface.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// All dialogs share these: their measures, the buttons of their last row, the text of an error.
inline constexpr float kDialogButton = 104, kDialogGap = 8, kDialogField = 30, kDialogRow = 38;
inline constexpr Vec2 kDialogPad{24, 20};
inline constexpr float kDialogHead = 28, kAboveButtons = 14, kButtonHeight = 30;

// Draws a button of a dialog's last row, from the right. Returns true if it was clicked.
[[nodiscard]] bool dialog_button(Ui& ui, Rect& row, std::string_view name, std::string_view label,
                                 bool enabled = true, float width = kDialogButton);
void dialog_error_text(Ui& ui, Rect room, const std::string& error);
// Cuts a row of a form and writes its name at the left, `label` wide. Returns the room of its field.
[[nodiscard]] Rect dialog_row(Ui& ui, Rect& room, std::string_view name, float label);

// File > Export review.
struct ReviewChoice {
    ReviewRequest request;
    std::string pages;   // as they are typed
    bool asked = false;  // the dialog was open before
    enum class With : std::uint8_t { none, pinned, file } with = With::none;
    std::shared_ptr<const Plan> second;            // of a file
    int shown = 1;                                 // page of the preview
    bool asks_words = false;                       // the author's words are asked for, not the paper
    AuthorWords words{};                           // as they are typed
    std::array<std::string, 3> known{};            // of the boxes with several lines
    Kept<std::shared_ptr<ReviewFirstPage>> first;  // by revision
    // By the plan's revision and the second plan.
    Kept<std::shared_ptr<ReviewPages>, std::pair<std::uint64_t, std::shared_ptr<const Plan>>> pages_of;
};

// Export > Picture of this view.
struct PictureDialog {
    PictureChoice choice;
    int size = 0;  // which of those that are offered
    std::string own = "1920x1080";
    PictureChoice asked{};  // that the preview is of, or is to be
    std::string asked_view{};
    std::uint64_t asked_revision = 0;
    double due_s = -1;  // when it is to be drawn; < 0: it was
    Image preview{};
    std::uint64_t preview_number = 0;
    std::string reason{};  // why there is no preview
};

// File > Open a preset: a plan that ships.
struct GalleryPlan {
    std::string name;
    Plan plan;
    Evaluation evaluation;
};

// The dialog that is open.
struct Dialog {
    DialogKind kind = DialogKind::none;
    std::string text{}, error{};
    std::function<void()> after{};
    bool fresh = true;                  // its field gets the keyboard
    std::filesystem::path confirmed{};  // a file, or a preset's id, that may be replaced
    PresetKind preset = PresetKind::model;
    ScrollState scroll{};
    int asks = -1;  // the row of a list that is to be removed if that is said again
};

class Dialogs {
  public:
    Dialogs(Window& window, Files& files);
    ~Dialogs();
    Dialogs(const Dialogs&) = delete;
    Dialogs& operator=(const Dialogs&) = delete;

    // Sets the action for a file that a dialog of this kind asks for. If it throws, the dialog says why.
    void when_picked(DialogKind kind, std::function<void(const std::filesystem::path&)> act);
    void ask(DialogKind kind, std::string text = {}, std::function<void()> after = nullptr,
             std::string error = {});
    void ask_preset_name(PresetKind kind);
    void ask_own_presets();
    void ask_review();
    void close();
    void draw(Ui& ui);
    // Asks whether a dialog of the desktop is done.
    void poll();
    // Works the pages of a review out in the background.
    void update();

    [[nodiscard]] const Dialog& open() const { return dialog_; }
    [[nodiscard]] bool waits_for_desktop() const { return native_dialog_ != nullptr; }
    [[nodiscard]] bool works() const { return review_.pages_of.running(); }
    // Returns the next time at which it asks the desktop or draws a preview; infinity without one.
    [[nodiscard]] double due_s() const;
    void show_preview(Image image, std::string reason);
    void copy_picture();
    void wrote(const std::filesystem::path& path);  // says where, and offers to open it

  private:
    struct Row {
        std::string_view head{}, words{};
        float width = 480;
        float (Dialogs::*height)(Ui&, float width) const = nullptr;  // between words and buttons
        // Returns true if the dialog is done.
        bool (Dialogs::*draw)(Ui&, Rect room, Rect buttons) = nullptr;
        // Names the files that the dialog asks for; empty: it asks for no file.
        std::string_view files{};
        bool saves = true;
        bool folders = false;                // a folder serves in the place of a file
        std::vector<std::string> endings{};  // the first is added to a name without any of them
    };
    static const Row& row_of(DialogKind kind);

    Window& window_;
    Files& files_;
    std::array<std::function<void(const std::filesystem::path&)>, kDialogKinds> picked_;
    Dialog dialog_;
    ReviewChoice review_;
    PictureDialog picture_;
    std::unique_ptr<FileDialog> native_dialog_;  // of the desktop, in the place of path_field_
    PathField path_field_;

    [[nodiscard]] std::string head() const;
    bool draw_about(Ui& ui, Rect room, Rect buttons);
    bool draw_close(Ui& ui, Rect room, Rect buttons);
    bool draw_recovery(Ui& ui, Rect room, Rect buttons);
    bool draw_missing(Ui& ui, Rect room, Rect buttons);
    bool draw_run_by(Ui& ui, Rect room, Rect buttons);
    [[nodiscard]] float run_by_height(Ui& ui, float width) const;
    [[nodiscard]] float recovery_height(Ui& ui, float width) const;
    void try_in_dialog(const std::function<void()>& act);
    void take_focus(std::string_view button);

    // files
    void begin_file();
    void ask_here();
    bool draw_file(Ui& ui, Rect room, Rect buttons);
    bool draw_waiting(Ui& ui, Rect buttons);
    void finish_file();
    void pick_recent(std::size_t index);
    [[nodiscard]] std::filesystem::path typed_path() const;

    // dialog_picture.cpp
    [[nodiscard]] std::string pictured_view() const;
    [[nodiscard]] float picture_height(Ui& ui, float width) const;
    bool draw_picture(Ui& ui, Rect room, Rect buttons);
    void draw_picture_preview(Ui& ui, Rect box) const;
    void update_preview();
    bool draw_written(Ui& ui, Rect room, Rect buttons);

    // dialog_picture.cpp
    [[nodiscard]] float review_height(Ui& ui, float width) const;
    bool draw_review(Ui& ui, Rect room, Rect buttons);
    [[nodiscard]] std::shared_ptr<const Plan> review_second() const;
    [[nodiscard]] std::string review_note() const;
    [[nodiscard]] std::vector<Plan> reviewed_plans() const;
    void draw_review_second(Ui& ui, Rect row);
    bool draw_review_form(Ui& ui, Rect& room);
    bool draw_review_words(Ui& ui, Rect& room);
    void draw_review_page(Ui& ui, Rect box);
    void take_review_second(const std::filesystem::path& path);
    void ask_review_file();

    // dialogs.cpp
    struct PresetNote {
        std::string text;
        bool refused = false;
    };
    [[nodiscard]] PresetNote preset_note() const;
    [[nodiscard]] float preset_height(Ui& ui, float width) const;
    bool draw_preset(Ui& ui, Rect room, Rect buttons);
    void finish_preset();
    [[nodiscard]] float presets_height(Ui& ui, float width) const;
    bool draw_presets(Ui& ui, Rect room, Rect buttons);
    void draw_own_presets(Ui& ui, Rect room);
    void remove_preset(const Presets::Entry& entry);

    // dialog_picture.cpp
    Kept<std::vector<GalleryPlan>> gallery_;
    [[nodiscard]] float gallery_height(Ui& ui, float width) const;
    bool draw_gallery(Ui& ui, Rect room, Rect buttons);
};

}  // namespace pentamesh::ui
