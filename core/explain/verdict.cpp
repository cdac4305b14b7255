#include "core/explain/verdict.h"

#include "core/base/text.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <cmath>

namespace pentamesh {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kAlike = 0.005 * kGib;
constexpr double kWorthSaying = 0.01;  // of the step

// "75.5 of 79.6 GiB"
std::string of_memory(double bytes, double hbm) {
    const std::string all = memory_text(hbm, Zeros::kept), part = memory_text(bytes, Zeros::kept);
    const std::size_t unit = part.rfind(' ');
    const bool one_unit = all.ends_with(part.substr(unit));
    return (one_unit ? part.substr(0, unit) : part) + " of " + all;
}

bool is_every_stage(StageRun run, const Memory& m) {
    return run.last - run.first + 1 == static_cast<int>(m.stage.size());
}

std::string reason_of(const Memory& m, MemoryFit fit) {
    const StageMemory& s = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const StageRun run = fullest_stages(m);
    const std::string who = words_of(run, m), of = of_memory(s.total(), m.hbm);
    const bool every = is_every_stage(run, m), several = !every && run.last > run.first;
    const auto memory = [](double bytes) { return memory_text(bytes, Zeros::kept); };
    switch (fit) {
    case MemoryFit::no:
        return who + (several ? " need " : " needs ") + of + ", and " + memory(s.least())
               + " with the smallest buffers that were measured.";
    case MemoryFit::if_small:
        return who + (several ? " need " : " needs ") + of + " with the usual " + memory(s.buffers)
               + " of buffers, " + memory(s.least()) + " with the smallest that were measured.";
    case MemoryFit::yes: break;
    }
    const std::string verb = every ? " holds " : several ? " are fullest: " : " is fullest: ";
    return who + verb + of
           + (s.most() > m.hbm ? ". With the largest buffers that were measured it is " + memory(s.most())
                               : "")
           + ".";
}

std::string loss_name(const StepSlice& loss) {
    switch (loss.part) {
    case StepPart::bubble: return "the bubble";
    case StepPart::recompute: return "recomputation";
    case StepPart::uneven: return "uneven stages";
    case StepPart::straggler: return "stragglers";
    case StepPart::exposed: return "exposed " + std::string(name_of(loss.group));
    default: return {};
    }
}

}  // namespace

StageRun fullest_stages(const Memory& m) {
    const auto total = [&](int i) { return m.stage[static_cast<std::size_t>(i)].total(); };
    const double most = total(m.peak_stage);
    StageRun run{m.peak_stage, m.peak_stage};
    const int last = static_cast<int>(m.stage.size()) - 1;
    while (run.first > 0 && std::abs(total(run.first - 1) - most) < kAlike) --run.first;
    while (run.last < last && std::abs(total(run.last + 1) - most) < kAlike) ++run.last;
    return run;
}

std::string words_of(StageRun run, const Memory& m) {
    if (is_every_stage(run, m)) return "Every GPU";
    if (run.first == run.last) return sentence("Stage ", run.first);
    return sentence("Stages ", run.first, run.last == run.first + 1 ? " and " : " to ", run.last);
}

std::optional<StepSlice> largest_loss(const Step& step) {
    std::optional<StepSlice> largest;
    for (const StepSlice& s : waterfall(step)) {
        if (loss_name(s).empty() || s.time_s < kWorthSaying * step.time_s) continue;
        if (!largest || s.time_s > largest->time_s) largest = s;
    }
    return largest;
}

PlanVerdict verdict_of(const Evaluation& e) {
    PlanVerdict out{.fit = fit_of(e.memory)};
    if (!out.fit) {
        out.sentence = "This layout cannot be built.";
        out.reason = first_error(e.problems);
        return out;
    }
    switch (*out.fit) {
    case MemoryFit::no: out.sentence = "Does not fit in memory."; break;
    case MemoryFit::if_small: out.sentence = "Fits only if buffers stay small."; break;
    case MemoryFit::yes:
        out.nearly_full = std::any_of(e.memory.stage.begin(), e.memory.stage.end(),
                                      [&](const StageMemory& s) { return s.most() > e.memory.hbm; });
        out.sentence = out.nearly_full ? "Fits with the usual buffers." : "Fits.";
        break;
    }
    out.reason = reason_of(e.memory, *out.fit);
    if (!e.step) return out;
    if (const auto loss = largest_loss(*e.step))
        out.sentence += " Largest loss to mend: " + loss_name(*loss) + ", "
                        + percent_text(loss->time_s / e.step->time_s, Zeros::kept) + " of the step.";
    else
        out.sentence += " No loss that another layout could mend is above 1 % of the step.";
    return out;
}

namespace {

std::string layout_text(const Plan& plan) {
    const Layout& l = plan.layout;
    std::string factors;
    for (const Axis a : l.order)
        if (const std::int64_t f = factor_in_force(plan, a); f > 1)
            factors += sentence(" ", name_of(a), " ", f);
    std::string s = factors.empty() ? "Layout: nothing is parallel" : "Layout, inner to outer:" + factors;
    if (l.ep > 1 && l.etp) s += sentence(" etp ", *l.etp);
    s += sentence("; ZeRO-", l.zero);
    if (l.tp > 1) s += l.sequence_parallel ? ", sequence parallel" : ", no sequence parallel";
    if (l.pp > 1) s += sentence(", ", name_of(l.schedule));
    if (l.pp > 1 && l.virtual_stages > 1) s += sentence(" × ", l.virtual_stages);
    return s;
}

}  // namespace

std::string plan_line(const Plan& plan) {
    const Training& t = plan.training;
    return sentence(layout_text(plan), ". Batch ", t.global_batch, " × ", t.sequence_length,
                    " tokens, micro-batch ", t.micro_batch, ", ", name_of(t.compute), ", gradients ",
                    name_of(t.gradients), ", ", name_of(t.optimizer), ", recompute ", words_of(t.recompute),
                    ".");
}

std::string asked_line(const Plan& plan, std::int64_t microbatches) {
    const Gpu& gpu = plan.cluster.gpu;
    std::string asked = sentence(plan.model.name, " on ", plan.cluster.gpus, " × ",
                                 gpu.name.empty() ? gpu.id : gpu.name, ". ", plan_line(plan));
    if (microbatches <= 0) return asked;
    return asked
           + sentence(" ", microbatches, microbatches == 1 ? " micro-batch" : " micro-batches", " per step.");
}

}  // namespace pentamesh
