// The operations of a forward pass.
#include "core/model/model.h"
#include "core/model/model_tensors.h"
#include "core/step/compute.h"
#include "core/step/mixer_flops.h"

#include <algorithm>

namespace pentamesh {

double keys_met(std::int64_t window, double context, bool causal) {
    const double full = causal ? context / 2 : context, w = static_cast<double>(window);
    if (w <= 0 || w >= context) return full;
    return causal ? w - w * w / (2 * context) : w;
}

MixerFlops mixer_flops(const Model& m, const LayerType& type, double s, double layers) {
    MixerFlops f;
    if (type.mixer == MixerKind::linear && m.linear)
        f.scan += s * layers * scan_flops(*m.linear, m.hidden).model;
    if (type.has_mamba() && m.mamba) f.scan += s * layers * scan_flops(*m.mamba).model;
    if (!type.attends()) return f;
    double width = static_cast<double>(type.head_dim) + static_cast<double>(type.value_head_dim), index = 0;
    if (m.attention == AttentionKind::mla && m.mla) {
        width = static_cast<double>(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim + m.mla->v_head_dim);
        index = static_cast<double>(m.mla->index_heads) * static_cast<double>(m.mla->index_head_dim);
    }
    const double per_key = 2 * s * static_cast<double>(type.heads) * width * layers;
    const double keys = keys_met(type.window, s, false);
    f.attention += per_key * keys + 2 * s * s * index * layers;
    f.masked += per_key * (keys - keys_met(type.window, s, true)) + s * s * index * layers;
    return f;
}

ForwardFlops forward_flops(const Model& m, std::int64_t sequence_length) {
    ForwardFlops f;
    const double s = static_cast<double>(sequence_length);
    const LayerTypes types = layer_types(m);
    const LayerCounts counts = count_layers(m, types, 0, m.layers);
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
        f.attention += mixer.attention, f.masked += mixer.masked, f.layers += mixer.scan;
    }
    f.layers += f.attention;
    f.head = 2 * s * static_cast<double>(m.hidden) * static_cast<double>(m.vocab)
             * static_cast<double>(1 + m.mtp_layers);
    return f;
}

}  // namespace pentamesh
