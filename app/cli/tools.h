// `import --tools` says which tools' settings are read, and what is known of each.
#pragma once

#include "app/cli/commands.h"

#include <string>

namespace pentamesh::cli {

struct ToolsAsked {
    std::string name;  // of one tool, whose settings are listed; empty: all tools
    bool markdown = false;
    std::string out;  // a file; empty: standard output
};
[[nodiscard]] int list_tools(const Context& context, const ToolsAsked& asked);

}  // namespace pentamesh::cli
