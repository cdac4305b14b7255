// This is the one function: a plan goes in, everything that a view or a table shows comes out.
#pragma once

#include "core/comm/comm.h"
#include "core/layer/parts.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/pipeline/timeline.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace pentamesh {

struct Evaluation {
    bool valid = false;             // no problem of severity error
    std::vector<Problem> problems;  // errors; assess() adds warnings and notices behind them
    ParameterCounts parameters;
    Mesh mesh;
    GroupSummaries groups{};
    std::int64_t microbatches = 0;  // per step and replica; 0: the batch does not divide
    // Holds the figures, empty where the plan is not valid. Mesh and groups are then those of the factors as
    // far as they go, which need not fill the cluster.
    Memory memory;
    Comm comm;
    std::vector<double> in_flight;  // peak micro-batches of a whole stage, by device
    StepWork work;                  // the parts of a step before the schedule orders it
    TimelineCosts costs;
    Timeline timeline;         // empty where not asked for, or too long to replay
    std::optional<Step> step;  // absent where it cannot be computed
    // Holds what still is true of the memory of an impossible plan: parameters, gradients and optimizer
    // states by stage, the other categories 0. It is empty where an error bears on them, for a plan that is
    // valid, and without EvaluateOptions::report.
    Memory states;
    // These are kept from one evaluation to the next, no part of the result.
    PartsByType parts;
    ErrorRangeWork range_work;
    bool operator==(const Evaluation&) const = default;
};

struct EvaluateOptions {
    bool timeline = true;  // false: closed forms instead of the replay, no allocation once warm
    bool messages = true;  // false: errors are found but not put in words
    // false gives only the figures by which layouts are compared. Left out are `parameters`, in `comm` the
    // totals of the calls of layers on a device (`busiest`, counts, bytes, times) and all sums, in `memory`
    // all stages but the fullest of each run of equal ones, in `step` FLOPs, MFU and the range of error, and
    // for an impossible plan `groups` and `states`. The rest is the same to the last bit.
    bool report = true;
    // false leaves out what the passes of a micro-batch wait for gathers and reductions of data parallelism:
    // the costs are the same for all shardings, and no layout has less.
    bool state_waits = true;
};

// It is pure: no clock, no file, no global. Reuses out's capacity, and of its contents the order of the
// timeline where the schedule's shape is the same. Finds errors; advice is assess() of advice/advice.h.
void evaluate(const Plan& plan, Evaluation& out, const EvaluateOptions& options = {});
[[nodiscard]] Evaluation evaluate(const Plan& plan, const EvaluateOptions& options = {});

}  // namespace pentamesh
