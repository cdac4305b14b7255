// Lists the numbers on which the time model rests, and their sources: the constants of a plan's GPU and
// fabric with the shipped value and its source, and the edit that changes one.
#pragma once

#include "core/base/enum_array.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Says what a constant belongs to; the fabric's have their tier's name in `name`.
enum class ConstantSection : std::uint8_t { gpu, efficiency, fabric, memory, verdict };
template <>
inline constexpr std::size_t kEnumCount<ConstantSection> = 5;
// Returns the heading over a section's constants: "Efficiency, calibrated from 12 runs (own.json)".
[[nodiscard]] std::string heading_of(ConstantSection section, const Cluster& cluster);

struct Constant {
    enum class Unit : std::uint8_t { share, seconds, bytes, bytes_per_s, flops_per_s, ratio, flag };
    std::string id;            // "efficiency.gemm", "flops.bf16", "tier.1.latency_s"
    std::string name;          // "16-bit products"
    std::string_view meaning;  // static, a sentence
    ConstantSection section = ConstantSection::gpu;
    Unit unit = Unit::share;
    double value = 0;
    double shipped = 0;  // of the preset; equal to `value` where the plan has no preset
    double least = 0, most = 0;
    std::string source;  // of the preset's file; empty where the plan states everything itself
    [[nodiscard]] bool changed() const { return value != shipped; }
};

// Returns "calibrated from 12 runs (own.json)".
[[nodiscard]] std::string calibrated_text(const Calibration& calibration);

[[nodiscard]] std::vector<Constant> list_constants(const Plan& plan, const Presets& presets);

// Returns the plan with one constant set, clamped to its range, and recorded as stated over the preset; where
// it is set to the shipped value the plan no longer states it. For an unknown id it returns the plan as it
// was.
[[nodiscard]] Plan with_constant(const Plan& plan, const Presets& presets, std::string_view id, double value);

}  // namespace pentamesh
