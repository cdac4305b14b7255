#include "core/decide/units.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/io/plan_document.h"
#include "core/plan/edits.h"
#include "core/plan/field_list.h"

#include <string_view>

namespace pentamesh {
namespace {

using Json = nlohmann::ordered_json;
using ComparedPlace = FieldPlace<true>;
constexpr std::string_view kGpu = "/cluster/gpu";

// Gives a value of the field list as JSON; null for an optional field or a list that is left out. A choice of
// recomputed modules is an object in the plan file.
Json json_of(const Plan& plan, const ComparedPlace::Any& place) {
    if (std::holds_alternative<const RecomputeChoice*>(place))
        return plan_to_json(plan)["training"]["recompute"];
    const auto* maybe = std::get_if<const std::optional<std::int64_t>*>(&place);
    const auto* list = std::get_if<const std::vector<std::int64_t>*>(&place);
    if ((maybe && !**maybe) || (list && (*list)->empty())) return nullptr;
    return std::visit([](const auto& value) { return Json(value); }, edit_value_of(place));
}

template <typename T>
void put(T* to, const T* from) {
    *to = *from;
}
void put(const FieldPlace<false>::Choice& to, const ComparedPlace::Choice& from) {
    *to.value = *from.value;
}

// Copies between places of the two lists, which differ only in const.
void copy_place(const ComparedPlace::Any& from, const FieldPlace<false>::Any& to) {
    std::visit(
        [&](const auto& written) {
            if constexpr (std::is_same_v<std::decay_t<decltype(written)>, FieldPlace<false>::Choice>)
                put(written, std::get<ComparedPlace::Choice>(from));
            else
                put(written, std::get<const std::remove_pointer_t<std::decay_t<decltype(written)>>*>(from));
        },
        to);
}

// Gives `to` the part of `from` that the field list holds.
void copy_listed(const Cluster& from, Cluster& to) {
    to.gpus = from.gpus;
    to.price_per_gpu_hour = from.price_per_gpu_hour;
    to.gpu_watts = from.gpu_watts;
    to.pue = from.pue;
    to.failures_per_gpu_day = from.failures_per_gpu_day;
}
// Returns the cluster without that part.
Cluster rest_of(Cluster c) {
    copy_listed({}, c);
    return c;
}

Json document_of(const Plan& plan, FieldUnit::Kind kind) {
    if (kind == FieldUnit::Kind::model) return model_to_json(plan.model);
    Json out = cluster_to_json(rest_of(plan.cluster), {});
    out.erase("gpus");
    out["gpu"] = gpu_to_json(plan.cluster.gpu);  // every figure, also of one that has a name
    return out;
}

// Lists the differences inside a model or cluster: the presets where these differ, the GPU where that is
// another one, else the innermost values.
std::vector<std::string> inside(const Plan& a, const Plan& b, FieldUnit::Kind kind) {
    const bool model = kind == FieldUnit::Kind::model;
    const std::string owner = model ? "/model" : "/cluster";
    const Source &sa = model ? a.model_source : a.cluster_source,
                 &sb = model ? b.model_source : b.cluster_source;
    if (sa.preset != sb.preset) return {owner};
    Json wa = document_of(a, kind), wb = document_of(b, kind);
    std::vector<std::string> out;
    if (!model && a.cluster.gpu.id != b.cluster.gpu.id) {
        out.emplace_back(kGpu);
        wa.erase("gpu"), wb.erase("gpu");
    }
    const Json da = wa.flatten(), db = wb.flatten();
    for (const auto& item : da.items())
        if (!db.contains(item.key()) || db[item.key()] != item.value()) out.push_back(owner + item.key());
    for (const auto& item : db.items())
        if (!da.contains(item.key())) out.push_back(owner + item.key());
    return out;
}

std::string words_of_json(const Json& v) {
    if (v.is_null()) return "left out";
    if (v.is_boolean()) return v.get<bool>() ? "on" : "off";
    if (v.is_string()) return v.get<std::string>();
    if (v.is_number_integer()) return with_commas(v.get<std::int64_t>());
    if (v.is_number()) return three_digits(v.get<double>());
    if (v.is_array() && !v.empty() && v[0].is_string())
        return join(v, "-", [](const Json& one) { return one.get<std::string>(); });
    return v.dump();
}

// Returns the plan's value at a pointer that units_between gave; null where the plan leaves it out.
Json value_at(const Plan& plan, const std::string& pointer) {
    for (const auto& f : list_fields(plan))
        if (f.is(pointer)) return json_of(plan, f.place);
    const auto named = [](const std::string& preset, const std::string& name) {
        return Json(preset.empty() ? name : preset);
    };
    if (pointer == "/model") return named(plan.model_source.preset, plan.model.name);
    if (pointer == "/cluster") return named(plan.cluster_source.preset, plan.cluster.name);
    if (pointer == kGpu) return named(plan.cluster.gpu.id, plan.cluster.gpu.name);
    const bool model = pointer.starts_with("/model/");
    const Json document = document_of(plan, model ? FieldUnit::Kind::model : FieldUnit::Kind::cluster);
    return document.value(Json::json_pointer(pointer.substr(pointer.find('/', 1))), Json());
}

}  // namespace

std::vector<FieldUnit> units_between(const Plan& a, const Plan& b) {
    std::vector<FieldUnit> out;
    if (!(a.model == b.model)) out.push_back({FieldUnit::Kind::model, inside(a, b, FieldUnit::Kind::model)});
    if (!(rest_of(a.cluster) == rest_of(b.cluster)))
        out.push_back({FieldUnit::Kind::cluster, inside(a, b, FieldUnit::Kind::cluster)});
    const auto fa = list_fields(a), fb = list_fields(b);
    for (std::size_t i = 0; i < fa.size(); ++i) {
        const bool same = std::visit(
            [&](const auto& x) { return same_value(x, std::get<std::decay_t<decltype(x)>>(fb[i].place)); },
            fa[i].place);
        if (!same) out.push_back({FieldUnit::Kind::field, {fa[i].pointer()}});
    }
    return out;
}

void take(const FieldUnit& unit, const Plan& from, Plan& to) {
    if (unit.kind == FieldUnit::Kind::model) {
        to.model = from.model;
        to.model_source = from.model_source;
        return;
    }
    if (unit.kind == FieldUnit::Kind::cluster) {
        const Cluster own = to.cluster;
        to.cluster = from.cluster;
        to.cluster_source = from.cluster_source;
        copy_listed(own, to.cluster);
        return;
    }
    const auto read = list_fields(from);
    const auto written = list_fields(to);
    for (std::size_t i = 0; i < read.size(); ++i)
        if (read[i].is(unit.pointers.front())) copy_place(read[i].place, written[i].place);
    state_over_preset(to.cluster_source, unit.pointers.front());
}

std::string json_text_of(const Plan& plan, const std::string& pointer) {
    return value_at(plan, pointer).dump();
}

std::vector<std::string> sets_between(const Plan& a, const Plan& b) {
    std::vector<std::string> out;
    for (const FieldUnit& unit : units_between(a, b))
        for (const std::string& pointer : unit.pointers)
            out.push_back(pointer + "=" + json_text_of(b, pointer));
    return out;
}

std::string words_of_change(const FieldUnit& unit, const Plan& from, const Plan& to) {
    std::string out;
    for (const std::string& pointer : unit.pointers) {
        const std::size_t owner = pointer.find('/', 1);
        const std::string name = pointer.substr(owner == std::string::npos ? 1 : owner + 1);
        out += (out.empty() ? "" : ", ") + name + " " + words_of_json(value_at(from, pointer)) + " -> "
               + words_of_json(value_at(to, pointer));
    }
    return out;
}

}  // namespace pentamesh
