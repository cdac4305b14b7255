#include "app/ui/shell/commands.h"

namespace pentamesh::ui {

const Command* pressed_command(const std::vector<Command>& commands) {
    for (const Command& c : commands)
        if (c.chord.key != Key::none && c.can_run() && pressed(c.chord, c.repeats)) return &c;
    return nullptr;
}

}  // namespace pentamesh::ui
