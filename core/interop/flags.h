// How does each framework spell a field of the plan? One table: exporters write by it, slips of the pen are
// measured against it, and tests hold it against what the importers read.
#pragma once

#include "core/interop/import.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

// The setting's whole name as the framework's own text has it: "--tensor-model-parallel-size",
// "parallelism.tensor_parallel_degree". `pointer` is a field of the plan, "/layout/tp". Empty: the framework
// has no single setting for that field. Where several bear on it, the one that says it as the plan does.
[[nodiscard]] std::string_view flag_of(Framework framework, std::string_view pointer);

// What sets ZeRO to that stage, in one line: Megatron's flag alone means stage 1.
[[nodiscard]] std::string zero_words(Framework framework, int stage);

struct SpelledField {
    std::string_view pointer, name;
};
// Every field that the framework has a setting for, in the order of the plan.
[[nodiscard]] std::vector<SpelledField> flags_of(Framework framework);

}  // namespace pentamesh::interop
