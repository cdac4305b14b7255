#include "core/base/text.h"
#include "core/io/field_reader.h"
#include "core/io/hf_config.h"
#include "core/io/plan_json.h"
#include "core/plan/software.h"

namespace pentamesh {
namespace {

using nlohmann::json;

void complete(Model& m, const DocumentPlace& place) {
    if (m.kv_heads == 0) m.kv_heads = m.heads;
    if (m.mla && m.attention != AttentionKind::mla)
        place.at("mla").fail("there is an mla object, so attention must be \"mla\"");
    if (m.attention == AttentionKind::mla && !m.mla)
        place.at("mla").fail("is missing, but attention is \"mla\"");
    if (m.head_dim == 0 && m.mla) m.head_dim = m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim;
    if (m.head_dim == 0 && m.hidden % m.heads != 0)
        place.at("head_dim")
            .fail("is missing, and hidden = " + std::to_string(m.hidden)
                  + " is no multiple of heads = " + std::to_string(m.heads));
    if (m.head_dim == 0) m.head_dim = m.hidden / m.heads;
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
    complete(m, place);
    return m;
}

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

}  // namespace pentamesh
