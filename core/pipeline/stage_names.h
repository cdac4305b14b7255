// Says where a pipeline stage lives: its layers and the fast domains (nodes, racks) that hold its ranks.
#pragma once

#include "core/mesh/mesh.h"
#include "core/pipeline/stages.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

struct StagePlace {
    std::string layers;           // "layers 0–19", "layers 0–3, 16–19, …", "no layers"
    int chunks = 0;               // their number, where `layers` does not name all of them
    std::string ends;             // "embedding", "head", "embedding, head" or empty
    std::int64_t first_node = 0;  // of the stage's ranks
    std::int64_t last_node = 0;
    std::int64_t node_step = 1;  // nodes between one run of the stage's nodes and the next; 1: one run
    bool every_node = false;     // each node holds a rank of every stage
};
// Returns the places by device. It takes O(devices * chunks), for any size of the cluster.
[[nodiscard]] std::vector<StagePlace> stage_places(const Plan& plan, const Mesh& mesh,
                                                   const ScheduleShape& shape, const Stages& stages);
// Returns "node 3", "nodes 0–7", "nodes 0–1, 8–9, …", "all nodes"; `domain` is "node" or "rack".
[[nodiscard]] std::string nodes_text(const StagePlace& place, std::string_view domain);
// Returns "stage 3, layers 60–79, head, nodes 24–31".
[[nodiscard]] std::string stage_text(int stage, const StagePlace& place, std::string_view domain);

}  // namespace pentamesh
