// The step as a waterfall of lost time, and the ranges beside its figures.
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
    case StepPart::kernels: return "below the peak";
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
    add(StepPart::kernels, s.compute_s - s.ideal_s);
    add(StepPart::recompute, s.recompute_s);
    add(StepPart::bubble, schedule_bubble_s(s));
    add(StepPart::uneven, s.uneven_s);
    for (int k = 0; k < kGroupKindCount; ++k)
        add(StepPart::exposed, s.exposed_comm_s[k], static_cast<GroupKind>(k));
    add(StepPart::optimizer, s.optimizer_s);
    add(StepPart::straggler, s.straggler_s);
    return out;
}

Band range_of_time(double time_s, double error) {
    return {time_s * (1 - error), time_s * (1 + error)};
}

Band range_of_rate(double rate, double error) {
    return {rate / (1 + error), error < 1 ? rate / (1 - error) : rate};
}

double days_for(const Step& step, double tokens) {
    constexpr double kDay_s = 86400;
    return step.tokens_per_s > 0 ? tokens / step.tokens_per_s / kDay_s : 0;
}

}  // namespace pentamesh
