#include "core/io/own_presets.h"

#include "core/base/characters.h"
#include "core/base/files.h"
#include "core/io/plan_document.h"
#include "core/plan/changes.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLongestPresetName = 60;

std::string_view folder_of(PresetKind kind) {
    if (kind == PresetKind::gpu) return "gpus";
    return kind == PresetKind::cluster ? "clusters" : "models";
}

// Windows keeps these names for devices, with any ending.
bool is_device_name(std::string_view id) {
    const std::string_view stem = id.substr(0, id.find('.'));
    constexpr std::array<std::string_view, 4> kDevices{"con", "prn", "aux", "nul"};
    if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) return true;
    return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && is_digit(stem[3]);
}

// Returns "made by hand, from llama-3-8b".
std::string source_text(const std::string& preset) {
    return preset.empty() ? "made by hand" : "made by hand, from " + preset;
}

ordered_json document_of(PresetKind kind, const std::string& name, const Plan& plan) {
    ordered_json out;
    std::string from;
    if (kind == PresetKind::model) {
        out = model_to_json(plan.model);
        from = plan.model_source.preset;
    } else if (kind == PresetKind::gpu) {
        out = gpu_to_json(plan.cluster.gpu);
        from = plan.cluster.gpu.id;
    } else {
        out = cluster_to_json(plan.cluster, {});
        from = plan.cluster_source.preset;
    }
    out["name"] = name;
    out["source"] = source_text(from);
    return out;
}

// Returns the plan that its own text gives, and nothing else.
Plan as_read(const Plan& plan, const Presets& presets) {
    return plan_from_json(nlohmann::json(plan_to_json(plan)), "", presets);
}

void own_gpu(Plan& plan) {
    plan.cluster.gpu.id.clear();
    std::vector<std::string>& stated = plan.cluster_source.overrides;
    std::erase_if(stated, [](const std::string& o) { return o == "/gpu" || o.starts_with("/gpu/"); });
    stated.emplace_back("/gpu");
}

void own_cluster(Plan& plan) {
    std::vector<std::string>& stated = plan.cluster_source.overrides;
    plan.cluster_source.preset.clear();
    std::erase_if(stated, [](const std::string& o) { return o != "/gpu" && !o.starts_with("/gpu/"); });
    if (stated.empty()) stated.emplace_back("/gpu");
}

bool is_own(const Presets& presets, PresetKind kind, const std::string& id) {
    return !id.empty() && (!presets.has(kind, id) || presets.has_own(kind, id));
}

Plan detached(const Plan& plan, const Presets& presets) {
    Plan p = plan;
    if (is_own(presets, PresetKind::model, p.model_source.preset)) p.model_source = {};
    if (is_own(presets, PresetKind::gpu, p.cluster.gpu.id)) own_gpu(p);
    if (is_own(presets, PresetKind::cluster, p.cluster_source.preset)) own_cluster(p);
    return p;
}

}  // namespace

std::string preset_id_of(std::string_view name) {
    std::string id;
    for (const char c : name) {
        const bool capital = c >= 'A' && c <= 'Z';
        if (capital || (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '_')
            id += capital ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && (id.back() == '-' || id.back() == '.')) id.pop_back();
    id.erase(0, id.find_first_not_of("-._"));
    return id;
}

std::string refused_preset_name(const Presets& presets, PresetKind kind, std::string_view name) {
    if (presets.own_root().empty()) return "there is no folder for settings, so none can be kept";
    if (trimmed(name).empty()) return "a preset needs a name";
    if (name.size() > kLongestPresetName)
        return "a name has at most " + std::to_string(kLongestPresetName) + " letters";
    const std::string id = preset_id_of(name);
    if (id.empty()) return "a name needs a letter from a to z or a digit: its id is made of them";
    if (is_device_name(id)) return "\"" + id + "\" is a name that Windows keeps for itself";
    if (presets.has(kind, id) && !presets.has_own(kind, id))
        return "\"" + id + "\" is a preset that ships: take another name";
    return {};
}

fs::path own_preset_file(const Presets& presets, PresetKind kind, std::string_view id) {
    return presets.own_root() / folder_of(kind) / (std::string(id) + ".json");
}

Plan save_own_preset(const Presets& presets, PresetKind kind, const std::string& name, const Plan& plan) {
    const std::string refused = refused_preset_name(presets, kind, name);
    if (!refused.empty()) throw Error(ErrorKind::usage, "", "", refused);
    const std::string id = preset_id_of(name);
    const fs::path file = own_preset_file(presets, kind, id);
    // A GPU that is changed over its preset, or that this file replaces, is written out.
    Plan whole = plan;
    const std::string& gpu = whole.cluster.gpu.id;
    const bool same = presets.has(PresetKind::gpu, gpu) && presets.gpu(gpu) == whole.cluster.gpu;
    if (kind == PresetKind::cluster && !same) whole.cluster.gpu.id.clear();
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw Error(ErrorKind::io, file.parent_path().string(), "", "cannot be made: " + error.message());
    write_file(file, pretty(document_of(kind, std::string(trimmed(name)), whole)));
    presets.reread();
    if (kind == PresetKind::model) {
        Plan p = plan;
        p.model = presets.model(id);
        p.model_source = {id, {}};
        return p;
    }
    if (kind == PresetKind::cluster) return with_cluster(plan, presets.cluster(id), id);
    nlohmann::json document = plan_to_json(plan);
    set_in_plan(document, "/cluster/gpu", id, presets);
    return plan_from_json(document, "", presets);
}

void remove_own_preset(const Presets& presets, const Presets::Entry& entry) {
    std::error_code error;
    if (!entry.own) throw Error(ErrorKind::usage, entry.file.string(), "", "ships with Pentamesh and stays");
    fs::remove(entry.file, error);
    if (error) throw Error(ErrorKind::io, entry.file.string(), "", "cannot be removed: " + error.message());
    presets.reread();
}

Plan without_own_presets(const Plan& plan, const Presets& presets) {
    const Plan p = detached(plan, presets);
    return p == plan ? p : as_read(p, presets);
}

Plan with_same_meaning(const Plan& plan, const Presets& presets) {
    Plan p = detached(plan, presets);
    if (p == plan) return p;
    try {
        if (as_read(plan, presets) == plan) return plan;
    } catch (const Error&) {  // a preset that it names is gone
    }
    return as_read(p, presets);
}

}  // namespace pentamesh
