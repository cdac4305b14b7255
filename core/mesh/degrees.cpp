#include "core/mesh/degrees.h"

#include "core/plan/software.h"

namespace pentamesh {

Degrees degrees_of(const Plan& plan, const Mesh& mesh) {
    const auto dense = [&](Axis a) { return mesh.dense[a].size; };
    const auto expert = [&](Axis a) { return mesh.expert[a].size; };
    Degrees d;
    d.tp = dense(Axis::tp);
    d.cp = dense(Axis::cp);
    d.pp = dense(Axis::pp);
    d.dense_shard = saturating_product(dense(Axis::dp_shard), d.cp);
    d.sequence_parallel = plan.layout.sequence_parallel && d.tp > 1;
    d.vocab_multiple = vocab_multiple_of(plan);
    d.replicate = dense(Axis::dp_replicate);
    // Without ZeRO, shards and replicas are two names of one group.
    const int data_parallel = plan.layout.zero == 0 ? (d.dense_shard > 1 || d.replicate > 1)
                                                    : (d.dense_shard > 1) + (d.replicate > 1);
    d.communicators = (d.tp > 1) + (d.cp > 1) + (d.pp > 1) + data_parallel;
    if (mesh.has_experts) {
        d.etp = expert(Axis::tp);
        d.ep = expert(Axis::ep);
        d.expert_shard = expert(Axis::dp_shard);
        if (d.ep > 1 || d.etp != d.tp)
            d.expert_communicators =
                (d.ep > 1) + (d.etp > 1) + (d.expert_shard > 1 || expert(Axis::dp_replicate) > 1);
        d.communicators += d.expert_communicators;
    }
    return d;
}

}  // namespace pentamesh
