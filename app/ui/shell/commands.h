// Everything that can be done, in one table: menus, shortcuts, the palette and the F1 sheet all read it.
#pragma once

#include "render/input.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct Command {
    std::string id;       // "file.open"
    std::string title;    // "Open…"
    std::string menu{};   // "File"; empty: palette only
    std::string group{};  // a part of the menu that opens at a click; empty: it stands in the menu itself
    Chord chord{};
    bool separator = false;  // a line before it in the menu
    bool repeats = false;    // while its chord is held
    bool searched = true;    // false: another command does the same, and is found in its place
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

// Puts the commands from `first` on into a group of their menu; the sheet of keys has its title as a heading.
void put_in_group(std::vector<Command>& commands, std::size_t first, std::string_view group);

[[nodiscard]] constexpr Chord ctrl(Key key, bool shift = false) {
    return {.key = key, .ctrl = true, .shift = shift};
}

// Returns the command whose chord was pressed in this frame and that can run; nullptr: none.
[[nodiscard]] const Command* pressed_command(const std::vector<Command>& commands);

}  // namespace pentamesh::ui
