#include "core/layer/state_calls.h"

#include "core/layer/wire_bytes.h"

namespace pentamesh {

StateCallList list_state_calls(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups,
                               bool experts) {
    using enum Collective;
    using enum What;
    const Training& t = plan.training;
    const StateRounds rounds = state_rounds(plan);
    const bool cp = plan.layout.cp > 1, layers = plan.layout.zero >= 3;
    const double gradient = bytes_of(t.gradients);
    const What summed = experts ? experts_gradients : gradients;
    StateCallList out;
    if (plan.layout.zero == 0) {
        const GroupKind all = experts ? GroupKind::edp : cp ? GroupKind::dp_cp : GroupKind::dp;
        out.push_back({summed, all_reduce, all, groups[all].degree, 1, gradient, rounds.reductions});
        return out;
    }
    const GroupKind shard = experts ? GroupKind::edp : cp ? GroupKind::fsdp : GroupKind::dp_shard;
    const GroupKind replicas = experts ? GroupKind::edp : GroupKind::dp_replicate;
    const std::int64_t n = experts ? mesh.expert[Axis::dp_shard].size : groups[shard].degree;
    const std::int64_t copies = experts ? mesh.expert[Axis::dp_replicate].size : groups[replicas].degree;
    if (layers) {
        const double whole = gathered_bytes(t);
        out.push_back({experts ? experts_parameters_for_the_forward : parameters_for_the_forward, all_gather,
                       shard, n, 1, whole, rounds.forward, true});
        out.push_back(
            {experts ? experts_parameters_again_for_the_backward : parameters_again_for_the_backward,
             all_gather, shard, n, 1, whole, rounds.backward, true, true});
    }
    out.push_back({summed, reduce_scatter, shard, n, 1, gradient, rounds.reductions, layers});
    if (!layers)
        out.push_back({experts ? experts_updated_parameters : updated_parameters,
                       all_gather,
                       shard,
                       n,
                       1,
                       updated_bytes(t),
                       {}});
    out.push_back(
        {experts ? experts_gradients_of_the_shard_across_replicas : gradients_of_the_shard_across_replicas,
         all_reduce, replicas, copies, static_cast<double>(n), gradient, rounds.replicas});
    return out;
}

}  // namespace pentamesh
