// Plans in and out of JSON. Every error is an Error with file, JSON pointer, what was found, what is allowed.
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

// `path` is named in errors ("-" for standard input). Limits: 64 MiB, 64 levels deep, valid UTF-8, no
// duplicate keys, no trailing text. `sets`: "layout.tp=4" applied before validation.
[[nodiscard]] Plan parse_plan(std::string_view text, const std::string& path, const Presets& presets,
                              const std::vector<std::string>& sets = {});
// Canonical text: parse_plan(write_plan(p)) == p and write_plan(parse_plan(t)) is byte-identical for t =
// write_plan(p).
[[nodiscard]] std::string write_plan(const Plan& plan);
// A model object, a Hugging Face config.json, or a preset id in quotes.
[[nodiscard]] Model parse_model(std::string_view text, const std::string& path, const Presets& presets);
// JSON Schema (draft 2020-12) of the plan file.
[[nodiscard]] std::string plan_schema();
// Applies a fix; an Error if a path or value does not fit.
[[nodiscard]] Plan apply_edits(const Plan& plan, const std::vector<Edit>& edits, const Presets& presets);

}  // namespace pentamesh
