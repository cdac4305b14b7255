#include "core/model/mixer_flops.h"

namespace pentamesh {
namespace {

constexpr double kFloat = 4;  // bytes of a number of state
constexpr double kMambaChunk = 256, kDeltaChunk = 64, kLightningBlock = 256;

double number(std::int64_t n) {
    return static_cast<double>(n);
}

}  // namespace

double keys_met(std::int64_t window, double context, bool causal) {
    const double full = causal ? context / 2 : context, w = static_cast<double>(window);
    if (w <= 0 || w >= context) return full;
    return causal ? w - w * w / (2 * context) : w;
}

ScanFlops scan_flops(const Mamba& mamba) {
    const Mamba& m = mamba;
    const double inner = number(m.inner), state = number(m.state), conv = 2 * number(m.conv);
    ScanFlops f;
    if (m.version == 1) {  // no matrix units: element by element
        f.model = 7 * inner * state + conv * inner;
        return f;
    }
    const double shared = number(m.groups) * state;
    f.model = 7 * inner * state + conv * (inner + 2 * shared);
    f.kernel = 2 * kMambaChunk * shared + 2 * kMambaChunk * inner + 4 * state * inner;
    f.state_bytes = 2 * kFloat * inner * state / kMambaChunk;
    return f;
}

ScanFlops scan_flops(const Linear& linear, std::int64_t hidden) {
    const Linear& a = linear;
    const double keys = number(a.key_heads) * number(a.key_head_dim);
    const double values = number(a.value_heads) * number(a.value_head_dim);
    const double dk = number(a.key_head_dim), conv = 2 * number(a.conv);
    ScanFlops f;
    switch (a.kind) {
    case LinearKind::short_conv: f.model = conv * number(hidden); return f;
    case LinearKind::lightning: {
        const double d = number(a.value_head_dim);
        f.model = 4 * values * d;
        f.kernel = 4 * kLightningBlock * values + 4 * values * d;
        f.state_bytes = 2 * kFloat * values * d / kLightningBlock;
        return f;
    }
    case LinearKind::gated_delta:
    case LinearKind::kimi_delta: break;
    }
    const double heads = number(a.value_heads);
    f.model = 8 * values * dk + conv * (2 * keys + values);
    // The sum has keys on keys and queries on keys, both sides of the solved system, values in the chunk,
    // three products with the state.
    f.kernel = kDeltaChunk * heads * (6 * dk + 4 * number(a.value_head_dim)) + 6 * values * dk;
    f.state_bytes = 2 * kFloat * values * dk / kDeltaChunk;
    return f;
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

}  // namespace pentamesh
