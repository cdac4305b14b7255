// Counts the operations of a forward pass.
#include "core/model/mixer_flops.h"
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/step/compute.h"

#include <algorithm>

namespace pentamesh {

ForwardFlops forward_flops(const Model& m, std::int64_t sequence_length) {
    const LayerTypes types = layer_types(m);
    return forward_flops(m, types, count_layers(m, types, 0, m.layers), sequence_length);
}

ForwardFlops forward_flops(const Model& m, const LayerTypes& types, const LayerCounts& counts,
                           std::int64_t sequence_length) {
    ForwardFlops f;
    const double s = static_cast<double>(sequence_length);
    visit_tensors(m, types, [&](const Tensor& t) {
        if (!t.is_matrix() || t.place == Place::embedding || t.place == Place::head) return;
        double copies = static_cast<double>(t.copies);
        if (t.per_expert && m.moe) copies = std::min(copies, static_cast<double>(m.moe->top_k));
        f.layers += 2 * s * static_cast<double>(t.rows) * static_cast<double>(t.cols) * copies
                    * static_cast<double>(times(m, types, counts, t));
    });
    for (int t = 0; t < types.size(); ++t) {
        const double mtp = t == types.mtp ? static_cast<double>(m.mtp_layers) : 0;
        const MixerFlops mixer = mixer_flops(m, types[t], s, counts[t] + mtp);
        f.attention += mixer.attention, f.masked += mixer.masked, f.scans += mixer.scan;
    }
    f.layers += f.attention + f.scans;
    f.head = 2 * s * static_cast<double>(m.hidden) * static_cast<double>(m.vocab) * head_passes(m);
    return f;
}

}  // namespace pentamesh
