// Says which layers each pipeline device runs.
#pragma once

#include "core/mesh/mesh.h"
#include "core/model/local_shard.h"
#include "core/model/model.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// Chunks along the depth of a model beyond these are no pipeline: such a plan is refused.
inline constexpr std::int64_t kMostChunks = std::int64_t{1} << 20;

// Holds the layers of one chunk of a device. The embedding comes before the first virtual stage; the last
// norm and the head after the last, the multi-token-prediction layers there or in the chunk that the layout
// names.
struct ChunkLayers {
    double dense = 0, moe = 0;  // multi-token-prediction layers are counted among them
    LayerCounts types;          // the same layers by type
    LayerCounts recomputed;     // number of these that are recomputed in the backward (training.recompute)
    double mtp = 0, mtp_recomputed = 0;  // the prediction layers among them, and among those recomputed
    double skipped = 0;  // recomputed layers whose input is not kept either: all but the first of a unit
    bool first = false, last = false;
    [[nodiscard]] double layers() const { return dense + moe; }
    bool operator==(const ChunkLayers&) const = default;
};

// Holds the contents of one device, all of its chunks together. `layers` leaves the multi-token-prediction
// layers out; `moe_layers` of them are MoE layers.
struct StageContents {
    std::int64_t layers = 0, moe_layers = 0, mtp_layers = 0;
    LayerCounts types, recomputed;         // of `layers`, as in ChunkLayers
    std::int64_t skipped = 0;              // of `layers`, recomputed without an input of their own
    bool embedding = false, head = false;  // holds the word embedding's rows, the last norm and logits
    // Returns layers of a type, the prediction layers among them.
    [[nodiscard]] double with_mtp(int type, int mtp_type) const {
        return types[type] + (type == mtp_type ? static_cast<double>(mtp_layers) : 0);
    }
    bool operator==(const StageContents&) const = default;
};

// Most chunks are the same, and most devices: each different one is kept once, and named by its place. The
// same one may be kept twice.
struct Stages {
    int devices = 1, chunks = 1;
    std::vector<ChunkLayers> chunk_kinds;
    std::vector<std::uint32_t> stage_kind;  // by virtual stage in model order, a place in chunk_kinds
    std::vector<std::uint32_t> chunk_kind;  // [device * chunks + c], the same
    std::vector<StageContents> device_kinds;
    std::vector<std::uint32_t> device_kind;  // by device; devices of one kind have the same chunks in order
    std::vector<std::int64_t> first_layer;   // of each virtual stage in model order, and the end of the last
    int types = 0, mtp_type = 0;             // LayerTypes::size() and mtp

    [[nodiscard]] bool empty() const { return chunk_kind.empty(); }
    [[nodiscard]] std::uint32_t kind_of(int device, int c) const { return chunk_kind[device * chunks + c]; }
    [[nodiscard]] const ChunkLayers& chunk(int device, int c) const {
        return chunk_kinds[kind_of(device, c)];
    }
    [[nodiscard]] const StageContents& contents(int device) const {
        return device_kinds[device_kind[device]];
    }
    void clear();
    bool operator==(const Stages&) const = default;
};

// Returns the schedule's view of a plan with m micro-batches per step. Numbers below 1 count as 1.
[[nodiscard]] ScheduleShape shape_of(const Plan& plan, std::int64_t microbatches);

// Writes the layers of each of pp * virtual_stages chunks (dualpipe: pp) in model order: the layout's own, or
// as even as possible with the first and last chunk taking the fewer. It is empty beyond kMostChunks. Reuses
// out's capacity.
void layers_of_chunks(const Plan& plan, std::vector<std::int64_t>& out);

// Describes a chunk by its layers, begin .. end-1 in model order, and its other contents.
struct ChunkRange {
    std::int64_t begin = 0, end = 0;
    bool first = false, last = false, mtp = false;
};
[[nodiscard]] ChunkLayers chunk_of(const Plan& plan, const LayerTypes& types, const ChunkRange& range);
// Returns the chunk, of so many (at least 1), that holds the prediction layers.
[[nodiscard]] std::int64_t mtp_chunk_of(const Layout& layout, std::int64_t chunks);

// Reuses out's capacity. `types` are those of the plan's model.
void lay_stages(const Plan& plan, const LayerTypes& types, const ScheduleShape& shape, Stages& out);
void lay_stages(const Plan& plan, const ScheduleShape& shape, Stages& out);

// Returns the layers of a device, all of its chunks together.
[[nodiscard]] ChunkLayers all_chunks(const Stages& stages, int device);

// Returns true if a device runs the same as the one before it: most do, and cost the same.
[[nodiscard]] inline bool repeats_previous(const Stages& stages, int device) {
    return device > 0 && stages.device_kind[device] == stages.device_kind[device - 1];
}

// Returns for each type the share of its layers that are recomputed in the backward. A stage with two copies
// counts once.
[[nodiscard]] PerType<double> shares_recomputed(const Stages& stages);

// Returns how many of the multi-token-prediction layers are MoE.
[[nodiscard]] inline std::int64_t moe_of_mtp(const Model& model, std::int64_t mtp_layers) {
    return model.moe && !model.mtp_dense ? mtp_layers : 0;
}

// These are after tp, etp, ep and pp, and before ZeRO. Experts are separate: their gradients reduce over edp.
struct StageNumbers {
    Numbers dense, experts;
    bool operator==(const StageNumbers&) const = default;
};
[[nodiscard]] StageNumbers numbers_of(const Model& model, const HeldNumbers& held,
                                      const StageContents& contents);

// Returns true if the device holds a copy of the word embedding in addition to the one on the first stage. A
// tied head is the embedding, and a multi-token-prediction layer embeds tokens (Megatron-LM embedding group).
[[nodiscard]] bool copies_embedding(const Model& model, const StageContents& contents);

// Says where a pipeline stage lives: its layers and the fast domains (nodes, racks) that hold its ranks.

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

// Says which schedule a plan runs. One stage has one: without a pipeline the plan's schedule, its chunks and
// its groups of micro-batches do nothing (Megatron-LM schedules.py forward_backward_no_pipelining; torchtitan
// trainer.py adds gradients up one micro-batch after another).

[[nodiscard]] inline Schedule schedule_of(const Layout& l) {
    return l.pp > 1 ? l.schedule : Schedule::one_f_one_b;
}
[[nodiscard]] inline std::int64_t virtual_stages_of(const Layout& l) {
    return l.pp > 1 ? l.virtual_stages : 1;
}

// Finds how many layers each chunk of a pipeline should hold so that no device works longer than it must.

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
