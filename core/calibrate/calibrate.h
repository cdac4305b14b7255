// Fits the constants that one's own runs determine: the few of a cluster that runs can determine, fitted as
// those that ship are (parameters.h), kept within the limits of a GPU; and tiers from tables of nccl-tests.
#pragma once

#include "core/calibrate/measured_runs.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh {

struct LinkText {
    std::string text, path;  // a table of nccl-tests
};

// Is a constant that a part of a run gives by itself: a wire by a transfer, memory by the optimizer.
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
// neither a run nor a table, a run has no time or problems, is faster than its ideal compute, or is on
// another GPU than `on`.
[[nodiscard]] Calibrated calibrate(const std::vector<MeasuredRun>& runs, const std::vector<LinkText>& links,
                                   const Cluster& on, const std::string& from,
                                   const std::vector<PartConstant>& parts = {});

// Returns the plan with the constants of a calibrated cluster, recorded as stated over its presets. Throws
// Error of kind invalid where the cluster has another GPU or other tiers.
[[nodiscard]] Plan with_constants_of(const Plan& plan, const Cluster& calibrated, const Presets& presets);

// Returns a file of constants: the cluster as a preset of one's own (docs/calibrate.md), with its source.
// Where `name` is empty, the cluster keeps its own.
[[nodiscard]] std::string write_constants(const Calibrated& made, const std::string& name,
                                          const Presets& presets);
// Keeps the result among the user's own clusters, in place of an own one with the same id; returns its file.
// Throws Error of kind usage for a name that is refused (refused_preset_name), io where it cannot be written.
std::filesystem::path save_calibrated(const Calibrated& made, const std::string& name,
                                      const Presets& presets);
[[nodiscard]] Cluster read_constants(std::string_view text, const std::string& path, const Presets& presets);

}  // namespace pentamesh
