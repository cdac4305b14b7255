// Finds whose gradients are reduced, and whose optimizer a step waits for: those of one device.
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Sets comm.reduced to the numbers of the device whose reductions, gathers and optimizer take longest
// together, and the messages of these rows to its bytes. comm.reducing then lists the devices that could be
// it: no other holds as many dense numbers and as many experts.
void find_reduced(const ResolvedPlan& resolved, Comm& comm);

}  // namespace pentamesh
