#include "app/ui/shell/commands.h"

namespace pentamesh::ui {

std::string run_pressed(const std::vector<Command>& commands) {
    for (const Command& c : commands) {
        if (c.chord.key == Key::none || !c.can_run()) continue;
        const bool repeats = c.id == "edit.undo" || c.id == "edit.redo";
        if (!pressed(c.chord, repeats)) continue;
        c.run();
        return c.id;
    }
    return {};
}

}  // namespace pentamesh::ui
