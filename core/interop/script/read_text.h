// Turns a text of settings in any format into one list of them in order, with what was read on the way. This
// folder reads shell, Python, launchers, YAML, TOML and logs, and knows no plan.
#pragma once

#include "core/interop/script/read_python.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

[[nodiscard]] bool has(std::string_view text, std::string_view what);
// Returns true if a line of the text begins with `what`, after blanks only.
[[nodiscard]] bool has_line(std::string_view text, std::string_view what);
// Returns the text without blanks and byte order mark at its beginning.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Returns true for the arguments that Megatron prints into its log.
[[nodiscard]] bool is_argument_log(std::string_view text);
[[nodiscard]] bool is_script(std::string_view text);

// Says how a text of settings is written; `yaml` reads JSON too.
enum class TextForm : std::uint8_t { argument_log, toml, python, yaml, script };

struct TextRequest {
    std::string_view text;
    std::string path;               // named in errors
    std::string recipe{};           // which configuration, or job, of a text that has several
    std::string arguments{};        // of a script: its $1, $2 …
    GivenValues given{};            // values that the text does not say: "TP" -> "4"
    OtherFile other{};              // other files that it names
    std::string folder{};           // from which files are named that a YAML starts from: "conf/"
    std::string known_functions{};  // of Python: read where no other text has them
    std::string bases{};            // of YAML: the setting that names files it starts from
    bool flags = false;             // keys of YAML are flags of a command line, below MODEL_ARGS
    std::function<bool(std::string_view)>
        is_switch{};  // says that a flag takes no value (key with underscores)
};

struct SettingsText {
    std::vector<Setting> settings;        // in the text's order, those of files that it starts from first
    std::vector<std::string> duplicates;  // keys of YAML that stand twice in a map
    std::vector<std::string> recipes;     // configurations, or jobs, that the text has, in its order
    std::string recipe;                   // the one that was read; empty: none, or it has to be named
    std::string unread;                   // a function or a file that sets more, and that is not there
    std::optional<Launch> launch;         // of a script: what it starts, on how many GPUs
};

// Throws Error (invalid) with path and line where the text cannot be read as `form`. A Python text of several
// recipes has no settings until one is named.
[[nodiscard]] SettingsText read_text(TextForm form, const TextRequest& request);

}  // namespace pentamesh::interop
