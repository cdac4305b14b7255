// Holds each framework's spelling of each field of the plan in one table: exporters write by it, spelling
// errors are compared with it, and tests hold it against the names that importers read.
#pragma once

#include "core/interop/import.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

// Returns the setting's whole name as the framework's own text has it: "--tensor-model-parallel-size",
// "parallelism.tensor_parallel_degree". `pointer` is a field of the plan, "/layout/tp". It is empty where the
// framework has no single setting for that field. Where several bear on it, it is the one with the plan's
// meaning.
[[nodiscard]] std::string_view flag_of(Framework framework, std::string_view pointer);

// Returns in one line the settings that select a stage of ZeRO: Megatron's flag without another one means
// stage 1.
[[nodiscard]] std::string zero_words(Framework framework, int stage);

struct SpelledField {
    std::string_view pointer, name;
};
// Returns every field that the framework has a setting for, in the order of the plan.
[[nodiscard]] std::vector<SpelledField> flags_of(Framework framework);

}  // namespace pentamesh::interop
