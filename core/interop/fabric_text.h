// Reads a tool's report on the fabric, as edits of the tiers of a plan's cluster: a table of nccl-tests, or
// the matrix of nvidia-smi topo -m.
#pragma once

#include "core/base/error.h"
#include "core/interop/sheet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

struct FabricReading {
    std::vector<Edit> edits;  // of the plan
    SettingLists settings;    // each row and head line of the text, mapped or ignored
    std::vector<ImportProblem> problems;
    std::string summary;  // a sentence: what was measured or found
    void say(Severity severity, std::string code, std::string message) {
        problems.push_back({severity, std::move(code), std::move(message), {}});
    }
};

template <typename... Parts>
[[noreturn]] void refuse_text(const std::string& path, const Parts&... why) {
    throw Error(ErrorKind::invalid, path, "", plain(why...));
}

enum class FabricTool : std::uint8_t { nccl_tests, nvidia_topo };

// Returns the tool whose text it is; nullopt where no known tool wrote it.
[[nodiscard]] std::optional<FabricTool> fabric_tool(std::string_view text);
[[nodiscard]] std::string_view name_of(FabricTool tool);   // "nccl-tests", as --from says it
[[nodiscard]] std::string_view words_of(FabricTool tool);  // "a table of nccl-tests"

// The figures are for the tiers of `cluster`. Throws Error (invalid) where the text lacks a needed figure.
[[nodiscard]] FabricReading read_fabric(FabricTool tool, std::string_view text, const std::string& path,
                                        const Cluster& cluster);

}  // namespace pentamesh::interop
