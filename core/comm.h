// What do the GPUs say to each other? Every collective of one step on the busiest rank of the busiest stage.
// Rules and sources: docs/communication.md.
#pragma once

#include "core/memory.h"
#include "core/mesh.h"
#include "core/plan.h"

#include <array>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv };
enum class Scope : std::uint8_t { layer, embedding, head, step };
enum class Phase : std::uint8_t { forward, backward, step };
[[nodiscard]] std::string_view name_of(Collective c);
[[nodiscard]] std::string_view name_of(Scope s);
[[nodiscard]] std::string_view name_of(Phase p);

// Bytes that leave a rank in one call over n ranks with the given buffer (communication.md, Collectives).
[[nodiscard]] double sent_bytes(Collective c, std::int64_t n, double buffer_bytes);

struct Operation {
    GroupKind axis = GroupKind::tp;
    Scope scope = Scope::layer;
    std::string_view what;  // static: "activations after attention"
    Collective collective = Collective::all_reduce;
    std::int64_t group_size = 1;
    int tier = 0;  // index into cluster.tiers, the slowest the group crosses
    Phase phase = Phase::forward;
    std::string_view per;  // static: "layer and micro-batch"
    double count_per_step = 0;
    double message_bytes = 0;        // the collective's full buffer on a rank
    double sent_bytes_per_rank = 0;  // per step, over all calls
    double time_s = 0, exposed_s = 0;
    std::string_view hidden_behind;  // static: "backward compute"; empty: on the critical path
};

struct AxisTraffic {
    double count = 0, sent_bytes_per_rank = 0, time_s = 0, exposed_s = 0;
};

struct Comm {
    std::vector<Operation> operations;
    std::array<AxisTraffic, kGroupKindCount> by_axis{};
};

// Volumes; times are filled by step.h. `summary` by GroupKind. Reuses out's capacity.
void list_operations(const Plan& plan, const Mesh& mesh,
                     const std::array<GroupSummary, kGroupKindCount>& summary, Comm& out);

}  // namespace pentamesh
