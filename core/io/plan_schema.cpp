#include "core/io/plan_document.h"
#include "core/io/plan_json.h"
#include "core/mesh/mesh.h"
#include "core/plan/plan_fields.h"

namespace pentamesh {
namespace {

using nlohmann::ordered_json;

// This visitor of plan_fields.h describes an object's properties, and which must be there.
class FieldDescriber {
  public:
    void text(std::string_view key, const std::string&) { property(key, {{"type", "string"}}); }
    void any_text(std::string_view key, const std::string&) { property(key, {{"type", "string"}}); }
    void flag(std::string_view key, bool v, Presence p) { property(key, {{"type", "boolean"}}, p, v); }
    template <typename I>
    void integer(std::string_view key, I v, IntRange range, Presence p) {
        property(key, whole(range), p, v);
    }
    void maybe_integer(std::string_view key, const std::optional<std::int64_t>&, IntRange range) {
        ordered_json schema = whole(range);
        schema["type"] = {"integer", "null"};
        property(key, std::move(schema));
    }
    void integers(std::string_view key, const std::vector<std::int64_t>&, IntRange range, std::size_t most) {
        property(key, {{"type", {"array", "null"}}, {"items", whole(range)}, {"maxItems", most}});
    }
    void number(std::string_view key, double v, NumberRange range, Presence p) {
        ordered_json schema{{"type", "number"}};
        schema[range.above ? "exclusiveMinimum" : "minimum"] = range.least;
        schema["maximum"] = range.most;
        property(key, std::move(schema), p, v);
    }
    template <typename E>
    void choice(std::string_view key, E v, Presence p) {
        property(key, {{"enum", kNames<E>}}, p, name_of(v));
    }
    template <typename E>
    void choice_of(std::string_view key, E v, std::initializer_list<E> allowed) {
        ordered_json names = ordered_json::array();
        for (const E e : allowed) names.push_back(name_of(e));
        property(key, {{"enum", std::move(names)}}, Presence::always, name_of(v));
    }
    void recompute(std::string_view key, const RecomputeChoice& v) {
        const ordered_json modules{{"type", "array"}, {"items", {{"enum", kNames<RecomputeModule>}}}};
        const ordered_json parts{{"modules", modules},
                                 {"layers", whole({0, kMostLayers})},
                                 {"method", {{"enum", kNames<RecomputeMethod>}}}};
        const ordered_json object{{"type", "object"}, {"properties", parts}, {"additionalProperties", false}};
        property(key, {{"anyOf", {ordered_json{{"enum", kNames<Recompute>}}, object}},
                       {"default", name_of(v.kind)}});
    }
    template <typename T, typename F>
    void group(std::string_view key, const T& v, F&& fields, Presence p) {
        if (p == Presence::required) required_.push_back(key);
        property(key, described(v, fields));
    }
    template <typename T, typename F>
    void maybe_group(std::string_view key, const std::optional<T>&, F&& fields) {
        ordered_json schema = described(T{}, fields);
        schema["type"] = {"object", "null"};
        property(key, std::move(schema));
    }
    template <typename T, typename F>
    void groups(std::string_view key, const std::vector<T>&, std::size_t most, F&& fields) {
        property(key, {{"type", {"array", "null"}}, {"items", described(T{}, fields)}, {"maxItems", most}});
    }

    void property(std::string_view key, ordered_json schema) {
        properties_[std::string(key)] = std::move(schema);
    }
    void require(std::string_view key) { required_.push_back(key); }

    // Over a preset nothing is required.
    [[nodiscard]] ordered_json object(bool required = true) const {
        ordered_json schema{{"type", "object"}, {"properties", properties_}, {"additionalProperties", false}};
        if (required && !required_.empty()) schema["required"] = required_;
        return schema;
    }

    // Returns an object's schema; the defaults are those of `v`.
    template <typename T, typename F>
    [[nodiscard]] static ordered_json described(const T& v, F&& fields) {
        FieldDescriber inner;
        fields(v, inner);
        return inner.object();
    }

  private:
    [[nodiscard]] static ordered_json whole(IntRange range) {
        return {{"type", "integer"}, {"minimum", range.least}, {"maximum", range.most}};
    }
    template <typename T>
    void property(std::string_view key, ordered_json schema, Presence p, const T& value) {
        if (p == Presence::required)
            require(key);
        else
            schema["default"] = value;
        property(key, std::move(schema));
    }

    ordered_json properties_ = ordered_json::object();
    std::vector<std::string_view> required_;
};

ordered_json id_of(const char* what) {
    return {{"type", "string"}, {"minLength", 1}, {"description", std::string("a ") + what + " preset's id"}};
}

ordered_json any_of(std::initializer_list<ordered_json> choices) {
    return {{"anyOf", choices}};
}

// Nested objects of an override state only what they change.
void drop_required(ordered_json& schema) {
    schema.erase("required");
    for (auto& property : schema["properties"])
        if (property.contains("properties")) drop_required(property);
}

ordered_json over_preset(ordered_json whole, const char* what) {
    drop_required(whole);
    whole["properties"]["preset"] = id_of(what);
    whole["required"] = {"preset"};
    return whole;
}

ordered_json model_schema() {
    FieldDescriber model;
    const Model default_model;
    model_fields(default_model, model);
    model.property("source", {{"type", "string"}});
    ordered_json whole = model.object();
    for (const char* key : {"kv_heads", "head_dim", "ffn"}) whole["properties"][key].erase("default");
    ordered_json config{
        {"type", "object"}, {"description", "a Hugging Face config.json"}, {"required", {"model_type"}}};
    return any_of({id_of("model"), over_preset(whole, "model"), whole, config});
}

ordered_json gpu_schema() {
    FieldDescriber gpu;
    const Gpu default_gpu;
    gpu_fields(default_gpu, gpu);
    gpu.property("source", {{"type", "string"}});
    gpu.property("efficiency_source", {{"type", "string"}});
    gpu.property("efficiency_of", id_of("GPU"));
    ordered_json whole = gpu.object();
    for (auto& factor : whole["properties"]["efficiency"]["properties"]) factor.erase("default");
    return any_of({id_of("GPU"), over_preset(whole, "GPU"), whole});
}

ordered_json cluster_schema() {
    FieldDescriber tier;
    const Tier default_tier;
    tier_fields(default_tier, tier);
    FieldDescriber cluster;
    cluster.text("name", "");
    cluster.integer("gpus", 1, kDegree, Presence::required);
    cluster.property("gpu", gpu_schema());
    cluster.property("tiers",
                     {{"type", "array"}, {"items", tier.object()}, {"minItems", 1}, {"maxItems", kMaxTiers}});
    cluster.property("fast_domain",
                     {{"type", "integer"}, {"minimum", kDegree.least}, {"maximum", kDegree.most}});
    cluster.property("gpus_per_node",
                     {{"type", "integer"}, {"minimum", kDegree.least}, {"maximum", kDegree.most}});
    const Cluster default_cluster;
    cost_fields(default_cluster, cluster);
    cluster.any_text("currency", "");
    cluster.maybe_group("calibration", default_cluster.calibration,
                        [](auto& s, auto& w) { calibration_fields(s, w); });
    cluster.property("source", {{"type", "string"}});
    cluster.require("gpu");
    cluster.require("tiers");
    const ordered_json whole = cluster.object();
    ordered_json over = whole;
    over["properties"]["preset"] = id_of("cluster");
    over["required"] = {"preset"};
    return any_of({id_of("cluster"), over, whole});
}

ordered_json layout_schema() {
    FieldDescriber layout;
    ordered_json names = ordered_json::array();
    for (const std::string_view name : kNames<Axis>) names.push_back(name);
    names.push_back("dp");
    const ordered_json list{{"type", "array"},
                            {"items", {{"enum", names}}},
                            {"minItems", kAxisCount - 1},
                            {"maxItems", kAxisCount},
                            {"uniqueItems", true}};
    layout.property("order", any_of({list, {{"type", "string"}, {"pattern", "^[a-z_]+(-[a-z_]+){4,5}$"}}}));
    const Layout default_layout;
    layout_fields(default_layout, layout);
    return layout.object();
}

}  // namespace

std::string plan_schema() {
    FieldDescriber plan;
    plan.property("format", {{"const", kPlanFormat}});
    plan.text("name", "");
    plan.text("notes", "");
    plan.property("review",
                  FieldDescriber::described(AuthorWords{}, [](auto& w, auto& v) { author_fields(w, v); }));
    plan.property("model", model_schema());
    plan.property("cluster", cluster_schema());
    plan.property("layout", layout_schema());
    plan.property("training",
                  FieldDescriber::described(Training{}, [](auto& t, auto& v) { training_fields(t, v); }));
    plan.property("scene",
                  FieldDescriber::described(SavedScene{}, [](auto& s, auto& v) { scene_fields(s, v); }));
    plan.require("model");
    plan.require("cluster");
    ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                        {"$id", "pentamesh.plan/1"},
                        {"title", "Pentamesh plan"},
                        {"description", "A training run's model, cluster, layout and training settings."}};
    schema.update(plan.object());
    return pretty(schema);
}

}  // namespace pentamesh
