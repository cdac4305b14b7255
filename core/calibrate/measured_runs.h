// Reads measured runs from a text: a table in JSON, or the log of one run.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/step/step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class MemoryMeasured : std::uint8_t {
    allocated,
    reserved
};  // says which of StageMemory's figures was measured

struct MeasuredRun {
    std::string id, framework, family;
    Plan plan;
    // Holds one of these two, or neither: seconds of a step, or model FLOP/s of a GPU in units of 1e12.
    double step_s = 0, tflops = 0;
    double compute_s = 0;  // of that, of the stage that works longest, recomputation included; 0: not known
    // Holds bytes, 0 where not measured, of the first stage, the last, or the largest.
    double memory = 0;
    MemoryMeasured memory_kind = MemoryMeasured::allocated;
    enum class Rank : std::uint8_t { first, last, largest } rank = Rank::largest;
    std::optional<bool> fits;
    [[nodiscard]] bool has_time() const { return step_s > 0 || tflops > 0; }
    // Returns seconds of a step; a rate of FLOP/s is turned into time by the FLOPs that `step` counts.
    [[nodiscard]] double measured_s(const Step& step) const {
        return step_s > 0 ? step_s : step.time_s * step.tflops_per_gpu / tflops;
    }
};

// Reads {"cases": [...]}, or only the list. A case is a plan and its measurement, {"plan": {...} or a
// preset's id, "measured": {"iteration_s" | "tokens_per_s_per_gpu" | "model_tflops_per_gpu": ...}}, or a row
// as in presets/published_runs.json. Throws Error with the file and the case.
[[nodiscard]] std::vector<MeasuredRun> read_measured(std::string_view text, const std::string& path,
                                                     const Presets& presets);
[[nodiscard]] std::vector<MeasuredRun> read_measured_file(const std::string& path, const Presets& presets);

// Reads one run out of a log (runs::read_run_log). Its plan is `plan` where it is given, else it comes from
// the log's own settings (Megatron's block of arguments), on `cluster`, a preset's id (empty: H100 with
// InfiniBand). Throws Error where one of the two is missing.
[[nodiscard]] MeasuredRun read_log(std::string_view text, const std::string& path, const Plan* plan,
                                   const std::string& cluster, const Presets& presets);

}  // namespace pentamesh
