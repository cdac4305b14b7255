// Reads and writes plans as JSON. Every error is an Error with file, JSON pointer, the value found, the
// values allowed.
#pragma once

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"

#include <functional>
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

}  // namespace pentamesh
