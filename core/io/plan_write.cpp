#include "core/io/plan_document.h"
#include "core/io/plan_json.h"
#include "core/plan/plan_fields.h"
#include "core/plan/software.h"

#include <algorithm>

namespace pentamesh {
namespace {

using nlohmann::ordered_json;

ordered_json recompute_json(const RecomputeChoice& v) {
    if (v.is_plain()) return name_of(v.kind);
    ordered_json out = ordered_json::object();
    if (!v.modules.empty()) {
        ordered_json& list = out["modules"] = ordered_json::array();
        for (const RecomputeModule m : all_of<RecomputeModule>())
            if (v.modules.has(m)) list.push_back(name_of(m));
    }
    if (v.layers > 0) out["layers"] = v.layers;
    if (v.layers > 0) out["method"] = name_of(v.method);
    return out;
}

// This visitor of plan_fields.h writes everything, or only what `stated` names.
class FieldWriter {
  public:
    explicit FieldWriter(ordered_json& out, const std::vector<std::string>* stated = nullptr,
                         std::string prefix = {})
        : out_(out), stated_(stated), prefix_(std::move(prefix)) {}

    void text(std::string_view key, const std::string& v) { put(key, v, Presence::always, false); }
    void any_text(std::string_view key, const std::string& v) { put(key, v, Presence::sparse, v.empty()); }
    void flag(std::string_view key, bool v, Presence p) { put(key, v, p, !v); }
    template <typename I>
    void integer(std::string_view key, I v, IntRange, Presence p) {
        put(key, v, p, v == 0);
    }
    void maybe_integer(std::string_view key, const std::optional<std::int64_t>& v, IntRange) {
        if (v) put(key, *v, Presence::always, false);
    }
    void integers(std::string_view key, const std::vector<std::int64_t>& v, IntRange, std::size_t) {
        put(key, v, Presence::sparse, v.empty());
    }
    void number(std::string_view key, double v, NumberRange, Presence p) { put(key, v, p, v == 0); }
    template <typename E>
    void choice(std::string_view key, E v, Presence p) {
        put(key, name_of(v), p, v == E{});
    }
    template <typename E>
    void choice_of(std::string_view key, E v, std::initializer_list<E>) {
        put(key, name_of(v), Presence::always, false);
    }
    void recompute(std::string_view key, const RecomputeChoice& v) {
        put(key, recompute_json(v), Presence::always, false);
    }
    template <typename T, typename F>
    void group(std::string_view key, const T& v, F&& fields, Presence presence) {
        ordered_json nested = ordered_json::object();
        FieldWriter writer(nested, stated_, prefix_ + "/" + std::string(key));
        fields(v, writer);
        const bool sparse = stated_ || presence == Presence::sparse;
        if (!sparse || !nested.empty()) out_[std::string(key)] = std::move(nested);
    }
    template <typename T, typename F>
    void maybe_group(std::string_view key, const std::optional<T>& v, F&& fields) {
        if (v)
            group(key, *v, fields, Presence::always);
        else if (stated_ && is_stated(key))
            out_[std::string(key)] = nullptr;
    }
    template <typename T, typename F>
    void groups(std::string_view key, const std::vector<T>& v, std::size_t, F&& fields) {
        ordered_json list = ordered_json::array();
        for (const T& element : v) {
            ordered_json one = ordered_json::object();
            FieldWriter writer(one);
            fields(element, writer);
            list.push_back(std::move(one));
        }
        put(key, list, Presence::sparse, v.empty());
    }

  private:
    [[nodiscard]] bool is_stated(std::string_view key) const {
        return std::find(stated_->begin(), stated_->end(), prefix_ + "/" + std::string(key))
               != stated_->end();
    }
    template <typename T>
    void put(std::string_view key, const T& v, Presence presence, bool is_default) {
        if (stated_ ? is_stated(key) : presence != Presence::sparse || !is_default)
            out_[std::string(key)] = v;
    }

    ordered_json& out_;
    const std::vector<std::string>* stated_;
    std::string prefix_;
};

bool states(const Source& source, std::string_view pointer) {
    return std::find(source.overrides.begin(), source.overrides.end(), pointer) != source.overrides.end();
}

bool states_below(const Source& source, std::string_view prefix) {
    return std::any_of(source.overrides.begin(), source.overrides.end(),
                       [&](const std::string& o) { return o.rfind(prefix, 0) == 0; });
}

ordered_json model_member(const Model& model, const Source& source) {
    if (source.preset.empty()) return model_to_json(model);
    if (source.overrides.empty()) return source.preset;
    ordered_json out{{"preset", source.preset}};
    FieldWriter writer(out, &source.overrides);
    model_fields(model, writer);
    return out;
}

ordered_json gpu_member(const Gpu& gpu, const Source& source) {
    if (!gpu.id.empty() && !states_below(source, "/gpu/")) return gpu.id;
    if (gpu.id.empty()) return gpu_to_json(gpu);
    ordered_json out{{"preset", gpu.id}};
    FieldWriter writer(out, &source.overrides, "/gpu");
    gpu_fields(gpu, writer);
    return out;
}

ordered_json tiers_member(const Cluster& cluster) {
    ordered_json tiers = ordered_json::array();
    for (const Tier& tier : cluster.tiers) {
        ordered_json out = ordered_json::object();
        FieldWriter writer(out);
        tier_fields(tier, writer);
        tiers.push_back(std::move(out));
    }
    return tiers;
}

ordered_json layout_member(const Layout& layout, Software software) {
    ordered_json out = ordered_json::object();
    ordered_json& order = out["order"] = ordered_json::array();
    for (const Axis a : layout.order) order.push_back(name_of(a));
    FieldWriter writer(out);
    layout_fields(layout, writer);
    if (facts_of(software).ep_comm != EpComm::alltoall) out["ep_comm"] = name_of(layout.ep_comm);
    return out;
}

bool is_plain(const ordered_json& value) {
    return !value.is_object() && !value.is_array();
}

void append(const ordered_json& v, std::size_t depth, std::string& out) {
    const std::string margin(2 * (depth + 1), ' '), end(2 * depth, ' ');
    const auto dump = [](const ordered_json& x) {
        return x.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    };
    if (is_plain(v) || v.empty()) {
        out += dump(v);
        return;
    }
    if (v.is_array() && std::all_of(v.begin(), v.end(), is_plain)) {
        out += "[";
        for (std::size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ", ") + dump(v[i]);
        out += "]";
        return;
    }
    out += v.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& item : v.items()) {
        out += (first ? "\n" : ",\n") + margin;
        first = false;
        if (v.is_object()) out += dump(item.key()) + ": ";
        append(item.value(), depth + 1, out);
    }
    out += "\n" + end + (v.is_object() ? "}" : "]");
}

}  // namespace

ordered_json model_to_json(const Model& model) {
    ordered_json out = ordered_json::object();
    FieldWriter writer(out);
    model_fields(model, writer);
    return out;
}

ordered_json gpu_to_json(const Gpu& gpu) {
    ordered_json out = ordered_json::object();
    FieldWriter writer(out);
    gpu_fields(gpu, writer);
    return out;
}

ordered_json cluster_to_json(const Cluster& cluster, const Source& source) {
    const bool based = !source.preset.empty();
    if (based && source.overrides.empty()) return source.preset;
    ordered_json out = ordered_json::object();
    if (based) out["preset"] = source.preset;
    if (!based || states(source, "/name")) out["name"] = cluster.name;
    if (!based || states(source, "/gpus")) out["gpus"] = cluster.gpus;
    if (!based || states(source, "/gpu") || states_below(source, "/gpu/"))
        out["gpu"] = gpu_member(cluster.gpu, source);
    if (!based || states(source, "/tiers")) out["tiers"] = tiers_member(cluster);
    for (const char* key : {"fast_domain", "gpus_per_node"})
        if (based && states(source, std::string("/") + key)) out[key] = cluster.tiers.front().domain;
    FieldWriter cost(out, based ? &source.overrides : nullptr);
    cost_fields(cluster, cost);
    cost.any_text("currency", cluster.currency);
    cost.maybe_group("calibration", cluster.calibration, [](auto& s, auto& w) { calibration_fields(s, w); });
    return out;
}

ordered_json plan_to_json(const Plan& plan) {
    ordered_json out = ordered_json::object();
    out["format"] = kPlanFormat;
    out["name"] = plan.name;
    out["notes"] = plan.notes;
    if (plan.review != AuthorWords{}) {
        FieldWriter words(out["review"] = ordered_json::object());
        author_fields(plan.review, words);
    }
    out["model"] = model_member(plan.model, plan.model_source);
    out["cluster"] = cluster_to_json(plan.cluster, plan.cluster_source);
    out["layout"] = layout_member(plan.layout, plan.training.software);
    FieldWriter writer(out["training"] = ordered_json::object());
    training_fields(plan.training, writer);
    if (plan.scene != SavedScene{}) {
        FieldWriter scene(out["scene"] = ordered_json::object());
        scene_fields(plan.scene, scene);
    }
    return out;
}

std::string pretty(const ordered_json& value) {
    std::string out;
    append(value, 0, out);
    return out + "\n";
}

std::string write_plan(const Plan& plan) {
    return pretty(plan_to_json(plan));
}

}  // namespace pentamesh
