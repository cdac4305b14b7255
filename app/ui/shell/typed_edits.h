// Reads factors and fields as they are typed into the search of commands: "tp 2 pp 4 zero 1".
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::ui {

struct TypedEdits {
    std::string words;    // "tp 2, pp 4, ZeRO 1"
    std::string refused;  // why the plan cannot be changed so; empty: it can
    Plan plan;            // changed; as it was where it is refused
};
// Returns nullopt where the text is no list of names and values: it then searches commands. Factors take from
// data parallelism, as in the panel; other names are fields of the layout, the training and the cluster.
[[nodiscard]] std::optional<TypedEdits> typed_edits(const Plan& plan, std::string_view text,
                                                    const Presets& presets);

}  // namespace pentamesh::ui
