// Says which constants are fitted, which GPUs share them, and their limits: one table for the fit of those
// that ship (tools/fit) and of one's own cluster.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/runs/run_file.h"
#include "core/step/step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct Parameter {
    std::string_view key;                // of Efficiency
    std::vector<std::string_view> gpus;  // preset ids that share it
    double expected = 0, spread = 0;     // prior: median, standard deviation of the logarithm
    double least = 0, most = 1;          // beyond: no GPU does that
    double value = 0;
    [[nodiscard]] std::string label() const;
    [[nodiscard]] double Efficiency::*member() const;
};

[[nodiscard]] std::vector<Parameter> fitted_parameters();
// Returns the parameter of that key and GPU; for a GPU that is in no row, the first of the key; null where
// the key is not fitted.
[[nodiscard]] const Parameter* parameter_of(const std::vector<Parameter>& all, std::string_view key,
                                            std::string_view gpu);

// Sets the parameters in every efficiency that `for_each(set)` passes to set(gpu, efficiency).
template <typename F>
void set_parameters(const std::vector<Parameter>& parameters, F&& for_each) {
    for_each([&](std::string_view gpu, Efficiency& e) {
        for (const Parameter& p : parameters)
            if (std::find(p.gpus.begin(), p.gpus.end(), gpu) != p.gpus.end()) e.*p.member() = p.value;
    });
}

// Returns the cost that a run adds to a fit; `error` is the logarithm of measured over estimated time. The
// cost is the absolute error, rounded off near 0, and its square.
[[nodiscard]] double cost_of_error(double error);
// Returns how far the parameters are from their expected values, one standard deviation weighing as much as 5
// % of a run that is off by e. P has value, expected and spread.
template <typename P>
[[nodiscard]] double cost_of_values(const std::vector<P>& parameters) {
    constexpr double kPrior = 0.05;  // of a run
    double sum = 0;
    for (const P& p : parameters) {
        const double z = std::log(p.value / p.expected) / p.spread;
        sum += kPrior * z * z;
    }
    return sum;
}

// Searches by coordinates in the logarithm of each parameter; the step is halved when none helps. cost() uses
// the values. P has value, least and most.
template <typename P, typename Cost>
void minimize(std::vector<P>& parameters, Cost&& cost) {
    double best = cost();
    for (double step = 0.16; step > 0.002; step /= 2) {
        for (bool better = true; better;) {
            better = false;
            for (P& p : parameters) {
                for (const double factor : {std::exp(step), std::exp(-step)}) {
                    const double before = p.value;
                    p.value = std::clamp(before * factor, p.least, p.most);
                    const double now = cost();
                    if (now < best - 1e-9) {
                        best = now;
                        better = true;
                        break;
                    }
                    p.value = before;
                }
            }
        }
    }
    static_cast<void>(cost());  // leaves what it sets at the values found
}

// Reads measured runs from a text: a table in JSON, or the log of one run.

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
// Does the same with what the log says of its steps, which was read before.
[[nodiscard]] MeasuredRun run_of_log(const runs::RunFile& log, std::string_view text, const std::string& path,
                                     const Plan* plan, const std::string& cluster, const Presets& presets);

// Fits the constants that one's own runs determine: the few of a cluster that runs can determine, fitted as
// those that ship are, kept within the limits of a GPU; and tiers from tables of nccl-tests.

struct LinkText {
    std::string text, path;  // a table of nccl-tests
};

// It is a constant that a part of a run gives by itself: a wire by a transfer, memory by the optimizer.
struct PartConstant {
    std::string id;  // "efficiency.fast_link"
    double value = 0;
    std::string from;  // the file, and what it rests on
};

struct CalibratedConstant {
    std::string id;  // of Constant: "efficiency.gemm", "tier.1.bytes_per_s"
    double before = 0, after = 0;
    double least = 0, most = 0;  // it must lie within
    bool measured = false;       // by nccl-tests or a part of a run; else fitted
};

struct CalibratedRun {
    std::string id;
    double measured_s = 0;                             // of a step
    double before_s = 0, after_s = 0, left_out_s = 0;  // ours; the last: fitted only to the other runs
    [[nodiscard]] bool better() const;
};

struct Calibrated {
    Cluster cluster;  // with its constants and its `calibration`
    std::vector<CalibratedConstant> constants;
    std::vector<CalibratedRun> runs;
    std::vector<std::string> links;  // a sentence a table of nccl-tests, a part of a run, or what is missing
    // Hold the median of how far ours is off, |measured / ours - 1|.
    double before = 0, after = 0, left_out = 0;
    // Says in what the fit is no better than none; empty where it is, and without runs.
    [[nodiscard]] std::string worse_words() const;
};

// GPU and tiers are those of `on`. `from` has the files, as the calibration is to name them. Fitted are the
// products' efficiency in each type that the runs compute in, attention, grouped products where a run has
// experts, the launch time; no more of them than there are runs, in this order. Throws Error where there is
// neither a run nor a table, a run has no time or problems, is faster than its useful work, or is on
// another GPU than `on`.
[[nodiscard]] Calibrated calibrate(const std::vector<MeasuredRun>& runs, const std::vector<LinkText>& links,
                                   const Cluster& on, const std::string& from,
                                   const std::vector<PartConstant>& parts = {});

// Returns a file of constants: the cluster as a preset of one's own (docs/calibrate.md), with its source.
// Where `name` is empty, the cluster keeps its own.
[[nodiscard]] std::string write_constants(const Calibrated& made, const std::string& name,
                                          const Presets& presets);
// Keeps the result among the user's own clusters, in place of an own one with the same id; returns its file.
// Throws Error of kind usage for a name that is refused (refused_preset_name), io where it cannot be written.
std::filesystem::path save_calibrated(const Calibrated& made, const std::string& name,
                                      const Presets& presets);

// Reads one's own files for a calibration: tables of runs, logs and tables of nccl-tests, distinguished by
// their content.

struct OwnFiles {
    std::vector<MeasuredRun> runs;
    std::vector<LinkText> links;
    std::vector<PartConstant> parts;
    std::string from;  // the files' names, as a calibration is to name them
};

enum class OwnFile : std::uint8_t { table, log, links };
// Decides by the content: JSON is a table of runs, output of nccl-tests is links, all else a log.
[[nodiscard]] OwnFile own_file_kind(std::string_view text);

// Adds the content of a file; runs without a time are left out. A log takes its plan from `plan`, where there
// is one, else from its own settings, on `cluster` (a preset's id; empty: read_log's own). Returns in words
// what was found: "12 runs". Throws Error where nothing can be read.
std::string add_own_file(OwnFiles& own, const std::string& text, const std::string& path, const Plan* plan,
                         const std::string& cluster, const Presets& presets);

// Adds traces of ranks, files of the NCCL Inspector and the like, all of one run of this plan: a run, where
// they say its step, and what its parts give.
void add_run_files(OwnFiles& own, std::vector<runs::RunFile> files, const Plan& plan, const Presets& presets);

// Returns true if a text is for a calibration, and of no other known kind: a table with "cases" that were
// measured, or a log of steps without its settings. Never throws.
[[nodiscard]] bool is_measured_text(const std::string& text);

// Returns the cluster to calibrate where no cluster is named: that of the first run.
[[nodiscard]] const Cluster* cluster_of_runs(const OwnFiles& own);

}  // namespace pentamesh
