// Finds the exposed communication. Calls of a layer hide behind its compute, gradients and parameters behind
// the last backward and the first forward.
#pragma once

#include "core/step/step.h"

#include <array>
#include <cstdint>

namespace pentamesh {

// Lists the axes that a layer communicates on, in the order of UnitComm.
inline constexpr std::array<GroupKind, UnitComm::kAxes> kUnitAxes{GroupKind::tp, GroupKind::cp, GroupKind::ep,
                                                                  GroupKind::etp};

// Says what may cover a call: the attention core, the products of attention or of the MLP, or the whole
// layer. For context parallelism only the ring is covered.
enum class Cover : std::uint8_t { core, mixer, mlp, layer, none };
inline constexpr std::size_t kCovers = 5;

// Sums operations of a layer type that the same compute may cover, in seconds per layer and micro-batch.
struct CoveredTime {
    double need = 0, hidden = 0;
    [[nodiscard]] double exposed_share() const { return need > 0 ? (need - hidden) / need : 0; }
};

// Holds for each layer type one CoveredTime for each cover, forward and backward.
class CoveredTimes {
  public:
    explicit CoveredTimes(int types) : table_(types) {}
    CoveredTime& of(int type, Cover cover, bool forward) {
        return table_[type][static_cast<std::size_t>(cover) * 2 + (forward ? 0 : 1)];
    }
    // Calls use(type, its CoveredTime) for the types that make a call.
    template <typename F>
    void each(const Operation& o, F&& use);  // only for exposure.cpp
    // Returns the exposed share of an operation's time, over the layers of a device.
    [[nodiscard]] double exposed_share(const Operation& o, const LayerCounts& layers);
    [[nodiscard]] int types() const { return table_.size(); }

  private:
    PerType<std::array<CoveredTime, kCovers * 2>> table_;
};

// Times each call, says what it hides behind, and adds the exposed time to the parts of `work`.
void time_operations(const ResolvedPlan& resolved, Comm& comm, StepWork& work, CoveredTimes& shared);

// Returns the seconds of a micro-batch on a chunk behind which gradients and parameters can hide, forward and
// (as input gradient) backward: the share `overlap` of its compute, less `busy`. A layer's whole time counts,
// its wait for the host too: without it, hiding a transfer of the layer would take room from gradients and
// give nothing. wait_for_host takes it out of `busy`.
[[nodiscard]] PassTime room_of(const Plan& plan, const ChunkWork& work);

// Gradients and parameters hide behind the backwards and forwards that they are reduced after or gathered for
// (Operation::each): a device's last and first where that is once a step, every one's where it is with every
// micro-batch. The part that one does not hide is exposed as often.
void expose_gradients(const ResolvedPlan& resolved, const ChunkWork& work, Comm& comm, Step& out);

}  // namespace pentamesh
