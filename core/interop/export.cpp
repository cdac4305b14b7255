#include "core/interop/export.h"

#include "core/interop/export_page.h"

#include <algorithm>

namespace pentamesh::interop {

std::optional<Target> target_of(std::string_view name) {
    if (name == "devicemesh") return Target::device_mesh;
    const auto it = std::find(kTargetNames.begin(), kTargetNames.end(), name);
    if (it == kTargetNames.end()) return std::nullopt;
    return static_cast<Target>(it - kTargetNames.begin());
}

Export export_plan(const Plan& plan, Target target, const Presets& presets) {
    Page page(plan, target, presets);
    switch (target) {
    case Target::megatron: export_megatron(page); break;
    case Target::bridge: export_bridge(page); break;
    case Target::torchtitan: export_torchtitan(page); break;
    case Target::deepspeed: export_deepspeed(page); break;
    case Target::accelerate: export_accelerate(page); break;
    case Target::nanotron: export_nanotron(page); break;
    case Target::picotron: export_picotron(page); break;
    case Target::hf: export_hf(page); break;
    case Target::device_mesh: export_device_mesh(page); break;
    }
    return std::move(page.out);
}

}  // namespace pentamesh::interop
