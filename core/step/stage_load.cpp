#include "core/step/stage_load.h"

#include <algorithm>

namespace pentamesh {
namespace {

// The stages of two copies of a model run twice, in mirror: both devices do the same.
std::vector<int> devices_of_chunks(const ScheduleShape& shape, std::size_t count) {
    std::vector<int> device(count, 0);
    const int n = static_cast<int>(count);
    if (traits_of(shape.schedule).placement == StagePlacement::two_copies) {
        for (int stage = 0; stage < n; ++stage) device[stage] = std::min(stage, n - 1 - stage);
        return device;
    }
    for (int d = 0; d < shape.devices; ++d)
        for (int c = 0; c < chunks_of(shape); ++c)
            if (const int stage = stage_of(shape, d, c); stage < n) device[stage] = d;
    return device;
}

}  // namespace

StageLoad stage_load(const Plan& plan, const ScheduleShape& shape, const StepWork& work) {
    StageLoad load;
    std::vector<std::int64_t> layers;
    layers_of_chunks(plan, layers);
    const auto n = static_cast<std::int64_t>(layers.size());
    if (n == 0 || work.layer.size() == 0) return load;
    const LayerTypes types = layer_types(plan.model);
    const auto seconds = [&](const ChunkLayers& k) { return chunk_cost(plan, work, k).total(); };
    const double nothing = seconds(chunk_of(plan, types, {}));
    const std::int64_t count = std::max<std::int64_t>(plan.model.layers, 0);
    for (std::int64_t i = 0; i < count; ++i) {
        ChunkLayers k = chunk_of(plan, types, {.begin = i, .end = i + 1});
        const double with = seconds(k);
        k.recomputed.assign(types.size());
        const double once = seconds(k);
        load.layer.push_back(once - nothing);
        load.recomputed.push_back(with - once);
    }
    const RecomputeChoice& r = plan.training.recompute;
    load.layers_recomputed = !r.any() ? 0 : r.some_layers() ? std::min(r.layers, count) : count;
    const std::int64_t mtp = mtp_chunk_of(plan.layout, n);
    for (std::int64_t c = 0; c < n; ++c)
        load.chunk.push_back(
            seconds(chunk_of(plan, types, {.first = c == 0, .last = c == n - 1, .mtp = c == mtp})));
    load.device = devices_of_chunks(shape, layers.size());
    return load;
}

}  // namespace pentamesh
