// Finds fields of a plan that change together or by themselves, as a comparison shows and takes them.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// This is one field of layout, training, GPU count or cost; or the whole model; or all the rest of the
// cluster.
struct FieldUnit {
    enum class Kind : std::uint8_t { field, model, cluster };
    Kind kind = Kind::field;
    std::vector<std::string> pointers;  // of a field: its own; else what differs inside
};
// Returns the units that are not equal in the two plans. Names, notes and the saved view are no choice and
// left out.
[[nodiscard]] std::vector<FieldUnit> units_between(const Plan& a, const Plan& b);
// Gives `to` that unit of `from`.
void take(const FieldUnit& unit, const Plan& from, Plan& to);
// Returns "tp 8 -> 4".
[[nodiscard]] std::string words_of_change(const FieldUnit& unit, const Plan& from, const Plan& to);

// Returns the arguments of `--set` that make `b` of `a`, field by field: "/layout/tp=4"; null where `b`
// leaves a list or an optional field out.
[[nodiscard]] std::vector<std::string> sets_between(const Plan& a, const Plan& b);

// Returns the JSON text of a plan's value at a pointer that units_between gave; "null" where the plan leaves
// it out.
[[nodiscard]] std::string json_text_of(const Plan& plan, const std::string& pointer);

}  // namespace pentamesh
