// Finds and reads the dumps of a run: one file a rank, on all cores.
#pragma once

#include "core/runs/dump.h"
#include "core/runs/read_watch.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh::runs {

struct PassedOverFile {
    std::string file, why;
    std::int64_t rank = -1;  // by its name; -1: it has none
};

struct DumpFolder {
    std::vector<Dump> dumps;  // by rank
    std::vector<PassedOverFile> unreadable;
    std::vector<std::string> versions;  // that were met
    std::shared_ptr<RunNames> names = std::make_shared<RunNames>();
};

// `place` is a folder, a file, or what the names of several files begin with. Throws Error (io) where there
// is no such place, invalid where the reading was cancelled.
[[nodiscard]] DumpFolder read_dump_folder(const std::filesystem::path& place, ReadWatch* watch = nullptr);

// Returns the rank at the end of a file's name, before endings such as .json and .gz; -1: it has none.
[[nodiscard]] std::int64_t rank_in_name(std::string_view name);

// Reads one file's bytes, packed or not. Throws Error (invalid).
[[nodiscard]] Dump read_dump_bytes(std::string_view bytes, RunNames& names, Values& values,
                                   std::string& unpacked);

// Returns true if a text is a dump by its begin or its keys. Never throws.
[[nodiscard]] bool is_dump_text(std::string_view text);

}  // namespace pentamesh::runs
