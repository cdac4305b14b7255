// Writes a plan as a framework's own settings. Fields that the framework cannot express, and those that it
// would refuse, are named; nothing is dropped in silence. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/import.h"
#include "core/io/presets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

// Lists the frameworks that are imported, in the same order, and PyTorch's own mesh.
enum class Target : std::uint8_t {
    megatron,
    bridge,
    torchtitan,
    deepspeed,
    accelerate,
    nanotron,
    picotron,
    hf,
    device_mesh
};
inline constexpr auto kTargetNames = [] {
    std::array<std::string_view, kFrameworkNames.size() + 1> names{};
    std::copy(kFrameworkNames.begin(), kFrameworkNames.end(), names.begin());
    names.back() = "device-mesh";
    return names;
}();
static_assert(static_cast<std::size_t>(Target::device_mesh) == kFrameworkNames.size());
// Returns whose settings these are; it is not for device_mesh.
[[nodiscard]] constexpr Framework framework_of(Target t) {
    return static_cast<Framework>(t);
}
[[nodiscard]] constexpr std::string_view name_of(Target t) {
    return kTargetNames[static_cast<std::size_t>(t)];
}
// "devicemesh" is device-mesh too.
[[nodiscard]] std::optional<Target> target_of(std::string_view name);

// Names a field of the plan that the text does not express.
struct Unsaid {
    std::string pointer;  // "/layout/zero"
    std::string why;      // "zero 1: torchtitan shards parameters too"
};

struct Export {
    std::string text;
    std::vector<Unsaid> lost;          // bears on the layout: the text is another run's
    std::vector<std::string> refused;  // by the framework itself: "Megatron refuses ..."
    std::vector<std::string> notes;    // said elsewhere, or no setting of this file
};

// The plan must be valid. The text is complete even with losses; its head names the fields that it does not
// express, where its format has comments or the framework passes over a key.
[[nodiscard]] Export export_plan(const Plan& plan, Target target, const Presets& presets);

}  // namespace pentamesh::interop
