#include "core/explain/verdict.h"

#include "core/base/text.h"
#include "core/rules/first_error.h"

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
    case MemoryFit::yes: out.sentence = "Fits."; break;
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

}  // namespace pentamesh
