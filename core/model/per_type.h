// Holds one value for each type of layer (layer_types.h).
#pragma once

#include "core/base/short_list.h"

namespace pentamesh {

inline constexpr int kMostLayerTypes = 24;

// A model has one or two types as a rule.
template <typename T>
using PerType = ShortList<T, kMostLayerTypes>;

}  // namespace pentamesh
