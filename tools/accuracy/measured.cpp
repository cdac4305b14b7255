#include "tools/accuracy/measured.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/plan/names.h"
#include "measured.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace pentamesh {

Halves::Halves(std::string_view text, const std::string& path) : path_(path) {
    const nlohmann::json root = parse_json(text, path);
    try {
        fitted_ = root.at("fitted").get<std::set<std::string>>();
        judged_ = root.at("judged").get<std::set<std::string>>();
        const nlohmann::json dated = root.value("dated", nlohmann::json::object());
        for (const auto& [name, sources] : dated.items()) {
            const auto software = parse_name<Software>(name);
            if (!software) throw Error(ErrorKind::invalid, path, "/dated/" + name, "is no software");
            for (const auto& source : sources) dated_[source.get<std::string>()] = *software;
        }
    } catch (const nlohmann::json::exception& e) {
        throw Error(ErrorKind::invalid, path, "", e.what());
    }
    for (const std::string& name : judged_)
        if (fitted_.contains(name))
            throw Error(ErrorKind::invalid, path, "/judged", "a source is in both halves: " + name);
}

bool Halves::judged(const std::string& source) const {
    const bool judged = judged_.contains(source);
    if (!judged && !fitted_.contains(source))
        throw Error(ErrorKind::invalid, path_, "", "has no half for the source \"" + source + "\"");
    return judged;
}

std::optional<Software> Halves::dated(const std::string& source) const {
    const auto at = dated_.find(source);
    return at != dated_.end() ? std::optional(at->second) : std::nullopt;
}

Halves read_halves_file(const std::string& path) {
    return {read_file(path), path};
}

std::vector<MeasuredRun> read_golden_runs(const std::string& folder, const Halves& halves,
                                          const Presets& presets) {
    std::vector<MeasuredRun> all;
    for (const char* name : {"/measured.json", "/measured_2026.json"})
        for (MeasuredRun& run : read_measured_file(folder + name, presets)) {
            if (const auto software = halves.dated(run.family)) run.plan.training.software = *software;
            all.push_back(std::move(run));
        }
    return all;
}

namespace {

// Returns the median size of the errors of one half, in logarithms.
double median_of(const std::vector<MeasuredError>& errors, const Halves& halves, bool judged) {
    std::vector<double> sizes;
    for (const MeasuredError& m : errors)
        if (halves.judged(m.family) == judged) sizes.push_back(std::abs(std::log1p(m.error)));
    return sizes.empty() ? 0 : median(std::move(sizes));
}

std::string gpu_kind(double peak) {
    return peak < 5e14 ? "GPUs to 500 TFLOP/s" : peak < 2e15 ? "GPUs to 2,000 TFLOP/s" : "faster GPUs";
}

}  // namespace

std::vector<MeasuredError> held_out_errors(const std::vector<MeasuredRun>& runs,
                                           const std::vector<RunAccuracy>& found, const Halves& halves) {
    std::vector<MeasuredError> out;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (found[i].time) out.push_back({runs[i].id, runs[i].family, found[i].traits, *found[i].time, 0});
    number_sources(out);
    const double fitted = median_of(out, halves, false), judged = median_of(out, halves, true);
    const double growth = fitted > 0 ? std::max(1.0, judged / fitted) : 1;
    for (MeasuredError& m : out)
        if (!halves.judged(m.family)) m.error = std::expm1(growth * std::log1p(m.error));
    return out;
}

std::map<std::string, Coverage> coverage_of(const std::vector<MeasuredError>& errors) {
    std::map<std::string, Coverage> by;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const MeasuredError& m = errors[i];
        std::vector<MeasuredError> others;
        for (const MeasuredError& o : errors)
            if (o.family != m.family) others.push_back(o);
        const ErrorRange range = error_range(std::span<const MeasuredError>(others), m.run);
        const std::string kind = m.run.moe ? "MoE" : "dense";
        for (const std::string& name : {std::string("all"), kind, gpu_kind(m.run.peak),
                                        std::string(name_of(m.run.software)) + ", " + kind}) {
            Coverage& c = by[name];
            ++c.runs;
            c.half += m.size() <= range.half ? 1 : 0;
            c.most += m.size() <= range.most ? 1 : 0;
        }
    }
    return by;
}

std::string write_measured_errors(const std::vector<MeasuredError>& errors) {
    using Json = nlohmann::ordered_json;
    const auto number = [](double x, int digits) { return Json::parse(general_text(x, digits)); };
    Json about;
    about["what"] =
        "errors of the step's time on measured runs (tests/golden/measured.json, with sources), made by "
        "`accuracy . --write`";
    about["error"] =
        "measured time over the program's, less 1; of sources that the constants are fitted on grown to "
        "the size of the errors on those that they are not (docs/accuracy.md)";
    about["flops_per_token"] = "of the model, forward and backward, as in MFU";
    about["peak"] = "of a GPU in 16 bits, FLOP/s";
    std::string text = "{\n\"_about\": " + about.dump(1) + ",\n\"runs\": [\n";
    for (const MeasuredError& m : errors) {
        Json run;
        run["id"] = m.id;
        run["family"] = m.family;
        run["software"] = name_of(m.run.software);
        run["moe"] = m.run.moe;
        run["flops_per_token"] = number(m.run.flops_per_token, 5);
        run["gpus"] = number(m.run.gpus, 9);
        run["sequence_length"] = number(m.run.sequence_length, 9);
        run["peak"] = number(m.run.peak, 9);
        run["compute"] = name_of(m.run.compute);
        run["error"] = number(m.error, 4);
        text += run.dump() + (&m == &errors.back() ? "\n" : ",\n");
    }
    return text + "]\n}\n";
}

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
    // "May not fit" agrees with both.
    if (const auto fit = fit_of(scratch.memory); run.fits && fit)
        a.verdict = *fit != (*run.fits ? MemoryFit::no : MemoryFit::yes);
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
