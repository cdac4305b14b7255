// Describes the groups of an axis, and one rank: as data, and as the sentence under the picture.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct AxisCaption {
    GroupKind kind = GroupKind::tp;
    std::int64_t groups = 0, degree = 1;
    std::int64_t inside_fast = 0;  // groups inside the first tier
    std::string_view slowest_tier;
    std::vector<Collective> collectives;  // distinct, in the order of a step
    double calls_per_layer = 0;           // of one micro-batch, forward and backward
    int calls_per_boundary = 0;           // between two pipeline stages, of one micro-batch, both ways
    double calls_per_step = 0;            // of one rank
    std::string where;                    // "128 groups of 8, all inside NVLink"
    std::string talk;  // "reduce-scatter + all-gather, 8 per layer"; empty: the groups do not talk
    [[nodiscard]] std::string text() const { return talk.empty() ? where : where + ": " + talk; }
};
// Returns the kind under which the talk of an axis is listed: the gradients of dp_shard or dp_replicate may
// go over all of data parallelism at once.
[[nodiscard]] GroupKind group_listed_under(const Evaluation& evaluation, GroupKind kind);
// `evaluation` is that of the plan. An axis of degree 1 says that it cuts nothing. The calls are those of the
// kind that the axis is listed under; where its groups are larger, the text names it.
[[nodiscard]] AxisCaption caption_of(const Plan& plan, const Evaluation& evaluation, GroupKind kind);

struct RankGroup {
    GroupKind kind = GroupKind::tp;
    std::int64_t index = 0;     // of the group, in canonical order
    std::int64_t position = 0;  // of the rank in it
    std::int64_t degree = 1;
    std::int64_t previous = 0, next = 0;  // ring neighbours
    int tier = 0;                         // slowest that this group crosses
};
struct RankExplanation {
    std::int64_t rank = 0, node = 0, stage = 0;
    Coordinates dense{}, expert{};
    std::vector<RankGroup> groups;  // kinds with more than one rank a group
    std::string text;               // "Rank 1,234: node 154, stage 4; tp 2 of 8, dp_shard 77 of 128."
};
// It takes microseconds: no list of members is built. Precondition: 0 <= rank < world.
[[nodiscard]] RankExplanation explain_rank(const Plan& plan, const Mesh& mesh, std::int64_t rank);

}  // namespace pentamesh
