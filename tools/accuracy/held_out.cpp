#include "tools/accuracy/held_out.h"

#include "core/base/number.h"
#include "core/base/statistics.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace pentamesh {
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
        if (found[i].time) out.push_back({runs[i].id, runs[i].family, found[i].traits, *found[i].time});
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

}  // namespace pentamesh
