// A plan into a framework's own settings. What the framework cannot say of the plan, and what it would
// refuse, is named; nothing is dropped in silence. What maps to what: docs/frameworks.md.
#pragma once

#include "core/interop/import.h"
#include "core/io/presets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

// The frameworks that are imported, in the same order, and PyTorch's own mesh.
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
// Whose settings these are; not of device_mesh.
[[nodiscard]] constexpr Framework framework_of(Target t) {
    return static_cast<Framework>(t);
}
[[nodiscard]] constexpr std::string_view name_of(Target t) {
    return kTargetNames[static_cast<std::size_t>(t)];
}
// "devicemesh" is device-mesh too.
[[nodiscard]] std::optional<Target> target_of(std::string_view name);

// What of the plan the text does not say.
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

// The plan must be valid. The text is whole whatever is lost; its head names what it does not say, where its
// format has comments or the framework passes over a key.
[[nodiscard]] Export export_plan(const Plan& plan, Target target, const Presets& presets);

}  // namespace pentamesh::interop
