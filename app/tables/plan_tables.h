// Tables say who talks to whom: the groups of each axis, every collective of a step, and what some ranks
// share.
#pragma once

#include "app/tables/table.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"
#include "core/explain/lane_picture.h"
#include "core/explain/traffic.h"
#include "core/layer/layer.h"
#include "core/memory/memory_costs.h"
#include "core/mesh/places.h"
#include "core/sharding/placement.h"
#include "core/sharding/sharding.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

[[nodiscard]] Table comm_table(const Plan& plan, const Evaluation& e);
// Returns a table with a row for each pair of blocks that talk: bytes per step from one block of ranks to
// another.
[[nodiscard]] Table traffic_table(const TrafficMatrix& matrix);
// Lists the phases of one call, in order; `operation` is its place in comm.operations.
[[nodiscard]] Table phases_table(const Plan& plan, const Evaluation& e, int operation);

// "ranks that have the same part of the batch and of the sequence" ...: a caption for the names of Megatron
// and torchtitan that are not an axis' own. `zero`: the stage of ZeRO in force.
[[nodiscard]] std::string_view meaning_of(GroupKind kind, int zero);

// Returns the kinds that the plan has: the dense mesh's, and the expert mesh's where there are experts.
[[nodiscard]] std::vector<GroupKind> kinds_of(const Evaluation& e);

// Returns a table with a row for each kind. With `alone` false, kinds whose groups are single ranks are left
// out.
[[nodiscard]] Table groups_table(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds,
                                 bool alone);
// Returns a table with a row for each group of more than one rank: its axis, its number and its ranks, folded
// where they are many. It has at most `most` rows, and a column of hosts where they are named.
[[nodiscard]] Table ranks_table(const Evaluation& e, std::span<const GroupKind> kinds, std::size_t most,
                                const Hosts& hosts = {});

// Returns a table with a row for each group that holds all of the ranks, the smallest first.
[[nodiscard]] Table shared_groups_table(const Plan& plan, const Blame& blame);
// Returns a table with a row for each collective of those groups.
[[nodiscard]] Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame);
// Returns a table with a row for each kind: over how many groups the ranks are spread.
[[nodiscard]] Table spread_table(const Blame& blame);

// A table says what happens inside one layer, step by step.

// Returns "s b h 1,024 1 8,192"; the functions for other shapes write "8,192 × 1 × 8,192 of 16,384".
[[nodiscard]] std::string shape_text(const LayerTensor& tensor);
// Returns a table with a row for each step. `dp` says that there are replicas.
[[nodiscard]] Table layer_table(const LayerList& list, Notation notation, bool dp);
[[nodiscard]] Table lanes_table(const Plan& plan, const LanePicture& picture);
// Returns calls and bytes of one layer and micro-batch by axis and collective, and next to them those of the
// plan's own list.
[[nodiscard]] Table layer_calls_table(const LayerList& list, const Comm& comm);
// Holds the plan's own numbers: calls and bytes that leave a rank in one layer of this type and micro-batch;
// for weights and gradients once in a training step where the list says so. They are negative where the plan
// counts layers together.
struct PlanCalls {
    double calls = -1, sent_bytes = -1;
};
[[nodiscard]] PlanCalls plan_calls(const Comm& comm, int type, GroupKind axis, Collective collective);

// Tables say what each GPU holds: by stage, by what each axis saved, and with one strategy by itself.

[[nodiscard]] Table memory_table(const Memory& memory);
// Returns what the fullest GPU leaves for the framework's buffers. Precondition: there are stages.
[[nodiscard]] double room_for_buffers(const Memory& memory);
// Returns a cell of a column "fits": "yes", "no" or the words of what may fit.
[[nodiscard]] std::string_view fit_cell(MemoryFit fit);
[[nodiscard]] Table savings_table(const std::vector<SavingStep>& steps);

// Returns a row for each stage of ZeRO; it says why where one is impossible.
[[nodiscard]] Table zero_table(const ZeroRungs& rungs);

// Returns a table with one GPU first, then a row for each strategy; it says why where one is impossible.
[[nodiscard]] Table strategies_table(const StrategyPrices& prices);

// Tables say where tensors are: the placement of each, and the boxes in boxes from the cluster to a tensor.

// Returns "8,192 × 1,024"; dimensions that a tensor lacks are left out.
[[nodiscard]] std::string shape_text(const Placement& placement, const std::array<std::int64_t, 3>& sizes);
[[nodiscard]] Table tensors_table(std::span<const Placement> placements);

// One rank holds this of each tensor: its placement on every axis that the mesh uses, its range and its
// bytes.
struct HeldTensor {
    const Placement& placement;
    const Part& part;
};
[[nodiscard]] Table held_table(const Mesh& mesh, std::int64_t rank, std::span<const HeldTensor> tensors);

// Returns a table with a row for each level; where the path ends inside a GPU, one for each of its layers and
// each matrix of the chosen one, and the chosen matrix' cut.
[[nodiscard]] Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold,
                               const NestPath& path);

// Tables say what each axis does for the plan, and what is true of it in any plan.

// Returns a table with a row for each axis, or modifier of one. `rows` are those of that plan.
[[nodiscard]] Table map_table(const Plan& plan, std::span<const MapRow> rows);

// Returns a row for each wire: its speed, who talks on it, and the step with the chattiest axis there.
[[nodiscard]] Table wires_table(const WireRace& race);

// Describes a column of the reference tables: the member of MapWords in its cells, and its title.
struct MapWordsColumn {
    std::string_view title;
    std::string_view MapWords::*words;
};
inline constexpr std::array<MapWordsColumn, 4> kMapScope{{{"works on", &MapWords::scope},
                                                          {"says", &MapWords::says},
                                                          {"how often", &MapWords::often},
                                                          {"must know of the model", &MapWords::model}}};
inline constexpr std::array<MapWordsColumn, 5> kMapMaster{{{"cuts", &MapWords::cuts},
                                                           {"saves", &MapWords::saves},
                                                           {"sits", &MapWords::sits},
                                                           {"against it", &MapWords::drawback},
                                                           {"reach for it when", &MapWords::reach}}};
// Returns the same in any plan: the columns of both.
[[nodiscard]] Table map_reference_table();

}  // namespace pentamesh
