// Reads the manifest of a job for a cluster's scheduler: Kubernetes' kinds, the tasks of SkyPilot and dstack,
// Azure ML's job. Its command is the script; its replicas and their GPUs are the job's where the command does
// not say them.
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
    std::string device;        // as the manifest names the accelerator, "H100"; empty: it does not
    std::string unknown;       // a count that is no number: "replicas is ${NUM_NODES} (line 61)"
    std::int64_t nodes = 0;    // 0: it says none
    std::int64_t gpus = 0;     // of a node; 0: it says none
    bool counts_nodes = true;  // false: its command says how many
    std::vector<Listed> rows;  // what was read of it
    std::string others;        // says that it has other commands, which are not read; empty: it has none
};

// Puts the manifest's command in the place of the text: of several the one of a tool that is read, on GPUs.
// It is nothing where the text is no manifest. Throws Error (invalid) where it holds no command.
[[nodiscard]] std::optional<Manifest> take_manifest(ImportRequest& request);

// Gives a command that leaves them open the GPUs of the manifest.
void put_counts(const Manifest& manifest, Launch& launch);

// Takes the cluster of the accelerator that a launcher, the manifest (may be null) or a flag of
// Megatron-Bridge's scripts names, and says where the manifest asks for other GPUs than its command starts.
void take_named_device(const Manifest* manifest, const Launch* launch, const Tool& tool,
                       const Presets& presets, SettingsSheet& sheet, PlanDraft& draft);

}  // namespace pentamesh::interop
