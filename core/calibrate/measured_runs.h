// What do texts say of runs that were measured? A table in JSON, or the log of one run.
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
};  // which of StageMemory's figures was measured

struct MeasuredRun {
    std::string id, framework, family;
    Plan plan;
    // One of these two, or none: seconds of a step, or model FLOP/s of a GPU in units of 1e12.
    double step_s = 0, tflops = 0;
    // Bytes; 0: not measured. Of the first stage, the last, or the largest.
    double memory = 0;
    MemoryMeasured memory_kind = MemoryMeasured::allocated;
    enum class Rank : std::uint8_t { first, last, largest } rank = Rank::largest;
    std::optional<bool> fits;
    [[nodiscard]] bool has_time() const { return step_s > 0 || tflops > 0; }
    // Of a step; a rate of FLOP/s is turned into time by the FLOPs that `step` counts.
    [[nodiscard]] double measured_s(const Step& step) const {
        return step_s > 0 ? step_s : step.time_s * step.tflops_per_gpu / tflops;
    }
};

// {"cases": [...]}, or the list alone. A case is a plan and what was measured of it, {"plan": {...} or a
// preset's id, "measured": {"iteration_s" | "tokens_per_s_per_gpu" | "model_tflops_per_gpu": ...}}, or a row
// as in presets/published_runs.json. Error with the file and the case.
[[nodiscard]] std::vector<MeasuredRun> read_measured(std::string_view text, const std::string& path,
                                                     const Presets& presets);
[[nodiscard]] std::vector<MeasuredRun> read_measured_file(const std::string& path, const Presets& presets);

// Seconds of the steps that a log tells of: Megatron's "elapsed time per iteration (ms): 812.5", torchtitan's
// "tps: 7,212" (tokens of a GPU in a second). The median, the first two steps left out where there are more.
struct LoggedSteps {
    double step_s = 0;                // 0: the log has tokens instead
    double tokens_per_s_per_gpu = 0;  // 0: the log has seconds instead
    std::size_t steps = 0;
};
[[nodiscard]] std::optional<LoggedSteps> read_logged_steps(std::string_view log);

// One run. Its plan: `plan` where it is given, else what the log says of its own settings (Megatron's block
// of arguments), on `cluster`, a preset's id (empty: H100 with InfiniBand). Error where one of the two is
// missing.
[[nodiscard]] MeasuredRun read_log(std::string_view text, const std::string& path, const Plan* plan,
                                   const std::string& cluster, const Presets& presets);

}  // namespace pentamesh
