#include "core/io/plan_json.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pentamesh {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Kind = PlanField::Kind;

// Returns the plan with model, cluster and GPU written out, for any presets they come from.
ordered_json whole_plan(Plan plan) {
    plan.model_source = plan.cluster_source = {};
    plan.cluster.gpu.id.clear();
    return plan_to_json(plan);
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

// Returns the words of a key that reads as words: "global batch".
std::string label_of(std::string_view key) {
    std::string label(key);
    std::replace(label.begin(), label.end(), '_', ' ');
    return label;
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

// Lists the fields for the sheet: this visitor of plan_fields.h says of each its page, words, kind, allowed
// values and value.
class SheetLister {
  public:
    SheetLister(const Plan& plan, std::vector<PlanField>& out) : plan_(plan), out_(out) {}

    // Enters an object of the plan file; `before` stands before each field's name, which the heading then
    // says.
    void under(std::string owner, FieldTopic topic, std::string head = "", std::string before = "") {
        owner_ = std::move(owner);
        topic_ = topic;
        heading_ = std::move(head);
        before_ = std::move(before);
    }
    void topic(FieldTopic topic) {
        topic_ = topic;
        heading_.clear();
    }
    void heading(std::string_view head) { heading_ = head; }
    // Takes a field of the object back out.
    void drop(std::string_view key) {
        std::erase_if(out_, [&](const PlanField& f) { return f.pointer == owner_ + "/" + std::string(key); });
    }
    void words(std::string_view label, std::string_view unset) { words_ = label, unset_ = unset; }

    void text(std::string_view key, const std::string& v) { put(key, Kind::text, v); }
    void any_text(std::string_view key, const std::string& v) { put(key, Kind::text, v); }
    void flag(std::string_view key, bool v, Presence) { put(key, Kind::flag, switch_word(v)); }
    template <typename I>
    void integer(std::string_view key, I v, IntRange r, Presence) {
        PlanField& f = put(key, Kind::whole, std::to_string(v));
        f.least = static_cast<double>(r.least), f.most = static_cast<double>(r.most);
    }
    void maybe_integer(std::string_view key, const std::optional<std::int64_t>& v, IntRange r) {
        integer(key, v.value_or(0), r, Presence::sparse);
        out_.back().may_be_none = true;
        if (!v) out_.back().value = kNone;
    }
    void integers(std::string_view key, const std::vector<std::int64_t>& v, IntRange, std::size_t) {
        put(key, Kind::list, joined(v, [](std::int64_t n) { return std::to_string(n); })).may_be_none = true;
    }
    void number(std::string_view key, double v, NumberRange r, Presence) {
        PlanField& f = put(key, Kind::number, "");
        f.least = r.least, f.most = r.most;
        f.dimension = dimension_of(f.pointer);
        f.value = with_unit(v, f.dimension);
    }
    template <typename E>
    void choice(std::string_view key, E v, Presence) {
        put(key, Kind::choice, std::string(name_of(v))).choices.assign(kNames<E>.begin(), kNames<E>.end());
    }
    template <typename E>
    void choice_of(std::string_view key, E v, std::initializer_list<E> allowed) {
        PlanField& f = put(key, Kind::choice, std::string(name_of(v)));
        for (const E e : allowed) f.choices.emplace_back(name_of(e));
    }
    void order(const std::array<Axis, kAxisCount>& v) {
        put("order", Kind::list, joined(v, [](Axis a) { return std::string(name_of(a)); }));
    }
    void recompute(std::string_view key, const RecomputeChoice& v) {
        choice(key, v.kind, Presence::always);
        const std::string owner = std::exchange(owner_, owner_ + "/" + std::string(key));
        std::vector<RecomputeModule> modules;
        for (const RecomputeModule m : all_of<RecomputeModule>())
            if (v.modules.has(m)) modules.push_back(m);
        words("modules of a layer", v.whole_layers() ? "whole layers" : "");
        PlanField& f = put("modules", Kind::list,
                           joined(modules, [](RecomputeModule m) { return std::string(name_of(m)); }));
        f.may_be_none = true;
        f.choices.assign(kNames<RecomputeModule>.begin(), kNames<RecomputeModule>.end());
        words("layers of each chunk", v.any() ? "all of them" : "none");
        integer("layers", v.layers, {0, kMostLayers}, Presence::sparse);
        words("how layers are counted", "");
        choice("method", v.method, Presence::sparse);
        owner_ = owner;
    }
    template <typename T, typename F>
    void group(std::string_view key, const T& v, F&& fields, Presence) {
        const std::string owner = std::exchange(owner_, owner_ + "/" + std::string(key));
        fields(v, *this);
        owner_ = owner;
    }
    template <typename T, typename F>
    void maybe_group(std::string_view key, const std::optional<T>& v, F&& fields) {
        put(key, Kind::group, switch_word(v.has_value()));
        if (v) group(key, *v, fields, Presence::always);
    }
    template <typename T, typename F>
    void groups(std::string_view key, const std::vector<T>& v, std::size_t, F&&) {  // only a model has any
        const bool any = !v.empty();
        put(key, Kind::list, any ? model_to_json(plan_.model).at(std::string(key)).dump() : kNone)
            .may_be_none = true;
    }

  private:
    static constexpr const char* kNone = "none";
    static const char* switch_word(bool on) { return on ? "on" : "off"; }
    template <typename List, typename Word>
    static std::string joined(const List& list, Word&& word) {
        const std::string out = join(list, ", ", word);
        return out.empty() ? kNone : out;
    }
    PlanField& put(std::string_view key, Kind kind, std::string value) {
        PlanField& f = out_.emplace_back();
        f.pointer = owner_ + "/" + std::string(key);
        f.topic = topic_;
        f.heading = heading_;
        f.label = words_.empty() ? label_of(key) : std::string(std::exchange(words_, {}));
        f.name = before_ + f.label;
        f.unset = std::exchange(unset_, {});
        f.kind = kind;
        f.value = std::move(value);
        return f;
    }

    const Plan& plan_;
    std::vector<PlanField>& out_;
    std::string owner_, heading_, before_;
    std::string_view words_, unset_;  // of the next field; empty: made of its key, nothing
    FieldTopic topic_ = FieldTopic::plan;
};

void list_cluster(const Cluster& c, SheetLister& v) {
    v.under("/cluster", FieldTopic::cluster);
    v.text("name", c.name);
    v.integer("gpus", c.gpus, kDegree, Presence::required);
    v.under("/cluster/gpu", FieldTopic::gpu);
    gpu_fields(c.gpu, v);
    for (std::size_t i = 0; i < c.tiers.size(); ++i) {
        const std::string tier = "ier " + std::to_string(i + 1);
        v.under("/cluster/tiers/" + std::to_string(i), FieldTopic::fabric,
                "T" + tier + ": " + c.tiers[i].name, "t" + tier + ", ");
        tier_fields(c.tiers[i], v);
        if (i != 1) v.drop("nics");  // only the second tier has them (presets.cpp)
    }
    v.under("/cluster", FieldTopic::cluster);
    cost_fields(c, v);
    v.any_text("currency", c.currency);
    v.heading("Own runs");
    v.words("fitted to own runs", "");
    v.maybe_group("calibration", c.calibration, [](auto& s, auto& w) { calibration_fields(s, w); });
}

// Moves fields whose heading stands further up the page to those under it.
void gather_headings(std::vector<PlanField>& fields) {
    std::vector<std::pair<FieldTopic, std::string>> order;
    const auto place = [&](const PlanField& f) {
        const std::pair<FieldTopic, std::string> at{f.topic, f.heading};
        auto it = std::find(order.begin(), order.end(), at);
        if (it == order.end()) it = order.insert(order.end(), at);
        return it - order.begin();
    };
    for (const PlanField& f : fields) static_cast<void>(place(f));
    std::stable_sort(fields.begin(), fields.end(),
                     [&](const PlanField& a, const PlanField& b) { return place(a) < place(b); });
}

std::vector<PlanField> fields_of(const Plan& plan) {
    std::vector<PlanField> out;
    SheetLister v(plan, out);
    v.under("", FieldTopic::plan);
    v.text("name", plan.name);
    v.text("notes", plan.notes);
    v.under("/model", FieldTopic::size);
    model_fields(plan.model, v);
    list_cluster(plan.cluster, v);
    v.under("/layout", FieldTopic::layout);
    v.order(plan.layout.order);
    layout_fields(plan.layout, v);
    v.under("/training", FieldTopic::training);
    training_fields(plan.training, v);
    v.under("/scene", FieldTopic::plan);
    scene_fields(plan.scene, v);
    gather_headings(out);
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
    for (const std::string_view piece : split_lines(typed, ',')) {
        const std::string_view item = trimmed(piece);
        if (item.empty()) refuse(s, typed, "values with commas between them");
        const Quantity q = parse_quantity(item, Dimension::count);
        if (q.value && *q.value == std::floor(*q.value))
            out.push_back(std::llround(*q.value));
        else
            out.push_back(item);
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
    // The values are DeepSeek-V4-Flash's, with one group at the output, which any number of heads makes up.
    if (s.pointer == "/model/compressed")
        return {{"q_lora_rank", 1024}, {"o_lora_rank", 1024},   {"o_groups", 1},
                {"index_heads", 64},   {"index_head_dim", 128}, {"index_top_k", 512}};
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
        if (typed == "true" || typed == "false") return typed == "true";  // as a plan file and --set say it
        if (typed != "on" && typed != "off") refuse(s, typed, "on or off");
        return typed == "on";
    case Kind::whole:
    case Kind::number: return number_of(s, typed);
    case Kind::list: return list_of(s, typed);
    case Kind::choice:
    case Kind::text:
    case Kind::group: break;
    }
    return typed;
}

constexpr std::string_view kRecompute = "/training/recompute";

// Returns the choice of what is recomputed as a plan file says it, with one part as typed. Its own word again
// keeps the parts.
json with_recompute_part(const json& now, const RecomputeChoice& choice, std::string_view part, json value) {
    if (part.empty() && value == name_of(choice.kind)) return now;
    if (part.empty()) return value;
    if (part == "method" && value == name_of(choice.method)) return now;
    json parts = now.is_object() ? now : json::object();
    if (now == name_of(Recompute::selective)) parts["modules"] = {name_of(RecomputeModule::core_attn)};
    parts[std::string(part)] = std::move(value);
    if (parts.value("modules", json()).is_null()) parts.erase("modules");
    if (part == "layers" && parts["layers"] == 0) parts.erase("layers"), parts.erase("method");
    if (!parts.empty()) return parts;
    return name_of(choice.whole_layers() ? Recompute::full : Recompute::none);
}

}  // namespace

std::string choice_words(const PlanField& f, std::string_view choice) {
    return !f.unset.empty() && choice == f.choices.front() ? f.unset : label_of(choice);
}

std::vector<PlanField> list_plan_fields(const Plan& plan, const Presets& presets) {
    std::vector<PlanField> out = fields_of(plan);
    if (plan.model_source.overrides.empty() && plan.cluster_source.overrides.empty()) return out;
    const std::vector<PlanField> preset = fields_of(without_overrides(plan, presets));
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
    const std::vector<PlanField> all = fields_of(plan);
    const auto s =
        std::find_if(all.begin(), all.end(), [&](const PlanField& x) { return x.pointer == pointer; });
    if (s == all.end() && pointer != "/cluster/tiers")
        throw Error(ErrorKind::invalid, "", std::string(pointer), "there is no such field");
    json document = plan_to_json(plan);
    json value = s == all.end() ? parse_json(typed, "") : value_of(*s, typed, plan);
    if (pointer.starts_with(kRecompute)) {
        const std::string_view part = pointer.substr(std::min(kRecompute.size() + 1, pointer.size()));
        value = with_recompute_part(document["training"]["recompute"], plan.training.recompute, part,
                                    std::move(value));
        pointer = kRecompute;
    }
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
