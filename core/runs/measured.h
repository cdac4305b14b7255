// Compares what was measured of a run with what its plan predicts, part by part.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::runs {

// Says which constant of the time model would make a part right, only that one being changed.
struct Fitting {
    std::string constant;  // "efficiency.gemm"; empty: none
    double is = 0, would_be = 0;
    double step_s = 0;  // the step would then be predicted to take this long
    std::string why;    // it has no constant, or what that rests on
};

struct PartRow {
    RunPart part = RunPart::compute;
    PartTime time;
    std::optional<double> predicted_s;
    Fitting fitting;
    [[nodiscard]] double difference_s() const { return time.measured_s - predicted_s.value_or(0); }
};

struct CollectiveRow {
    std::string axis;  // a part of the step, or two that fit: "tp or ep"
    RunPart part = RunPart::unnamed;
    std::string group_name, collective;
    std::int64_t ranks = 0, bytes = 0;
    double buffer = 0;
    std::size_t calls = 0;  // of one rank
    double median_s = 0;
    std::optional<double> transfer_s;   // without the wait for the last rank: known from several ranks
    std::optional<double> predicted_s;  // of a call of the plan with as many bytes
    std::int64_t last_rank = -1;        // that the others wait for most often; -1: not known
    double last_share = 0;              // of the calls
};

struct RunProblem {
    std::string_view code;  // static: "impossible-run", "run-differs", "impossible-plan"
    std::string message;
};

struct Measured {
    std::vector<RunFile> files;
    std::optional<double> predicted_s, measured_s, ideal_s;
    bool possible = true;
    std::vector<PartRow> parts;
    std::vector<CollectiveRow> collectives;
    std::vector<Fitting> links;  // by transfers that are known without their wait
    double compute_s = 0;  // of the stage that works longest, recomputation included; 0: not known apart
    std::optional<WhatIf> whatif;
    std::vector<RunProblem> problems;
    std::vector<std::string> warnings;
    std::string summary;  // where the difference sits, in a sentence
};

// `plan` is nullptr where there is only the measured half.
[[nodiscard]] Measured measure(std::vector<RunFile> files, const Plan* plan, const Presets& presets);

// Returns the calls of all files, ranks of one group together.
[[nodiscard]] std::vector<CollectiveRow> collective_rows(const std::vector<RunFile>& files,
                                                         const PartOfGroup& part_of,
                                                         std::vector<std::string>& warnings);

}  // namespace pentamesh::runs
