// Says which factors an axis may take, and what becomes of the others when one changes. The GPUs stay: ranks
// that an axis gives up or takes go to or come from data parallelism.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/problem.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Returns the dp_replicate in force: the layout's own, or the number that the other factors leave of the
// cluster. It is 0 where that is no whole number: such a plan has none.
[[nodiscard]] std::int64_t replicas_in_force(const Plan& plan);
// Returns the same of any axis.
[[nodiscard]] std::int64_t factor_in_force(const Plan& plan, Axis axis);
// Returns the ZeRO stage that makes a difference: 0 where states are shared by one rank.
[[nodiscard]] int zero_in_force(const Plan& plan);

// Returns the degree of data parallelism, dp_shard * dp_replicate, with a left-out dp_replicate resolved from
// the cluster. It is 0 where the other factors leave no whole number.
[[nodiscard]] std::int64_t data_parallel(const Plan& plan);

// Returns tp * cp * pp * data_parallel: the ranks that the layout asks for, 0 where there is no whole number
// of replicas. A product of factors beyond kManyRanks counts as that many.
inline constexpr std::int64_t kManyRanks = std::int64_t{1} << 40;
[[nodiscard]] std::int64_t ranks_laid_out(const Plan& plan);

// Returns micro-batches per step and rank: global_batch over micro_batch and the replicas; 0 where it does
// not divide.
[[nodiscard]] std::int64_t microbatches_of(const Plan& plan);
[[nodiscard]] double microbatches_or_one(const Plan& plan);  // one where it does not divide

[[nodiscard]] inline double tokens_per_step(const Training& t) {
    return static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length);
}

// Returns ascending factors of `axis` that divide the number that the other axes leave. The model allows
// them: heads for tp, layers for pp, experts for ep, sequence for cp. It always holds 1; the current factor
// may be missing when it is not legal.
[[nodiscard]] std::vector<std::int64_t> legal_factors(const Plan& plan, Axis axis);

// Returns the plan with another factor. With `keep_gpus` the data-parallel axes take or give the difference
// where that divides (dp_shard where the plan shards, else dp_replicate); otherwise only that factor changes.
// etp follows tp where the plan leaves it out. Without a pipeline nothing is interleaved: pp 1 is 1F1B of one
// chunk.
[[nodiscard]] Plan with_factor(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus);

// Returns the factor that a switch turns an axis on to: for tp the fast domain, for dp_shard everything left,
// for the others their smallest factor above 1. It is 1 where nothing else is legal.
[[nodiscard]] std::int64_t factor_when_on(const Plan& plan, Axis axis);

// Gives the range of each number of a plan: one answer for typing, steppers and the wheel, from the field
// table.

struct FieldRange {
    double least = 0, most = 0;
    bool above = false;  // the least itself is not allowed
    bool whole = false;

    [[nodiscard]] bool allows(double x) const {
        return x >= least && x <= most && !(above && x == least)
               && (!whole || x == static_cast<double>(static_cast<std::int64_t>(x)));
    }
};

// Returns the range of a number that the layout, the training or the GPU count holds, by its JSON pointer;
// nullopt where there is no such number.
[[nodiscard]] std::optional<FieldRange> range_of(std::string_view pointer);
// Returns "a whole number from 1 to 1,048,576".
[[nodiscard]] std::string range_text(const FieldRange& range);
// Returns the value that a stepper takes next: sizes, batches and GPUs double and halve, other counts go by
// one. It is the same value where the next one leaves the range or would be no whole number.
[[nodiscard]] std::int64_t next_value(std::string_view pointer, std::int64_t value, int by);

// Holds the order in which each framework lays its axes over the ranks. The same factors under two orders
// cross different wires.

struct OrderPreset {
    std::string_view name;                 // "Megatron"
    std::array<Axis, kAxisCount> order{};  // innermost first
    std::string_view stated;               // as the source states it, in its own direction
    std::string_view source;
    std::string_view note;  // other differences than the order; may be empty
};
// Orders may be equal: frameworks agree on some. A framework without an axis leaves that at 1; its place
// makes no difference then.
[[nodiscard]] std::span<const OrderPreset> order_presets();
// Returns the name of the first framework whose default this order is, or "custom".
[[nodiscard]] std::string_view order_name(const std::array<Axis, kAxisCount>& order);

// Edits a plan inside the engine: the changes of a fix, as data. (Edits that come from outside go through
// plan_json.h, which checks them against the whole format.)

// Returns the edits that turn `from` into `to`, in the order of the plan file: the cluster's GPUs, the layout
// and the training. An optional field that only `from` states cannot be taken away by an edit and is left
// out.
[[nodiscard]] std::vector<Edit> edits_between(const Plan& from, const Plan& to);
// Returns them without dp_replicate where the others leave as many replicas of the cluster by themselves: a
// fix names only what changes.
[[nodiscard]] std::vector<Edit> needed_edits(const Plan& from, const Plan& to);
// Returns false where a path is not one of those fields or the value is of another type; the plan is then
// partly edited.
[[nodiscard]] bool apply_in_core(Plan& plan, const std::vector<Edit>& edits);

// Records that the plan itself states a part of a cluster that comes from a preset: "/cluster/gpus". Any
// other path has no effect.
void state_over_preset(Source& source, std::string_view path);

// Returns needed_edits(plan, a copy that `change` has worked on).
template <typename Change>
[[nodiscard]] std::vector<Edit> fix_by(const Plan& plan, Change&& change) {
    Plan copy = plan;
    change(copy);
    return needed_edits(plan, copy);
}

// Says an edit in words: "tp = 8 and dp_shard = 32".

// Returns "8", "on", "tp-cp-ep": names with dashes; layers of stages "4 (7 times), 3", for an empty list "an
// even split".
[[nodiscard]] std::string words_of(const EditValue& value);
// Returns the field without its path: "dp_shard".
[[nodiscard]] std::string_view field_of(const Edit& edit);
[[nodiscard]] std::string words_of(const std::vector<Edit>& edits);

// Makes changes of a plan for a person. Panel, menus, lessons, advice and search make the same ones.
// with_factor is in edits.h.

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
