// Finds the errors that make a plan impossible, in the order in which one would ask.
#include "core/rules/rules.h"

#include "core/model/local_shard.h"
#include "core/model/model.h"

#include <algorithm>

namespace pentamesh {

void find_errors(const ResolvedPlan& resolved, bool messages, std::vector<Problem>& out) {
    out.clear();
    Rules r{resolved, messages, out};
    if (!check_fields(r)) return;
    check_model_cuts(r);
    if (!check_world(r)) return;
    check_expert_mesh(r);
    check_choices(r);
    check_sequence(r);
    check_batch(r);
    check_precision(r);
}

namespace {

// False where each rank's share is so small that all ranks together are far from the limit: most plans pay
// for no count.
bool may_pass(const Mesh& mesh, const Memory& memory) {
    double held = 0;  // a rank's, by stage at most
    for (const StageMemory& s : memory.stage) held = std::max(held, static_cast<double>(s.parameters_held));
    return held * static_cast<double>(mesh.world) >= static_cast<double>(kMostParameters) / 2;
}

void parameters(Rules& r) {
    if (counts_all(count_parameters(r.plan.model))) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::number_too_large, "/model");
    if (r.messages) p.message = uncounted_text(r.plan.model);
}

void bytes(Rules& r, const Memory& memory) {
    for (const StageMemory& s : memory.stage)
        for (int i = 0; i < kMemoryCategoryCount && s.total() >= kMostBytes; ++i) {
            const auto category = static_cast<MemoryCategory>(i);
            if (bytes_of(s, category) < kMostBytes) continue;
            const bool tokens = category == MemoryCategory::activations;
            const std::string_view place = tokens                                ? "/training/sequence_length"
                                           : category == MemoryCategory::buffers ? "/training"
                                                                                 : "/model";
            Problem& p = r.error(Rule::arithmetic, ProblemCode::number_too_large, place);
            if (!r.messages) return;
            p.message =
                sentence("A GPU of stage ", s.stage, " would hold ", static_cast<std::int64_t>(kMostBytes),
                         " bytes of ", name_of(category), " or more, the most that is counted");
            if (tokens)
                p.message += sentence(": sequence_length = ", r.plan.training.sequence_length,
                                      ", micro_batch = ", r.plan.training.micro_batch);
            p.message += ".";
            return;
        }
}

}  // namespace

void find_uncounted(const ResolvedPlan& resolved, const Memory& memory, bool messages,
                    std::vector<Problem>& out) {
    Rules r{resolved, messages, out};
    const std::size_t before = out.size();
    if (may_pass(r.mesh, memory)) parameters(r);
    if (out.size() == before) bytes(r, memory);
}

}  // namespace pentamesh
