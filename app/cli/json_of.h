// Other programs read this JSON: its keys are stable, bytes are integers, seconds are floating point.
#pragma once

#include "core/base/error.h"
#include "core/evaluate.h"
#include "core/interop/sheet.h"
#include "core/io/plan_document.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace pentamesh::cli {

using Json = nlohmann::ordered_json;

// Returns a whole number as an integer, for any type that it was counted in.
[[nodiscard]] Json whole(double x);

[[nodiscard]] Json json_of_import_problems(const std::vector<interop::ImportProblem>& problems);
// Describes a plan that could not be read: it is invalid, with the one problem that stopped it.
[[nodiscard]] Json json_of_error(const Error& error);
// The groups come without their ranks.
[[nodiscard]] Json json_of_groups(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds);
// Sets "fits" and "may_fit"; both are null where there are no memory figures.
void put_fit(Json& out, std::optional<MemoryFit> fit);
[[nodiscard]] Json json_of_memory(const Plan&, const Evaluation& e);
[[nodiscard]] Json json_of_comm(const Plan& plan, const Evaluation& e);
[[nodiscard]] Json json_of_timeline(const Timeline& timeline, bool ops);
[[nodiscard]] Json json_of_step(const Evaluation& e);
// Says who waits when the first node is lost: null where no group has two ranks.
[[nodiscard]] Json json_of_failure(const Plan& plan, const Evaluation& e);
// Returns what the whole training takes: null where the plan gives no part of it.
[[nodiscard]] Json json_of_cost(const Plan& plan, const Evaluation& e);
[[nodiscard]] Json json_of_parameters(const std::string& name, const ParameterCounts& counts);
// Puts null in the place of each number and flag of an impossible plan, so that a zero is not taken for a
// figure.
void void_figures(Json& out);
// Adds "valid" and "problems".
void add_validity(Json& out, const Evaluation& e);
// Does the same and writes it to standard output.
void print_json(Json out, const Evaluation& e);
// Returns an enumerator's name as a key.
template <typename E>
[[nodiscard]] std::string key_of(E e) {
    return std::string(name_of(e));
}
// Returns the axes of the expert mesh by their own names: those that `value` has something for.
template <typename F>
[[nodiscard]] Json json_of_expert_axes(F&& value) {
    static constexpr std::pair<Axis, const char*> kNames[] = {{Axis::tp, "etp"},
                                                              {Axis::ep, "ep"},
                                                              {Axis::pp, "pp"},
                                                              {Axis::dp_shard, "edp_shard"},
                                                              {Axis::dp_replicate, "edp_replicate"}};
    Json out = Json::object();
    for (const auto& [axis, name] : kNames)
        if (const std::optional<std::int64_t> v = value(axis)) out[name] = *v;
    return out;
}

}  // namespace pentamesh::cli
