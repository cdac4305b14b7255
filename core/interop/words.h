// Hands out the tables of names that importers and exporters share. They stand in
// presets/frameworks/words.json, which the program carries.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

[[nodiscard]] const nlohmann::ordered_json& words(std::string_view table);
// Returns a text of a table, and a table that is a list of them: they live as long as the program.
[[nodiscard]] std::string_view word_of(const nlohmann::ordered_json& text);
[[nodiscard]] std::vector<std::string_view> word_list(std::string_view table);
[[nodiscard]] bool is_among(std::string_view table, std::string_view word);

}  // namespace pentamesh::interop
