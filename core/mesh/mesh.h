// Lists the kinds of collectives, and counts how many bytes of one leave a rank.
#pragma once

#include "core/base/containers.h"
#include "core/model/local_shard.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv };
template <>
inline constexpr std::size_t kEnumCount<Collective> = 5;
[[nodiscard]] std::string_view name_of(Collective c);
[[nodiscard]] std::string_view words_of(Collective c);  // "all-gather", as it stands in a sentence

// Returns the bytes that leave a rank in one call over n ranks with the given buffer (communication.md,
// Collectives).
[[nodiscard]] double sent_bytes(Collective c, std::int64_t n, double buffer_bytes);

// Says who talks to whom, over which wire: ranks, coordinates, groups and the tiers they cross, all from
// strides. A list of ranks is built only on request.

// A mesh gives rank = sum over its factors of coordinate * stride.
struct Factor {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    bool operator==(const Factor&) const = default;
};

// These are all groups of interest. The first five are the dense mesh's own axes, then come its combinations,
// those that weight shards make (only where a plan has them), then the expert mesh's, which re-folds the same
// ranks (only for MoE models). edp_shard and edp_replicate are the two parts of edp, and exist only where
// both have more than one rank: elsewhere edp itself is the one that there is. Megatron calls them the intra
// and the inter partial expert data parallel group (parallel_state.py, num_distributed_optimizer_instances),
// torchtitan efsdp and dp_replicate of its sparse mesh (parallel_dims.py).
enum class GroupKind : std::uint8_t {
    tp,
    cp,
    dp_shard,
    dp_replicate,
    pp,
    dp,
    dp_cp,
    fsdp,
    tp_cp,
    mp,
    gtp_remat,
    dp_without_gtp_remat,
    dp_cp_without_gtp_remat,
    etp,
    ep,
    edp,
    edp_shard,
    edp_replicate,
    etp_ep
};
inline constexpr int kGroupKindCount = 19;
template <>
inline constexpr std::size_t kEnumCount<GroupKind> = kGroupKindCount;
[[nodiscard]] std::string_view name_of(GroupKind kind);
[[nodiscard]] bool is_expert(GroupKind kind);
[[nodiscard]] bool is_of_weight_shards(GroupKind kind);
// Returns true for edp_shard and edp_replicate.
[[nodiscard]] bool is_part_of_edp(GroupKind kind);
// Returns true if replicas of the data talk in these groups: gradients and parameters of a step move over
// them.
[[nodiscard]] bool is_data_parallel(GroupKind kind);
// Returns the group of only one axis: of the dense mesh, ep of the expert mesh.
[[nodiscard]] GroupKind group_of(Axis axis);

// Tiers beyond these count as the last.
inline constexpr int kMaxTiers = 8;
// A larger product of factors is taken for a typing error: no mesh is laid out, world is 0.
inline constexpr std::int64_t kMaxWorld = std::int64_t{1} << 26;

// Holds both meshes over the same ranks. In the expert mesh etp takes tp's place, ep takes its own, cp is 1;
// the rest is expert data parallel, kept as a shard and a replicate factor in the places of dp_shard and
// dp_replicate: edp_replicate = gcd(dp_replicate, edp), edp_shard the rest. Megatron knows one dp axis, where
// the split makes no difference; torchtitan's efsdp = dp_shard * cp * tp / ep is edp_shard.
// The folding follows Megatron-LM parallel_state.py RankGenerator.
struct Mesh {
    std::int64_t world = 0;          // product of the dense factors; 0 when it exceeds kMaxWorld
    EnumArray<Axis, Factor> dense;   // ep has size 1
    EnumArray<Axis, Factor> expert;  // tp is etp, cp has size 1, dp_shard x dp_replicate is edp
    bool has_experts = false;  // a MoE model whose expert mesh exists and has the dense mesh's pipelines
    std::array<Axis, kAxisCount> order{};  // innermost first
    std::int64_t weight_shards = 1;        // the innermost ranks of data parallelism that cut each matrix
    bool operator==(const Mesh&) const = default;
};

// `cluster.gpus` decides dp_replicate where the layout leaves it out (replicas_in_force). A layout that
// cannot be folded gives has_experts = false and a problem in advice.h. A factor below 1 counts as 1, also
// with a problem.
[[nodiscard]] Mesh build_mesh(const Plan& plan);

// Returns the ranks along an axis: of the dense mesh, and of ep, which only the experts' has.
[[nodiscard]] inline std::int64_t axis_size(const Mesh& mesh, Axis axis) {
    return mesh.has_experts && axis == Axis::ep ? mesh.expert[axis].size : mesh.dense[axis].size;
}

// Returns true if the mesh has groups of this kind: those of experts, of weight shards and the parts of edp
// are not in every mesh.
[[nodiscard]] bool has_kind(const Mesh& mesh, GroupKind kind);

// Holds the factors of a group kind with size > 1, in ascending stride, at most 4. It is empty for a kind
// that the mesh does not have.
struct GroupFactors {
    std::array<Factor, 4> factor{};
    int count = 0;
    [[nodiscard]] std::span<const Factor> span() const& {
        return {factor.data(), static_cast<std::size_t>(count)};
    }
    void span() const&& = delete;  // the span would outlive its factors
};
[[nodiscard]] GroupFactors group_factors(const Mesh& mesh, GroupKind kind);

// Says how the groups of one kind lie on the fabric.
struct GroupSummary {
    GroupKind kind = GroupKind::tp;
    std::int64_t degree = 1;
    std::int64_t groups = 0;
    std::array<std::int64_t, kMaxTiers> by_tier{};  // groups whose slowest crossed tier is i; sums to groups
    int slowest_tier = 0;                           // index into cluster.tiers; 0 when degree is 1
    std::int64_t per_fast_domain = 1;               // most ranks that one group has in one fast domain
    std::int64_t sharing_node = 1;  // groups of this kind that have ranks in the first fast domain
    bool operator==(const GroupSummary&) const = default;
};
using GroupSummaries = EnumArray<GroupKind, GroupSummary>;
// It uses closed forms: no list of ranks is built. The steps per tier are 1 where the groups fit its domains
// evenly, else at most domain / gcd(domain, extent of a group); one per group where two tiers' domains do not
// nest. An expert kind of a mesh without experts has 0 groups.
[[nodiscard]] GroupSummary summarize(const Mesh& mesh, const Cluster& cluster, GroupKind kind);
// Summarizes all kinds. Those of the same axes beyond size 1 lie in the same way, and are examined once.
void summarize(const Mesh& mesh, const Cluster& cluster, GroupSummaries& out);

using Coordinates = EnumArray<Axis, std::int64_t>;
[[nodiscard]] Coordinates dense_coordinates(const Mesh& mesh, std::int64_t rank);
[[nodiscard]] Coordinates expert_coordinates(const Mesh& mesh, std::int64_t rank);

// These describe the group of `kind` that holds `rank`: its first rank, its index in canonical order (groups
// ascend by first rank), and its members ascending.
[[nodiscard]] std::int64_t first_rank_of_group(const Mesh& mesh, GroupKind kind, std::int64_t rank);
[[nodiscard]] std::int64_t group_index(const Mesh& mesh, GroupKind kind, std::int64_t rank);
[[nodiscard]] std::vector<std::int64_t> group_members(const Mesh& mesh, GroupKind kind, std::int64_t rank);
// Returns all groups in canonical order, flat: group g is [g * degree, (g + 1) * degree).
[[nodiscard]] std::vector<std::int64_t> all_groups(const Mesh& mesh, GroupKind kind);

// Returns the tier that a message between two ranks crosses: the index of the fastest tier whose domain holds
// both.
[[nodiscard]] int tier_between(const Cluster& cluster, std::int64_t a, std::int64_t b);

// Says how far each part of the model is cut: the mesh's sizes by their use.

[[nodiscard]] Degrees degrees_of(const Plan& plan, const Mesh& mesh);

// Returns the number of ranks over which Ulysses hands out heads: all of cp, the inner groups of it, or 1
// where heads stay.
[[nodiscard]] inline std::int64_t head_ranks_of(const Layout& l, std::int64_t cp) {
    if (cp <= 1) return 1;
    if (l.cp_comm == CpComm::ulysses_ring) return std::clamp<std::int64_t>(l.cp_inner.value_or(1), 1, cp);
    return l.cp_comm == CpComm::ulysses ? cp : 1;
}

// Says how a group kind splits a mesh's factors, for the files that count groups and those that list them.

// Holds factors with size > 1, in ascending stride. Their digit sums ascend with the digits read as a number:
// each stride is a multiple of the extent (size * stride) of every factor below it.
struct Factors {
    std::array<Factor, kAxisCount> factor{};
    std::size_t count = 0;
    void push(Factor f) { factor[count++] = f; }
    [[nodiscard]] std::span<const Factor> span() const& { return {factor.data(), count}; }
    void span() const&& = delete;  // the span would outlive its factors
};

// Splits a mesh's factors in two: those of the group, and the rest, whose digit sums are the groups' first
// ranks.
struct Split {
    Factors group, rest;
    std::int64_t degree = 1;
};
[[nodiscard]] Split split_factors(const Mesh& mesh, GroupKind kind);
// Returns for each kind of group the axes of more than one rank that it spans, one bit an axis and one a part
// of it that cuts weights. Kinds of one mesh with the same bits have the same groups.
[[nodiscard]] EnumArray<GroupKind, unsigned> axes_in_force(const Mesh& mesh);

// Returns how many digit sums of the factors are below x.
[[nodiscard]] inline std::int64_t count_below(std::span<const Factor> factors, std::int64_t x) {
    std::int64_t total = 1;
    for (const Factor& f : factors) total *= f.size;
    if (x <= 0) return 0;
    std::int64_t below = 0;
    for (std::size_t i = factors.size(); i-- > 0;) {
        const Factor& f = factors[i];
        total /= f.size;
        const std::int64_t digit = x / f.stride;
        if (digit >= f.size) return below + total * f.size;
        below += digit * total;
        x -= digit * f.stride;
    }
    return below + (x > 0 ? 1 : 0);
}

// Calls f with every digit sum, ascending.
template <typename F>
void for_each_sum(std::span<const Factor> factors, F&& f) {
    std::array<std::int64_t, kAxisCount> digit{};
    std::int64_t sum = 0;
    for (;;) {
        f(sum);
        std::size_t i = 0;
        for (; i < factors.size(); ++i) {
            sum += factors[i].stride;
            if (++digit[i] < factors[i].size) break;
            sum -= factors[i].stride * factors[i].size;
            digit[i] = 0;
        }
        if (i == factors.size()) return;
    }
}

}  // namespace pentamesh
