// Lists every field of a plan for editing by hand, one by one: its meaning, its allowed values, its preset's
// value. It is made from the table of fields
// (core/plan/plan_fields.h), so that a new field is here as soon as a plan can hold it.
#pragma once

#include "core/base/quantity.h"
#include "core/io/presets.h"
#include "core/plan/plan_fields.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

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
