#include "core/model/mixer_flops.h"

namespace pentamesh {
namespace {

struct ScanWork : ScanVisitor {
    ScanFlops flops;
    void works(const ScanFlops& f) {
        flops.model += f.model, flops.kernel += f.kernel, flops.state_bytes += f.state_bytes;
    }
};

}  // namespace

double keys_met(std::int64_t window, double context, bool causal) {
    const double full = causal ? context / 2 : context, w = static_cast<double>(window);
    if (w <= 0 || w >= context) return full;
    return causal ? w - w * w / (2 * context) : w;
}

ScanFlops scan_flops(const Model& model, const LayerType& type) {
    ScanWork work;
    visit_scans(model, type, work);
    return work.flops;
}

MixerFlops mixer_flops(const Model& m, const LayerType& type, double s, double layers) {
    MixerFlops f;
    f.scan = s * layers * scan_flops(m, type).model;
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

}  // namespace pentamesh
