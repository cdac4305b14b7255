#include "core/decide/mends.h"

#include "core/base/text.h"
#include "core/decide/bounds.h"
#include "core/decide/decision.h"
#include "core/decide/search.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/software.h"
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"
#include "core/rules/state_runs.h"
#include "core/step/offload.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pentamesh {
namespace {

constexpr EvaluateOptions kClosedForm{.timeline = false, .messages = false, .report = false};

// A change that is tried: the plan with it, and what it is called.
struct TriedChange {
    Plan plan;
    std::string words;
};

// Returns the warnings that frameworks and hardware have on a valid plan.
std::vector<ProblemCode> warnings_on(const Plan& plan, const Evaluation& e) {
    std::vector<Problem> found;
    const ResolvedPlan resolved(plan, e.mesh, e.groups);
    Rules rules{resolved, false, found};
    check_frameworks(rules);
    check_notices(rules);
    std::vector<ProblemCode> out;
    for (const Problem& p : found)
        if (p.severity == Severity::warning) out.push_back(p.code);
    return out;
}

double most_on_host(const Memory& memory) {
    double most = 0;
    for (const StageMemory& s : memory.stage) most = std::max(most, s.host);
    return most;
}

// Tries changes of one plan.
class MendTrials {
  public:
    MendTrials(const Plan& plan, const Evaluation& now, const std::atomic<bool>* cancel)
        : plan_(plan), warnings_(warnings_on(plan, now)), cancel_(cancel) {}

    // Sets the bytes that a change may leave a GPU with.
    void allow(double bytes) { most_bytes_ = bytes; }
    [[nodiscard]] bool cancelled() const { return cancel_ != nullptr && *cancel_; }

    // Returns the change with the shortest step; of equal ones the first of the list.
    //
    // A change is evaluated in closed form first. One that does not fit then does not fit at all: what a GPU
    // holds follows from the order of its schedule, not from the times of a replay. One is skipped without a
    // replay if its bound is above the step of one that was found: no replay of its costs ends before
    // least_makespan (bounds.cpp), and a step is at least its makespan. Where a pipeline is too long to
    // replay, the step is the closed form's, which the bound is not above either.
    [[nodiscard]] std::optional<MemoryMend> fastest(MendKind kind, std::vector<TriedChange> changes) {
        struct Left {
            std::size_t at;
            double bound;
        };
        std::vector<Left> left;
        for (std::size_t i = 0; i < changes.size() && !cancelled(); ++i) {
            if (!evaluated(changes[i].plan, kClosedForm)) continue;
            const double makespan =
                least_makespan(shape_of(changes[i].plan, trial_.microbatches), trial_.costs);
            left.push_back({i, std::min(makespan, trial_.step->time_s)});
        }
        std::stable_sort(left.begin(), left.end(),
                         [](const Left& a, const Left& b) { return a.bound < b.bound; });
        std::optional<MemoryMend> best;
        std::size_t best_at = 0;
        for (const Left& l : left) {
            if (cancelled() || (best && l.bound > best->step_s)) break;
            std::optional<MemoryMend> mend = mend_by(kind, std::move(changes[l.at]));
            if (!mend) continue;
            const bool sooner = !best || mend->step_s < best->step_s;
            if (!sooner && (mend->step_s > best->step_s || l.at > best_at)) continue;
            best = std::move(mend), best_at = l.at;
        }
        return best;
    }

    // Returns the first change of the list that is a mend.
    [[nodiscard]] std::optional<MemoryMend> first(MendKind kind, std::vector<TriedChange> changes) {
        for (TriedChange& change : changes)
            if (!cancelled())
                if (auto mend = mend_by(kind, std::move(change))) return mend;
        return std::nullopt;
    }

    // Returns the change with the fewest bytes in host memory.
    [[nodiscard]] std::optional<MemoryMend> leanest_on_host(std::vector<TriedChange> changes) {
        std::optional<MemoryMend> best;
        for (TriedChange& change : changes) {
            if (cancelled()) break;
            auto mend = mend_by(MendKind::offload, std::move(change));
            if (mend && (!best || mend->host_bytes < best->host_bytes)) best = std::move(mend);
        }
        return best;
    }

  private:
    // Returns true if the change fits and is one that the plan's software runs.
    bool evaluated(Plan& changed, const EvaluateOptions& options) {
        if (changed == plan_) return false;
        follow_software(plan_, changed);
        if (lack_that_came(plan_, changed)) return false;
        evaluate(changed, trial_, options);
        return trial_.valid && trial_.step && trial_.memory.peak() <= most_bytes_;
    }
    [[nodiscard]] bool warns_anew(const Plan& changed) const {
        const std::vector<ProblemCode> found = warnings_on(changed, trial_);
        return std::any_of(found.begin(), found.end(), [&](ProblemCode code) {
            return std::find(warnings_.begin(), warnings_.end(), code) == warnings_.end();
        });
    }
    std::optional<MemoryMend> mend_by(MendKind kind, TriedChange change) {
        if (!evaluated(change.plan, {.messages = false}) || warns_anew(change.plan)) return std::nullopt;
        MemoryMend out;
        out.kind = kind;
        out.change = std::move(change.words);
        out.step_s = trial_.step->time_s, out.memory_bytes = trial_.memory.peak();
        out.host_bytes = most_on_host(trial_.memory);
        out.fit = trial_.memory.fit();
        out.plan = std::move(change.plan);
        return out;
    }

    const Plan& plan_;
    std::vector<ProblemCode> warnings_;
    const std::atomic<bool>* cancel_;
    double most_bytes_ = 0;
    Evaluation trial_ = {};
};

// Returns true if the software recomputes some layers and modules of layers, as Megatron does. The readers of
// plans for Automodel and MaxText have no words for it.
bool recomputes_finely(Software software) {
    return is_megatron(software) || software == Software::fsdp;
}

std::vector<TriedChange> recomputing(const Plan& plan, const std::vector<RecomputeChoice>& choices) {
    std::vector<TriedChange> out;
    for (const RecomputeChoice& choice : choices) {
        TriedChange& change = out.emplace_back(TriedChange{plan, "recompute = " + words_of(choice)});
        change.plan.training.recompute = choice;
    }
    return out;
}

std::vector<TriedChange> layers_recomputed(const Plan& plan) {
    std::vector<RecomputeChoice> choices;
    std::vector<std::int64_t> layers;
    layers_of_chunks(plan, layers);
    const std::int64_t most = layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
    const bool finely = recomputes_finely(plan.training.software);
    for (std::int64_t n = 1; finely && n < most; ++n)
        choices.emplace_back(RecomputeModules{}, n, RecomputeMethod::block);
    choices.emplace_back(Recompute::full);
    for (std::int64_t n = 2; finely && n <= most; ++n)
        choices.emplace_back(RecomputeModules{}, n, RecomputeMethod::uniform);
    return recomputing(plan, choices);
}

int modules_in(RecomputeModules modules) {
    int n = 0;
    for (const RecomputeModule m : all_of<RecomputeModule>()) n += modules.has(m) ? 1 : 0;
    return n;
}

// Lists all sets of modules, small ones first. Megatron refuses layernorm and moe_act where fp8 is scaled by
// past maxima (transformer_config.py, "Delayed scaling does not support moe_act and layernorm recompute"),
// which the plan's tensorwise recipe may be.
std::vector<TriedChange> modules_recomputed(const Plan& plan) {
    const Training& t = plan.training;
    if (!recomputes_finely(t.software)) return recomputing(plan, {Recompute::selective});
    const bool delayed =
        is_megatron(t.software) && t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::tensorwise;
    std::vector<RecomputeModules> sets;
    for (unsigned bits = 1; bits < 1U << kEnumCount<RecomputeModule>; ++bits) {
        RecomputeModules set;
        set.bits = static_cast<std::uint8_t>(bits);
        const bool refused =
            delayed && set.any_of(RecomputeModules(RecomputeModule::layernorm, RecomputeModule::moe_act));
        if (!refused) sets.push_back(set);
    }
    std::stable_sort(sets.begin(), sets.end(),
                     [](RecomputeModules a, RecomputeModules b) { return modules_in(a) < modules_in(b); });
    std::vector<RecomputeChoice> choices;
    for (const RecomputeModules set : sets) choices.emplace_back(set, 0, RecomputeMethod::block);
    return recomputing(plan, choices);
}

std::vector<TriedChange> settings_changed(const Plan& plan) {
    std::vector<TriedChange> out;
    const auto add = [&](std::string words) -> Plan& {
        return out.emplace_back(TriedChange{plan, std::move(words)}).plan;
    };
    if (plan.layout.tp > 1 && !plan.layout.sequence_parallel)
        add("sequence_parallel = on").layout.sequence_parallel = true;
    if (plan.training.attention != AttentionImpl::flash)
        add("attention = flash").training.attention = AttentionImpl::flash;
    if (plan.layout.zero == 3 && reshard_of(plan) == Reshard::never)
        add("reshard = after_forward").layout.reshard = Reshard::after_forward;
    return out;
}

// Lists what the software can move to the host (as core/interop writes it for each). Megatron: a share of the
// optimizer with its precision-aware Adam, which wants the distributed optimizer (training/arguments.py, "The
// optimizer cpu offload must be used in conjunction with --use-precision-aware-optimizer";
// optimizer_config.py) and, without a pipeline or recomputation, activations of fewer layers than there are.
// PyTorch and MaxText: parameters and optimizer whole. DeepSpeed: the optimizer, and at ZeRO-3 parameters
// too.
std::vector<TriedChange> moved_to_host(const Plan& plan) {
    std::vector<TriedChange> out;
    const Training& t = plan.training;
    const auto add = [&](std::string words, Offload away) {
        if (away.activations_layers < t.offload.activations_layers || away.optimizer < t.offload.optimizer
            || away.parameters < t.offload.parameters)
            return;
        out.push_back({plan, std::move(words)});
        out.back().plan.training.offload = away;
    };
    const auto states = [&](bool parameters) {
        add(parameters ? "offload.optimizer = 1 and offload.parameters = 1" : "offload.optimizer = 1",
            {t.offload.activations_layers, 1, parameters ? 1.0 : 0.0});
    };
    if (is_megatron(t.software)) {
        const bool scaled = t.parameters == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::tensorwise;
        if (plan.layout.zero == 1 && t.optimizer == Optimizer::adamw && !scaled)
            for (const double share : {0.25, 0.5, 0.75, 1.0})
                add("offload.optimizer = " + three_digits(share),
                    {t.offload.activations_layers, share, t.offload.parameters});
        if (plan.layout.pp == 1 && !t.recompute.any())
            for (std::int64_t n = 1; n < plan.model.layers; ++n)
                add("offload.activations_layers = " + std::to_string(n),
                    {n, t.offload.optimizer, t.offload.parameters});
    }
    const bool pytorch = t.software == Software::torchtitan || t.software == Software::fsdp;
    if (plan.layout.zero == 3 && (pytorch || t.software == Software::maxtext)) states(true);
    if (t.software == Software::deepspeed) {
        if (plan.layout.zero >= 1) states(false);
        if (plan.layout.zero == 3) states(true);
    }
    return out;
}

// Lists leaner types of states, the least change of numerics first. Moments in bf16 come before gradients: a
// gradient is a sum over all micro-batches and ranks. torchtitan has one type for all (training.dtype);
// DeepSpeed keeps moments in bf16 only with master weights and gradients in bf16 (runtime/config.py,
// _do_sanity_check).
std::vector<TriedChange> leaner_types(const Plan& plan) {
    std::vector<TriedChange> out;
    const Training& t = plan.training;
    const Dtype half = Dtype::bf16;
    if (t.compute != half && t.compute != Dtype::fp8 && t.compute != Dtype::fp4) return out;
    const bool moments =
        t.optimizer_state == Dtype::fp32 && keeps_moments(plan, t.software, plan.layout.zero, half);
    const bool gradients = t.gradients == Dtype::fp32 && keeps_gradients(plan, t.software, half);
    const auto add = [&](std::string words) -> Training& {
        return out.emplace_back(TriedChange{plan, std::move(words)}).plan.training;
    };
    if (moments) add("optimizer_state = bf16").optimizer_state = half;
    if (gradients) add("gradients = bf16").gradients = half;
    if (moments && gradients) {
        Training& both = add("gradients = bf16 and optimizer_state = bf16");
        both.optimizer_state = both.gradients = half;
    }
    const bool whole = t.software == Software::torchtitan
                       || (t.software == Software::deepspeed && plan.layout.zero > 0 && t.parameters == half);
    const bool is_half = t.parameters == half && t.gradients == half && t.optimizer_state == half
                         && t.master_weights == MasterWeights::none;
    if (whole && t.optimizer == Optimizer::adamw && t.compute == half && !is_half) {
        Training& all = add("parameters, gradients and optimizer_state = bf16, no master_weights");
        all.parameters = all.gradients = all.optimizer_state = half;
        all.master_weights = MasterWeights::none;
    }
    return out;
}

// Says the types of states that differ: "moments in bf16".
std::string numerics_words(const Training& from, const Training& to) {
    std::vector<std::string> what;
    if (from.parameters != to.parameters) what.emplace_back("weights");
    if (from.gradients != to.gradients) what.emplace_back("gradients");
    if (from.optimizer_state != to.optimizer_state) what.emplace_back("moments");
    const bool no_copy =
        from.master_weights != to.master_weights || bytes_of(to.parameters) < bytes_of(from.parameters);
    return "numerics: " + join(what, ", ") + " in bf16" + (no_copy ? ", without a copy in fp32" : "");
}

constexpr double kNoTime = 0.0005;  // of the step: less than is written of it

std::string time_words(double now_s, double then_s) {
    const double more = then_s - now_s;
    if (std::abs(more) < kNoTime * now_s) return "no time";
    return more > 0 ? time_text(more) + " a step" : "nothing; a step takes " + time_text(-more) + " less";
}

// Returns true if the step has all that the change costs: the CPU's own time for an optimizer is not counted,
// nor a link of unknown rate.
bool whole_time_counted(const Plan& own, const Plan& changed) {
    return counts_offload(changed) && changed.training.offload.optimizer == own.training.offload.optimizer;
}

// Gives the fastest of the moves whose whole time is counted, else the one with the fewest bytes on the host.
std::optional<MemoryMend> cheapest_move(const Plan& plan, MendTrials& trials) {
    std::vector<TriedChange> counted, others;
    for (TriedChange& change : moved_to_host(plan))
        (whole_time_counted(plan, change.plan) ? counted : others).push_back(std::move(change));
    if (auto mend = trials.fastest(MendKind::offload, std::move(counted))) return mend;
    return trials.leanest_on_host(std::move(others));
}

void say_what_is_given_up(const Plan& plan, double now_s, MemoryMend& mend) {
    const std::string time = time_words(now_s, mend.step_s);
    const bool slower = mend.step_s > now_s * (1 + kNoTime);
    mend.keeps_numerics = mend.kind != MendKind::types;
    const bool moves = mend.kind == MendKind::offload;
    mend.time_counted = !moves || whole_time_counted(plan, mend.plan);
    if (moves)
        mend.gives_up = memory_text(mend.host_bytes) + " of host memory a GPU, and "
                        + (mend.time_counted ? time
                           : counts_offload(mend.plan)
                               ? time + " with the way there and back; the CPU's own is not counted"
                               : "time on the link to it, which is not counted");
    else if (!mend.keeps_numerics)
        mend.gives_up = numerics_words(plan.training, mend.plan.training) + (slower ? "; " + time : "");
    else
        mend.gives_up = time;
    if (const std::string little = little_left_words(1 - mend.memory_bytes / plan.cluster.gpu.hbm_bytes);
        !little.empty())
        mend.gives_up += "; it " + little;
}

// Says the fields of a layout that change; dp_shard takes what the others leave.
std::string layout_words(const Plan& plan, const SearchResult& found) {
    const std::vector<Varied> changed = changed_choices(plan, found.choice);
    std::vector<Edit> said;
    for (Edit& edit : edits_between(plan, found.plan))
        if (std::any_of(changed.begin(), changed.end(), [&](Varied v) { return pointer_of(v) == edit.path; }))
            said.push_back(std::move(edit));
    return words_of(said);
}

MemoryMend mend_of(const Plan& plan, SearchResult found, MendKind kind) {
    MemoryMend out;
    out.kind = kind;
    out.change = layout_words(plan, found);
    out.step_s = found.step_s, out.memory_bytes = found.memory_bytes, out.fit = found.fit;
    out.plan = std::move(found.plan);
    return out;
}

bool has_kind(const std::vector<MemoryMend>& all, MendKind kind) {
    return std::any_of(all.begin(), all.end(), [kind](const MemoryMend& m) { return m.kind == kind; });
}

// Adds kinds that are missing. The searches are sorted by their steps, so the first of a kind is its fastest.
void add_layouts(const Plan& plan, double headroom, int threads, std::vector<MemoryMend>& out) {
    if (has_kind(out, MendKind::layout) && has_kind(out, MendKind::micro_batch)) return;
    for (SearchResult& found : best_of_each_edit(plan, {.headroom = headroom, .threads = threads})) {
        const std::vector<Varied> changed = changed_choices(plan, found.choice);
        if (changed.empty() || changed.front() == Varied::recompute) continue;
        const MendKind kind =
            changed.front() == Varied::micro_batch ? MendKind::micro_batch : MendKind::layout;
        if (!has_kind(out, kind)) out.push_back(mend_of(plan, std::move(found), kind));
    }
}

// Adds kinds that are missing, of changes that leave a GPU with at most so many bytes.
void add_others(const Plan& plan, double most_bytes, MendTrials& trials, std::vector<MemoryMend>& out) {
    trials.allow(most_bytes);
    const auto add = [&](MendKind kind, auto&& find) {
        if (has_kind(out, kind) || trials.cancelled()) return;
        if (std::optional<MemoryMend> mend = find()) out.push_back(std::move(*mend));
    };
    const auto fastest = [&](MendKind kind, std::vector<TriedChange> (*changes)(const Plan&)) {
        add(kind, [&] { return trials.fastest(kind, changes(plan)); });
    };
    fastest(MendKind::recompute_layers, layers_recomputed);
    fastest(MendKind::recompute_modules, modules_recomputed);
    fastest(MendKind::setting, settings_changed);
    add(MendKind::offload, [&] { return cheapest_move(plan, trials); });
    add(MendKind::types, [&] { return trials.first(MendKind::types, leaner_types(plan)); });
}

}  // namespace

std::vector<MemoryMend> mend_of_each_kind(const Plan& plan, const Evaluation& evaluation, int threads,
                                          const std::atomic<bool>* cancel) {
    std::vector<MemoryMend> out;
    if (!evaluation.valid || !evaluation.step) return out;
    MendTrials trials(plan, evaluation, cancel);
    for (const double share : {kTightShare, 1 - kHeadroom, 1.0}) {
        if (trials.cancelled()) break;
        add_layouts(plan, 1 - share, threads, out);
        add_others(plan, share * plan.cluster.gpu.hbm_bytes, trials, out);
    }
    for (MemoryMend& mend : out) say_what_is_given_up(plan, evaluation.step->time_s, mend);
    std::sort(out.begin(), out.end(),
              [](const MemoryMend& a, const MemoryMend& b) { return a.kind < b.kind; });
    return out;
}

std::vector<MemoryMend> find_mends(const Plan& plan, const Evaluation& evaluation, int threads,
                                   const std::atomic<bool>* cancel) {
    if (!evaluation.valid || !evaluation.step || evaluation.memory.fits()) return {};
    const auto cancelled = [cancel] { return cancel != nullptr && *cancel; };
    std::vector<MemoryMend> out = mend_of_each_kind(plan, evaluation, threads, cancel);
    std::stable_sort(out.begin(), out.end(), [](const MemoryMend& a, const MemoryMend& b) {
        return a.time_counted != b.time_counted ? a.time_counted : a.step_s < b.step_s;
    });
    if (out.size() > kMostMends) out.erase(out.begin() + kMostMends, out.end());
    std::stable_sort(out.begin(), out.end(), [](const MemoryMend& a, const MemoryMend& b) {
        return a.keeps_numerics && !b.keeps_numerics;
    });
    if (out.empty() && !cancelled()) {
        NearLayouts near = layouts_to_propose(plan, evaluation, threads, cancel);
        if (near.fastest) {
            out.push_back(mend_of(plan, std::move(*near.fastest), MendKind::layout));
            say_what_is_given_up(plan, evaluation.step->time_s, out.back());
        }
    }
    if (cancelled()) out.clear();
    return out;
}

}  // namespace pentamesh
