#include "core/io/plan_by_hand.h"

#include "core/base/characters.h"
#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/statistics.h"
#include "core/io/plan_document.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pentamesh {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Kind = PlanField::Kind;

const ordered_json& schema() {
    static const ordered_json kSchema = ordered_json::parse(plan_schema());
    return kSchema;
}

// Returns the plan with model, cluster and GPU written out, for any presets they come from.
ordered_json whole_plan(Plan plan) {
    plan.model_source = plan.cluster_source = {};
    plan.cluster.gpu.id.clear();
    return plan_to_json(plan);
}

// Returns, of several forms, the one that is an object of its own: no preset's id, no overrides, no other
// format.
const ordered_json& whole_form(const ordered_json& s) {
    if (!s.contains("anyOf")) return s;
    for (const ordered_json& form : s["anyOf"])
        if (form.contains("properties") && !form["properties"].contains("preset")) return form;
    return s["anyOf"].front();
}

bool is_type(const ordered_json& s, std::string_view type) {
    if (!s.contains("type")) return false;
    const ordered_json& t = s["type"];
    return t.is_array() ? std::find(t.begin(), t.end(), type) != t.end() : t == type;
}

Dimension dimension_of(std::string_view pointer) {
    struct Suffix {
        std::string_view text;
        Dimension dimension;
    };
    constexpr Suffix kOfKey[] = {{"bytes_per_s", Dimension::bytes_per_s},
                                 {"_bytes", Dimension::bytes},
                                 {"_s", Dimension::seconds},
                                 {"/oversubscription", Dimension::ratio}};
    for (const Suffix& s : kOfKey)
        if (pointer.ends_with(s.text)) return s.dimension;
    if (pointer.find("/flops/") != std::string_view::npos) return Dimension::flops_per_s;
    if (pointer.find("/efficiency/") != std::string_view::npos) return Dimension::share;
    return Dimension::count;
}

std::string text_of(const ordered_json& value) {
    if (value.is_null()) return "none";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    if (value.is_number_float()) return general_text(value.get<double>(), 12);
    if (value.is_array()
        && std::all_of(value.begin(), value.end(), [](const auto& v) { return v.is_primitive(); })) {
        std::string out;
        for (const auto& v : value) out += (out.empty() ? "" : ", ") + text_of(v);
        return out;
    }
    return value.dump();
}

// Writes a number with the unit that its dimension is shown in, to the last digit: "80 GB", "3.1 µs".
std::string with_unit(double x, Dimension d) {
    const auto in = [&](double unit, const char* name) { return general_text(x / unit, 12) + name; };
    switch (d) {
    case Dimension::bytes: return in(1e9, " GB");
    case Dimension::bytes_per_s: return in(1e9, " GB/s");
    case Dimension::flops_per_s: return in(1e12, " TFLOP/s");
    case Dimension::seconds: return x > 0 && x < 1e-3 ? in(1e-6, " µs") : in(1, " s");
    case Dimension::count:
    case Dimension::share:
    case Dimension::ratio: break;
    }
    return general_text(x, 12);
}

// Walks schema and value side by side.
class Lister {
  public:
    explicit Lister(std::vector<PlanField>& out) : out_(out) {}

    void visit(const std::string& pointer, const ordered_json& form, const ordered_json& value) {
        const ordered_json& s = whole_form(form);
        if (s.contains("properties")) {
            object(pointer, s, value);
            return;
        }
        if (is_type(s, "array") && s["items"].contains("properties") && pointer == "/cluster/tiers") {
            for (std::size_t i = 0; i < value.size(); ++i)
                visit(pointer + "/" + std::to_string(i), s["items"], value[i]);
            return;
        }
        PlanField to;
        to.pointer = pointer;
        to.kind = kind_of(form, s);
        for (const ordered_json& choice : s.value("enum", ordered_json::array()))
            to.choices.push_back(choice.is_null() ? "none" : choice.get<std::string>());
        to.least = s.value("minimum", s.value("exclusiveMinimum", 0.0));
        to.most = s.value("maximum", 0.0);
        to.dimension = dimension_of(pointer);
        to.may_be_none = is_type(s, "null");
        const ordered_json& there = value.is_null() && s.contains("default") ? s["default"] : value;
        to.value = to.kind == Kind::number && there.is_number() ? with_unit(there.get<double>(), to.dimension)
                                                                : text_of(there);
        out_.push_back(std::move(to));
    }

  private:
    static Kind kind_of(const ordered_json& form, const ordered_json& s) {
        if (form.contains("anyOf")) return is_type(s, "array") ? Kind::list : Kind::json;
        if (s.contains("enum")) return Kind::choice;
        if (is_type(s, "boolean")) return Kind::flag;
        if (is_type(s, "integer")) return Kind::whole;
        if (is_type(s, "number")) return Kind::number;
        if (is_type(s, "array")) return Kind::list;
        return is_type(s, "string") ? Kind::text : Kind::json;
    }

    void object(const std::string& pointer, const ordered_json& s, const ordered_json& value) {
        if (is_type(s, "null")) {
            PlanField group;
            group.pointer = pointer;
            group.kind = Kind::group;
            group.value = value.is_null() ? "off" : "on";
            out_.push_back(std::move(group));
            if (value.is_null()) return;
        }
        for (const auto& item : s["properties"].items()) {
            const std::string& key = item.key();
            if (item.value().contains("const") || key == "source" || key == "efficiency_source"
                || key == "efficiency_of" || key == "fast_domain")
                continue;
            visit(pointer + "/" + key, item.value(),
                  value.is_object() && value.contains(key) ? value[key] : ordered_json());
        }
    }

    std::vector<PlanField>& out_;
};

std::vector<PlanField> fields_of(const ordered_json& plan) {
    std::vector<PlanField> out;
    Lister(out).visit("", schema(), plan);
    return out;
}

// Returns the plan without the values it states over its presets. A preset that is gone or broken leaves the
// plan's own.
Plan without_overrides(Plan plan, const Presets& presets) {
    const std::string model = plan.model_source.preset, cluster = plan.cluster_source.preset,
                      gpu = plan.cluster.gpu.id;
    const auto listed = [&](PresetKind kind, const std::string& id) {
        return !id.empty() && presets.has(kind, id);
    };
    try {
        if (listed(PresetKind::model, model)) plan.model = presets.model(model);
        if (listed(PresetKind::cluster, cluster)) {
            const std::int64_t gpus = plan.cluster.gpus;
            plan.cluster = presets.cluster(cluster);
            plan.cluster.gpus = gpus;
        }
        // A GPU other than the cluster's is compared with its own preset.
        if (listed(PresetKind::gpu, gpu) && (cluster.empty() || plan.cluster.gpu.id != gpu))
            plan.cluster.gpu = presets.gpu(gpu);
    } catch (const Error&) {  // said where the presets are listed
        return plan;
    }
    return plan;
}

[[noreturn]] void refuse(const PlanField& s, std::string_view typed, const std::string& allowed) {
    throw Error(ErrorKind::invalid, "", s.pointer, "\"" + std::string(typed) + "\": must be " + allowed);
}

json number_of(const PlanField& s, std::string_view typed) {
    const Quantity q = parse_quantity(typed, s.dimension);
    if (!q.value) throw Error(ErrorKind::invalid, "", s.pointer, q.refusal);
    if (s.kind == Kind::number) return *q.value;
    if (*q.value != std::floor(*q.value) || std::abs(*q.value) > 9e15) refuse(s, typed, "a whole number");
    return std::llround(*q.value);
}

json list_of(const PlanField& s, std::string_view typed) {
    if (typed.starts_with('[')) return parse_json(typed, "");
    json out = json::array();
    while (!typed.empty()) {
        const std::size_t comma = std::min(typed.find(','), typed.size());
        const std::string_view item = trimmed(typed.substr(0, comma));
        if (item.empty()) refuse(s, typed, "values with commas between them");
        const Quantity q = parse_quantity(item, Dimension::count);
        if (q.value && *q.value == std::floor(*q.value))
            out.push_back(std::llround(*q.value));
        else
            out.push_back(item);
        typed.remove_prefix(std::min(comma + 1, typed.size()));
    }
    return out;
}

// Returns the first values of a group.
json beginning_of(const PlanField& s, const Plan& plan) {
    if (s.pointer == "/model/moe")
        return {{"experts", 8}, {"top_k", 2}, {"expert_ffn", std::max<std::int64_t>(plan.model.ffn, 1)}};
    // The values are DeepSeek-V2's, arXiv 2405.04434, section 3.1.2.
    if (s.pointer == "/model/mla")
        return {
            {"kv_lora_rank", 512}, {"qk_nope_head_dim", 128}, {"qk_rope_head_dim", 64}, {"v_head_dim", 128}};
    // The values are from Qwen3-Next's and Nemotron-H 8B's config.json on the Hugging Face hub.
    if (s.pointer == "/model/linear")
        return {{"kind", "gated_delta"}, {"key_heads", 16},       {"value_heads", 32},
                {"key_head_dim", 128},   {"value_head_dim", 128}, {"conv", 4}};
    if (s.pointer == "/model/mamba")
        return {{"inner", 2 * plan.model.hidden},
                {"state", 128},
                {"heads", std::max<std::int64_t>(1, plan.model.hidden / 32)},
                {"groups", 8}};
    // The first value is one run that says as much as the GPU's preset.
    if (s.pointer == "/cluster/calibration") {
        const double error = plan.cluster.gpu.efficiency.error;
        return {{"runs", 1}, {"error", error}, {"error_90", kNineOfTen * error}};
    }
    return json::object();
}

json value_of(const PlanField& s, std::string_view text, const Plan& plan) {
    const std::string_view typed = trimmed(text);
    if (s.kind == Kind::group) return typed == "on" ? beginning_of(s, plan) : json();
    if (s.may_be_none && (typed == "none" || typed.empty())) return {};
    switch (s.kind) {
    case Kind::flag:
        if (typed != "on" && typed != "off") refuse(s, typed, "on or off");
        return typed == "on";
    case Kind::whole:
    case Kind::number: return number_of(s, typed);
    case Kind::list: return list_of(s, typed);
    case Kind::json: {
        const bool written = typed.starts_with('{') || typed.starts_with('[') || typed == "null";
        return written ? parse_json(typed, "") : json(typed);
    }
    case Kind::choice:
    case Kind::text:
    case Kind::group: break;
    }
    return typed;
}

}  // namespace

std::vector<PlanField> list_plan_fields(const Plan& plan, const Presets& presets) {
    std::vector<PlanField> out = fields_of(whole_plan(plan));
    if (plan.model_source.overrides.empty() && plan.cluster_source.overrides.empty()) return out;
    const std::vector<PlanField> preset = fields_of(whole_plan(without_overrides(plan, presets)));
    for (PlanField& s : out) {
        if (!s.pointer.starts_with("/model/") && !s.pointer.starts_with("/cluster/")) continue;
        const auto same = std::find_if(preset.begin(), preset.end(),
                                       [&](const PlanField& p) { return p.pointer == s.pointer; });
        if (same == preset.end())
            s.preset_value = "none", s.preset_lacks = true;
        else if (same->value != s.value)
            s.preset_value = same->value;
    }
    return out;
}

Plan with_field(const Plan& plan, std::string_view pointer, std::string_view typed, const Presets& presets) {
    const std::vector<PlanField> all = fields_of(whole_plan(plan));
    const auto s =
        std::find_if(all.begin(), all.end(), [&](const PlanField& x) { return x.pointer == pointer; });
    if (s == all.end() && pointer != "/cluster/tiers")
        throw Error(ErrorKind::invalid, "", std::string(pointer), "there is no such field");
    json document = plan_to_json(plan);
    json value = s == all.end() ? parse_json(typed, "") : value_of(*s, typed, plan);
    set_in_plan(document, std::string(pointer), std::move(value), presets);
    return plan_from_json(document, "", presets);
}

Plan with_preset_field(const Plan& plan, std::string_view pointer, const Presets& presets) {
    const Plan below = without_overrides(plan, presets);
    const ordered_json preset = whole_plan(below);
    const json::json_pointer place{std::string(pointer)};
    if (pointer.starts_with("/cluster/tiers/")) {
        const bool there = preset.contains(place.parent_pointer());
        if (plan.cluster_source.preset.empty()) return plan;
        if (!there)
            return with_preset_field(plan, "/cluster/tiers", presets);  // a tier that the preset lacks
        const ordered_json::json_pointer at{std::string(pointer)};
        json document = plan_to_json(plan);
        set_in_plan(document, std::string(pointer), preset.contains(at) ? json(preset[at]) : json(), presets);
        if (!preset.contains(at)) document[place.parent_pointer()].erase(place.back());
        const Plan changed = plan_from_json(document, "", presets);
        return changed.cluster.tiers == below.cluster.tiers
                   ? with_preset_field(changed, "/cluster/tiers", presets)
                   : changed;
    }
    json document = plan_to_json(plan);
    // A field of a group that the preset does not have goes with its group.
    json::json_pointer at = place;
    while (!at.parent_pointer().empty() && !preset.contains(ordered_json::json_pointer(at.to_string()))
           && !preset.contains(ordered_json::json_pointer(at.parent_pointer().to_string())))
        at = at.parent_pointer();
    if (!document.contains(at.parent_pointer())) return plan;
    json& parent = document[at.parent_pointer()];
    // A GPU that is written out has no preset to fall back on: it gets the value.
    const bool whole_gpu = pointer.starts_with("/cluster/gpu/") && document["cluster"]["gpu"].is_object()
                           && !document["cluster"]["gpu"].contains("preset");
    if (whole_gpu && preset.contains(ordered_json::json_pointer(place.to_string()))) {
        parent[at.back()] = preset[ordered_json::json_pointer(place.to_string())];
        return plan_from_json(document, "", presets);
    }
    if (!parent.is_object() || parent.erase(at.back()) == 0) return plan;
    return plan_from_json(document, "", presets);
}

}  // namespace pentamesh
