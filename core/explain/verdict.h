// The verdict on a plan: can it be laid out, does it fit, and which loss of the step is the largest that can
// be mended?
#pragma once

#include "core/base/explain.h"
#include "core/evaluate.h"
#include "core/plan/plan.h"
#include "core/step/constants.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    std::string sentence{};          // "Fits. Largest loss to mend: the bubble, 17.5 % of the step."
    std::string reason{};            // "Stages 1 to 7 are fullest: 77.1 of 79.6 GiB."
};
[[nodiscard]] PlanVerdict verdict_of(const Evaluation& evaluation);
// Says why a plan may not fit: "Where the loss keeps whole logits it is 195 GiB.", "It holds 163 of 179 GiB,
// more than 92 %, where ...". It is empty where that is not open.
[[nodiscard]] std::string open_fit_words(const Memory& memory);

// Writes a plan's layout and training in one line, for under a picture and over a report.
// Returns "Layout, inner to outer: tp 8 dp_shard 16; ZeRO-1. Batch 2,048 × 8,192 tokens, micro-batch 1, bf16
// ..."
[[nodiscard]] std::string plan_line(const Plan& plan);
// Returns "Llama 3.1 405B on 16,384 × H100 SXM. Layout, ... 32 micro-batches per step.": the whole request.
// With 0 micro-batches they are left out.
[[nodiscard]] std::string asked_line(const Plan& plan, std::int64_t microbatches);

// Holds published runs and finds those like a plan. presets/published_runs.json has them, each with its
// source: the step model is fitted on them (tools/fit) and the window shows the nearest next to an estimate.

class Presets;
struct Step;

struct PublishedRun {
    std::string label;        // "llama-3-70b 64 x gb300 NVFP4 tp 1 pp 4 cp 1 ep 1"
    std::string model;        // as the source names it
    std::string gpu;          // preset id
    std::string source;       // paper and table, or repository, commit and file
    std::vector<Plan> plans;  // the least recomputation first: the first that fits memory counts
    RunTraits traits;         // with the software that ran it
    double measured_s = 0;    // of a step; 0: only a rate is published
    double measured_tflops = 0;
};

// Throws Error or a JSON exception where the file has another form.
[[nodiscard]] std::vector<PublishedRun> load_published_runs(const Presets& presets);
[[nodiscard]] std::vector<PublishedRun> read_published_runs(std::string_view text, const std::string& path,
                                                            const Presets& presets);

// Holds what a published run measured that is this very plan: model, GPUs, factors, batch, sequence,
// recomputation. How many chunks a stage has is the one thing that may differ; `source` says so.
struct MeasuredMfu {
    double mfu = 0;
    std::string source;
};
[[nodiscard]] std::optional<MeasuredMfu> measured_mfu(const Plan& plan, const Step& step,
                                                      const std::vector<PublishedRun>& runs);

struct NearRun {
    std::size_t run = 0;                     // index into the runs
    double distance = 0;                     // of core/step/constants.h
    double measured_s = 0, estimated_s = 0;  // of the run's own step, with the constants that ship
    double tokens_per_gpu_s = 0;             // measured
    [[nodiscard]] double error() const { return measured_s / estimated_s - 1; }  // > 0: slower than estimated
};

// Finds the nearest runs of plan after plan. A run's own step is worked out when it is first near one, and
// kept: it depends on no other plan.
class NearestRuns {
  public:
    NearestRuns() = default;
    explicit NearestRuns(std::vector<PublishedRun> runs) : runs_(std::move(runs)), times_(runs_.size()) {}
    [[nodiscard]] const std::vector<PublishedRun>& runs() const { return runs_; }
    // Returns the `most` nearest, nearest first; a run that gets no step time is left out.
    [[nodiscard]] std::vector<NearRun> of(const Plan& plan, std::size_t most);
    [[nodiscard]] std::size_t worked_out() const;  // runs whose step is known by now

  private:
    struct Times {
        double measured_s = 0, estimated_s = 0, tokens_per_gpu_s = 0;  // 0: no step time
    };
    [[nodiscard]] static Times times_of(const PublishedRun& run);
    std::vector<PublishedRun> runs_;
    std::vector<std::optional<Times>> times_;
};

// Explains a part of the step: formula, this plan's numbers, source.

// It is empty where the plan has no step. `group` is that of StepPart::exposed.
[[nodiscard]] Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part,
                                       GroupKind group = GroupKind::tp);

}  // namespace pentamesh
