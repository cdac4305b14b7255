#include "measured.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

double memory_of(const MeasuredRun& run, const Memory& memory) {
    const auto bytes = [&](const StageMemory& s) {
        return run.memory_kind == MemoryMeasured::allocated ? s.allocated : s.reserved;
    };
    if (run.rank == MeasuredRun::Rank::first) return bytes(memory.stage.front());
    if (run.rank == MeasuredRun::Rank::last) return bytes(memory.stage.back());
    double most = 0;
    for (const StageMemory& s : memory.stage) most = std::max(most, bytes(s));
    return most;
}

}  // namespace

RunAccuracy accuracy_of(const MeasuredRun& run, Evaluation& scratch) {
    RunAccuracy a;
    evaluate(run.plan, scratch);
    if (!scratch.valid) return a;
    if (scratch.step && run.has_time()) {
        const Step& s = *scratch.step;
        const double want = run.measured_s(s);
        a.time = want / s.time_s - 1;
        a.step_s = s.time_s;
        a.measured_s = want;
        a.traits = traits_of(run.plan, s.model_flops_per_gpu * static_cast<double>(scratch.mesh.world)
                                           / s.tokens_per_step);
    }
    if (run.memory > 0) {
        a.memory_bytes = memory_of(run, scratch.memory);
        a.memory = a.memory_bytes / run.memory - 1;
    }
    if (run.fits) a.verdict = scratch.memory.fits() == *run.fits;
    return a;
}

ErrorSpread spread_of(std::vector<double> errors) {
    ErrorSpread s;
    s.runs = errors.size();
    if (errors.empty()) return s;
    const auto at = [&](double share) {
        return errors[std::min(errors.size() - 1,
                               static_cast<std::size_t>(share * static_cast<double>(errors.size())))];
    };
    std::sort(errors.begin(), errors.end());
    s.bias = at(0.5);
    for (double& e : errors) e = std::abs(e);
    std::sort(errors.begin(), errors.end());
    s.median = at(0.5);
    s.most = at(0.9);
    return s;
}

}  // namespace pentamesh
