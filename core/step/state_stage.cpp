#include "core/step/state_stage.h"

#include "core/comm/collective_time.h"
#include "core/memory/memory_parts.h"
#include "core/step/compute.h"

#include <algorithm>
#include <vector>

namespace pentamesh {
namespace {

// Returns the bytes of a row for other numbers than those that it was listed with.
double message_of(const Operation& o, const StageNumbers& listed, const StageNumbers& other) {
    const double dense = other.dense.all(), experts = other.experts.all();
    const double was = o.group == GroupKind::edp ? listed.experts.all() : listed.dense.all();
    return was > 0 ? o.message_bytes * ((o.group == GroupKind::edp ? experts : dense) / was) : 0;
}

double seconds(const Plan& plan, Routes& routes, const Comm& comm, const StateShards& shards,
               const StageNumbers& n) {
    double sum = optimizer_time(plan, n, shards);
    for (const Operation& o : comm.operations) {
        if (!is_data_parallel(o.group)) continue;
        Operation own = o;
        own.message_bytes = message_of(o, comm.reduced, n);
        sum += o.calls * call_time(plan, routes.of(o.group), own);
    }
    return sum;
}

// Lists a device's numbers where no other has as many of both kinds, in the order of devices.
void list_reducing(const Plan& plan, Comm& comm) {
    const auto covers = [](const StageNumbers& a, const StageNumbers& b) {
        return a.dense.all() >= b.dense.all() && a.experts.all() >= b.experts.all();
    };
    for (int d = 0; d < comm.stages.devices; ++d) {
        if (repeats_previous(comm.stages, d)) continue;
        const StageNumbers own = numbers_of(plan.model, comm.held, comm.stages.contents(d));
        const auto covers_own = [&](const StageNumbers& other) { return covers(other, own); };
        if (std::any_of(comm.reducing.begin(), comm.reducing.end(), covers_own)) continue;
        std::erase_if(comm.reducing, [&](const StageNumbers& other) { return covers(own, other); });
        comm.reducing.push_back(own);
    }
}

// DualPipe's copies exchange what data parallelism leaves of both.
double left_of(const StateShards& shards, const StageNumbers& n) {
    return n.dense.all() / static_cast<double>(shards.optimizer[0])
           + n.experts.all() / static_cast<double>(shards.optimizer[1]);
}

}  // namespace

void find_reduced(const ResolvedPlan& r, Comm& comm) {
    // With one kind of numbers the device that holds most of them is listed already.
    if (comm.reduced.experts.all() <= 0 || comm.stages.devices <= 1) {
        comm.reducing.push_back(comm.reduced);
        return;
    }
    list_reducing(r.plan, comm);
    if (comm.reducing.size() == 1) {
        comm.reduced = comm.reducing.front();
        return;
    }
    const StateShards shards = shards_of(r.plan, r.degrees);
    Routes routes(r.plan, r.mesh, r.groups);
    double most = -1;
    StageNumbers slowest;
    for (const StageNumbers& n : comm.reducing)
        if (const double s = seconds(r.plan, routes, comm, shards, n); s > most) most = s, slowest = n;
    const double left = left_of(shards, slowest) / left_of(shards, comm.reduced);
    for (Operation& o : comm.operations) {
        const bool copies = o.what == What::gradients_of_a_stages_two_copies
                            || o.what == What::updated_parameters_of_a_stages_two_copies;
        if (is_data_parallel(o.group))
            o.message_bytes = message_of(o, comm.reduced, slowest);
        else if (copies)
            o.message_bytes *= left;
    }
    comm.reduced = slowest;
}

}  // namespace pentamesh
