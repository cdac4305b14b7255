#include "core/sharding/stage_tensors.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

std::int64_t layers_with(const Plan& plan, const Stages& stages, const StageContents& contents,
                         const Placement& p) {
    switch (p.place) {
    case Place::embedding: {
        const bool copy = p.id == TensorId::embedding && copies_embedding(plan.model, contents);
        return contents.embedding || copy ? 1 : 0;
    }
    case Place::head: return contents.head ? 1 : 0;
    case Place::mtp: return contents.mtp_layers;
    default: break;
    }
    double layers = 0;
    for (int t = 0; t < stages.types; ++t)
        if ((p.types >> t & 1) != 0) layers += contents.with_mtp(t, stages.mtp_type);
    return std::llround(layers);
}

}  // namespace

std::vector<StageTensor> tensors_of_stage(const Plan& plan, const Stages& stages, int stage,
                                          std::span<const Placement> placements) {
    std::vector<StageTensor> out;
    if (stage < 0 || stage >= stages.devices || stages.empty()) return out;
    const StageContents& contents = stages.contents(stage);
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const std::int64_t layers = layers_with(plan, stages, contents, placements[i]);
        if (layers > 0)
            out.push_back({i, layers, static_cast<double>(layers) * placements[i].bytes_per_rank});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const StageTensor& a, const StageTensor& b) { return a.bytes > b.bytes; });
    return out;
}

}  // namespace pentamesh
