// Everything that can be done, in one table: menus, shortcuts, the palette and the F1 sheet all read it.
#pragma once

#include "render/input.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct Command {
    std::string id;     // "file.open"
    std::string title;  // "Open…"
    std::string menu;   // "File"; empty: palette only
    Chord chord;
    bool separator = false;  // a line before it in the menu
    std::function<void()> run;
    std::function<bool()> enabled;  // empty: always
    std::function<bool()> checked;  // empty: never
    [[nodiscard]] bool can_run() const { return !enabled || enabled(); }
};

// Runs the command whose chord was pressed in this frame; returns its id, empty: none.
std::string run_pressed(const std::vector<Command>& commands);

}  // namespace pentamesh::ui
