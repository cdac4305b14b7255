// The bar of menus with the plan's title, the list of all commands that can be searched, and the sheet of
// keys.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/menu.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/palette.h"
#include "app/ui/shell/window.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

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
    std::string menu_;   // the open menu of the bar
    std::string group_;  // its open group
    Rect menu_anchor_;
    MenuState menu_state_, palette_state_;
    int menu_turn_ = 0;  // -1, 1: the menu to the left, to the right is wanted
    bool palette_ = false, keys_ = false;
    ScrollState keys_scroll_;

    // Holds the rows of the search of commands, and everything that they depend on: it is looked at in each
    // frame, and found anew when that is another.
    struct FoundOf {
        std::string typed{};
        std::uint64_t revision = 0, opened = 0;
        bool shows_values = true;
        std::vector<PaletteCommand> commands{};
        bool operator==(const FoundOf&) const = default;
    };
    struct Found {
        std::vector<PaletteRow> rows;
        std::vector<MenuItem> items;
    };
    Kept<Found, FoundOf> found_;
    std::vector<const Command*> listed_;  // that the rows' indices mean, in this frame
    std::uint64_t opened_ = 0;            // how often: presets of one's own are others between two times

    [[nodiscard]] std::optional<PlanEdit> draw_title(Ui& ui, Rect bar, Rect row);
    void draw_names(Ui& ui, Rect& row);
    // The items of the open menu, and the command of each; nullptr: the item opens a group.
    struct Listed {
        std::vector<MenuItem> items;
        std::vector<const Command*> commands;
    };
    [[nodiscard]] Listed list_menu() const;
    void draw_menus(Ui& ui);
    void draw_palette(Ui& ui);
    [[nodiscard]] const Found& find_rows(const std::string& typed);
    void do_row(const PaletteRow& row);
    void draw_keys(Ui& ui);
};

}  // namespace pentamesh::ui
