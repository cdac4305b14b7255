// Says how far off a step's time may be: as far as the program was off at measured runs, each left out of the
// fit. Runs near the plan weigh more. presets/measured_errors.json has the runs' errors, `accuracy . --write`
// makes it (docs/accuracy.md); it is built into the program.
#pragma once

#include "core/plan/plan.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

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
// the software is another; + 4 where one is a MoE and the other dense; + 1 where the compute types differ. It
// is 0 if the traits are equal.
[[nodiscard]] double distance(const RunTraits& a, const RunTraits& b);
// Says the same in words, and from which distance on a run is not near.
[[nodiscard]] std::string distance_words();

struct MeasuredError {
    std::string id;      // of the run, in tests/golden/measured.json
    std::string family;  // runs of one source
    RunTraits run;
    double error = 0;  // measured time over ours, less 1, as if the run had been left out
    // Returns the factor by which the larger of the two times passes the smaller, less 1.
    [[nodiscard]] double size() const;
};
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
// Returns the weighted quantiles of the runs' sizes: a run's weight is halved by every 2.5 of distance. The
// plan counts among them as one whose error is larger than all, with a quarter of the nearest run's weight:
// this keeps the share of a small sample (Vovk et al. 2005, Algorithmic Learning in a Random World, chapter
// 2; weights as Tibshirani et al. 2019, arXiv:1904.06019). Without runs it is zeros.
[[nodiscard]] ErrorRange error_range(std::span<const MeasuredError> runs, const RunTraits& plan);
// Holds the last answer and the memory for the next one. It belongs to the caller; it is no part of a result.
struct ErrorRangeWork {
    struct Weighed {
        double size, distance, weight;
    };
    RunTraits of;
    ErrorRange range;
    std::vector<Weighed> runs;
    bool operator==(const ErrorRangeWork&) const { return true; }
};
// Returns the range among the runs that ship. Where the traits are those of the last call, `work` has the
// answer.
[[nodiscard]] const ErrorRange& error_range(const RunTraits& plan, ErrorRangeWork& work);

}  // namespace pentamesh
