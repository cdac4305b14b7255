// Finds the layout of a job by its process groups: degrees, the order of the axes, what does not fit.
#pragma once

#include "core/base/containers.h"
#include "core/comm/comm.h"
#include "core/mesh/mesh.h"
#include "core/plan/plan.h"
#include "core/runs/run_file.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pentamesh::runs {

// Names the axes of both meshes; `shard` is all of data parallelism where a framework does not split it, but
// for the ranks that cut weights further than tp (gtp).
enum class RunAxis : std::uint8_t { tp, gtp, cp, shard, replicate, pp, etp, ep, edp };
[[nodiscard]] constexpr std::size_t count_of_enum(RunAxis) {
    return 9;
}

// It is a set of axes, a bit each.
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

// Holds how far each rank has come in each of its groups; the search for culprits reads it.

// Says how far one rank has come in one group.
struct Progress {
    int dump = -1;                       // its index
    std::int64_t issued = -1;            // its last collective there; -1: not known
    std::vector<const DumpEntry*> open;  // collectives, by number
};

class RunState {
  public:
    explicit RunState(const DumpFolder& run);

    [[nodiscard]] const DumpFolder& run() const { return run_; }
    // Returns -1 where the rank has no dump.
    [[nodiscard]] int dump_of(std::int64_t rank) const;
    [[nodiscard]] std::int64_t rank_of(int dump) const {
        return run_.dumps[static_cast<std::size_t>(dump)].rank;
    }
    [[nodiscard]] const std::vector<Progress>& in_group(int group) const {
        return groups_[static_cast<std::size_t>(group)];
    }
    // Returns nullptr where the rank has no dump, or its dump no such group.
    [[nodiscard]] const Progress* progress(int group, std::int64_t rank) const;
    // Returns the last number up to which some rank has finished the group's collectives; -1: not known.
    [[nodiscard]] std::int64_t finished(int group) const {
        return finished_[static_cast<std::size_t>(group)];
    }
    // Returns the last number that this rank has finished; -1: not known.
    [[nodiscard]] std::int64_t finished_by(const Progress& p) const;
    [[nodiscard]] std::string_view name(int collective) const;

    // Forgets that a call is open: it was seen too late that it had ended.
    void close(const DumpEntry& entry, int dump);

  private:
    [[nodiscard]] std::vector<Progress>& in_group(int group) {
        return groups_[static_cast<std::size_t>(group)];
    }
    [[nodiscard]] Progress* find(int group, int dump);
    void count_status();
    const DumpFolder& run_;
    std::unordered_map<std::int64_t, int> dump_of_;
    std::vector<std::vector<Progress>> groups_;  // by the order of dumps
    std::vector<std::int64_t> finished_;
};

// Only one rank of a call with a root may be done before the others.
[[nodiscard]] bool has_root(std::string_view collective);
// Returns true where all ranks of a call have to give the same sizes.
[[nodiscard]] bool has_equal_sizes(std::string_view collective);

// Says over which axis a group of a run talks: by its description, by its ranks in the plan's mesh, or by its
// calls.

[[nodiscard]] RunPart part_of_kind(GroupKind kind);

// `mesh` is that of the run's plan, nullptr without a plan; it has to outlive what is returned.
[[nodiscard]] PartOfGroup parts_by(const Mesh* mesh);

// Returns the collective of the plan's operations that NCCL calls so; nullopt for all others.
[[nodiscard]] std::optional<Collective> collective_called(std::string_view name);

}  // namespace pentamesh::runs
