// Asks for a file inside the window: a path is typed and Tab completes it; the names of its folder and the
// files that were opened last stand below. The desktop's dialog is asked first (dialogs.h).
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/decider.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/lesson_desk.h"
#include "app/ui/shell/sheets.h"
#include "app/ui/shell/window.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

inline constexpr std::size_t kMostListedFiles = 10000;

struct FolderName {
    std::string name;
    bool folder = false;
};

struct FolderList {
    std::vector<FolderName> names;  // folders first
    std::string error;              // why the folder cannot be read; empty: it can
    bool cut = false;               // there are more than kMostListedFiles
};

// Lists folders, and files that end in one of `endings` (all where it is empty). Names that begin with a dot
// are listed where `hidden` asks for them. Never throws.
[[nodiscard]] FolderList list_folder(const std::filesystem::path& folder,
                                     const std::vector<std::string>& endings, bool hidden = false);

// Returns the path that was typed: "~" is `home`, a relative one lies in `folder`.
[[nodiscard]] std::filesystem::path typed_in(std::string_view typed, const std::filesystem::path& folder,
                                             const std::filesystem::path& home);
// Returns the folder that a typed path lies in: itself where it ends in a separator.
[[nodiscard]] std::filesystem::path folder_of_typed(std::string_view typed,
                                                    const std::filesystem::path& folder,
                                                    const std::filesystem::path& home);
// Returns true if a path is `folder` or lies in it; an empty folder holds everything.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);
// Returns what follows the last separator.
[[nodiscard]] std::string_view leaf_of_typed(std::string_view typed);
// Returns `typed` with as much more as all names have that begin with its leaf; a folder that is the only one
// gets a separator. Returns `typed` itself where nothing can be added.
[[nodiscard]] std::string completed(std::string_view typed, const FolderList& list);
// Returns the first name that begins with `leaf`, in any case of letters; -1: none, or `leaf` is empty.
[[nodiscard]] int first_match(const FolderList& list, std::string_view leaf);

struct PathField {
    std::filesystem::path folder;      // whose names are shown
    std::filesystem::path base;        // that was gone to: a relative path lies in it
    std::filesystem::path fence;       // it stays in here; empty: it goes anywhere
    std::vector<std::string> endings;  // of the files that serve
    bool saves = false;                // the typed name is kept when another folder is gone to
    bool folders = false;              // a folder serves too: Enter on its path means it
    FolderList list;
    std::pair<std::filesystem::path, bool> listed;  // `list` is of this folder, with hidden names or without
    int cursor = -1;                                // row that Up, Down or a click chose
    int shown_match = -1;                           // row that was brought into sight for the typed name
    ScrollState scroll, recent_scroll;

    // Shows a folder for a path that may be typed already.
    void begin(std::filesystem::path at, std::string& typed, const std::filesystem::path& home);
    void go_to(std::filesystem::path to, std::string& typed);
    // Shows the folder that `typed` lies in, after `typed` was changed by hand.
    void follow(std::string_view typed, const std::filesystem::path& home);
    void read_again() { listed = {}; }
    // Reads the folder if it is to be read.
    void look(std::string_view typed);
};

struct PathPicked {
    bool go = false;  // the typed path is meant
    int recent = -1;  // this recent file is meant
};
// `typed` gets the path of the name that is picked. `fresh`: its field gets the keyboard.
[[nodiscard]] PathPicked draw_path_field(Ui& ui, Rect room, PathField& field, std::string& typed,
                                         const std::vector<std::string>& recent,
                                         const std::filesystem::path& home, bool& fresh);

// Says what a text is that was opened, dropped, pasted or named on the command line: one answer for all.

enum class IncomingKind : std::uint8_t { plan, plan_inside, model, lesson, settings };

struct Incoming {
    IncomingKind kind = IncomingKind::plan;
    Plan plan;                   // plan, plan_inside (a picture's or a page's)
    Model model;                 // model (a Hugging Face config)
    std::vector<Plan> others{};  // of a review: the plans that the first is compared with
    bool names_software = true;  // false: a model, or a plan whose text has no training.software
    std::string
        text{};  // settings (of a framework, a table of nccl-tests): what stands in it is asked in a sheet
};

// Returns what a text is, by its content only. Errors name `name`. Throws an error (invalid) if it is
// something else, which says what it seemed to be and what is wrong with it.
[[nodiscard]] Incoming read_incoming(const std::string& text, const std::string& name,
                                     const Presets& presets);

// Returns the endings of the files that can hold such a text, or a lesson: ".json", ".png" and so on.
[[nodiscard]] std::vector<std::string> incoming_endings();

// Returns the plan text of a picture or a page that Pentamesh wrote, and any other text as it is. Throws an
// error where a picture or page has none.
[[nodiscard]] std::string plan_text_inside(const std::string& text, const std::string& name);

// Returns true if a text is a Hugging Face config by itself, not one inside a plan. Never throws.
[[nodiscard]] bool is_model_text(const std::string& text);

// Returns `plan` with another model. Title and notes described the old one: they go.
[[nodiscard]] Plan with_model_of(const Plan& plan, const Model& model);

// Plans that come and go: opened, dropped, pasted, saved, asked about when the window closes, and kept
// against a crash.

class Files {
  public:
    Files(Window& window, LessonDesk& desk, Sheets& sheets, RunDesk& runs);

    // Opens a file: a plan, a config.json, a picture with a plan inside, settings, a real run or a lesson.
    // Throws an error if it is something else.
    void load(const std::filesystem::path& path);
    void open(const std::filesystem::path& path);  // the same; an error is said
    void open_text(const std::string& text, const std::string& origin);
    void open_link(const std::string& text);  // picture.h
    // Returns false if what was opened last is a plan or a model whose text names no software.
    [[nodiscard]] bool names_software() const { return names_software_; }
    void open_recent(const std::filesystem::path& file);
    // Puts another plan in the place of the open one, which undo brings back.
    void replace_plan(OpenedPlan opened, const std::string& named);
    void show_scene_of_plan();
    // The plan given at the start belongs to this file. `saved` is false if the file differs from it.
    void opened_from(const std::filesystem::path& path, bool saved);

    void save(const std::filesystem::path& path);
    // Writes the plan to its file. Asks for a file where it has none, or where it cannot be written.
    void save_or_ask(std::function<void()> after = nullptr);
    [[nodiscard]] std::string plan_text() const;

    // The label of a recent file in menus; "" if there is no such one.
    [[nodiscard]] std::string recent_label(std::size_t index) const;
    [[nodiscard]] bool has_missing() const;  // a recent file is gone
    void drop_missing();

    // Keeps unsaved plans against a crash, a little after each frame.
    void keep_unsaved();
    void autosave();  // waits until they are kept
    void closed();    // what was discarded is not offered again; what was open is remembered
    // Opens what was open when a window was closed last. It is passed over where it is gone or cannot be
    // read.
    void reopen();
    // Asks about plans that other windows left. Returns false if there are none.
    bool offer_recovery();
    [[nodiscard]] bool remembers() const { return recovery_ != nullptr; }
    [[nodiscard]] const std::vector<LeftPlan>& left() const { return recovery_->left(); }
    [[nodiscard]] const std::vector<std::string>& left_names() const { return left_names_; }
    void open_left(std::size_t index);
    void forget_left(std::size_t index);

    // Returns true if the window may close now; else the question is shown.
    [[nodiscard]] bool may_close();
    void add_link_commands(std::vector<Command>& commands);

  private:
    Window& window_;
    LessonDesk& desk_;
    Sheets& sheets_;
    RunDesk& runs_;
    bool names_software_ = true;
    std::unique_ptr<Recovery> recovery_;   // null: nothing is remembered
    std::vector<std::string> left_names_;  // of the plans in left()

    void remember_open() const;
    void take(Incoming incoming, const std::filesystem::path& path, const std::string& origin);
    void look_for_left_plans();
    void ask_to_keep();
    [[nodiscard]] std::string close_words() const;
};

}  // namespace pentamesh::ui
