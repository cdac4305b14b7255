#include "core/base/json_reader.h"
#include "core/io/plan_document.h"
#include "core/io/plan_json.h"
#include "core/mesh/torus.h"
#include "core/plan/field_list.h"

#include <algorithm>

namespace pentamesh {
namespace {

using nlohmann::json;

// Turns "/layout/tp" into {"layout", "tp"} (RFC 6901).
std::vector<std::string> tokens_of(const std::string& pointer) {
    std::vector<std::string> tokens;
    for (std::size_t from = 1; from <= pointer.size();) {
        const std::size_t slash = std::min(pointer.find('/', from), pointer.size());
        std::string token;
        for (std::size_t i = from; i < slash; ++i) {
            const bool escape =
                pointer[i] == '~' && i + 1 < slash && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
            token += escape ? (pointer[++i] == '0' ? '~' : '/') : pointer[i];
        }
        tokens.push_back(std::move(token));
        from = slash + 1;
    }
    return tokens;
}

[[noreturn]] void refuse(const std::string& pointer, const std::string& why) {
    throw Error(ErrorKind::invalid, "", pointer, why);
}

// Returns the preset's value below /model or /cluster, so that a part of it can be set: nested objects of
// overrides merge, so an empty one is enough; the GPU is named, the list of tiers is copied.
json preset_part(const json& owner, const std::string& key, bool is_cluster, const Presets& presets) {
    if (!is_cluster || !owner.contains("preset") || !owner["preset"].is_string()) return json::object();
    const Cluster cluster = presets.cluster(owner["preset"].get<std::string>());
    if (key == "gpu")
        return cluster.gpu.id.empty() ? json(gpu_to_json(cluster.gpu)) : json{{"preset", cluster.gpu.id}};
    return json(cluster_to_json(cluster, {})).value(key, json::object());
}

// Returns the member `key` of `parent`, made ready to be stepped into.
json& step_into(json& parent, const std::string& key, const std::string& pointer, const json& made) {
    if (parent.is_array()) {
        const bool index =
            !key.empty() && key.size() < 7 && key.find_first_not_of("0123456789") == std::string::npos;
        if (!index || std::stoul(key) >= parent.size()) refuse(pointer, "there is no element " + key);
        return parent[std::stoul(key)];
    }
    if (!parent.is_object()) refuse(pointer, "there is nothing below " + shown_json(parent));
    if (!parent.contains(key) || parent[key].is_null()) parent[key] = made;
    return parent[key];
}

json value_of(const EditValue& value) {
    return std::visit([](const auto& v) { return json(v); }, value);
}

}  // namespace

void set_in_plan(json& plan, const std::string& pointer, json value, const Presets& presets) {
    if (pointer.empty() || pointer.front() != '/') refuse(pointer, "a JSON pointer begins with /");
    const std::vector<std::string> tokens = tokens_of(pointer);
    json* at = &plan;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const bool in_source = i >= 1 && (tokens[0] == "model" || tokens[0] == "cluster");
        const json made = i == 1 && in_source ? preset_part(*at, tokens[1], tokens[0] == "cluster", presets)
                                              : json::object();
        at = &step_into(*at, tokens[i], pointer, made);
        const bool names_preset = i == 0 && (tokens[0] == "model" || tokens[0] == "cluster");
        const bool names_gpu = i == 1 && tokens[0] == "cluster" && tokens[1] == "gpu";
        if ((names_preset || names_gpu) && at->is_string()) *at = json{{"preset", *at}};
    }
    if (at->is_array())
        step_into(*at, tokens.back(), pointer, nullptr) = std::move(value);
    else if (at->is_object()) {
        if (tokens.back() == "torus" && value.is_string())  // a torus of another size spans as many GPUs
            if (const auto torus = torus_sizes(value.get<std::string>())) (*at)["domain"] = torus->gpus();
        (*at)[tokens.back()] = std::move(value);
    } else
        refuse(pointer, "there is nothing below " + shown_json(*at));
}

std::string pointer_of_field(const std::string& name) {
    if (name.starts_with("/")) return name;
    std::string pointer = "/" + name;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    if (pointer.find('/', 1) != std::string::npos) return pointer;
    static const Plan kPlan;
    std::vector<std::string> found[2];  // tp of the layout goes before tp of training.overlap
    for (const auto& field : list_fields(kPlan))
        if (field.key == name)
            found[field.owner.find('/', 1) == std::string_view::npos ? 0 : 1].push_back(field.pointer());
    const std::vector<std::string>& first = found[0].empty() ? found[1] : found[0];
    return first.size() == 1 ? first.front() : pointer;
}

void apply_set(json& plan, const std::string& set, const Presets& presets) {
    const std::size_t equals = set.find('=');
    if (as_utf8(set) != set)
        throw Error(ErrorKind::usage, "", "", "--set " + shown_json(set) + ": is not UTF-8");
    if (equals == std::string::npos || equals == 0)
        throw Error(ErrorKind::usage, "", "",
                    "--set " + shown_json(set) + ": must be POINTER=VALUE, such as layout.tp=4");
    const std::string pointer = pointer_of_field(set.substr(0, equals));
    const std::string text = set.substr(equals + 1);
    json value = text;  // a bare word: schedule=zb-v
    if (json::accept(text)) value = parse_json(text, "");
    // A name that looks like a number is a text all the same.
    const bool is_text = pointer == "/name" || pointer == "/notes" || pointer.starts_with("/review/");
    if (is_text && !value.is_string()) value = text;
    set_in_plan(plan, pointer, std::move(value), presets);
}

Plan with_sets(const Plan& plan, const std::vector<std::string>& sets, const Presets& presets) {
    return plan_from_json(plan_to_json(plan), "", presets, sets);
}

Plan apply_edits(const Plan& plan, const std::vector<Edit>& edits, const Presets& presets) {
    json value = plan_to_json(plan);
    for (const Edit& edit : edits) set_in_plan(value, edit.path, value_of(edit.value), presets);
    return plan_from_json(value, "", presets);
}

}  // namespace pentamesh
