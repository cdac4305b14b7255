// How many bytes has a number on the wire?
#pragma once

#include "core/plan/plan.h"

namespace pentamesh {

// Bytes of one activation on the wire: a compute type below 16 bits still sends 16, except where a kernel
// says otherwise (fp8 dispatch).
[[nodiscard]] double wire_bytes(Dtype compute);

}  // namespace pentamesh
