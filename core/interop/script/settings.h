// Hands out the tables of names that importers and exporters share. They stand in
// presets/frameworks/words.json, which the program carries.
#pragma once

#include "core/base/text.h"

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pentamesh::interop {

[[nodiscard]] const nlohmann::ordered_json& words(std::string_view table);
// Returns a text of a table, and a table that is a list of them: they live as long as the program.
[[nodiscard]] std::string_view word_of(const nlohmann::ordered_json& text);
[[nodiscard]] std::vector<std::string_view> word_list(std::string_view table);
[[nodiscard]] bool is_among(std::string_view table, std::string_view word);

// Holds the settings of a text, in any format: a name, a value, a place. Every framework's reader starts from
// this.

// Joins parts for a message: numbers as a text of settings has them, without commas, enumerators by their
// names.
template <typename... Parts>
[[nodiscard]] std::string plain(const Parts&... parts) {
    std::string out;
    const auto add = [&](const auto& part) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
            out += std::to_string(part);
        else
            append_part(out, part);
    };
    (add(parts), ...);
    return out;
}

enum class NodeKind : std::uint8_t { null, scalar, list, map };

// This is one value of a YAML, JSON, TOML or Python text.
struct Node {
    NodeKind kind = NodeKind::null;
    std::string text;     // of a scalar, as written but for its quotes
    bool quoted = false;  // "8" is a text, 8 a number
    int line = 0;
    struct Entry;
    std::vector<Entry> entries;  // of a map in order; of a list with empty keys
    [[nodiscard]] const Node* find(std::string_view key) const;  // the last of that key; null: none
};
struct Node::Entry {
    std::string key;
    int line = 0;
    Node value;
};

// Reads YAML 1.1 and JSON (which YAML reads): anchors, aliases and merge keys are put in place. If a key
// comes twice, the last one is the value; `duplicates`, where given, receives each such key. Throws Error
// (invalid) with path and line; depth and the size of expanded aliases are bounded.
[[nodiscard]] Node read_yaml(std::string_view text, const std::string& path,
                             std::vector<std::string>* duplicates = nullptr);
// Reads TOML 1.0.
[[nodiscard]] Node read_toml(std::string_view text, const std::string& path);

// Says where something stands.
struct TextPlace {
    int line = 0;      // 0: on none
    std::string file;  // that the text reads in, by the name it has there; empty: the text itself
};
// Returns "line 12", and "sizes.sh, line 12" of a file that the text reads in.
[[nodiscard]] std::string words_of(const TextPlace& place);

// This is one leaf: "model.num_layers" = "32".
struct Setting {
    std::string name;   // dotted path, or a flag without its dashes
    std::string value;  // as written; lists as "[a, b]"
    bool quoted = false;
    bool stated = true;  // false: nothing but the name was said
    std::string key;  // of a setting that follows from others, or is a default; empty: it stands in the text
    TextPlace at;
    bool variable = false;  // of a recipe's function: it acts by the settings that it is handed to
    std::string unknown;    // an unknown that a script leaves in the value, "TP"; may be empty
    std::string of{};       // the launcher whose own setting it is, "accelerate"; empty: the program's
};
// Returns leaves in order; empty maps and lists are leaves too. Lists are one leaf.
[[nodiscard]] std::vector<Setting> flatten(const Node& root);

// Reads "8", "1_168_251"; nullopt for anything else, and beyond 2^62.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
// Returns what a word for a switch says, "yes" or "0"; an empty one is a flag without a value.
[[nodiscard]] std::optional<bool> flag_of_word(std::string_view value);
[[nodiscard]] bool says_nothing(std::string_view value);  // "", "None", "null", "~"

// Reads "  tensor_model_parallel_size ............ 8": the block that Megatron prints into its log.
[[nodiscard]] std::vector<Setting> read_argument_log(std::string_view text);

// Returns a list or map in one line, for messages and lists of settings.
[[nodiscard]] std::string one_line(const Node& node);

// Puts values in the place of references inside a document: OmegaConf's ${.key} of the same map, ${a.b} from
// the root and ${multiply:4, ${.a}}, as mul, sum, add and div; and ${NAME:otherwise} of the environment.

using GivenValues = std::map<std::string, std::string, std::less<>>;  // "TP" -> "4"

// A reference that nothing gives a value becomes the setting's unknown.
void resolve_references(std::vector<Setting>& settings, const GivenValues& given);

}  // namespace pentamesh::interop
