// Holds the one table of tools: frameworks whose settings are read and written, and tools that data tells.
// Its rows stand in presets/frameworks/words.json, its writers in tools.cpp; each row is asked for by name.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

class ExportDraft;

// Says by which code the settings of a tool become a plan.
enum class Reader : std::uint8_t {
    none,    // it is written only
    fields,  // presets/frameworks/NAME.json says which field of a plan a setting is
    megatron,
    bridge,
    torchtitan,
    model  // a config.json holds a model and no layout
};

struct Tool {
    std::string_view name;             // as --from and --to say it: "megatron"
    std::string_view called;           // in the head of its text: "Megatron-LM"
    std::string_view title;            // in a menu: "a PyTorch DeviceMesh"
    std::string_view ending;           // of a file with its settings: ".sh"
    std::optional<Software> software;  // whose figures a plan of it has; nullopt: no kind is known
    Reader reader = Reader::none;
    void (*write)(ExportDraft&) = nullptr;  // null: it is not written
    bool dialect = true;                    // false: its reader asks for its names as they are (dialect.h)
    std::optional<bool> json;               // true: its text is JSON; false: it is not; nullopt: either
    bool or_another = false;                // a text with its marks may be of another tool
    std::string_view reads;                 // which of its texts are read, in a sentence without a full stop
    // It is known by one of the groups, all of whose marks stand in the text. A mark that begins with a
    // letter is no end of a longer name. Before a mark: "^": at the beginning of a line, behind blanks; "\n":
    // at its very beginning; "!": it does not stand in the text; "*": it may end a longer name.
    std::vector<std::vector<std::string_view>> marks;
};

// Returns every tool: those that are written first, in the order of the menu.
[[nodiscard]] const std::vector<Tool>& tools();
[[nodiscard]] std::vector<const Tool*> read_tools();
// Returns the reader as the table calls it: "fields".
[[nodiscard]] std::string_view name_of(Reader reader);
[[nodiscard]] std::vector<const Tool*> written_tools();
// Returns null where no tool has the name; "devicemesh" is device-mesh too.
[[nodiscard]] const Tool* tool_called(std::string_view name);
// Returns the tool that writes the settings of a software; null: none of the kind is known.
[[nodiscard]] const Tool* tool_for(Software software);
// Returns tools whose text this may be, the likeliest first; empty where no tool is recognized.
[[nodiscard]] std::vector<const Tool*> guess_tools(std::string_view text);

// Each framework's spelling of each field of the plan stands in one table: exporters write by it, spelling
// errors are compared with it, and tests hold it against the names that importers read.

// Returns the setting's whole name as the tool's own text has it: "--tensor-model-parallel-size",
// "parallelism.tensor_parallel_degree". `pointer` is a field of the plan, "/layout/tp". It is empty where the
// tool has no single setting for that field. Where several bear on it, it is the one with the plan's meaning.
[[nodiscard]] std::string_view flag_of(std::string_view tool, std::string_view pointer);

// Returns in one line the settings that select a stage of ZeRO: Megatron's flag without another one means
// stage 1.
[[nodiscard]] std::string zero_words(std::string_view tool, int stage);

struct SpelledField {
    std::string_view pointer, name;
};
// Returns every field that the tool has a setting for, in the order of the plan.
[[nodiscard]] std::vector<SpelledField> flags_of(std::string_view tool);

}  // namespace pentamesh::interop
