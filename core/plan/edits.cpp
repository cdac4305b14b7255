#include "core/plan/edits.h"

#include "core/plan/factors.h"
#include "core/plan/field_list.h"

#include <algorithm>
#include <utility>

namespace pentamesh {
namespace {

using Names = std::vector<std::string>;
using Written = FieldPlace<false>;
using Read = FieldPlace<true>;

EditValue value_of(const std::int64_t* v) {
    return *v;
}
EditValue value_of(const int* v) {
    return std::int64_t{*v};
}
EditValue value_of(const bool* v) {
    return *v;
}
EditValue value_of(const double* v) {
    return *v;
}
EditValue value_of(const std::optional<std::int64_t>* v) {
    return v->value_or(0);
}
EditValue value_of(const RecomputeChoice* v) {
    return std::string(name_of(v->kind));
}
EditValue value_of(const Read::Choice& v) {
    return std::string(v.names[*v.value]);
}
EditValue value_of(const std::array<Axis, kAxisCount>* order) {
    Names names;
    names.reserve(order->size());
    for (const Axis a : *order) names.emplace_back(name_of(a));
    return names;
}
EditValue value_of(const std::vector<std::int64_t>* v) {
    return *v;
}

// An edit cannot express these: that a field is no longer stated, or which modules.
template <typename T>
bool expressible(const T&) {
    return true;
}
bool expressible(const RecomputeChoice* v) {
    return v->is_plain();
}
bool expressible(const std::optional<std::int64_t>* v) {
    return v->has_value();
}

// Both return false where the value is of another type.
template <typename T, typename Field>
bool take(Field& field, const EditValue& v) {
    const T* found = std::get_if<T>(&v);
    if (found) field = static_cast<Field>(*found);
    return found != nullptr;
}
bool set(std::int64_t* field, const EditValue& v) {
    return take<std::int64_t>(*field, v);
}
bool set(int* field, const EditValue& v) {
    return take<std::int64_t>(*field, v);
}
bool set(bool* field, const EditValue& v) {
    return take<bool>(*field, v);
}
bool set(double* field, const EditValue& v) {
    return take<double>(*field, v);
}
bool set(std::optional<std::int64_t>* field, const EditValue& v) {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (n) *field = *n;
    return n != nullptr;
}
bool set(RecomputeChoice* field, const EditValue& v) {
    const auto* name = std::get_if<std::string>(&v);
    const auto kind = name ? parse_name<Recompute>(*name) : std::nullopt;
    if (kind) *field = *kind;
    return kind.has_value();
}
bool set(const Written::Choice& field, const EditValue& v) {
    const auto* name = std::get_if<std::string>(&v);
    const auto at = name ? std::find(field.names.begin(), field.names.end(), *name) : field.names.end();
    if (at == field.names.end()) return false;
    *field.value = static_cast<std::uint8_t>(at - field.names.begin());
    return true;
}
bool set(std::array<Axis, kAxisCount>* field, const EditValue& v) {
    const auto* names = std::get_if<Names>(&v);
    if (!names || names->size() != field->size()) return false;
    for (std::size_t i = 0; i < field->size(); ++i) {
        const std::optional<Axis> axis = parse_name<Axis>((*names)[i]);
        if (!axis) return false;
        (*field)[i] = *axis;
    }
    return true;
}
bool set(std::vector<std::int64_t>* field, const EditValue& v) {
    return take<std::vector<std::int64_t>>(*field, v);
}

// Returns the edit that gives `before` the value of `after`, where there is one.
std::optional<EditValue> difference(const Read::Any& before, const Read::Any& after) {
    return std::visit(
        [&](const auto& now) -> std::optional<EditValue> {
            const auto& then = std::get<std::decay_t<decltype(now)>>(before);
            if (same_value(then, now) || !expressible(now)) return std::nullopt;
            return value_of(now);
        },
        after);
}

}  // namespace

void state_over_preset(Source& source, std::string_view path) {
    constexpr std::string_view owner = "/cluster";
    if (source.preset.empty() || !path.starts_with(owner) || path.size() <= owner.size()) return;
    const std::string_view pointer = path.substr(owner.size());
    if (std::find(source.overrides.begin(), source.overrides.end(), pointer) == source.overrides.end())
        source.overrides.emplace_back(pointer);
}

EditValue edit_value_of(const Read::Any& place) {
    return std::visit([](const auto& v) { return value_of(v); }, place);
}

bool set_value(const Written::Any& place, const EditValue& value) {
    return std::visit([&](const auto& field) { return set(field, value); }, place);
}

std::vector<Edit> edits_between(const Plan& from, const Plan& to) {
    std::vector<Edit> edits;
    const auto before = list_fields(from), after = list_fields(to);
    for (std::size_t i = 0; i < after.size(); ++i)
        if (auto value = difference(before[i].place, after[i].place))
            edits.push_back({after[i].pointer(), std::move(*value)});
    return edits;
}

std::vector<Edit> needed_edits(const Plan& from, const Plan& to) {
    Plan derived = to;
    if (!from.layout.dp_replicate) {
        derived.layout.dp_replicate.reset();
        if (replicas_in_force(derived) != replicas_in_force(to)) derived = to;
    }
    return edits_between(from, derived);
}

bool apply_in_core(Plan& plan, const std::vector<Edit>& edits) {
    const auto fields = list_fields(plan);
    return std::all_of(edits.begin(), edits.end(), [&](const Edit& edit) {
        const auto at =
            std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.is(edit.path); });
        state_over_preset(plan.cluster_source, edit.path);
        return at != fields.end() && set_value(at->place, edit.value);
    });
}

}  // namespace pentamesh
