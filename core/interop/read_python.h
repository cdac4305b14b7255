// Reads the settings of a Python configuration, which is never run: `cfg.model.tp = 8` is "cfg.model.tp"; of
// `ParallelismConfig(tp=8)` the keyword is "ParallelismConfig.tp", and "ParallelismConfig()" says that it is
// called. A function that the text has is read where it is called; settings under a condition that the text
// does not decide carry it in their name: "cfg.model.tp (if nodes > 4)".
#pragma once

#include "core/interop/settings.h"

#include <functional>
#include <optional>

namespace pentamesh::interop {

// Returns the text of a file that another one names, "../common.sh", "a/b/c.py"; nullopt where no such file
// stands.
using OtherFile = std::function<std::optional<std::string>(const std::string& name)>;

struct PythonSettings {
    std::vector<Setting> settings;
    std::vector<std::string> recipes;  // functions of the text that return a configuration, in order
    std::string recipe;                // the one that was read; empty: none, or it has to be named
    std::string unread;  // a function that sets more, and that no text has: "set_layout (line 12)"
};

// `known`: a text of functions that are read where no other text has them.
// With several recipes and none named there are no settings. Throws Error (usage) where the text has no
// recipe of that name.
[[nodiscard]] PythonSettings read_python(std::string_view text, const std::string& path,
                                         const std::string& recipe = {}, const OtherFile& other = {},
                                         std::string_view known = {});

}  // namespace pentamesh::interop
