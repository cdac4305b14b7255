#pragma once

#include "core/comm/collective_time.h"

namespace pentamesh::test {

inline Route route_of(const Plan& plan, GroupKind kind) {
    const Mesh mesh = build_mesh(plan);
    return find_route(plan, mesh, summarize(mesh, plan.cluster, kind));
}

}  // namespace pentamesh::test
