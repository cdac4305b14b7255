#include "core/io/plan_json.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/field_reader.h"
#include "core/io/hf_families.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/field_list.h"
#include "core/plan/plan_fields.h"
#include "core/plan/software.h"

#include <algorithm>

namespace pentamesh {
namespace {

using nlohmann::json;

void complete(Model& m, const DocumentPlace& place) {
    if (m.kv_heads == 0) m.kv_heads = m.heads;
    if (m.mla && m.attention != AttentionKind::mla)
        place.at("mla").fail("there is an mla object, so attention must be \"mla\"");
    if (m.attention == AttentionKind::mla && !m.mla)
        place.at("mla").fail("is missing, but attention is \"mla\"");
    if (m.compressed && m.attention != AttentionKind::compressed)
        place.at("compressed").fail("there is a compressed object, so attention must be \"compressed\"");
    if (m.attention == AttentionKind::compressed && !m.compressed)
        place.at("compressed").fail("is missing, but attention is \"compressed\"");
    if (m.head_dim == 0 && m.mla) m.head_dim = m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim;
    if (m.head_dim == 0 && m.hidden % m.heads != 0)
        place.at("head_dim")
            .fail("is missing, and hidden = " + std::to_string(m.hidden)
                  + " is no multiple of heads = " + std::to_string(m.heads));
    if (m.head_dim == 0) m.head_dim = m.hidden / m.heads;
    if (m.compressed && saturating_product(m.heads, m.head_dim) % m.compressed->o_groups != 0)
        place.at("compressed")
            .at("o_groups")
            .fail("found " + std::to_string(m.compressed->o_groups) + ", must divide heads x head_dim");
    if (m.hyper_streams > 0 && (m.shared_norm || (m.moe && m.moe->beside_mlp)))
        place.at("hyper_streams")
            .fail("streams are mixed around attention and around one MLP: they go with "
                  "neither shared_norm nor beside_mlp");
    if (m.positions == Positions::learned && m.max_positions == 0)
        place.at("max_positions").fail("is missing, but positions are \"learned\"");
    if (m.moe && m.moe->top_k > m.moe->experts)
        place.at("moe").at("top_k").fail("found " + std::to_string(m.moe->top_k)
                                         + ", must be at most experts = " + std::to_string(m.moe->experts));
    if (m.moe && m.moe->shared_experts > 0 && m.moe->shared_expert_ffn == 0)
        m.moe->shared_expert_ffn = m.moe->expert_ffn;
    const auto lacks_width = [](const LayerRun& r) { return r.ffn == LayerFfn::dense && r.ffn_width == 0; };
    const bool dense_layers = m.pattern.empty()
                                  ? !m.moe || m.moe->first_dense_layers > 0 || m.moe->every > 1
                                  : std::any_of(m.pattern.begin(), m.pattern.end(), lacks_width);
    if (m.ffn == 0 && dense_layers) place.at("ffn").fail("is missing, but there are layers with a dense MLP");
}

Model from_hf(const json& value, const DocumentPlace& place, const Presets& presets) {
    Model m;
    try {
        m = model_from_hf(value, place.path);
    } catch (const Error& e) {
        throw Error(e.kind(), place.path, place.pointer + e.pointer(), e.message());
    }
    // The model is held to our own ranges, so that it can be read again after writing.
    Source ignored;
    return model_from_json(json(model_to_json(m)), place, presets, ignored);
}

// Returns the axes of a list or of "tp-cp-ep-dp-pp"; "dp" stands for both of its axes.
std::vector<std::string> order_words(const json& value, const DocumentPlace& place) {
    std::vector<std::string> words;
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        for (const std::string_view word : split(text, '-')) words.emplace_back(word);
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (!value[i].is_string())
                place.at(std::to_string(i)).fail("found " + shown_json(value[i]) + ", must be an axis");
            words.push_back(value[i].get<std::string>());
        }
    } else {
        place.fail("found " + shown_json(value)
                   + ", must be a list of axes or a text such as \"tp-cp-ep-dp-pp\"");
    }
    return words;
}

void read_order(const json& value, const DocumentPlace& place, Layout& layout) {
    const std::string rule = "must name each of tp, cp, ep, dp_shard, dp_replicate (or dp for both), pp once";
    std::vector<Axis> order;
    for (const std::string& word : order_words(value, place)) {
        const auto axis = parse_name<Axis>(word);
        if (axis)
            order.push_back(*axis);
        else if (word == "dp")
            order.insert(order.end(), {Axis::dp_shard, Axis::dp_replicate});
        else
            place.fail("found \"" + shown_text(word) + "\", " + rule);
        if (order.size() > kAxisCount) break;
    }
    std::array<int, kAxisCount> seen{};
    for (const Axis a : order)
        if (++seen[static_cast<std::size_t>(a)] > 1)
            place.fail("found " + std::string(name_of(a)) + " twice, " + rule);
    for (std::size_t a = 0; a < kAxisCount; ++a)
        if (seen[a] == 0) place.fail(std::string(name_of(static_cast<Axis>(a))) + " is missing, " + rule);
    std::copy(order.begin(), order.end(), layout.order.begin());
}

}  // namespace

DocumentPlace DocumentPlace::at(std::string_view key) const {
    return {path, pointer + "/" + escape_token(key)};
}

void DocumentPlace::fail(const std::string& message) const {
    throw Error(ErrorKind::invalid, path, pointer, message);
}

Model model_from_json(const json& value, const DocumentPlace& place, const Presets& presets, Source& source) {
    source = {};
    if (value.is_object() && is_hf_config(value)) return from_hf(value, place, presets);
    auto [m, whole, based] = begin_preset(value, place, source, "a model",
                                          [&](const std::string& id) { return presets.model(id); });
    if (whole) return m;
    FieldReader reader(value, place, based, based ? &source.overrides : nullptr);
    static_cast<void>(reader.peek("preset"));
    static_cast<void>(reader.peek("source"));
    model_fields(m, reader);
    reader.finish();
    if (m.mla && !value.contains("attention")) m.attention = AttentionKind::mla;
    if (m.compressed && !m.mla && !value.contains("attention")) m.attention = AttentionKind::compressed;
    complete(m, place);
    return m;
}

namespace {

// Returns the fields of cluster, layout and training that pointer_of_field finds by their own name.
std::vector<ShortName> short_names() {
    const Plan plan;
    std::vector<ShortName> out;
    for (const auto& field : list_fields(plan))
        if (field.owner.find('/', 1) == std::string_view::npos)
            out.push_back(
                {std::string(field.key), std::string(field.owner.substr(1)) + "." + std::string(field.key)});
    return out;
}

}  // namespace

Plan plan_from_json(const json& value, const std::string& path, const Presets& presets) {
    const DocumentPlace root{path, ""};
    if (!value.is_object()) root.fail("found " + shown_json(value) + ", a plan must be an object");
    FieldReader reader(value, root, false);
    Plan plan;
    std::string format(kPlanFormat);
    reader.text("format", format);
    if (format != kPlanFormat)
        root.at("format").fail("found \"" + shown_text(format) + "\", must be \"" + std::string(kPlanFormat)
                               + "\"");
    reader.text("name", plan.name);
    reader.text("notes", plan.notes);
    reader.group(
        "review", plan.review, [](auto& w, auto& v) { author_fields(w, v); }, Presence::sparse);
    const json* model = reader.find("model");
    const json* cluster = reader.find("cluster");
    const json* layout = reader.find("layout");
    const json* training = reader.find("training");
    reader.group(
        "scene", plan.scene, [](auto& s, auto& v) { scene_fields(s, v); }, Presence::sparse);
    static const std::vector<ShortName> kShortNames = short_names();
    reader.known_elsewhere(kShortNames);
    reader.finish();
    if (!model) root.at("model").fail("is missing, must be a model preset's id or an object");
    if (!cluster) root.at("cluster").fail("is missing, must be a cluster preset's id or an object");
    plan.model = model_from_json(*model, root.at("model"), presets, plan.model_source);
    plan.cluster = cluster_from_json(*cluster, root.at("cluster"), presets, plan.cluster_source);
    if (layout) {
        FieldReader fields(*layout, root.at("layout"), true);
        if (const json* order = fields.find("order"))
            read_order(*order, root.at("layout").at("order"), plan.layout);
        layout_fields(plan.layout, fields);
        fields.finish();
    }
    if (training) {
        FieldReader fields(*training, root.at("training"), true);
        training_fields(plan.training, fields);
        fields.finish();
    }
    if (!layout || !layout->contains("ep_comm"))
        plan.layout.ep_comm = facts_of(plan.training.software).ep_comm;
    return plan;
}

namespace {

// Names the --set that an error is about in the place of the file, which does not say that value. Of two that
// set one field the last counts.
void name_set(const Error& e, const std::vector<std::string>& sets) {
    for (std::size_t i = sets.size(); i-- > 0;) {
        const std::string& set = sets[i];
        const std::string pointer = pointer_of_field(set.substr(0, set.find('=')));
        if (e.pointer() == pointer || e.pointer().starts_with(pointer + "/"))
            throw Error(e.kind(), "--set " + shown_text(set), e.pointer(), e.message());
    }
}

}  // namespace

Plan plan_from_json(json value, const std::string& path, const Presets& presets,
                    const std::vector<std::string>& sets) {
    if (!sets.empty() && !value.is_object())
        DocumentPlace{path, ""}.fail("found " + shown_json(value) + ", a plan must be an object");
    for (const std::string& set : sets) apply_set(value, set, presets);
    try {
        return plan_from_json(value, path, presets);
    } catch (const Error& e) {
        name_set(e, sets);
        throw;
    }
}

Plan parse_plan(std::string_view text, const std::string& path, const Presets& presets,
                const std::vector<std::string>& sets) {
    return plan_from_json(parse_json(text, path), path, presets, sets);
}

Model parse_model(std::string_view text, const std::string& path, const Presets& presets) {
    Source ignored;
    return model_from_json(parse_json(text, path), {path, ""}, presets, ignored);
}

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

// Returns the number of GPUs that a plan says, itself or by its cluster's preset; null: neither does.
json gpus_said(const json& plan, const Presets& presets) {
    const auto cluster = plan.find("cluster");
    if (cluster == plan.end()) return nullptr;
    if (cluster->is_object() && cluster->contains("gpus")) return (*cluster)["gpus"];
    const json id = cluster->is_object() ? cluster->value("preset", json()) : *cluster;
    if (!id.is_string() || !presets.has(PresetKind::cluster, id.get<std::string>())) return nullptr;
    try {
        return presets.cluster(id.get<std::string>()).gpus;
    } catch (const Error&) {  // a broken preset, which goes
        return nullptr;
    }
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
    // Another cluster has as many GPUs as the plan had, as in the window (with_cluster).
    if (pointer == "/cluster" && value.is_string()
        && presets.has(PresetKind::cluster, value.get<std::string>()))
        if (json gpus = gpus_said(plan, presets); !gpus.is_null())
            value = json{{"preset", std::move(value)}, {"gpus", std::move(gpus)}};
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
