// What is wrong with a plan or could be better, and the edit that mends it.
#pragma once

#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pentamesh {

enum class Severity : std::uint8_t { error, warning, info };
template <>
inline constexpr std::array<std::string_view, 3> kNames<Severity>{"error", "warning", "info"};
static_assert(kNames<Severity>.size() == static_cast<std::size_t>(Severity::info) + 1);

// Whose rule it is: arithmetic cannot be argued with, a framework's rule binds its users only.
enum class Rule : std::uint8_t { arithmetic, megatron, torchtitan, schedule, hardware, advice };
template <>
inline constexpr std::array<std::string_view, 6> kNames<Rule>{"arithmetic", "megatron", "torchtitan",
                                                              "schedule",   "hardware", "advice"};
static_assert(kNames<Rule>.size() == static_cast<std::size_t>(Rule::advice) + 1);

// One operation of a JSON Patch (RFC 6902) on the plan: op is always "replace" ("add" where the key is
// absent).
using EditValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::string>,
                               std::vector<std::int64_t>>;
struct Edit {
    std::string path;  // JSON pointer, "/layout/tp"
    EditValue value;
    bool operator==(const Edit&) const = default;
};

struct Problem {
    Severity severity = Severity::error;
    Rule rule = Rule::arithmetic;
    std::string_view code;  // static, kebab-case: "tp-spans-nodes"
    std::string message;    // a sentence with the numbers in it
    std::string pointer;    // the field it is about, "/layout/tp"
    std::vector<Edit> fix;  // the smallest edit that mends it; empty: none is known
    bool operator==(const Problem&) const = default;
};

}  // namespace pentamesh
