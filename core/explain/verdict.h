// The verdict on a plan: can it be laid out, does it fit, and which loss of the step is the largest that can
// be mended?
#pragma once

#include "core/evaluate.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh {

// The stages whose memory is the fullest stage's to a hundredth of a GiB, and follow one another.
struct StageRun {
    int first = 0, last = 0;
};
[[nodiscard]] StageRun fullest_stages(const Memory& m);
// "Stage 1", "Stages 1 to 7", or "Every GPU" where there is one stage or all hold the same.
[[nodiscard]] std::string words_of(StageRun run, const Memory& m);

// The part of the step that takes most, of those that another layout can mend: recomputation, bubble, uneven
// stages, exposed communication, stragglers. Empty where each is under 1 % of the step.
[[nodiscard]] std::optional<StepSlice> largest_loss(const Step& step);

struct PlanVerdict {
    std::optional<MemoryFit> fit{};  // nullopt: refused
    bool nearly_full = false;        // fits, but not with the largest buffers that were measured
    std::string sentence{};          // "Fits. Largest loss to mend: the bubble, 17.5 % of the step."
    std::string reason{};            // "Stages 1 to 7 are fullest: 77.1 of 79.6 GiB."
    // Returns what its sign and colour say: a plan that is nearly full is no better than one that fits only
    // if buffers stay small.
    [[nodiscard]] std::optional<MemoryFit> sign() const {
        return nearly_full ? std::optional(MemoryFit::if_small) : fit;
    }
};
[[nodiscard]] PlanVerdict verdict_of(const Evaluation& evaluation);

// Writes a plan's layout and training in one line, for under a picture and over a report.
// Returns "Layout, inner to outer: tp 8 dp_shard 16; ZeRO-1. Batch 2,048 × 8,192 tokens, micro-batch 1, bf16
// ..."
[[nodiscard]] std::string plan_line(const Plan& plan);
// Returns "Llama 3.1 405B on 16,384 × H100 SXM. Layout, ... 32 micro-batches per step.": the whole request.
// With 0 micro-batches they are left out.
[[nodiscard]] std::string asked_line(const Plan& plan, std::int64_t microbatches);

}  // namespace pentamesh
