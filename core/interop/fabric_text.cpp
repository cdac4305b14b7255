#include "core/interop/fabric_text.h"

#include "core/interop/nccl_tests.h"
#include "core/interop/nvidia_topo.h"

namespace pentamesh::interop {

std::optional<FabricTool> fabric_tool(std::string_view text) {
    if (is_nccl_tests(text)) return FabricTool::nccl_tests;
    if (is_nvidia_topo(text)) return FabricTool::nvidia_topo;
    return std::nullopt;
}

std::string_view name_of(FabricTool tool) {
    return tool == FabricTool::nccl_tests ? "nccl-tests" : "nvidia-topo";
}

std::string_view words_of(FabricTool tool) {
    return tool == FabricTool::nccl_tests ? "a table of nccl-tests" : "the matrix of nvidia-smi topo -m";
}

FabricReading read_fabric(FabricTool tool, std::string_view text, const std::string& path,
                          const Cluster& cluster) {
    if (tool == FabricTool::nvidia_topo) return read_nvidia_topo(text, path, cluster);
    return read_nccl_tests(text, path, cluster);
}

}  // namespace pentamesh::interop
