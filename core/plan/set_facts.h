// For tools/fit alone: what facts_of (software.h) answers from now on. No thread may evaluate meanwhile.
#pragma once

#include "core/plan/software.h"

namespace pentamesh {

void set_facts(Software software, const SoftwareFacts& facts);

}  // namespace pentamesh
