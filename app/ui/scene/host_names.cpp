#include "app/ui/scene/host_names.h"

#include "core/base/error.h"
#include "core/mesh/failure.h"

namespace pentamesh::ui {

const Hosts& HostNames::of(const Plan& plan, const Mesh& mesh) {
    if (std::tuple now(list, mesh.world, mesh.world > 0 ? node_size(mesh, plan.cluster) : 0); now != known_) {
        known_ = std::move(now);
        hosts_ = {};
        error_.clear();
        if (list.empty() || mesh.world < 1) return hosts_;
        try {
            hosts_ = hosts_of(list, mesh.world, std::get<2>(known_));
        } catch (const Error& e) {
            error_ = e.what();
        }
    }
    return hosts_;
}

}  // namespace pentamesh::ui
