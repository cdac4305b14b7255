// Whose gradients are reduced, and whose optimizer does a step wait for? Those of one device.
#pragma once

#include "core/comm/comm.h"

namespace pentamesh {

// Visits what the devices of a pipeline reduce, without those that hold no more dense numbers and no more
// experts than another: what the slowest of them can be. Calls use(StageNumbers).
template <typename F>
void each_reduced(const Plan& plan, const Comm& comm, F&& use) {
    const auto numbers = [&](int d) { return numbers_of(plan.model, comm.held, comm.stages.contents(d)); };
    const auto covers = [](const StageNumbers& a, const StageNumbers& b) {
        return a.dense.all() >= b.dense.all() && a.experts.all() >= b.experts.all();
    };
    for (int d = 0; d < comm.stages.devices; ++d) {
        if (repeats_previous(comm.stages, d)) continue;
        const StageNumbers own = numbers(d);
        bool covered = false;
        for (int other = 0; other < comm.stages.devices && !covered; ++other) {
            if (other == d || repeats_previous(comm.stages, other)) continue;
            const StageNumbers its = numbers(other);
            covered = covers(its, own) && (!covers(own, its) || other < d);
        }
        if (!covered) use(own);
    }
}

// Sets comm.reduced to the numbers of the device whose reductions, gathers and optimizer take longest
// together, and the messages of these rows to its bytes.
void find_reduced(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary, Comm& comm);

}  // namespace pentamesh
