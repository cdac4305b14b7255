// This is the real window around the shell.
#pragma once

#include "core/io/presets.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace pentamesh {

struct WindowArgs {
    std::optional<Plan> plan;         // nothing: what was not saved last time, or the default plan
    std::filesystem::path plan_file;  // the file that the plan was read from; empty: a preset
    bool saved = true;                // false: the plan is not what stands there
    std::optional<Plan> edited;       // an edit of the plan to begin with, which undo takes back
    std::filesystem::path opened;     // a lesson, opened as if it were dropped on the window; or empty
    std::filesystem::path data_folder, config_folder, home;
    std::filesystem::path lessons_folder;  // of one's own lessons; empty: in the folder of own presets
    bool welcomes = true;                  // welcomes a first-time user, where no file was asked to be opened
    std::string page_address;              // of a browser's page; empty: a desktop's window
    // Hands words to a screen reader; empty: the window has none (Dear ImGui has no bridge to a desktop's).
    std::function<void(const std::string&)> speak;
};

namespace ui {
class Shell;
}

// A WindowRun is a window with its shell. Throws Error of kind io where no window can be opened.
class WindowRun {
  public:
    // `presets` outlives it.
    WindowRun(const Presets& presets, const WindowArgs& args);
    ~WindowRun();
    WindowRun(const WindowRun&) = delete;
    WindowRun& operator=(const WindowRun&) = delete;
    // Waits for the next event and draws it. Returns false if the window is to be closed.
    [[nodiscard]] bool turn();
    [[nodiscard]] bool rests() const;  // everything is on the screen
    void closed();                     // as it should be: nothing is left to offer next time
    [[nodiscard]] ui::Shell& shell();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Runs the window until it is closed. A browser's page has its own loop (app/web/), and Node no window.
void run_window(const Presets& presets, const WindowArgs& args);

}  // namespace pentamesh
