#include "core/layer/wire_bytes.h"

#include <algorithm>

namespace pentamesh {

double wire_bytes(Dtype compute) {
    return std::max(bytes_of(compute), bytes_of(Dtype::bf16));
}

double gathered_bytes(const Training& training) {
    return std::min(bytes_of(training.parameters), wire_bytes(training.compute));
}

}  // namespace pentamesh
