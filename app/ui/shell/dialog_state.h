// What does the window remember of its dialogs, of notes that are written, and between two frames?
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/review/preview.h"
#include "app/ui/review/review.h"
#include "app/ui/shell/picture_choice.h"
#include "core/io/presets.h"
#include "render/surface.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pentamesh::ui {

enum class DialogKind : std::uint8_t {
    none,
    open,
    save,
    picture,       // what it is to look like
    picture_file,  // where it goes
    table,
    review,         // what it is to look like
    review_file,    // where it goes
    review_second,  // the plan that it compares with
    written,        // where something was written
    handout,        // of the lesson that is open
    results,        // a picture of which tasks are done
    runs,           // measured, to calibrate from
    settings,
    close,
    recover,
    about,
    missing,
    preset,
    presets
};

// File > Export review.
struct ReviewChoice {
    ReviewRequest request;
    std::string pages;   // as they are typed
    bool asked = false;  // the dialog was open before
    enum class With : std::uint8_t { none, pinned, file } with = With::none;
    std::shared_ptr<const Plan> second;            // of a file
    int shown = 1;                                 // page of the preview
    Kept<std::shared_ptr<ReviewFirstPage>> first;  // by revision
    // By revision and the second plan.
    WorkedOut<std::shared_ptr<ReviewPages>, std::pair<std::uint64_t, std::shared_ptr<const Plan>>> pages_of;
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
    std::string reason{};  // why there is none
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

// The title in the bar, while it is typed.
struct TitleEdit {
    std::string text;
    bool fresh = true;  // until it has the keyboard: a menu may keep that for a frame
};

// The plan's notes while they are written.
struct NotesEdit {
    std::string text{}, known{};
    double changed_s = -1;   // when it began to differ from the plan's; < 0: the plan has the text
    double letter_s = -1e9;  // the last change
    bool fresh = true, undo_held = false;  // fresh: until it has the keyboard
};

// While a lesson is shown to a room.
struct Presenter {
    bool on = false, blank = false, spotlight = false, side = false;
    bool apart = false;      // the notes are on a screen of their own
    bool made_full = false;  // the window fills the screen for it, and did not before
    double begun_s = 0;      // of the clock, which goes on while one leaves and comes back
    // How the step's words fit: made anew where one of what they depend on changes.
    std::string fits{};
    float words_size = 0, words_share = 0;
};

// What is done between this frame and the next.
struct Queued {
    std::string what;
    std::function<void()> run;
};

// Of the plan that was evaluated last.
struct MainFigures {
    bool any = false;
    double step_s = 0, memory = 0;
};

}  // namespace pentamesh::ui
