#include "core/calibrate/measured_runs.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/evaluate.h"
#include "core/explain/published.h"
#include "core/interop/import.h"
#include "core/io/plan_document.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/runs/measured.h"

#include <cmath>

namespace pentamesh {
namespace {

using Json = nlohmann::json;

constexpr double kBytesOfGib = 1024.0 * 1024 * 1024;

// Returns the plan with the fields that only later versions of the program know, given by pointer.
Plan plan_of_case(const Json& run, const std::string& place, const Presets& presets) {
    Json plan = run.at("plan");
    if (plan.is_string()) return presets.plan(plan.get<std::string>());
    if (run.contains("more"))
        for (const auto& [pointer, value] : run["more"].items()) plan[Json::json_pointer(pointer)] = value;
    return plan_from_json(plan, place, presets);
}

// Returns 0 where it is not given. Throws Error where it is given and cannot be a time or a rate.
double measured_figure(const Json& m, const char* key, const std::string& place) {
    if (!m.contains(key)) return 0;
    const double x = m[key].get<double>();
    if (!(x > 0) || !std::isfinite(x))
        throw Error(ErrorKind::invalid, place, std::string("/measured/") + key,
                    "must be more than 0, found " + m[key].dump());
    return x;
}

void read_times(const Json& m, const std::string& place, MeasuredRun& run) {
    run.step_s = measured_figure(m, "iteration_s", place);
    if (const double rate = measured_figure(m, "tokens_per_s_per_gpu", place); rate > 0)
        run.step_s = tokens_per_step(run.plan.training) / (rate * static_cast<double>(run.plan.cluster.gpus));
    run.tflops = measured_figure(m, "model_tflops_per_gpu", place);
}

// nvidia-smi shows the reserved memory and the context, which is taken off.
void read_peak(const Json& m, MeasuredRun& run) {
    if (m.contains("peak_allocated_gib")) {
        run.memory = kBytesOfGib * m["peak_allocated_gib"].get<double>();
    } else if (m.contains("peak_reserved_gib")) {
        run.memory = kBytesOfGib * m["peak_reserved_gib"].get<double>();
        run.memory_kind = MemoryMeasured::reserved;
    } else if (m.contains("peak_smi_gib")) {
        run.memory = kBytesOfGib * (m["peak_smi_gib"].get<double>() - m.value("smi_outside_gib", 0.0));
        run.memory_kind = MemoryMeasured::reserved;
    }
    if (!m.contains("rank")) return;
    run.rank = m["rank"] == 0        ? MeasuredRun::Rank::first
               : m["rank"] == "last" ? MeasuredRun::Rank::last
                                     : MeasuredRun::Rank::largest;
}

MeasuredRun read_case(const Json& given, const std::string& place, const Presets& presets) {
    MeasuredRun run;
    run.plan = plan_of_case(given, place, presets);
    run.id = given.value("id", run.plan.name);
    run.framework = given.value("framework", std::string(name_of(run.plan.training.software)));
    run.family = given.value("family", std::string());
    const Json& m = given.at("measured");
    read_times(m, place, run);
    read_peak(m, run);
    if (m.contains("fits")) run.fits = m["fits"].get<bool>();
    return run;
}

// The source leaves some choices open (recomputation): the first that fits is taken.
MeasuredRun from_published(const PublishedRun& published) {
    Evaluation scratch;
    MeasuredRun run;
    run.plan = published.plans.back();
    for (const Plan& p : published.plans) {
        evaluate(p, scratch, {.timeline = false, .messages = false});
        if (!scratch.memory.may_fit()) continue;  // it has run
        run.plan = p;
        break;
    }
    run.id = published.label;
    run.framework = name_of(run.plan.training.software);
    run.step_s = published.measured_s;
    run.tflops = published.measured_tflops;
    return run;
}

}  // namespace

std::vector<MeasuredRun> read_measured(std::string_view text, const std::string& path,
                                       const Presets& presets) {
    const Json root = parse_json(text, path);
    const Json* cases = root.is_array()                              ? &root
                        : root.is_object() && root.contains("cases") ? &root["cases"]
                                                                     : nullptr;
    if (!cases || !cases->is_array())
        throw Error(ErrorKind::invalid, path, "/cases", "is missing, must be a list of runs");
    std::vector<MeasuredRun> runs;
    for (std::size_t i = 0; i < cases->size(); ++i) {
        const Json& given = (*cases)[i];
        const std::string pointer = (root.is_array() ? "/" : "/cases/") + std::to_string(i);
        try {
            const std::string place =
                path + ": " + (given.is_object() ? given.value("id", pointer) : pointer);
            if (given.is_object() && given.contains("plan")) {
                runs.push_back(read_case(given, place, presets));
            } else {
                const std::string one = Json{{"cases", {given}}}.dump();
                runs.push_back(from_published(read_published_runs(one, place, presets).at(0)));
            }
        } catch (const Json::exception& e) {
            throw Error(ErrorKind::invalid, path, pointer, e.what());
        }
    }
    return runs;
}

std::vector<MeasuredRun> read_measured_file(const std::string& path, const Presets& presets) {
    return read_measured(read_file(path), path, presets);
}

MeasuredRun read_log(std::string_view text, const std::string& path, const Plan* plan,
                     const std::string& cluster, const Presets& presets) {
    const runs::RunFile log = runs::read_run_log(std::string(text));
    if (log.steps == 0)
        throw Error(
            ErrorKind::invalid, path, "",
            "has no step times: \"elapsed time per iteration (ms): ...\" of Megatron or \"tps: ...\" of "
            "torchtitan");
    MeasuredRun run;
    run.id = path;
    if (plan) {
        run.plan = *plan;
    } else {
        interop::ImportRequest request;
        request.text = text;
        request.path = path;
        request.cluster = cluster;
        const auto ask = " Name the run's plan with --plan.";
        if (interop::guess_framework(text).empty())
            throw Error(ErrorKind::invalid, path, "", std::string("does not say the run's settings.") + ask);
        const interop::Import made = interop::import_settings(request, presets);
        for (const interop::ImportProblem& p : made.problems)
            if (!made.plan && p.severity == Severity::error)
                throw Error(ErrorKind::invalid, path, "", p.message + "." + ask);
        if (!made.plan) throw Error(ErrorKind::invalid, path, "", std::string("does not hold a plan.") + ask);
        run.plan = *made.plan;
    }
    run.framework = name_of(run.plan.training.software);
    const runs::Measured m = runs::measure({log}, &run.plan, presets);
    run.step_s = m.measured_s.value_or(0), run.compute_s = m.compute_s;
    return run;
}

}  // namespace pentamesh
