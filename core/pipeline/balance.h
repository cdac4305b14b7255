// Finds how many layers each chunk of a pipeline should hold so that no device works longer than it must.
#pragma once

#include <cstdint>
#include <vector>

namespace pentamesh {

// Times are seconds of one micro-batch. Chunks are in model order.
struct StageLoad {
    std::vector<double> layer;           // of each layer
    std::vector<double> recomputed;      // extra time of each layer, where it is recomputed in the backward
    std::int64_t layers_recomputed = 0;  // the number of each chunk's first layers that are recomputed
    std::vector<double> chunk;           // of each chunk without a layer: embedding, head, prediction layers
    std::vector<int> device;             // the device that runs each chunk, from 0; two copies of a model
                                         // count once
};

// Returns the time of chunk c with the layers begin .. end-1; layers that do not exist take no time.
[[nodiscard]] double chunk_seconds(const StageLoad& load, std::size_t chunk, std::int64_t begin,
                                   std::int64_t end);
// Returns the time of each device. `layers` has those of each chunk, which sum to the layers at most.
[[nodiscard]] std::vector<double> device_seconds(const StageLoad& load,
                                                 const std::vector<std::int64_t>& layers);

// Returns layers of each chunk, zeros among them, with the least work of the busiest device; of several such
// lists one whose devices differ least. It is exact where a device has one chunk, where it has two in mirror
// (a V, DualPipe), and where all layers take the same time; else it is the best list found by moving a layer
// to a neighbour. In mirror it is exact except for layers_recomputed between 1 and a chunk's layers.
[[nodiscard]] std::vector<std::int64_t> balance(const StageLoad& load);

// Returns the same layers with so many of them in one chunk: the chunk after it gives and takes the
// difference, then those after that, then those before. The chunk gets as many as there are where that is
// less.
[[nodiscard]] std::vector<std::int64_t> with_chunk(std::vector<std::int64_t> layers, std::size_t chunk,
                                                   std::int64_t count);

}  // namespace pentamesh
