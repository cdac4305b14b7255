#include "core/plan/edits.h"

#include "core/plan/names.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pentamesh {
namespace {

// Every field that a fix may touch, as references; a plan may be const. kPointers names them in this order.
template <typename P>
auto fields(P& plan) {
    auto& l = plan.layout;
    auto& t = plan.training;
    return std::tie(plan.cluster.gpus, l.order, l.tp, l.sequence_parallel, l.cp, l.cp_comm, l.pp,
                    l.virtual_stages, l.schedule, l.microbatch_group, l.stage_layers, l.ep, l.etp, l.dp_shard,
                    l.dp_replicate, l.zero, t.sequence_length, t.micro_batch, t.global_batch, t.compute,
                    t.optimizer, t.attention, t.recompute, t.router_imbalance, t.straggler_cv, t.overlap.dp,
                    t.overlap.pp, t.overlap.cp, t.overlap.tp, t.overlap.ep);
}
constexpr std::array<std::string_view, 30> kPointers{"/cluster/gpus",
                                                     "/layout/order",
                                                     "/layout/tp",
                                                     "/layout/sequence_parallel",
                                                     "/layout/cp",
                                                     "/layout/cp_comm",
                                                     "/layout/pp",
                                                     "/layout/virtual_stages",
                                                     "/layout/schedule",
                                                     "/layout/microbatch_group",
                                                     "/layout/stage_layers",
                                                     "/layout/ep",
                                                     "/layout/etp",
                                                     "/layout/dp_shard",
                                                     "/layout/dp_replicate",
                                                     "/layout/zero",
                                                     "/training/sequence_length",
                                                     "/training/micro_batch",
                                                     "/training/global_batch",
                                                     "/training/compute",
                                                     "/training/optimizer",
                                                     "/training/attention",
                                                     "/training/recompute",
                                                     "/training/router_imbalance",
                                                     "/training/straggler_cv",
                                                     "/training/overlap/dp",
                                                     "/training/overlap/pp",
                                                     "/training/overlap/cp",
                                                     "/training/overlap/tp",
                                                     "/training/overlap/ep"};
// Calls f with the index of each field as a constant, while it returns true.
template <typename F>
bool all_fields(F&& f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return (f(std::integral_constant<std::size_t, I>{}) && ...);
    }
    (std::make_index_sequence<kPointers.size()>{});
}

EditValue value_of(std::int64_t v) {
    return v;
}
EditValue value_of(int v) {
    return std::int64_t{v};
}
EditValue value_of(bool v) {
    return v;
}
EditValue value_of(double v) {
    return v;
}
EditValue value_of(const std::optional<std::int64_t>& v) {
    return v.value_or(0);
}
template <typename E>
requires std::is_enum_v<E> EditValue value_of(E v) {
    return std::string(name_of(v));
}
EditValue value_of(const std::array<Axis, kAxisCount>& order) {
    std::vector<std::string> names;
    names.reserve(order.size());
    for (const Axis a : order) names.emplace_back(name_of(a));
    return names;
}
// A list of layers is only ever taken away by a fix: the empty list asks for an even split.
EditValue value_of(const std::vector<std::int64_t>&) {
    return std::vector<std::string>{};
}

bool set(std::int64_t& field, const EditValue& v) {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (n) field = *n;
    return n != nullptr;
}
bool set(int& field, const EditValue& v) {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (n) field = static_cast<int>(*n);
    return n != nullptr;
}
bool set(bool& field, const EditValue& v) {
    const auto* b = std::get_if<bool>(&v);
    if (b) field = *b;
    return b != nullptr;
}
bool set(double& field, const EditValue& v) {
    const auto* x = std::get_if<double>(&v);
    if (x) field = *x;
    return x != nullptr;
}
bool set(std::optional<std::int64_t>& field, const EditValue& v) {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (n) field = *n;
    return n != nullptr;
}
template <typename E>
requires std::is_enum_v<E>
bool set(E& field, const EditValue& v) {
    const auto* name = std::get_if<std::string>(&v);
    const std::optional<E> e = name ? parse_name<E>(*name) : std::nullopt;
    if (e) field = *e;
    return e.has_value();
}
bool set(std::array<Axis, kAxisCount>& field, const EditValue& v) {
    const auto* names = std::get_if<std::vector<std::string>>(&v);
    if (!names || names->size() != field.size()) return false;
    for (std::size_t i = 0; i < field.size(); ++i)
        if (!set(field[i], EditValue{(*names)[i]})) return false;
    return true;
}
bool set(std::vector<std::int64_t>& field, const EditValue& v) {
    const auto* names = std::get_if<std::vector<std::string>>(&v);
    if (!names || !names->empty()) return false;
    field.clear();
    return true;
}

// What an edit cannot say: that a field is no longer stated, or a list of layers.
template <typename T>
bool expressible(const T&) {
    return true;
}
bool expressible(const std::optional<std::int64_t>& v) {
    return v.has_value();
}
bool expressible(const std::vector<std::int64_t>& v) {
    return v.empty();
}

}  // namespace

std::vector<Edit> edits_between(const Plan& from, const Plan& to) {
    std::vector<Edit> edits;
    const auto before = fields(from), after = fields(to);
    all_fields([&](auto i) {
        const auto& now = std::get<i>(after);
        if (now != std::get<i>(before) && expressible(now))
            edits.push_back({std::string(kPointers[i]), value_of(now)});
        return true;
    });
    return edits;
}

bool apply_in_core(Plan& plan, const std::vector<Edit>& edits) {
    const auto field = fields(plan);
    return std::all_of(edits.begin(), edits.end(), [&](const Edit& edit) {
        bool applied = false;
        all_fields([&](auto i) {
            if (kPointers[i] != edit.path) return true;
            applied = set(std::get<i>(field), edit.value);
            return false;
        });
        return applied;
    });
}

}  // namespace pentamesh
