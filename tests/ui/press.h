// The files that press what no other test does share this.
#pragma once

#include "tests/ui/driver.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Runs a command as a person does: by its title in the palette.
inline void run_command(Driver& d, const std::string& title) {
    d.press({.key = Key::p, .ctrl = true});
    d.type(title);
    d.press({Key::enter});
}

// Returns a lesson that ships.
inline std::filesystem::path lesson_file(const std::string& id) {
    return std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / (id + ".md");
}

// Runs a command by its id, as a menu does.
inline void run_id(Driver& d, std::string_view id) {
    for (const Command& c : d.shell.commands())
        if (c.id == id) {
            REQUIRE(c.can_run());
            d.shell.run(c);
            d.settle();
            return;
        }
    FAIL("no command " << std::string(id));
}

inline void double_click(Driver& d, std::string_view name, std::uint64_t index = 0) {
    const auto r = d.shell.ui_state().rect_of(name, index);
    REQUIRE(r);
    d.move(r->center());
    for (int i = 0; i < 2; ++i) {
        d.input.down[0] = true;
        d.frame();
        d.input.down[0] = false;
        d.frame();
    }
    d.settle();
}

// Returns true if the words are a text of their own: nothing before or after them, nothing cut.
inline bool says_just(Driver& d, std::string_view words) {
    d.surface.record_text(true);
    d.frame();
    const auto& runs = d.surface.text_runs();
    const bool found =
        std::any_of(runs.begin(), runs.end(), [&](const TextRun& r) { return r.text == words; });
    d.surface.record_text(false);
    return found;
}

// Returns true if a piece of text that can be read in the window has these words.
inline bool says(Driver& d, std::string_view words) {
    d.surface.record_text(true);
    d.frame();
    const auto& runs = d.surface.text_runs();
    const bool found = std::any_of(runs.begin(), runs.end(),
                                   [&](const TextRun& r) { return r.text.find(words) != std::string::npos; });
    d.surface.record_text(false);
    return found;
}

// Clicks a call in the communication view's table: opens the headings over it and scrolls to it. Returns
// false if it cannot be reached.
inline bool click_call(Driver& d, int operation) {
    const CommCallsState& calls = d.shell.views().comm.calls;
    for (int tries = 0; tries < 40; ++tries) {
        const std::vector<CallRow>& rows = calls.shown().row;
        std::size_t at = rows.size(), drawn = rows.size(), closed = rows.size();
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const bool seen = d.drawn("comm.table", r);
            if (seen) drawn = r;
            if (rows[r].operation == operation) at = r;
            if (seen && rows[r].heading >= 0 && ((calls.closed_shown >> rows[r].heading) & 1U) != 0)
                closed = r;
        }
        if (at < rows.size() && d.drawn("comm.table", at)) return d.click("comm.table", at);
        if (closed < rows.size() && at == rows.size())
            d.click("comm.table", closed);
        else if (drawn < rows.size())
            d.wheel(d.shell.ui_state().rect_of("comm.table", drawn)->center(), -1);
    }
    return false;
}

inline bool checked(const Driver& d, std::string_view id) {
    for (const Command& c : d.shell.commands())
        if (c.id == id) return c.checked && c.checked();
    return false;
}

}  // namespace pentamesh::ui
