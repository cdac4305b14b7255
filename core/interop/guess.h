// Says what a text is of which no tool is recognized: a tool that is known by its words and not read, or
// those whose settings it is nearest to.
#pragma once

#include "core/interop/tools.h"
#include "core/io/presets.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

struct ImportRequest;

// Returns how a tool is called whose text this is and that is not read; empty where none is recognized.
[[nodiscard]] std::string unread_tool(std::string_view text);
// Returns at most three tools, first the one of whose settings' names most stand in the text.
[[nodiscard]] std::vector<const Tool*> nearest_tools(std::string_view text, const Presets& presets);
// Returns the tool of a YAML that says only what differs from other files, by their words; null: it starts
// from none that are there, or they are of no tool.
[[nodiscard]] const Tool* tool_of_bases(const ImportRequest& r, const Presets& presets);
// Returns a script's text with those of scripts that it names and that stand next to it: `bash train.sh 4`.
[[nodiscard]] std::string with_scripts_beside(const ImportRequest& r);
// Returns true if all marks of one of the groups stand in the text (Tool::marks).
[[nodiscard]] bool has_marks(std::string_view text, const std::vector<std::vector<std::string_view>>& groups);

}  // namespace pentamesh::interop
