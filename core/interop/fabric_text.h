// What a tool says of the fabric, as edits of the tiers of a plan's cluster: a table of nccl-tests, or the
// matrix of nvidia-smi topo -m.
#pragma once

#include "core/interop/sheet.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

struct FabricReading {
    std::vector<Edit> edits;              // of the plan
    std::vector<Listed> mapped, ignored;  // each row and head line of the text in one of them
    std::vector<ImportProblem> problems;
    std::string summary;  // a sentence: what was measured or found
};

enum class FabricTool : std::uint8_t { nccl_tests, nvidia_topo };

// Whose text it is; none: no tool's that is known.
[[nodiscard]] std::optional<FabricTool> fabric_tool(std::string_view text);
[[nodiscard]] std::string_view name_of(FabricTool tool);   // "nccl-tests", as --from says it
[[nodiscard]] std::string_view words_of(FabricTool tool);  // "a table of nccl-tests"

// `cluster`: whose tiers the figures are for. Error (invalid) where the text does not hold what is needed.
[[nodiscard]] FabricReading read_fabric(FabricTool tool, std::string_view text, const std::string& path,
                                        const Cluster& cluster);

}  // namespace pentamesh::interop
