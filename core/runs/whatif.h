// Replays a run whose workers were timed one by one, with some of the measured times made ideal: the model of
// ByteDance's StragglerAnalysis (Lin et al., OSDI 2025), for plain pipelines.
#pragma once

#include "core/base/containers.h"
#include "core/plan/names.h"
#include "core/runs/run_file.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

enum class WorkKind : std::uint8_t {
    forward_compute,
    backward_compute,
    forward_send,
    forward_recv,
    backward_send,
    backward_recv,
    all_gather,
    reduce_scatter,
    layernorm,
    embedding,
    clip,
    optimizer,
    gc
};

[[nodiscard]] constexpr std::array<std::string_view, 13> names_of_enum(WorkKind) {
    return {"forward-compute",
            "backward-compute",
            "forward-send",
            "forward-recv",
            "backward-send",
            "backward-recv",
            "params-all-gather",
            "grads-reduce-scatter",
            "layernorm-grads-all-reduce",
            "embedding-grads-all-reduce",
            "optimizer-clip-main-grad",
            "optimizer",
            "gc"};
}
[[nodiscard]] constexpr std::size_t count_of_enum(WorkKind) {
    return 13;
}

// Holds one stage: how many operations of each kind a step has, and the order of its compute.
struct StageWork {
    EnumArray<WorkKind, int> count{};
    std::vector<WorkKind> compute;  // forward_compute and backward_compute
};

// Holds the times of a run: `seconds[step][replica]` has those of each operation, stage after stage, kind
// after kind, in the order in which the kind began.
struct WorkerTimes {
    std::vector<StageWork> stages;
    std::size_t replicas = 0;
    std::vector<std::vector<std::vector<double>>> seconds;
};

// Throws Error (invalid) where operations wait for each other in a ring.
[[nodiscard]] WhatIf what_if(const WorkerTimes& times);

}  // namespace pentamesh::runs
