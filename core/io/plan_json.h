// Reads and writes plans as JSON. Every error is an Error with file, JSON pointer, the value found, the
// values allowed.
#pragma once

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/plan/plan_fields.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class Presets;

// `path` is named in errors ("-" for standard input). The limits are 64 MiB, 64 levels deep, valid UTF-8, no
// duplicate keys, no trailing text. `sets` are like "layout.tp=4" and are applied before validation.
[[nodiscard]] Plan parse_plan(std::string_view text, const std::string& path, const Presets& presets,
                              const std::vector<std::string>& sets = {});
// Returns canonical text: parse_plan(write_plan(p)) == p and write_plan(parse_plan(t)) is byte-identical for
// t = write_plan(p).
[[nodiscard]] std::string write_plan(const Plan& plan);
// Reads a model object, a Hugging Face config.json, or a preset id in quotes.
[[nodiscard]] Model parse_model(std::string_view text, const std::string& path, const Presets& presets);
// Returns the JSON Schema (draft 2020-12) of the plan file.
[[nodiscard]] std::string plan_schema();
// Returns the plan after `sets`, which are like "layout.tp=4".
[[nodiscard]] Plan with_sets(const Plan& plan, const std::vector<std::string>& sets, const Presets& presets);
// Applies a fix; throws Error if a path or value does not fit.
[[nodiscard]] Plan apply_edits(const Plan& plan, const std::vector<Edit>& edits, const Presets& presets);

// Plans go between their JSON document and the struct by these functions: parsing, writing, presets and edits
// share them.

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
// {"preset": id}, and the part of the preset below it is made the plan's own. Another cluster's preset takes
// the plan's number of GPUs.
void set_in_plan(nlohmann::json& plan, const std::string& pointer, nlohmann::json value,
                 const Presets& presets);
// Returns the pointer of a field as people write it: "layout.tp", "/layout/tp", and "tp" where one field of
// layout, training or the cluster is called that.
[[nodiscard]] std::string pointer_of_field(const std::string& name);
// Applies "layout.tp=4", "tp=4" or "/layout/tp=4". Throws Error of kind usage where it has no such form.
void apply_set(nlohmann::json& plan, const std::string& set, const Presets& presets);

// Lists every field of a plan for editing by hand, one by one: its meaning, its allowed values, its preset's
// value. It is made from the table of fields
// (core/plan/plan_fields.h), so that a new field is here as soon as a plan can hold it.

struct PlanField {
    enum class Kind : std::uint8_t {
        flag,    // "on", "off"
        choice,  // one of `choices`
        whole,
        number,
        text,
        list,  // "1, 2, 3", or JSON where its elements are objects; of `choices` where there are any
        group  // "on" where the fields below it are there
    };
    std::string pointer;  // "/model/moe/experts"
    FieldTopic topic = FieldTopic::plan;
    std::string heading;  // over this field and others; empty: none
    std::string label;    // under the heading: "bandwidth per GPU"
    std::string name;     // by itself: "tier 2, bandwidth per GPU"
    Kind kind = Kind::text;
    std::vector<std::string> choices;
    double least = 0, most = 0;              // of whole and number
    Dimension dimension = Dimension::count;  // of number: what a unit behind it means
    bool may_be_none = false;
    std::string value;          // as it may be typed; "none" where it is absent
    std::string unset;          // where the value is 0 or absent: what that means
    std::string preset_value;   // the value of the preset below it, where that differs; else empty
    bool preset_lacks = false;  // the preset has not the group that it stands in: it can only go with that
};

// Returns a choice as a person says it: "after forward"; the first one as what it means where that is said.
[[nodiscard]] std::string choice_words(const PlanField& f, std::string_view choice);

// Returns the fields in the order of the plan file; those of one heading stand together. `presets` give the
// values that each is compared with.
[[nodiscard]] std::vector<PlanField> list_plan_fields(const Plan& plan, const Presets& presets);

// Returns the plan with one field as typed: "8K", "400 Gb/s", "on", "none", "20, 20, 22". A group "on" gets
// first values, which are the smallest that make sense. Throws Error with the allowed values.
[[nodiscard]] Plan with_field(const Plan& plan, std::string_view pointer, std::string_view typed,
                              const Presets& presets);
// Returns the plan with this field as its preset has it; the plan itself where no preset is below it.
[[nodiscard]] Plan with_preset_field(const Plan& plan, std::string_view pointer, const Presets& presets);

}  // namespace pentamesh
