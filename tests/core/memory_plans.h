// Holds plans and their memory, shared by the tests of memory, savings and explanations.
#pragma once

#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "tests/core/bare_plan.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

namespace pentamesh::test {

inline std::vector<double> in_flight(const Plan& p, std::int64_t microbatches) {
    ScheduleShape shape{p.layout.schedule, static_cast<int>(p.layout.pp), static_cast<int>(microbatches),
                        static_cast<int>(p.layout.virtual_stages), 0};
    REQUIRE(accepts(shape));
    std::vector<double> out;
    for (int d = 0; d < shape.devices; ++d) out.push_back(peak_in_flight(shape, d));
    return out;
}

inline std::vector<double> flights(const Plan& p) {
    const Layout& l = p.layout;
    const std::int64_t m =
        p.training.global_batch / (p.training.micro_batch * l.dp_shard * l.dp_replicate.value_or(1));
    return in_flight(p, m);
}

inline Memory memory_of(const Plan& p) {
    Memory out;
    compute_memory(p, build_mesh(p), flights(p), out);
    REQUIRE(out.stage.size() == static_cast<std::size_t>(p.layout.pp));
    return out;
}

// Holds a tensor that one rank has of one layer and one micro-batch, from the forward to the backward.
struct KeptBytes {
    TensorId id;
    double bytes;
    bool kept;  // false: it is recomputed
};
// Lists those of a layer with experts, or with a dense MLP.
inline std::vector<KeptBytes> kept_tensors(const Plan& plan, bool moe) {
    const Degrees d = degrees_of(plan, build_mesh(plan));
    const LayerTypes types = layer_types(plan.model);
    LayerParts parts;
    list_parts(plan, d, types[usual_type(plan.model, types, moe)], parts);
    std::vector<KeptBytes> out;
    for (const Activation& a : parts.kept)
        out.push_back({a.id, bytes_of(a, token_counts(plan, d)),
                       is_kept(a, plan.training.recompute, facts_of(plan.training.software))});
    return out;
}

inline Plan plan_of_size(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    Plan p = bare_plan({layers, hidden, heads, heads, hidden / heads, 4 * hidden, 128000}, 2048);
    p.layout.zero = 0;
    p.cluster.gpu.hbm_bytes = 80e9;
    p.cluster.gpus = 1;
    p.training.global_batch = 1;
    return p;
}

inline Plan moe_plan() {
    Plan p = plan_of_size(12, 1024, 16);
    p.model.moe = Moe{16, 2, 512, 1, 768, 2, 1, true, false, 0};
    p.layout = Layout{};
    p.layout.tp = 2;
    p.layout.ep = 4;
    p.layout.etp = 1;
    p.layout.pp = 2;
    p.layout.dp_shard = 4;
    p.layout.dp_replicate = 1;
    p.training.global_batch = 16;
    return p;
}

}  // namespace pentamesh::test
