// How many layers should each chunk of a pipeline hold so that no device works longer than it must?
#pragma once

#include <cstdint>
#include <vector>

namespace pentamesh {

// Seconds, of one micro-batch. Chunks in model order.
struct StageLoad {
    std::vector<double> layer;           // of each layer
    std::vector<double> recomputed;      // of each layer besides, where it runs again in the backward
    std::int64_t layers_recomputed = 0;  // of each chunk the first so many run again
    std::vector<double> chunk;           // of each chunk without a layer: embedding, head, prediction layers
    std::vector<int> device;             // that runs each chunk, from 0; two copies of a model count once
};

// Of chunk c with the layers begin .. end-1; those that are not there take no time.
[[nodiscard]] double chunk_seconds(const StageLoad& load, std::size_t chunk, std::int64_t begin,
                                   std::int64_t end);
// Of each device. `layers`: of each chunk, adding up to the layers at most.
[[nodiscard]] std::vector<double> device_seconds(const StageLoad& load,
                                                 const std::vector<std::int64_t>& layers);

// Layers of each chunk, zeros among them, with the least work of the busiest device; of several such lists
// one whose devices are most alike. Exact where a device has one chunk, where it has two that stand in mirror
// (a V, DualPipe), and where all layers are alike; else the best that moves of a layer to a neighbour find.
// In mirror: exact but for layers_again between 1 and a chunk's layers.
[[nodiscard]] std::vector<std::int64_t> balance(const StageLoad& load);

// The same layers, so many of them in one chunk: the chunk behind it gives and takes the difference, then
// those behind that, then those before. As many as there are where that is less.
[[nodiscard]] std::vector<std::int64_t> with_chunk(std::vector<std::int64_t> layers, std::size_t chunk,
                                                   std::int64_t count);

}  // namespace pentamesh
