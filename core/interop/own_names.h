// Names that readers ask for and that are no fields of a plan, each with the field that it ends in. Readers,
// dialects (dialect.h) and what is known of tools (tool_facts.h) have them from here.
#pragma once

#include <string_view>

namespace pentamesh::interop {

struct OwnName {
    std::string_view name, field;
    bool inner = false;  // only a reader has it: in a text the word means another thing
};

namespace own {

inline constexpr OwnName kModel{"model", "/model", true};
inline constexpr OwnName kGpus{"gpus", "/cluster/gpus", true};
inline constexpr OwnName kNodes{"nodes", "/cluster/gpus", true};
inline constexpr OwnName kGpusPerNode{"gpus_per_node", "/cluster/gpus", true};
inline constexpr OwnName kAccumulation{"accumulation", "/training/global_batch", true};
inline constexpr OwnName kBatchPerGpu{"batch_per_gpu", "/training/global_batch", true};
inline constexpr OwnName kPipelineMicrobatches{"pipeline_microbatches", "/training/micro_batch", true};
inline constexpr OwnName kStored{"stored", "/training/parameters", true};
inline constexpr OwnName kUsualStored{"usual_stored", "/training/parameters", true};
inline constexpr OwnName kUpcast{"upcast", "/training/parameters", true};
inline constexpr OwnName kOptimizerName{"optimizer_name", "/training/optimizer", true};
inline constexpr OwnName kKeptGradients{"kept_gradients", "/training/gradients", true};
inline constexpr OwnName kEngineCopy{"engine_copy", "/training/master_weights", true};
inline constexpr OwnName kMasterWeights{"master_weights", "/training/master_weights"};
inline constexpr OwnName kMasterWeightDtype{"master_weight_dtype", "/training/master_weights"};
inline constexpr OwnName kExpAvgDtype{"exp_avg_dtype", "/training/optimizer_state"};
inline constexpr OwnName kExpAvgSqDtype{"exp_avg_sq_dtype", "/training/optimizer_state"};
inline constexpr OwnName kShardInNode{"shard_in_node", "/layout/dp_shard", true};
inline constexpr OwnName kFirstLayers{"first_layers", "/layout/stage_layers"};
inline constexpr OwnName kLastLayers{"last_layers", "/layout/stage_layers"};
inline constexpr OwnName kPpSchedule{"pp_schedule", "/layout/schedule"};
inline constexpr OwnName kLayersPerStage{"layers_per_stage", "/layout/virtual_stages"};
inline constexpr OwnName kRoundStages{"round_stages", "/layout/virtual_stages"};
// The reader of fields, whose tools data tells, asks for these.
inline constexpr OwnName kOfFields[] = {kModel,
                                        kGpus,
                                        kNodes,
                                        kGpusPerNode,
                                        kAccumulation,
                                        kBatchPerGpu,
                                        kPipelineMicrobatches,
                                        kStored,
                                        kUsualStored,
                                        kUpcast,
                                        kOptimizerName,
                                        kKeptGradients,
                                        kEngineCopy,
                                        kMasterWeights,
                                        kMasterWeightDtype,
                                        kExpAvgDtype,
                                        kExpAvgSqDtype,
                                        kShardInNode,
                                        kFirstLayers,
                                        kLastLayers,
                                        kPpSchedule,
                                        kLayersPerStage,
                                        kRoundStages};

inline constexpr OwnName kFromHfPretrained{"from_hf_pretrained(0)", "/model"};
inline constexpr OwnName kNumGpus{"num_gpus", "/cluster/gpus"};
inline constexpr OwnName kNumNodes{"num_nodes", "/cluster/gpus"};
inline constexpr OwnName kDevices{"devices", "/cluster/gpus"};
inline constexpr OwnName kWorldSize{"world_size", "/cluster/gpus"};
inline constexpr OwnName kFp16{"fp16", "/training/compute"};
inline constexpr OwnName kFp8{"fp8", "/training/compute"};
inline constexpr OwnName kDtype{"dtype", "/training/parameters"};
inline constexpr OwnName kMicroBatchesOfAStep{"micro_batches_of_a_step", "/training/global_batch"};
// Readers that are code ask for these, and their dialects hand them on.
inline constexpr OwnName kOfCode[] = {kFromHfPretrained,    kNumGpus, kNumNodes,   kDevices,
                                      kWorldSize,           kFp16,    kFp8,        kDtype,
                                      kMicroBatchesOfAStep, kNodes,   kGpusPerNode};

}  // namespace own
}  // namespace pentamesh::interop
