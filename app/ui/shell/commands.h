// Everything that can be done, in one table: menus, shortcuts, the palette and the F1 sheet all read it.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/menu.h"
#include "app/ui/shell/window.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "render/input.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct Command {
    std::string id;      // "file.open"
    std::string title;   // "Open…"
    std::string menu{};  // "File"; empty: palette only
    Chord chord{};
    bool separator = false;  // a line before it in the menu
    bool repeats = false;    // while its chord is held
    std::function<void()> run{};
    std::function<bool()> enabled{};       // empty: always
    std::function<bool()> checked{};       // empty: never
    std::function<std::string()> label{};  // a title that changes; it returns "": not listed now
    [[nodiscard]] bool can_run() const { return !enabled || enabled(); }
    [[nodiscard]] std::string text() const { return label ? label() : title; }
};

// Returns a command of a menu. Without `enabled` it can always run.
[[nodiscard]] inline Command in_menu(std::string menu, std::string id, std::string title, Chord chord,
                                     std::function<void()> run, std::function<bool()> enabled = nullptr,
                                     std::function<bool()> checked = nullptr) {
    return {.id = std::move(id),
            .title = std::move(title),
            .menu = std::move(menu),
            .chord = chord,
            .run = std::move(run),
            .enabled = std::move(enabled),
            .checked = std::move(checked)};
}

// Returns one that switches a value, which outlives it, and says if it is on.
[[nodiscard]] inline Command switch_of(std::string menu, std::string id, std::string title, Chord chord,
                                       bool& on) {
    return in_menu(
        std::move(menu), std::move(id), std::move(title), chord, [&on] { on = !on; }, nullptr,
        [&on] { return on; });
}

[[nodiscard]] constexpr Chord ctrl(Key key, bool shift = false) {
    return {.key = key, .ctrl = true, .shift = shift};
}

// Returns the command whose chord was pressed in this frame and that can run; nullptr: none.
[[nodiscard]] const Command* pressed_command(const std::vector<Command>& commands);

// Holds factors and fields as they are typed into the search of commands: "tp 2 pp 4 zero 1".
struct TypedEdits {
    std::string words;    // "tp 2, pp 4, ZeRO 1"
    std::string refused;  // why the plan cannot be changed so; empty: it can
    Plan plan;            // changed; as it was where it is refused
};
// Returns nullopt where the text is no list of names and values: it then searches commands. Factors take from
// data parallelism, as in the panel; other names are fields of the layout, the training and the cluster.
[[nodiscard]] std::optional<TypedEdits> typed_edits(const Plan& plan, std::string_view text,
                                                    const Presets& presets);

// The bar of menus with the plan's title, the list of all commands that can be searched, and the sheet of
// keys.

class MenuBar {
  public:
    // `commands` is read in each frame.
    MenuBar(Window& window, const std::vector<Command>& commands) : window_(window), commands_(commands) {}

    // Returns an edit if a new title was typed.
    std::optional<PlanEdit> draw(Ui& ui, Rect bar);
    // Draws what is open over the window: a menu, the search of commands, the keys.
    void draw_open(Ui& ui);
    void close();
    void search(std::string filter);
    void switch_keys() { keys_ = !keys_; }
    void edit_title();
    void run(const Command& command) { window_.later(command.title, command.run); }

  private:
    struct TitleEdit {
        std::string text;
        bool fresh = true;  // until it has the keyboard: a menu may keep that for a frame
    };
    Window& window_;
    const std::vector<Command>& commands_;
    std::optional<TitleEdit> title_edit_;
    std::string menu_;  // the open menu of the bar
    Rect menu_anchor_;
    MenuState menu_state_, palette_state_;
    int menu_turn_ = 0;  // -1, 1: the menu to the left, to the right is wanted
    bool palette_ = false, keys_ = false;
    ScrollState keys_scroll_;

    [[nodiscard]] std::optional<PlanEdit> draw_title(Ui& ui, Rect bar, Rect row);
    void draw_names(Ui& ui, Rect& row);
    void draw_menus(Ui& ui);
    void draw_palette(Ui& ui);
    void draw_keys(Ui& ui);
};

}  // namespace pentamesh::ui
