// Reads a script whose program takes a file of settings: the file's settings are the job's, on the GPUs and
// under the overrides of the script.
#pragma once

#include "core/interop/import.h"

#include <optional>
#include <string>

namespace pentamesh::interop {

struct OuterScript {
    Launch launch;
    std::string file;  // as the script names it
};

// Returns the script around a file of settings that its program is given, and puts the file in the place of
// the script. It is nothing where the script's own settings are of another tool, or where it names no such
// file that is there; `missing` is then the first that it names. Throws Error (invalid) where the script is a
// tool's own command (words.json, "front_ends") whose file is not there.
[[nodiscard]] std::optional<OuterScript> file_of_script(ImportRequest& request, const Presets& presets,
                                                        std::string& missing);

// Puts the script's own words behind those of the file, which they override.
void put_around(OuterScript& outer, SettingsText& text);

}  // namespace pentamesh::interop
