// Shows the step as a waterfall of lost time, and the ranges of its figures.
#include "core/base/text.h"
#include "core/step/error_range.h"
#include "core/step/step.h"

namespace pentamesh {

std::string_view name_of(StepPart part) {
    switch (part) {
    case StepPart::compute: return "compute";
    case StepPart::recompute: return "recompute";
    case StepPart::bubble: return "bubble";
    case StepPart::exposed: return "exposed communication";
    case StepPart::optimizer: return "optimizer";
    case StepPart::straggler: return "stragglers";
    case StepPart::ideal: return "ideal compute";
    case StepPart::products: return "products below the peak";
    case StepPart::attention: return "attention below it";
    case StepPart::moving: return "norms, memory-bound";
    case StepPart::starts: return "waiting for starts";
    case StepPart::uneven: return "uneven stages";
    }
    return "";
}

std::vector<StepSlice> waterfall(const Step& s) {
    std::vector<StepSlice> out;
    double at = 0;
    const auto add = [&](StepPart part, double time_s, GroupKind group = GroupKind::tp) {
        if (time_s <= 0) return;
        out.push_back({part, group, at, time_s});
        at += time_s;
    };
    add(StepPart::ideal, s.ideal_s);
    add(StepPart::products, s.below.products);
    add(StepPart::attention, s.below.attention);
    add(StepPart::moving, s.below.moving);
    add(StepPart::starts, s.below.starts);
    add(StepPart::recompute, s.recompute_s);
    add(StepPart::bubble, schedule_bubble_s(s));
    add(StepPart::uneven, s.uneven_s);
    for (const GroupKind kind : all_of<GroupKind>()) add(StepPart::exposed, s.exposed_comm_s[kind], kind);
    add(StepPart::optimizer, s.optimizer_s);
    add(StepPart::straggler, s.straggler_s);
    return out;
}

std::vector<StepSlice> joined(std::vector<StepSlice> slices, bool (*is)(StepPart), StepPart as) {
    std::vector<StepSlice> out;
    for (StepSlice& s : slices) {
        if (is(s.part)) s.part = as;
        if (s.part == as && !out.empty() && out.back().part == as)
            out.back().time_s += s.time_s;
        else
            out.push_back(s);
    }
    return out;
}

Band band_of(double x, double error) {
    return {x / (1 + error), x * (1 + error)};
}

std::string range_sentence(const Step& s) {
    const std::string shares = " lie within " + percent_text(s.error) + ", nine of ten within "
                               + percent_text(s.error_90) + ", each left out of the fit.";
    if (s.calibrated > 0)
        return "Calibrated from " + count_text(s.calibrated, "run") + " of your own: half of them" + shares;
    return "Half of the measured runs like this one" + shares
           + (s.nearest_run < kFarRun ? "" : " No measured run is near.");
}

double days_for(const Step& step, double tokens) {
    constexpr double kDay_s = 86400;
    return step.tokens_per_s > 0 ? tokens / step.tokens_per_s / kDay_s : 0;
}

}  // namespace pentamesh
