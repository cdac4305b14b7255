#include "measured.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace pentamesh {
namespace {

using Json = nlohmann::json;

constexpr double kGib = 1024.0 * 1024 * 1024;

// The plan with the fields that only later versions of the program know, given by pointer.
Plan plan_of(const Json& run, const std::string& file, const Presets& presets) {
    Json plan = run.at("plan");
    if (run.contains("more"))
        for (const auto& [pointer, value] : run["more"].items()) plan[Json::json_pointer(pointer)] = value;
    return parse_plan(plan.dump(), file + ": " + run.at("id").get<std::string>(), presets);
}

void read_time(const Json& m, MeasuredRun& run) {
    const Training& t = run.plan.training;
    const double tokens = static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length);
    run.step_s = m.value("iteration_s", 0.0);
    if (m.contains("tokens_per_s_per_gpu"))
        run.step_s =
            tokens / (m["tokens_per_s_per_gpu"].get<double>() * static_cast<double>(run.plan.cluster.gpus));
    run.tflops = m.value("model_tflops_per_gpu", 0.0);
}

// What nvidia-smi shows is what is reserved, once the context is taken off.
void read_memory(const Json& m, MeasuredRun& run) {
    if (m.contains("peak_allocated_gib")) {
        run.memory = kGib * m["peak_allocated_gib"].get<double>();
    } else if (m.contains("peak_reserved_gib")) {
        run.memory = kGib * m["peak_reserved_gib"].get<double>();
        run.memory_kind = MemoryMeasured::reserved;
    } else if (m.contains("peak_smi_gib")) {
        run.memory = kGib * (m["peak_smi_gib"].get<double>() - m.value("smi_outside_gib", 0.0));
        run.memory_kind = MemoryMeasured::reserved;
    }
    if (!m.contains("rank")) return;
    run.rank = m["rank"] == 0        ? MeasuredRun::Rank::first
               : m["rank"] == "last" ? MeasuredRun::Rank::last
                                     : MeasuredRun::Rank::largest;
}

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

std::vector<MeasuredRun> read_measured(const std::string& file, const Presets& presets) {
    std::vector<MeasuredRun> runs;
    const Json root = parse_json(read_file(file), file);
    for (const Json& given : root.at("cases")) {
        MeasuredRun run;
        run.id = given.at("id");
        run.framework = given.at("framework");
        run.plan = plan_of(given, file, presets);
        const Json& m = given.at("measured");
        read_time(m, run);
        read_memory(m, run);
        if (m.contains("fits")) run.fits = m["fits"].get<bool>();
        runs.push_back(std::move(run));
    }
    return runs;
}

RunAccuracy accuracy_of(const MeasuredRun& run, Evaluation& scratch) {
    RunAccuracy a;
    evaluate(run.plan, scratch);
    if (!scratch.valid) return a;
    if (scratch.step && (run.step_s > 0 || run.tflops > 0)) {
        const Step& s = *scratch.step;
        const double want = run.step_s > 0 ? run.step_s : s.time_s * s.tflops_per_gpu / run.tflops;
        a.time = want / s.time_s - 1;
    }
    if (run.memory > 0) a.memory = memory_of(run, scratch.memory) / run.memory - 1;
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
