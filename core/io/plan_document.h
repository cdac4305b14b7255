// Plans go between their JSON document and the struct by these functions: parsing, writing, presets and edits
// share them.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <nlohmann/json.hpp>
#include <string>

namespace pentamesh {

inline constexpr std::string_view kPlanFormat = "pentamesh.plan/1";
// A GPU of one's own that states no efficiency, names no preset that has its own and has no preset's name is
// taken to be as efficient as this.
inline constexpr std::string_view kEfficiencyOf = "h100-sxm";

// Names the place of a value: the file and the JSON pointer, both used in errors.
struct DocumentPlace {
    std::string path, pointer;
    [[nodiscard]] DocumentPlace at(std::string_view key) const;
    [[noreturn]] void fail(const std::string& message) const;
};

[[nodiscard]] Plan plan_from_json(const nlohmann::json& value, const std::string& path,
                                  const Presets& presets);
// Does the same after `sets`, which are like "layout.tp=4".
[[nodiscard]] Plan plan_from_json(nlohmann::json value, const std::string& path, const Presets& presets,
                                  const std::vector<std::string>& sets);
// Reads a model object, a Hugging Face config or a preset's id; `source` gets the preset and the fields
// stated over it.
[[nodiscard]] Model model_from_json(const nlohmann::json& value, const DocumentPlace& place,
                                    const Presets& presets, Source& source);
[[nodiscard]] Cluster cluster_from_json(const nlohmann::json& value, const DocumentPlace& place,
                                        const Presets& presets, Source& source);
// Reads a whole GPU, a preset's id or {"preset": id, ...}; `source.overrides` gets "/gpu" and the fields
// stated over it.
[[nodiscard]] Gpu gpu_from_json(const nlohmann::json& value, const DocumentPlace& place,
                                const Presets& presets, Source& source);

[[nodiscard]] nlohmann::ordered_json plan_to_json(const Plan& plan);
[[nodiscard]] nlohmann::ordered_json model_to_json(const Model& model);
[[nodiscard]] nlohmann::ordered_json gpu_to_json(const Gpu& gpu);  // whole, without its id
[[nodiscard]] nlohmann::ordered_json cluster_to_json(const Cluster& cluster, const Source& source);
// Indents by 2, with a list of plain values on one line; ends with a line break.
[[nodiscard]] std::string pretty(const nlohmann::ordered_json& value);

// Sets the value that a pointer names, adding the key where it is absent. A preset's id on the way becomes
// {"preset": id}, and the part of the preset below it is made the plan's own.
void set_in_plan(nlohmann::json& plan, const std::string& pointer, nlohmann::json value,
                 const Presets& presets);
// Returns the pointer of a field as people write it: "layout.tp", "/layout/tp", and "tp" where one field of
// layout, training or the cluster is called that.
[[nodiscard]] std::string pointer_of_field(const std::string& name);
// Applies "layout.tp=4", "tp=4" or "/layout/tp=4". Throws Error of kind usage where it has no such form.
void apply_set(nlohmann::json& plan, const std::string& set, const Presets& presets);

}  // namespace pentamesh
