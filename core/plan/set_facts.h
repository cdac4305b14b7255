// This is only for tools/fit: sets the value that facts_of (software.h) returns from now on. No thread may
// evaluate meanwhile.
#pragma once

#include "core/plan/software.h"

namespace pentamesh {

void set_facts(Software software, const SoftwareFacts& facts);

}  // namespace pentamesh
