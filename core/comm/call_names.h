// Names collectives by what they carry: "all-reduce of gradients", "all-gather of parameters". Tables of the
// window, and sentences about one axis, use these names.
#pragma once

#include "core/comm/comm.h"

#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

// Returns what a call carries in one word or a few: "parameters", "gradients", "activations", "gradients of
// activations", "tokens". Operation::what says it exactly.
[[nodiscard]] std::string_view carried_by(const Operation& o);
// Returns "all-reduce of gradients"; of messages between two ranks "send-recv of activations".
[[nodiscard]] std::string plain_name(Collective collective, std::string_view carried);
[[nodiscard]] inline std::string plain_name(const Operation& o) {
    return plain_name(o.collective, carried_by(o));
}
// Returns the names of an axis' calls, in the order of a step: "all-gather of parameters, reduce-scatter of
// gradients". Several collectives that carry the same stand together: "all-gather + reduce-scatter of
// activations".
[[nodiscard]] std::string plain_names(const Comm& comm, GroupKind axis);
// Returns the same of some calls. What comes back through a layer as it went forward stands with it:
// "all-reduce of activations and their gradients".
[[nodiscard]] std::string plain_names(std::span<const Operation* const> calls);
// Returns only what an axis' calls carry: "parameters, gradients".
[[nodiscard]] std::string carried_over(const Comm& comm, GroupKind axis);

}  // namespace pentamesh
