// Holds the facts behind software_runs.h: the features of each software, with their sources.
#pragma once

#include "core/plan/changes.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <span>
#include <string_view>

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
    bool uneven_stages = true;
    Recomputes recomputes = Recomputes::modules;
};

[[nodiscard]] const SoftwareRuns& runs_of(Software software);
[[nodiscard]] constexpr unsigned bit(CpComm kind) {
    return 1U << static_cast<unsigned>(kind);
}

}  // namespace pentamesh
