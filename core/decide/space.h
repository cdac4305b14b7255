// Says which layouts a search tries: the values of each field that it varies, and the plan of each layout.
#pragma once

#include "core/base/containers.h"
#include "core/mesh/mesh.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// A search can vary these, in the order of its results' JSON.
enum class Varied : std::uint8_t {
    tp,
    cp,
    pp,
    virtual_stages,
    schedule,
    ep,
    etp,
    dp_shard,
    dp_replicate,
    zero,
    micro_batch,
    recompute,
    order,
    gradients,  // from here on they keep the plan's own value unless a request varies them
    optimizer_state,
    reshard,
    overlap_tp,
    overlap_pp,
    offload_layers,
    offload_optimizer
};
template <>
inline constexpr std::size_t kEnumCount<Varied> = 20;
[[nodiscard]] constexpr bool is_held_by_default(Varied v) {
    return v >= Varied::gradients;
}
enum class Switched : std::uint8_t { off, on };
template <>
inline constexpr std::array<std::string_view, 2> kNames<Switched>{"off", "on"};
[[nodiscard]] std::string_view name_of(Varied v);     // "virtual_stages"
[[nodiscard]] std::string_view pointer_of(Varied v);  // "/layout/virtual_stages"
[[nodiscard]] std::optional<Varied> varied_named(std::string_view name);
// Returns the values that a search tries by itself, and those that may be named, in words.
[[nodiscard]] std::string_view usual_values(Varied v);
[[nodiscard]] std::string possible_values(Varied v);

// Groups of one kind shall cross no tier slower than this one of the cluster.
struct Inside {
    GroupKind group = GroupKind::tp;
    int tier = 0;
    bool operator==(const Inside&) const = default;
};

// Each list ascends or is in the order of the enum, without doubles, and is not empty.
//
// A layout of the space takes one value of each list, such that
//   - tp cp pp dp_shard dp_replicate multiply to the GPUs,
//   - the schedule can run that number of chunks (schedule.h, chunks_for),
//   - without a pipeline it is 1F1B of one chunk,
//   - `software`, where there is one, runs it (software_runs.h) and keeps its types and moves its offload
//     (state_runs.h),
//   - the groups of `inside` cross no slower tier,
//   - of two orders that lay axes of more than one rank in the same way in both meshes, it has the first.
// Layouts that break any other rule are evaluated and counted.
struct SearchSpace {
    std::vector<std::int64_t> tp, cp, pp, virtual_stages, ep, etp, dp_shard, dp_replicate, micro_batch;
    std::vector<Schedule> schedule;
    std::vector<int> zero;
    std::optional<Software> software;  // nullopt: all that any software has
    std::vector<RecomputeChoice> recompute;
    std::vector<AxisOrder> order;
    std::vector<Dtype> gradients, optimizer_state;
    std::vector<Reshard> reshard;
    std::vector<Switched> overlap_tp, overlap_pp;
    std::vector<std::int64_t> offload_layers;  // of activations
    std::vector<double> offload_optimizer;
    std::vector<Inside> inside;
    std::optional<double>
        most_memory;  // bytes that a GPU may take; the search's headroom says it (headroom_of)
    // Returns JSON texts of a list's values: "8", "\"1f1b\"".
    [[nodiscard]] std::vector<std::string> values_of(Varied v) const;
};

// Names a value that no plan may have, or a name that is no such field. `message` says the field and its
// range.
struct SpaceError {
    std::string name, message;
};

// Both lists take any of
//   "tp"                   --hold: the plan's own value; --vary: as by default
//   "tp=1,2,4", "pp=1..8"  these values; of a range those that divide what they must
//   "pp<=8", "tp>1"        of the values so far those within the limit
//   "recompute_layers=1..4", "recompute_modules=mlp,core_attn+mlp"
//                          in addition to what recompute has: so many layers of each chunk, these sets of
//                          modules; of --hold only these
//   "tp inside the node"   its groups cross no slower tier: a tier's name, node, rack, pod
//   "memory<=70GiB"        bytes that the fullest GPU may take
struct SpaceRequest {
    std::vector<std::string> vary;
    std::vector<std::string> hold;
    bool any_software = false;  // else what the plan's own runs
};
// The defaults are, for tp: divisors of the GPUs inside the fast domain; cp: those that leave a rank 1,024
// tokens; pp: those up to the layers; virtual_stages 1 to 8; every schedule; ep: those of the experts; etp: 1
// and tp's values; dp_shard: every divisor; zero 0 to 3; micro_batch 1, 2, 4, 8 that divide the batch;
// recompute none, selective, full; the frameworks' orders. gradients, optimizer_state, reshard, both
// of overlap and both of offload are the plan's own; --vary without values gives each of the former its two,
// these the quarters. Offload is varied only where the link to host memory is known. The plan's own value is
// always among them, unless the request says otherwise. `error` is set where a request cannot be met.
[[nodiscard]] SearchSpace search_space(const Plan& plan, const SpaceRequest& request,
                                       std::optional<SpaceError>& error);
// Returns the share of a GPU's memory that must stay free: what was asked for, what `most_memory` leaves, the
// larger of both, or `usual` where neither is said.
[[nodiscard]] double headroom_of(const SearchSpace& space, const Cluster& cluster,
                                 std::optional<double> asked, double usual);

// These settings of a layout decide bytes and costs, and no rank: all layouts of a node have the same.
struct SettingChoice {
    Dtype gradients = Dtype::fp32, optimizer_state = Dtype::fp32;
    Reshard reshard = Reshard::by_software;
    Switched overlap_tp = Switched::off, overlap_pp = Switched::on;
    std::int64_t offload_layers = 0;
    double offload_optimizer = 0;
    bool operator==(const SettingChoice&) const = default;
};
[[nodiscard]] SettingChoice settings_of(const Plan& plan);

// This is one layout of a space.
struct LayoutChoice {
    std::int64_t tp = 1, cp = 1, pp = 1, virtual_stages = 1, ep = 1, etp = 1, dp_shard = 1, dp_replicate = 1,
                 micro_batch = 1;
    Schedule schedule = Schedule::one_f_one_b;
    int zero = 0;
    RecomputeChoice recompute;
    AxisOrder order{};
    SettingChoice settings;
    bool operator==(const LayoutChoice&) const = default;
};
// Makes the plan with that layout, complete: dp_replicate, and etp where there are experts, are stated.
// Fields that are tied to the number of chunks (stage_layers, mtp_chunk, microbatch_group) stay only where
// that is the plan's. Where the plan has one tp or cp rank and the layout several, sequence parallelism and
// the kind of context parallelism are those that the plan's software wants. Writes over `out`, which must be
// a copy of `plan` or come from here.
void lay_out(const Plan& plan, const LayoutChoice& choice, Plan& out);
// Returns true if all of layout and training is equal in two changes of one plan.
[[nodiscard]] bool is_laid_out_as(const Plan& a, const Plan& b);

// Finds fields of a plan that change together or by themselves, as a comparison shows and takes them.

// This is one field of layout, training, GPU count or cost; or the whole model; or all the rest of the
// cluster.
struct FieldUnit {
    enum class Kind : std::uint8_t { field, model, cluster };
    Kind kind = Kind::field;
    std::vector<std::string> pointers;  // of a field: its own; else what differs inside
};
// Returns the units that are not equal in the two plans. Names, notes and the saved view are no choice and
// left out.
[[nodiscard]] std::vector<FieldUnit> units_between(const Plan& a, const Plan& b);
// Gives `to` that unit of `from`.
void take(const FieldUnit& unit, const Plan& from, Plan& to);
// Returns "tp 8 -> 4".
[[nodiscard]] std::string words_of_change(const FieldUnit& unit, const Plan& from, const Plan& to);

// Returns the arguments of `--set` that make `b` of `a`, field by field: "/layout/tp=4"; null where `b`
// leaves a list or an optional field out.
[[nodiscard]] std::vector<std::string> sets_between(const Plan& a, const Plan& b);

// Returns the JSON text of a plan's value at a pointer that units_between gave; "null" where the plan leaves
// it out.
[[nodiscard]] std::string json_text_of(const Plan& plan, const std::string& pointer);

}  // namespace pentamesh
