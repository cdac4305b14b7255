// Finds the layout of a job by its process groups: degrees, the order of the axes, what does not fit.
#pragma once

#include "core/base/enum_array.h"
#include "core/mesh/mesh.h"
#include "core/plan/plan.h"
#include "core/runs/dump_folder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

// Names the axes of both meshes; `shard` is all of data parallelism where a framework does not split it, but
// for the ranks that cut weights further than tp (gtp).
enum class RunAxis : std::uint8_t { tp, gtp, cp, shard, replicate, pp, etp, ep, edp };
}  // namespace pentamesh::runs

namespace pentamesh {
template <>
inline constexpr std::size_t kEnumCount<runs::RunAxis> = 9;
}  // namespace pentamesh

namespace pentamesh::runs {

// Is a set of axes, a bit each.
using AxisSet = unsigned;
[[nodiscard]] constexpr AxisSet bit_of(RunAxis axis) {
    return 1U << static_cast<unsigned>(axis);
}
inline constexpr AxisSet kExpertAxes = bit_of(RunAxis::etp) | bit_of(RunAxis::ep) | bit_of(RunAxis::edp);

// Says what the description of a group means.
struct GroupMeaning {
    enum class Kind : std::uint8_t { axes, world, part, unknown };
    Kind kind = Kind::unknown;  // part: of an axis, or ends of one; it says nothing more
    AxisSet axes = 0;
    bool device_mesh = false;  // named by torch's DeviceMesh
};
[[nodiscard]] GroupMeaning meaning_of(std::string_view description);

enum class LayoutFrom : std::uint8_t { names, calls };

struct RunLayout {
    std::int64_t world = 0;
    EnumArray<RunAxis, Factor> factors;        // size 1: not cut; etp, ep and edp are of the experts' mesh
    std::vector<RunAxis> order, expert_order;  // axes of more than one, the innermost first
    bool has_experts = false;
    bool device_mesh = false;  // torchtitan's names: dp_shard, dp_replicate, efsdp
    bool sharded = false;      // found by the calls: whether dp is dp_shard
    LayoutFrom from = LayoutFrom::names;
    bool certain = false;
    std::vector<int> unexplained;  // groups

    [[nodiscard]] std::string_view name_of(RunAxis axis) const;
    // Returns the names of the axes over which a group lies, without those of size 1 where others are left.
    [[nodiscard]] std::vector<std::string_view> axes_of(const RunNames& names, int group) const;
    [[nodiscard]] std::int64_t coordinate(RunAxis axis, std::int64_t rank) const {
        return rank / factors[axis].stride % factors[axis].size;
    }
};
[[nodiscard]] RunLayout find_layout(const DumpFolder& run);

// Takes ranks apart into nested factors, the innermost first; nullopt where they are no regular grid.
[[nodiscard]] std::optional<std::vector<Factor>> factors_of(std::vector<std::int64_t> ranks);

// Returns `base` with the run's layout and as many GPUs. Where it is nobody's own plan (`fill`), the batch is
// made to fit too.
[[nodiscard]] Plan plan_of(const RunLayout& layout, Plan base, bool fill);

// Says in sentences in which degrees and strides a plan differs from the run; none: it agrees.
[[nodiscard]] std::vector<std::string> differences(const RunLayout& layout, const Plan& plan);

}  // namespace pentamesh::runs
