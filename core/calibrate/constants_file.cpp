// Writes a calibrated cluster to a file, and onto a plan.
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/calibrate/calibrate.h"
#include "core/io/own_presets.h"
#include "core/io/plan_document.h"
#include "core/step/constants.h"

#include <algorithm>
#include <iterator>
#include <system_error>

namespace pentamesh {
namespace {

void state_once(std::vector<std::string>& overrides, const std::string& pointer) {
    if (std::find(overrides.begin(), overrides.end(), pointer) == overrides.end())
        overrides.push_back(pointer);
}

}  // namespace

Plan with_constants_of(const Plan& plan, const Cluster& calibrated, const Presets& presets) {
    const Cluster& own = plan.cluster;
    if (!(own.gpu.flops == calibrated.gpu.flops))
        throw Error(ErrorKind::invalid, "", "",
                    "the constants are of " + calibrated.gpu.name + ", the plan has " + own.gpu.name);
    if (own.tiers.size() != calibrated.tiers.size())
        throw Error(ErrorKind::invalid, "", "",
                    "the constants are of a cluster with another number of tiers than the plan's");
    Plan out = plan;
    for (const EfficiencyKey& k : kEfficiencyKeys)
        if (const double x = calibrated.gpu.efficiency.*k.member; x != own.gpu.efficiency.*k.member)
            out = with_constant(out, presets, "efficiency." + std::string(k.key), x);
    for (std::size_t i = 0; i < own.tiers.size(); ++i) {
        const std::string tier = "tier." + std::to_string(i) + ".";
        if (const double x = calibrated.tiers[i].bytes_per_s; x != own.tiers[i].bytes_per_s)
            out = with_constant(out, presets, tier + "bytes_per_s", x);
        if (const double x = calibrated.tiers[i].latency_s; x != own.tiers[i].latency_s)
            out = with_constant(out, presets, tier + "latency_s", x);
    }
    out.cluster.calibration = calibrated.calibration;
    if (calibrated.calibration && !out.cluster_source.preset.empty())
        for (const char* key : {"/runs", "/error", "/error_90", "/from"})
            state_once(out.cluster_source.overrides, "/calibration" + std::string(key));
    return out;
}

std::string write_constants(const Calibrated& made, const std::string& name, const Presets& presets) {
    Cluster cluster = made.cluster;
    Gpu& gpu = cluster.gpu;
    Source stated;  // over the GPU's preset, where it is one but for its constants
    if (!gpu.id.empty() && presets.has(PresetKind::gpu, gpu.id)) {
        const Gpu shipped = presets.gpu(gpu.id);
        Gpu same = gpu;
        same.efficiency = shipped.efficiency;
        if (!(same == shipped)) gpu.id.clear();
        for (const EfficiencyKey& k : kEfficiencyKeys)
            if (gpu.efficiency.*k.member != shipped.efficiency.*k.member)
                stated.overrides.push_back("/gpu/efficiency/" + std::string(k.key));
    } else {
        gpu.id.clear();
    }
    if (!name.empty()) cluster.name = name;
    nlohmann::ordered_json out = cluster_to_json(cluster, stated);
    std::string source = made.runs.empty() ? "tiers measured by nccl-tests"
                                           : "calibrated from " + count_text(std::ssize(made.runs), "run");
    if (cluster.calibration && !cluster.calibration->from.empty())
        source += " (" + cluster.calibration->from + ")";
    out["source"] = source;
    return pretty(out);
}

std::filesystem::path save_calibrated(const Calibrated& made, const std::string& name,
                                      const Presets& presets) {
    const std::string refused = refused_preset_name(presets, PresetKind::cluster, name);
    if (!refused.empty()) throw Error(ErrorKind::usage, "", "", refused);
    std::filesystem::path file = own_preset_file(presets, PresetKind::cluster, preset_id_of(name));
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
        throw Error(ErrorKind::io, file.parent_path().string(), "", "cannot be made: " + error.message());
    write_file(file, write_constants(made, name, presets));
    presets.reread();
    return file;
}

Cluster read_constants(std::string_view text, const std::string& path, const Presets& presets) {
    const nlohmann::json document = parse_json(text, path);
    Source source;
    return cluster_from_json(document, DocumentPlace{path, ""}, presets, source);
}

}  // namespace pentamesh
