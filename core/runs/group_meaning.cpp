#include "core/runs/run_layout.h"

#include <array>

namespace pentamesh::runs {
namespace {

constexpr AxisSet kTp = bit_of(RunAxis::tp), kGtp = bit_of(RunAxis::gtp), kCp = bit_of(RunAxis::cp),
                  kShard = bit_of(RunAxis::shard), kReplicate = bit_of(RunAxis::replicate),
                  kPp = bit_of(RunAxis::pp), kEtp = bit_of(RunAxis::etp), kEp = bit_of(RunAxis::ep),
                  kEdp = bit_of(RunAxis::edp);

struct Described {
    std::string_view name;
    AxisSet axes;
};
// Megatron-LM, megatron/core/parallel_state.py:939-1573. Its data parallelism leaves weight shards out unless
// the name says otherwise.
constexpr std::array kMegatron{Described{"TENSOR_MODEL_PARALLEL_GROUP", kTp},
                               Described{"CONTEXT_PARALLEL_GROUP", kCp},
                               Described{"PIPELINE_MODEL_PARALLEL_GROUP", kPp},
                               Described{"DATA_PARALLEL_GROUP", kShard},
                               Described{"DATA_PARALLEL_GROUP_WITH_CP", kCp | kShard},
                               Described{"GTP_WEIGHT_REMAT_GROUP", kGtp},
                               Described{"DATA_PARALLEL_GROUP_WITH_GTP_REMAT", kGtp | kShard},
                               Described{"DATA_PARALLEL_GROUP_WITH_CP_WITH_GTP_REMAT", kGtp | kCp | kShard},
                               Described{"MODEL_PARALLEL_GROUP", kTp | kGtp | kPp},
                               Described{"TENSOR_AND_CONTEXT_PARALLEL_GROUP", kTp | kCp},
                               Described{"TENSOR_AND_DATA_PARALLEL_GROUP", kTp | kGtp | kShard},
                               Described{"TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", kTp | kGtp | kCp | kShard},
                               Described{"EXPERT_MODEL_PARALLEL_GROUP", kEp},
                               Described{"EXPERT_TENSOR_PARALLEL_GROUP", kEtp},
                               Described{"EXPERT_DATA_PARALLEL_GROUP", kEdp},
                               Described{"EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", kEtp | kEp},
                               Described{"EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", kEtp | kEp | kPp}};

// These are parts of groups, ends of pipelines, or lie over the whole world: they say nothing more.
constexpr std::array<std::string_view, 7> kParts{"EMBEDDING_GROUP",
                                                 "INTRA_PARTIAL_",
                                                 "INTER_PARTIAL_",
                                                 "HIERARCHICAL_",
                                                 "OPTIMIZER_INSTANCE",
                                                 "GTP",
                                                 "AMAX"};

// torch's DeviceMesh names a group "mesh_" and the dimension; a flattened one by its dimensions in a row
// (torchtitan/distributed/parallel_dims.py). The longer of two names that begin in the same way comes first.
constexpr std::array kMesh{Described{"dp_replicate", kReplicate},
                           Described{"dp_shard_mod_ep", kEdp},
                           Described{"dp_shard", kShard},
                           Described{"loss_mesh", kCp | kShard | kReplicate},
                           Described{"loss", kCp | kShard | kReplicate},
                           Described{"batch", kShard | kReplicate},
                           Described{"replicate", kReplicate},
                           Described{"efsdp", kEdp},
                           Described{"fsdp", kCp | kShard},
                           Described{"shard", kShard},
                           Described{"etp", kEtp},
                           Described{"ep", kEp},
                           Described{"tp", kTp},
                           Described{"cp", kCp},
                           Described{"pp", kPp},
                           Described{"dp", kShard | kReplicate}};

GroupMeaning mesh_meaning(std::string_view name) {
    GroupMeaning out{.device_mesh = true};
    if (name == "dp_shard_in_ep") {  // the part of dp_shard over which experts lie
        out.kind = GroupMeaning::Kind::part;
        return out;
    }
    while (!name.empty()) {
        const Described* found = nullptr;
        for (const Described& d : kMesh)
            if (!found && name.starts_with(d.name)
                && (name.size() == d.name.size() || name[d.name.size()] == '_'))
                found = &d;
        if (!found) return out;
        out.axes |= found->axes;
        name.remove_prefix(found->name.size());
        if (!name.empty()) name.remove_prefix(1);
    }
    if (out.axes != 0) out.kind = GroupMeaning::Kind::axes;
    return out;
}

}  // namespace

GroupMeaning meaning_of(std::string_view description) {
    if (description.empty() || description == "default_pg" || description == "undefined"
        || description == "mesh_default" || description == "mesh_world")
        return {.kind = GroupMeaning::Kind::world};
    if (description.starts_with("mesh_")) return mesh_meaning(description.substr(5));
    for (const std::string_view ending : {"_GLOO", "_AG"})
        if (description.ends_with(ending)) description.remove_suffix(ending.size());
    for (const Described& d : kMegatron)
        if (description == d.name) return {.kind = GroupMeaning::Kind::axes, .axes = d.axes};
    for (const std::string_view part : kParts)
        if (description.find(part) != std::string_view::npos) return {.kind = GroupMeaning::Kind::part};
    return {};
}

}  // namespace pentamesh::runs
