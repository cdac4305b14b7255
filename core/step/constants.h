// Lists the numbers on which the time model rests, and their sources: the constants of a plan's GPU and
// fabric with the shipped value and its source, and the edit that changes one.
#pragma once

#include "core/base/containers.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <span>
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

// Returns the plan with the constants of a calibrated cluster, recorded as stated over its presets. Throws
// Error of kind invalid where the cluster has another GPU or other tiers.
[[nodiscard]] Plan with_constants_of(const Plan& plan, const Cluster& calibrated, const Presets& presets);
// Reads a cluster with such constants, as `calibrate` writes it.
[[nodiscard]] Cluster read_constants(std::string_view text, const std::string& path, const Presets& presets);

// Says how far off a step's time may be: as far as the program was off at measured runs, each left out of the
// fit. Runs near the plan weigh more. presets/measured_errors.json has the runs' errors, `accuracy . --write`
// makes it (docs/accuracy.md); it is built into the program.

// An error depends on these.
struct RunTraits {
    double flops_per_token = 0;  // of the model, forward and backward, as in MFU
    double gpus = 0;
    double sequence_length = 0;
    double peak = 0;  // of a GPU, in 16 bits, FLOP/s
    Dtype compute = Dtype::bf16;
    Software software = Software::megatron;
    bool moe = false;
    bool operator==(const RunTraits&) const = default;
};
[[nodiscard]] RunTraits traits_of(const Plan& plan, double flops_per_token);
[[nodiscard]] RunTraits traits_of(const Plan& plan);  // counts the model's FLOPs, too

// Returns the one distance between runs. It is the sum of |log2| of the ratios of the first four; + 4 where
// the software is another, + 1 where it is the same of another age; + 4 where one is a MoE and the other
// dense; + 1 where the compute types differ. It is 0 if the traits are equal.
[[nodiscard]] double distance(const RunTraits& a, const RunTraits& b);
// Says the same in words, and from which distance on a run is not near.
[[nodiscard]] std::string distance_words();

struct MeasuredError {
    std::string id;      // of the run, in tests/golden/measured.json
    std::string family;  // runs of one source
    RunTraits run;
    double error = 0;        // measured time over ours, less 1, as if the run had been left out
    std::size_t source = 0;  // number of its family (number_sources)
    // Returns the factor by which the larger of the two times passes the smaller, less 1.
    [[nodiscard]] double size() const;
};
// Numbers the families in the order in which they appear.
void number_sources(std::vector<MeasuredError>& runs);
// Throws Error naming the file and the place where it has another form.
[[nodiscard]] std::vector<MeasuredError> read_measured_errors(std::string_view text, const std::string& path);
[[nodiscard]] const std::vector<MeasuredError>& measured_errors();  // those that ship

inline constexpr double kFarRun = 4;  // from here on no measured run is near

// Half of the runs like this one took between ours / (1 + half) and ours * (1 + half). Nine of ten did with
// `most` in its place.
struct ErrorRange {
    double half = 0, most = 0;
    double nearest = 0;    // distance of the nearest run
    bool has_gpu = false;  // a run was on GPUs of this peak
    bool operator==(const ErrorRange&) const = default;
};
// Returns the weighted quantiles of the runs' sizes. Runs of one source err together, so that a source counts
// once, be it of 2 runs or of 50: it weighs as much as its nearest run, and its runs share that by how near
// each is. A weight is halved by every 6 of distance. The plan counts among them as one whose error is larger
// than all, with a quarter of the nearest source's weight: this keeps the share of a small sample (Vovk et
// al. 2005, Algorithmic Learning in a Random World, chapter 2; weights as Tibshirani et al. 2019,
// arXiv:1904.06019). Without runs it is zeros.
[[nodiscard]] ErrorRange error_range(std::span<const MeasuredError> runs, const RunTraits& plan);
// Holds the last answer and the memory for the next one. It belongs to the caller; it is no part of a result.
struct ErrorRangeWork {
    struct Weighed {
        double size, distance, weight;
        std::size_t source;
    };
    struct Source {
        double most, sum;  // of its runs' weights
    };
    RunTraits of;
    ErrorRange range;
    std::vector<Weighed> runs;
    std::vector<Source> sources;
    bool operator==(const ErrorRangeWork&) const { return true; }
};
// Returns the range among the runs that ship. Where the traits are those of the last call, `work` has the
// answer.
[[nodiscard]] const ErrorRange& error_range(const RunTraits& plan, ErrorRangeWork& work);

// Says what the whole training takes: days, GPU-hours, money, energy, and the time left after failures. It
// uses only the plan's own values; nothing is assumed.

// Each is set where the plan gives the values that it needs.
struct Cost {
    std::optional<double> days;                    // of 86,400 s without a failure (training.tokens_total)
    std::optional<double> gpu_hours;               // in those days
    std::optional<double> money;                   // in cluster.currency (price_per_gpu_hour)
    std::optional<double> kwh;                     // gpu_watts × pue, 1 where that is not given
    std::optional<double> hours_between_failures;  // of the whole cluster (failures_per_gpu_day)
    std::optional<double> checkpoint_every_s;      // seconds of training between checkpoints (checkpoint_s)
    std::optional<double> goodput;                 // share of the time that training moves on
    std::optional<double> days_with_failures;
};
// `tokens_per_s` is that of the plan's step. Interval and goodput follow Daly 2006 (A higher order estimate
// of the optimum checkpoint interval), equations 20 and 37; the time to start again is not known and left
// out.
[[nodiscard]] Cost cost_of(const Plan& plan, double tokens_per_s);
// Returns the GPU-hours that a billion tokens take.
[[nodiscard]] double gpu_hours_of_billion(std::int64_t gpus, double tokens_per_s);

}  // namespace pentamesh
