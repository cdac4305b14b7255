// Counts the numbers of a token that go into the scan of a linear or Mamba layer, and come out: context
// parallelism exchanges them.
#pragma once

#include "core/model/layer_types.h"

namespace pentamesh {

struct ScanWidths {
    double in = 0, out = 0;
};
[[nodiscard]] inline ScanWidths scan_widths(const Model& m, const LayerType& type) {
    if (type.has_mamba() && m.mamba) {
        const Mamba& a = *m.mamba;
        return {static_cast<double>(2 * a.inner + (a.version == 1 ? 0 : 2 * a.groups * a.state + a.heads)),
                static_cast<double>(a.inner)};
    }
    if (!m.linear) return {};
    const Linear& a = *m.linear;
    const bool conv = a.kind == LinearKind::short_conv;
    const auto out = static_cast<double>(conv ? m.hidden : a.value_heads * a.value_head_dim);
    return {conv ? 3 * out : 2 * static_cast<double>(a.key_heads * a.key_head_dim) + 2 * out, out};
}

}  // namespace pentamesh
