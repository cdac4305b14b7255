// Makes changes of a plan for a person. Panel, menus, lessons, advice and search make the same ones.
// with_factor is in factors.h.
#pragma once

#include "core/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Sets another number of GPUs. GPUs that the cluster gains or loses change data parallelism where that
// divides.
[[nodiscard]] Plan with_gpus(const Plan& plan, std::int64_t gpus);
// Does the same; gained or lost GPUs become plain replicas, however the plan shards. It is as with_gpus where
// the other factors leave no whole number of replicas.
[[nodiscard]] Plan with_gpus_as_replicas(const Plan& plan, std::int64_t gpus);
// Sets another first tier: GPUs that one node (or rack) joins. Returns the plan as it was where the cluster
// has one tier.
[[nodiscard]] Plan with_gpus_per_node(const Plan& plan, std::int64_t gpus);
// Sets another fabric and GPU under as many GPUs. `preset` is its id, empty where it has none.
[[nodiscard]] Plan with_cluster(const Plan& plan, Cluster cluster, std::string preset);
// Sets other tiers, fastest first, under the same GPUs: they are the plan's own from then on.
[[nodiscard]] Plan with_tiers(const Plan& plan, std::vector<Tier> tiers);
// Returns the first values of a model of one's own: a dense decoder of a usual shape, to be typed over
// (Touvron et al. 2023, LLaMA, table 2: 7B).
[[nodiscard]] Model plain_model();
// Sets another model; a dense one has no experts to lay out.
[[nodiscard]] Plan with_model(const Plan& plan, Model model, std::string preset);
// Cuts only by FSDP over all GPUs, with one sequence a GPU at least: a layout that suits any model.
[[nodiscard]] Plan with_plain_layout(const Plan& plan);
// Returns true if the model is spelled out in the plan, or is a preset's with a change: no preset brings it
// back.
[[nodiscard]] bool is_own_model(const Plan& plan);
[[nodiscard]] Plan with_schedule(const Plan& plan, Schedule schedule, std::int64_t virtual_stages);

using AxisOrder = std::array<Axis, kAxisCount>;
// Sets the layers of each of pp * virtual_stages chunks in model order, zeros allowed; an empty list is an
// even split.
[[nodiscard]] Plan with_stage_layers(const Plan& plan, std::vector<std::int64_t> layers);
[[nodiscard]] Plan with_order(const Plan& plan, const AxisOrder& order);
// Returns the order with the element at `from` taken out and put at `to`.
[[nodiscard]] AxisOrder moved(const AxisOrder& order, std::size_t from, std::size_t to);

// Returns a plan that is proposed in the place of `open`: name, notes and the saved view stay its own.
[[nodiscard]] Plan in_place_of(const Plan& open, Plan proposed);

// Sets a whole number of the layout or the training by its pointer, "/training/global_batch", brought into
// its range; GPUs go through with_gpus. Returns the plan as it was where there is no such number.
[[nodiscard]] Plan with_number(const Plan& plan, std::string_view pointer, std::int64_t value);

}  // namespace pentamesh
