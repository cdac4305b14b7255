#include "core/step/error_range.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/step/compute.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

using Json = nlohmann::json;

// This is written at configure time from presets/measured_errors.json.
constexpr std::string_view kText =
#include "measured_errors.inc"
    ;

constexpr double kOtherSoftware = 4, kOtherKind = 4, kOtherType = 1;
constexpr double kHalved = 2.5;   // distance that halves a weight
constexpr double kItself = 0.25;  // weight of the plan itself, over the nearest run's

template <typename Enum>
Enum named(const Json& run, const char* key) {
    const auto found = parse_name<Enum>(run.at(key).get<std::string>());
    if (!found) throw Error(ErrorKind::invalid, "", "", std::string(key) + " is none that is known");
    return *found;
}

MeasuredError read_run(const Json& run) {
    MeasuredError m;
    m.id = run.at("id");
    m.family = run.at("family");
    m.run.flops_per_token = run.at("flops_per_token");
    m.run.gpus = run.at("gpus");
    m.run.sequence_length = run.at("sequence_length");
    m.run.peak = run.at("peak");
    m.run.compute = named<Dtype>(run, "compute");
    m.run.software = named<Software>(run, "software");
    m.run.moe = run.at("moe");
    m.error = run.at("error");
    if (m.error <= -1) throw Error(ErrorKind::invalid, "", "", "error must be above -1");
    return m;
}

}  // namespace

RunTraits traits_of(const Plan& plan, double flops_per_token) {
    const Training& t = plan.training;
    return {flops_per_token,
            static_cast<double>(plan.cluster.gpus),
            static_cast<double>(t.sequence_length),
            plan.cluster.gpu.flops.bf16,
            t.compute,
            t.software,
            plan.model.moe.has_value()};
}

RunTraits traits_of(const Plan& plan) {
    const ForwardFlops f = forward_flops(plan.model, plan.training.sequence_length);
    return traits_of(plan, 3 * (f.layers + f.head) / static_cast<double>(plan.training.sequence_length));
}

double distance(const RunTraits& a, const RunTraits& b) {
    const auto apart = [](double x, double y) { return x > 0 && y > 0 ? std::abs(std::log2(x / y)) : 0.0; };
    double d = apart(a.flops_per_token, b.flops_per_token) + apart(a.gpus, b.gpus)
               + apart(a.sequence_length, b.sequence_length) + apart(a.peak, b.peak);
    if (a.software != b.software) d += kOtherSoftware;
    if (a.moe != b.moe) d += kOtherKind;
    if (a.compute != b.compute) d += kOtherType;
    return d;
}

std::string distance_words() {
    return sentence(
        "Distance: |log2| of the ratios of the model's FLOPs a token, GPUs, sequence lengths and peaks; + ",
        three_digits(kOtherSoftware), " other software, + ", three_digits(kOtherKind),
        " dense against MoE, + ", three_digits(kOtherType), " another compute type. From ",
        three_digits(kFarRun), " on a run is not near.");
}

double MeasuredError::size() const {
    return error >= 0 ? error : 1 / (1 + error) - 1;
}

std::vector<MeasuredError> read_measured_errors(std::string_view text, const std::string& path) {
    const Json root = parse_json(text, path);
    const auto runs = root.find("runs");
    if (runs == root.end() || !runs->is_array())
        throw Error(ErrorKind::invalid, path, "/runs", "is missing, must be a list of runs");
    std::vector<MeasuredError> out;
    for (std::size_t i = 0; i < runs->size(); ++i) {
        try {
            out.push_back(read_run((*runs)[i]));
        } catch (const std::exception& e) {
            throw Error(ErrorKind::invalid, path, "/runs/" + std::to_string(i), e.what());
        }
    }
    return out;
}

const std::vector<MeasuredError>& measured_errors() {
    static const std::vector<MeasuredError> all = read_measured_errors(kText, "presets/measured_errors.json");
    return all;
}

namespace {

using Weighed = ErrorRangeWork::Weighed;

// `by_size` keeps its capacity from call to call.
ErrorRange range_among(std::span<const MeasuredError> runs, const RunTraits& plan,
                       std::vector<Weighed>& by_size) {
    if (runs.empty()) return {};
    by_size.clear();
    for (const MeasuredError& m : runs) by_size.push_back({m.size(), distance(plan, m.run), 0});
    ErrorRange out;
    out.nearest = std::min_element(by_size.begin(), by_size.end(), [](const Weighed& a, const Weighed& b) {
                      return a.distance < b.distance;
                  })->distance;
    out.has_gpu = std::any_of(runs.begin(), runs.end(),
                              [&](const MeasuredError& m) { return m.run.peak == plan.peak; });
    double sum = kItself;
    for (Weighed& w : by_size) sum += w.weight = std::exp2((out.nearest - w.distance) / kHalved);
    std::sort(by_size.begin(), by_size.end(),
              [](const Weighed& a, const Weighed& b) { return a.size < b.size; });
    const auto quantile = [&](double share) {
        double below = 0;
        for (const Weighed& w : by_size)
            if ((below += w.weight) >= share * sum) return w.size;
        return by_size.back().size;
    };
    out.half = quantile(0.5);
    out.most = quantile(0.9);
    return out;
}

}  // namespace

ErrorRange error_range(std::span<const MeasuredError> runs, const RunTraits& plan) {
    std::vector<Weighed> scratch;
    return range_among(runs, plan, scratch);
}

const ErrorRange& error_range(const RunTraits& plan, ErrorRangeWork& work) {
    if (work.runs.empty() || work.of != plan) {
        work.of = plan;
        work.range = range_among(measured_errors(), plan, work.runs);
    }
    return work.range;
}

}  // namespace pentamesh
