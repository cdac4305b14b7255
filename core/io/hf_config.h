// Reads the architecture out of a Hugging Face config.json, as it comes from the hub.
#pragma once

#include "core/base/error.h"
#include "core/plan/plan.h"

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns true for an object that names a model_type and is no model object of ours.
[[nodiscard]] bool is_hf_config(const nlohmann::json& value);

// Returns the model types that are understood, sorted.
[[nodiscard]] const std::vector<std::string_view>& hf_model_types();

// Throws Error (invalid) with the field's pointer where a field is missing, of the wrong type, out of range
// (sizes are 1 to 2^31), or contradicts another. For an unknown model_type it names that and the fields there
// are. Names and defaults of fields are those of transformers, models/*/configuration_*.py. From a multimodal
// config only the language model is read. `path` is named in errors.
// `read`, where given, collects the pointers of the fields that bear on the model
// ("/text_config/hidden_size").
[[nodiscard]] Model model_from_hf(const nlohmann::json& config, const std::string& path,
                                  std::set<std::string>* read = nullptr);
[[nodiscard]] Model model_from_hf(std::string_view text, const std::string& path,
                                  std::set<std::string>* read = nullptr);

}  // namespace pentamesh
