// Writes completions for shells and a man page, out of the description of all commands. The first of `all` is
// the program itself.
#pragma once

#include "app/cli/options.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::cli {

[[nodiscard]] std::string bash_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string fish_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string man_page(const std::vector<CommandInfo>& all);

// Says what a value is completed by. Ids of presets are asked of the program while one types.
enum class Completed { nothing, values, files, folders, plans, models, clusters };
[[nodiscard]] Completed completed_as(const OptionInfo& o);
// Returns the word after `pentamesh complete` that lists the ids; empty where there are none.
[[nodiscard]] std::string_view ids_word(Completed as);
[[nodiscard]] bool takes_files(Completed as);

}  // namespace pentamesh::cli
