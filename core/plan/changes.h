// Changes that a person makes to a plan. Panel, menus, lessons, advice and search make the same ones.
// with_factor stands in factors.h.
#pragma once

#include "core/plan/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Another number of GPUs. What the cluster gains or loses goes to data parallelism where that divides.
[[nodiscard]] Plan with_gpus(const Plan& plan, std::int64_t gpus);
// The same; what it gains or loses becomes plain replicas, however the plan shards. As with_gpus where the
// other factors leave no whole number of replicas.
[[nodiscard]] Plan with_gpus_as_replicas(const Plan& plan, std::int64_t gpus);
// Another first tier: GPUs that one node (or rack) joins. The plan as it was where the cluster has one tier.
[[nodiscard]] Plan with_gpus_per_node(const Plan& plan, std::int64_t gpus);
// Another fabric and GPU under as many GPUs. `preset`: its id, empty where it has none.
[[nodiscard]] Plan with_cluster(const Plan& plan, Cluster cluster, std::string preset);
// Other tiers, fastest first, under the same GPUs: the plan's own from then on.
[[nodiscard]] Plan with_tiers(const Plan& plan, std::vector<Tier> tiers);
// Where a model of one's own begins: a dense decoder of a usual shape, to be typed over (Touvron et al. 2023,
// LLaMA, table 2: 7B).
[[nodiscard]] Model plain_model();
// Another model; a dense one has no experts to lay out.
[[nodiscard]] Plan with_model(const Plan& plan, Model model, std::string preset);
// Nothing cut but by FSDP over all GPUs, one sequence a GPU at least: a layout that suits any model.
[[nodiscard]] Plan with_plain_layout(const Plan& plan);
// Spelled out in the plan, or a preset's with something changed: no preset brings it back.
[[nodiscard]] bool is_own_model(const Plan& plan);
[[nodiscard]] Plan with_schedule(const Plan& plan, Schedule schedule, std::int64_t virtual_stages);

using AxisOrder = std::array<Axis, kAxisCount>;
// Layers of each of pp * virtual_stages chunks in model order, zeros allowed; an empty list is an even split.
[[nodiscard]] Plan with_stage_layers(const Plan& plan, std::vector<std::int64_t> layers);
[[nodiscard]] Plan with_order(const Plan& plan, const AxisOrder& order);
// The element at `from` taken out and put at `to`.
[[nodiscard]] AxisOrder moved(const AxisOrder& order, std::size_t from, std::size_t to);

// A whole number of the layout or the training by its pointer, "/training/global_batch", brought into its
// range; GPUs go through with_gpus. The plan as it was where there is no such number.
[[nodiscard]] Plan with_number(const Plan& plan, std::string_view pointer, std::int64_t value);

}  // namespace pentamesh
