#include "app/tables/groups.h"

namespace pentamesh {

std::string_view meaning_of(GroupKind kind) {
    switch (kind) {
    case GroupKind::tp: return "tensor parallel: parts of each matrix";
    case GroupKind::cp: return "context parallel: parts of each sequence";
    case GroupKind::pp: return "pipeline: stages of the layers";
    case GroupKind::dp_shard: return "sharded data parallel (FSDP): parts of the state";
    case GroupKind::dp_replicate: return "replicated data parallel: copies of the model";
    case GroupKind::dp: return "all data parallelism: dp_shard and dp_replicate";
    case GroupKind::dp_cp: return "ranks that sum gradients: data and context parallel";
    case GroupKind::fsdp: return "ranks that shard the state: dp_shard and context parallel";
    case GroupKind::tp_cp: return "ranks that share a layer's work on a sequence: tp and cp";
    case GroupKind::mp: return "model parallel: tp and pp, one copy of the model";
    case GroupKind::etp: return "tensor parallel inside an expert";
    case GroupKind::ep: return "expert parallel: other experts on each rank";
    case GroupKind::edp: return "data parallel of the experts: copies of the same experts";
    case GroupKind::etp_ep: return "all ranks that share one copy of the experts: etp and ep";
    }
    return "";
}

std::string folded_ranks(std::span<const std::int64_t> ranks) {
    constexpr std::size_t kMost = 8, kFirst = 3;
    bool even = ranks.size() > kMost;
    for (std::size_t i = 2; i < ranks.size() && even; ++i)
        even = ranks[i] - ranks[i - 1] == ranks[1] - ranks[0];
    std::string out;
    for (std::size_t i = 0; i < (even ? kFirst : ranks.size()); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (even) out += " … " + std::to_string(ranks.back()) + " (" + std::to_string(ranks.size()) + ")";
    return out;
}

}  // namespace pentamesh
