#include "tools/accuracy/held_out.h"

#include "core/base/number.h"
#include "core/calibrate/parameters.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

namespace pentamesh {
namespace {

bool is_megatron(Software s) {
    return s == Software::megatron || s == Software::megatron_bridge;
}

// Over the error in the sample, in logarithms.
EnumArray<Software, double> growth_of(const std::vector<MeasuredError>& errors) {
    EnumArray<Software, double> growth{};
    for (const Software s : all_of<Software>()) {
        const auto same = [&](const MeasuredError& m) {
            return m.run.software == s || (is_megatron(s) && is_megatron(m.run.software));
        };
        const auto n = static_cast<double>(std::count_if(errors.begin(), errors.end(), same));
        const auto& figures = facts_of(s).figures;
        auto p = static_cast<double>(std::count_if(figures.begin(), figures.end(), [](const auto& f) {
            return f.from == SoftwareFacts::Figure::From::own_runs;
        }));
        if (is_megatron(s)) p += static_cast<double>(fitted_parameters().size());
        growth[s] = 1 / (1 - std::min(0.5, n > 0 ? p / n : 0));  // of fewer runs the mean says nothing
    }
    return growth;
}

std::string gpu_kind(double peak) {
    return peak < 5e14 ? "GPUs to 500 TFLOP/s" : peak < 2e15 ? "GPUs to 2,000 TFLOP/s" : "faster GPUs";
}

}  // namespace

std::vector<MeasuredError> held_out_errors(const std::vector<MeasuredRun>& runs,
                                           const std::vector<RunAccuracy>& found) {
    std::vector<MeasuredError> out;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (found[i].time) out.push_back({runs[i].id, runs[i].family, found[i].traits, *found[i].time});
    const EnumArray<Software, double> growth = growth_of(out);
    for (MeasuredError& m : out) m.error = std::expm1(growth[m.run.software] * std::log1p(m.error));
    return out;
}

std::map<std::string, Coverage> coverage_of(const std::vector<MeasuredError>& errors) {
    std::map<std::string, Coverage> by;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        std::vector<MeasuredError> others = errors;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const MeasuredError& m = errors[i];
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
        "measured time over the program's, less 1, grown to what it would be had the run been left out "
        "of what was fitted (docs/accuracy.md)";
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

}  // namespace pentamesh
