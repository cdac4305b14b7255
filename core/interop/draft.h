// Holds a plan while it is put together from a framework's settings: first the text's values, then those that
// follow from them.
#pragma once

#include "core/interop/sheet.h"
#include "core/io/presets.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {

struct Draft {
    nlohmann::json model = nlohmann::json::object();  // inline fields, over `model_preset` where there is one
    std::string model_preset;
    nlohmann::json layout = nlohmann::json::object();
    nlohmann::json training = nlohmann::json::object();
    std::int64_t gpus = 0;  // 0: the text does not say
    std::int64_t gpus_per_node = 0;
    std::string named_model;  // a preset's id, by the recipe's name: where the text says no model
    std::string other_model;  // the text's name of a model that no preset has
};

// Holds what the name of a recipe says: "llama3_70b_pretrain_64gpu_gb200_bf16_config".
struct RecipeName {
    std::string model, cluster;  // presets' ids; empty: it says none
    std::int64_t gpus = 0;
};
[[nodiscard]] RecipeName read_recipe_name(std::string_view name, const Presets& presets);

// Returns the preset for a framework's or the hub's name of a model: "meta-llama/Llama-2-7b-hf", "llama3 8B",
// "llama3_70b". It is empty where no preset is meant.
[[nodiscard]] std::string preset_for(const Presets& presets, std::string_view name);
// Returns true where a model's name, in a path of it, says that it reads pictures or sound too.
[[nodiscard]] bool has_encoders(const Presets& presets, std::string_view path);
// Takes the model that the setting `key` names into the draft, which has none yet; `name` is its value where
// that is not all of it.
void take_model(Sheet& sheet, Draft& draft, const Presets& presets, std::string_view key,
                std::string name = {});

// Returns the place of a field of the plan in the draft: "/layout/tp", "/training/overlap/dp".
[[nodiscard]] nlohmann::json& place_of(Draft& draft, std::string_view pointer);
// Takes settings as rows of a table say (words.h), the last of several for a field: a whole number from
// "least" (1); by "flag" the one value where it is off, the other where it is on; by "words" a value for each
// word, also of an enumeration ("AttnBackend.unfused"), any other cannot be held, for the reason "why", or
// changes nothing.
void take_settings(Sheet& sheet, Draft& draft, std::string_view table);

// Takes a degree, 1 where the text does not say it.
std::int64_t take_degree(Sheet& sheet, Draft& draft, const char* key, const char* axis);
// Returns degrees in force, as whole numbers; 1 where the draft has none.
[[nodiscard]] std::int64_t degree(const Draft& draft, const char* axis);

}  // namespace pentamesh::interop
