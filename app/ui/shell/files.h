// Plans that come and go: opened, dropped, pasted, saved, asked about when the window closes, and kept
// against a crash.
#pragma once

#include "app/ui/shell/commands.h"
#include "app/ui/shell/incoming.h"
#include "app/ui/shell/lesson_desk.h"
#include "app/ui/shell/recovery.h"
#include "app/ui/shell/sheets.h"
#include "app/ui/shell/window.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh::ui {

class Files {
  public:
    Files(Window& window, LessonDesk& desk, Sheets& sheets);

    // Opens a file: a plan, a config.json, a picture with a plan inside, settings, measured runs or a lesson.
    // Throws an error if it is something else.
    void load(const std::filesystem::path& path);
    void open(const std::filesystem::path& path);  // the same; an error is said
    void open_text(const std::string& text, const std::string& origin);
    void open_link(const std::string& text);  // link.h
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
    std::unique_ptr<Recovery> recovery_;   // null: nothing is remembered
    std::vector<std::string> left_names_;  // of the plans in left()

    void remember_open() const;
    void take(Incoming incoming, const std::filesystem::path& path, const std::string& origin);
    void look_for_left_plans();
    void ask_to_keep();
    [[nodiscard]] std::string close_words() const;
};

}  // namespace pentamesh::ui
