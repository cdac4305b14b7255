#include "core/layer/wire_bytes.h"

#include <algorithm>

namespace pentamesh {

double wire_bytes(Dtype compute) {
    return std::max(bytes_of(compute), bytes_of(Dtype::bf16));
}

double gathered_bytes(const Training& training) {
    return std::min(bytes_of(training.parameters), wire_bytes(training.compute));
}

double updated_bytes(const Training& training) {
    const bool both_ways = training.parameters == Dtype::fp8 && training.fp8_recipe == Fp8Recipe::mxfp8;
    return bytes_of(both_ways ? Dtype::bf16 : training.parameters);
}

}  // namespace pentamesh
