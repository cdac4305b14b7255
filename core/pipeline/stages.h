// Says which layers each pipeline device runs.
#pragma once

#include "core/mesh/mesh.h"
#include "core/model/layer_types.h"
#include "core/model/local_shard.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/plan.h"

#include <cstdint>
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

}  // namespace pentamesh
