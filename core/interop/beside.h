// Reads more than a program's own settings: the flags of the launchers before it, and the files of accelerate
// and DeepSpeed that the launcher or the program names.
#pragma once

#include "core/interop/import.h"

#include <string>
#include <vector>

namespace pentamesh::interop {

struct Beside {
    // These follow from it for the plan, by the names that a dialect of fields asks for: "gpus".
    std::vector<Setting> fields;
    SettingLists lists;  // each word of a launcher, each key of a file
    std::vector<ImportProblem> problems;
    std::vector<std::string> files;  // that were read, as they are named
};

// Takes the flags that stand before the program out of `text`, and reads the files that are named and that
// are there. A file that is not there stays a setting of the text, of which its tool says what it leaves
// open.
[[nodiscard]] Beside read_beside(const ImportRequest& request, const Presets& presets, SettingsText& text);

}  // namespace pentamesh::interop
