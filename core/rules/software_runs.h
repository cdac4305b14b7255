// Holds the facts behind software_runs.h: the features of each software, with their sources.
#pragma once

#include "core/base/containers.h"
#include "core/plan/edits.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class ExpertTensor : std::uint8_t { any, one_beside_ep, as_tp };
// Software recomputes modules of every layer; none, selective or full; all layers or none.
enum class Recomputes : std::uint8_t { modules, words, layers };
enum class Heads : std::uint8_t { any, at_least_tp, whole };

struct SoftwareRuns {
    std::string_view who;
    bool (*schedule)(Schedule) = nullptr;  // null: any
    std::span<const AxisOrder> orders{};   // empty: any
    std::string_view order_words{};
    unsigned zero = 0b1111;         // stages that it has
    unsigned replicas_at = 0b1111;  // stages at which shards may have replicas
    bool lets_go = false;           // ZeRO-3 gives gathered weights up, for any setting
    bool experts = true;
    ExpertTensor etp = ExpertTensor::any;
    unsigned cp_kinds = 0b1111;
    bool sequence_parallel = true;
    Heads heads = Heads::any;
    bool ties_stages = true;  // a head that is the embedding may lie in another stage than it
    bool uneven_stages = true;
    Recomputes recomputes = Recomputes::modules;
    // Weights, gradients and moments are kept in fp32 where nothing else is asked for; there is no master
    // copy then.
    bool keeps_fp32 = false;
};

[[nodiscard]] const SoftwareRuns& runs_of(Software software);
[[nodiscard]] constexpr unsigned bit(CpComm kind) {
    return 1U << static_cast<unsigned>(kind);
}

// Lists the layouts that a software runs: search and advice go by this one table, rules warn by it and
// exporters name losses by it. Each fact has its source in software_runs.cpp.

// A software lacks it, or refuses it. From `schedule` on it concerns how a pipeline runs and what is
// recomputed; before that, ranks and the sharding of states.
enum class Lack : std::uint8_t {
    experts,
    joined_experts,
    expert_width,
    expert_tensor,
    exchange_ranks,
    expert_order,
    context,
    sequence_parallel,
    no_sequence_parallel,
    heads,
    tied_pipeline,
    tensor_overlap,
    zero,
    reduction,
    gathered,
    replicas,
    optimizer,
    order,
    schedule,
    stages,
    message_overlap,
    expert_overlap,
    recompute
};
template <>
inline constexpr std::size_t kEnumCount<Lack> = 23;

struct Lacks {
    std::uint32_t bits = 0;
    [[nodiscard]] bool has(Lack l) const { return (bits >> static_cast<unsigned>(l) & 1U) != 0; }
    void add(Lack l) { bits |= 1U << static_cast<unsigned>(l); }
    [[nodiscard]] bool any() const { return bits != 0; }
    [[nodiscard]] std::optional<Lack> first() const;
    [[nodiscard]] Lacks besides(Lacks other) const { return {bits & ~other.bits}; }
};

// Lists what the software does not run of the plan's layout; it is empty if all of it runs. The plan must be
// possible for that to mean anything. A program of one's own on PyTorch's FSDP is taken to have everything.
[[nodiscard]] Lacks lacks_of(const Plan& plan, Software software);
[[nodiscard]] bool lacks(Lack what, const Plan& plan, Software software);
// Returns the software of today that runs all of the plan's layout, by name; none where no known one does. A
// program of one's own is not among them.
[[nodiscard]] std::vector<std::string_view> software_that_runs(const Plan& plan);
// Return the two halves, for a search that asks each once. The first does not depend on micro-batch,
// schedule, chunks and recomputation; the second on no more than these, pp and ep.
[[nodiscard]] Lacks lacks_of_ranks(const Plan& plan, Software software);
[[nodiscard]] Lacks lacks_of_run(const Plan& plan, Software software);
// Returns the first lack that a change brings in and that the plan itself does not have.
[[nodiscard]] std::optional<Lack> lack_that_came(const Plan& own, const Plan& changed);

// Returns "Megatron has no schedule zb-v" for a thing that it lacks.
[[nodiscard]] std::string words_of(Lack lack, const Plan& plan, Software software);
[[nodiscard]] std::string_view pointer_of(Lack lack);  // "/layout/schedule"
[[nodiscard]] ProblemCode code_of(Lack lack);
// Says whether no setting expresses it; the software ends with an error; or it runs, and a rule of rules.h
// warns of that.
enum class LackKind : std::uint8_t { lost, refused, warned };
[[nodiscard]] LackKind kind_of(Lack lack);

// Returns a condition of Megatron's overlap of the experts' exchange that the plan does not meet; empty if it
// meets all, or does not ask for that overlap.
[[nodiscard]] std::string_view expert_overlap_wants(const Plan& plan);

// Return settings that mean nothing in a plan of one tp rank or one cp rank, as the software wants them once
// there are several: sequence parallelism; the kind of context parallelism.
[[nodiscard]] bool usual_sequence_parallel(const Plan& plan);
[[nodiscard]] CpComm usual_cp_comm(const Plan& plan);

// Returns the orders in which a software lays out ranks; empty for any.
[[nodiscard]] std::span<const AxisOrder> orders_of(Software software);
// Returns the one of the orders that lays the same ranks into the same groups, or nullopt.
[[nodiscard]] std::optional<std::size_t> order_in(const Plan& plan, std::span<const AxisOrder> orders);

}  // namespace pentamesh
