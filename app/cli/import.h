// Puts together what an import is asked: the text, what its user says of the job, and the files that it
// names.
#pragma once

#include "app/cli/commands.h"
#include "core/interop/import.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh::cli {

// Holds what a text of settings may leave to its user.
struct JobArguments {
    std::string model, cluster;
    std::int64_t gpus = 0;
    std::vector<std::string> variables;  // "TP=4"
};

// Returns a request without a text. Throws Error (usage) where a variable is no NAME=VALUE.
[[nodiscard]] interop::ImportRequest request_of(const Context& context, const JobArguments& job);
// Gives it a text. Other files are looked for in the folder of `file` and in those around it, as Python looks
// for a package; standard input ("-") has none.
void put_file(interop::ImportRequest& request, const std::string& file, const std::string& text);

}  // namespace pentamesh::cli
