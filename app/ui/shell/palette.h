// Finds things by the words that people use: commands, pages of views, fields of the plan with their values,
// models, clusters, words of the glossary. It is a pure function, which draws nothing.
#pragma once

#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/teach/glossary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Says by which words people mean a thing that is called otherwise.
struct PaletteWords {
    std::string_view target;         // id of a command, pointer of a field, or one of the two names below
    std::string_view words;          // with commas between them
    std::string_view glossary = {};  // id of its entry: the term and its other names count too
};
inline constexpr std::string_view kNodes = "nodes", kGpusPerNode = "gpus per node";
// A name stands in one row, so that `name value` sets one field.
[[nodiscard]] std::span<const PaletteWords> palette_words();

struct PaletteCommand {
    std::string id, label, menu{}, chord{};
    bool enabled = true;
    bool operator==(const PaletteCommand&) const = default;
};

struct PaletteRow {
    enum class Does : std::uint8_t {
        command,
        typed,  // sets what `value` says: typed_edits
        value,  // sets `field` to `value`
        field,  // opens the sheet of fields at `field`
        rank
    } does = Does::command;
    std::string label, right{}, detail{};
    bool enabled = true, checked = false;
    std::size_t command = 0;       // its index in the commands that were handed over
    std::string field{}, value{};  // a pointer; "/model" and "/cluster" have ids of presets as values
    FieldTopic topic = FieldTopic::plan;
    std::int64_t rank = -1;
};

// Holds all that is searched. Without `shows_values` the rows do not say what the plan has now.
struct PaletteSource {
    const Plan& plan;
    const Presets& presets;
    const Glossary& glossary;
    std::span<const PaletteCommand> commands;
    bool shows_values = true;
};
// Returns what the typed text finds, the best first; the commands in their order where nothing is typed. A
// field that fits best is followed by its values. Letters match the beginnings of words; only where no word
// begins so they match the middle of one, or the beginnings of words in a row ("thli": theme light). Where
// nothing fits, words such as "the" and "to" are passed over: "set tp to 4".
[[nodiscard]] std::vector<PaletteRow> find_in_palette(const PaletteSource& source, std::string_view typed);

// Holds factors and fields as they are typed into the search of commands: "tp 2 pp 4 zero 1".
struct TypedEdits {
    std::string words;    // "tp 2, pp 4, ZeRO 1"
    std::string refused;  // why the plan cannot be changed so; empty: it can
    Plan plan;            // changed; as it was where it is refused
};
// Returns nullopt where the text is no list of names and values: it then searches commands. Names are fields
// of the layout, the training and the cluster; what follows from them is what follows from `--set`
// (follow.h).
[[nodiscard]] std::optional<TypedEdits> typed_edits(const Plan& plan, std::string_view text,
                                                    const Presets& presets);

// Returns the plan with another value in a field, and what follows from it as from `--set` (follow.h): a
// degree of data parallelism stays as it is typed. `pointer` may also be "/model" or "/cluster", with the id
// of a preset, and one of the two names above. Throws Error where the field cannot have the value.
[[nodiscard]] Plan with_value(const Plan& plan, std::string_view pointer, std::string_view value,
                              const Presets& presets);

}  // namespace pentamesh::ui
