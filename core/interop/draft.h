// A plan while it is put together from a framework's settings: what the text says, then what follows from it.
#pragma once

#include "core/interop/sheet.h"
#include "core/io/presets.h"

#include <nlohmann/json.hpp>

namespace pentamesh::interop {

struct Draft {
    nlohmann::json model = nlohmann::json::object();  // inline fields, over `model_preset` where there is one
    std::string model_preset;
    nlohmann::json layout = nlohmann::json::object();
    nlohmann::json training = nlohmann::json::object();
    std::int64_t gpus = 0;  // 0: the text does not say
    std::int64_t gpus_per_node = 0;
    std::string name;
};

// The preset that a framework's or the hub's name for a model means: "meta-llama/Llama-2-7b-hf", "llama3 8B",
// "llama3_70b". Empty: none.
[[nodiscard]] std::string preset_for(const Presets& presets, std::string_view name);

// Degrees in force, as whole numbers; 1 where the draft has none.
[[nodiscard]] std::int64_t degree(const Draft& draft, const char* axis);

}  // namespace pentamesh::interop
