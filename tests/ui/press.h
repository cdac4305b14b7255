// Shared by the files that press what no other test does.
#pragma once

#include "tests/ui/driver.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// As a person does: by its title in the palette.
inline void run_command(Driver& d, const std::string& title) {
    d.press({.key = Key::p, .ctrl = true});
    d.type(title);
    d.press({Key::enter});
}

// Whether a piece of text that can be read in the window has these words.
inline bool says(Driver& d, std::string_view words) {
    d.surface.record_text(true);
    d.frame();
    const auto& runs = d.surface.text_runs();
    const bool found = std::any_of(runs.begin(), runs.end(),
                                   [&](const TextRun& r) { return r.text.find(words) != std::string::npos; });
    d.surface.record_text(false);
    return found;
}

inline bool checked(const Driver& d, std::string_view id) {
    for (const Command& c : d.shell.commands())
        if (c.id == id) return c.checked && c.checked();
    return false;
}

}  // namespace pentamesh::ui
