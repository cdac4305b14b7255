// Reads the manifest of a job for a cluster's scheduler: Kubernetes' kinds and SkyPilot's task. Its command
// is the script; its replicas and their GPUs are the job's where the command does not say them.
#pragma once

#include "core/interop/import.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::interop {

struct Manifest {
    std::string called;        // "a Kubernetes PyTorchJob"
    std::string program;       // what its command starts
    std::int64_t nodes = 0;    // 0: it says none
    std::int64_t gpus = 0;     // of a node; 0: it says none
    std::string gpu;           // its type, as SkyPilot names it: "A100-80GB"; empty: it says none
    bool counts_nodes = true;  // false: its command says how many
    std::vector<Listed> rows;  // what was read of it
};

// Puts the manifest's command in the place of the text. It is nothing where the text is no manifest. Throws
// Error (invalid) where it holds no command.
[[nodiscard]] std::optional<Manifest> take_manifest(ImportRequest& request);

// Returns the preset of a cluster with GPUs of the manifest's type; empty: there is none.
[[nodiscard]] std::string cluster_of(const Manifest& manifest, const Presets& presets);
// Gives a command that leaves them open the GPUs of the manifest.
void put_counts(const Manifest& manifest, Launch& launch);

}  // namespace pentamesh::interop
