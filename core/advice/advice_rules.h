// The files of advice share this: a plan's evaluation, and changes tried out on it.
#pragma once

#include "core/advice/advice.h"
#include "core/evaluate.h"
#include "core/mesh/places.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"

#include <optional>
#include <string>

namespace pentamesh {

// A change is worth an offer if the step takes at most this share of its time with it.
inline constexpr double kFaster = 0.99;

// This is a change that was evaluated and found valid.
struct Candidate {
    std::vector<Edit> edits;
    double time_s = 0, peak_bytes = 0;
};

struct Advice {
    const Plan& plan;
    const Evaluation& now;  // has a step, replayed where the schedule is not too long for that
    std::vector<Advised>& out;
    Evaluation base = {};   // the plan by the closed forms that trials go by: like is compared with like
    Plan changed = {};      // scratch
    Evaluation trial = {};  // scratch
    Evaluation shown = {};  // the plan with `shown_edits`, as its own report will show it
    std::vector<Edit> shown_edits = {};
    double allowed_bytes = most_after_change(now.memory);  // that a change may leave a GPU with

    Advised& add(Severity severity, Rule rule, ProblemCode code, std::string_view pointer) {
        Advised& p = out.emplace_back();
        p.severity = severity;
        p.rule = rule;
        p.code = code;
        p.pointer = pointer;
        return p;
    }

    // Evaluates the plan with a change; returns false where that is no valid plan, its software lacks it, or
    // it has no step time.
    template <typename Change>
    bool works(Change&& change) {
        changed.layout = plan.layout;
        changed.training = plan.training;
        changed.cluster.gpus = plan.cluster.gpus;
        change(changed);
        follow_software(plan, changed);
        if (lack_that_came(plan, changed)) return false;
        evaluate(changed, trial, {false, false});
        return trial.valid && trial.step.has_value();
    }
    [[nodiscard]] Candidate candidate() const;  // of the trial
    // Evaluates the plan with these edits as a report shows it, into `shown`. Returns false if it is no valid
    // plan.
    [[nodiscard]] bool show(const std::vector<Edit>& edits);
    [[nodiscard]] bool leaves_room(const Memory& memory) const { return memory.peak() <= allowed_bytes; }
    // Returns true if the shown plan leaves room, or takes no more memory than the plan.
    [[nodiscard]] bool shown_memory_allows() const {
        return leaves_room(shown.memory) || shown.memory.peak() <= now.memory.peak();
    }
    [[nodiscard]] bool shown_is_faster() const { return shown.step->time_s < kFaster * now.step->time_s; }
    // Return a figure of the plan, and the same of the shown one. `kind` is that of group_*.
    [[nodiscard]] Stated before(Measure measure, GroupKind kind = GroupKind::tp) const;
    [[nodiscard]] Stated after(Measure measure, GroupKind kind = GroupKind::tp) const;
    // Returns true if the trial leaves room, or at least takes no more memory than the plan does.
    [[nodiscard]] bool memory_allows() const {
        return leaves_room(trial.memory) || trial.memory.peak() <= base.memory.peak();
    }
};

// Keeps the fastest of the changes that work, whose memory is allowed.
class Fastest {
  public:
    explicit Fastest(Advice& advice) : advice_(advice) {}
    template <typename Change>
    void consider(Change&& change, bool must_fit = false) {
        if (!advice_.works(change)) return;
        if (must_fit ? !advice_.leaves_room(advice_.trial.memory) : !advice_.memory_allows()) return;
        if (best_ && best_->time_s <= advice_.trial.step->time_s) return;
        best_ = advice_.candidate();
    }
    // Returns the best only where it beats `limit_s` by at least one percent.
    [[nodiscard]] const Candidate* better_than(double limit_s) const {
        return best_ && best_->time_s < kFaster * limit_s ? &*best_ : nullptr;
    }
    [[nodiscard]] const Candidate* any() const { return best_ ? &*best_ : nullptr; }

  private:
    Advice& advice_;
    std::optional<Candidate> best_;
};

// Sets the problem's fix and says what it gives: "With tp = 8 a step takes 3.1 s instead of 9.2 s."
// Returns false, and appends nothing, where the replay shows less than one percent of gain.
bool offer(Advice& a, Advised& problem, const Candidate& candidate);
// Does the same; the advice added last is taken back where nothing can be offered for it.
void offer_or_withdraw(Advice& advice, Advised& problem, const Candidate& candidate);
// Appends to one of its texts how the shown plan changes traffic and time: " for the same bytes on the wire",
// or "; each GPU then sends 381 GB a step instead of 304 GB"; where it is so, ", and a step takes 3.2 s
// instead of 3.1 s".
void say_price(Advice& a, Advised& problem, std::string& text);

// Appends "16.7 s a step instead of 12.7 s", where `unit` is " a step"; of two figures that are written the
// same "16.7 s a step, as before".
void say_change(std::string& text, Advised& problem, const Stated& now, const Stated& was,
                std::string_view unit = "");

// Each is in its own file.
void advise_experts(Advice& a);    // advice.cpp
void advise_placement(Advice& a);  // advice.cpp
void advise_sharding(Advice& a);   // advice.cpp
void advise_memory(Advice& a);     // advice_memory.cpp
void advise_step(Advice& a);       // advice_memory.cpp
void advise_stages(Advice& a);     // advice.cpp: part of the step

}  // namespace pentamesh
