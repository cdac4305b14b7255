// A plan, a view and a place in a lesson as the end of an address: #plan=…&view=…&lesson=03&step=2. What a
// link holds is data of a stranger: it is read as any file is.
#pragma once

#include "app/ui/views/table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Longer ones are cut by some mail programs and chats.
inline constexpr std::size_t kLongestLink = 2000;

struct Link {
    std::string plan;            // its text; empty: none
    std::optional<ViewId> view;  // in the whole window
    std::string lesson;          // the id of one that ships, or how it begins; empty: none
    std::size_t step = 0;        // of the lesson, from 1; 0: not said
};

// Returns what follows the base address, with its "#".
[[nodiscard]] std::string write_link(const Link& link);
// Returns true if a text is an address with such an end, or only the end.
[[nodiscard]] bool is_link(std::string_view text);
// Throws an error (invalid) that says what is wrong with the text.
[[nodiscard]] Link read_link(std::string_view text);

}  // namespace pentamesh::ui
