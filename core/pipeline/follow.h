// Says what follows from fields that are set, the same at every door: --set, Python, a sweep, a request, the
// palette, a page's message, an import.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

struct Followed {
    Plan plan;
    std::vector<Edit> edits;  // that follow; what is set is not among them
    bool fills = false;       // they keep all GPUs in use
    std::string stays{};      // what stays although it may not be meant: nodes of few GPUs under many
};

// Returns `set`, which is `before` with the fields of these pointers changed ("/layout/tp", or "/layout" for
// all below it), with what follows from them. A field that is named never changes.
// - Where `before` filled its GPUs, and tp, cp, pp or the GPUs are others, data parallelism gives or takes
// the
//   rest as the window's step does (edits.h, with_factor and with_gpus). Of dp_shard and dp_replicate the one
//   that is not named takes what the named one leaves; where both are named nothing follows. Nothing follows
//   where that leaves no whole number.
// - A schedule takes the chunks that it can run (chunks_for).
// - Other stages have an even split of the layers; a single one has 1F1B of one chunk.
// - A gradient_reduction that the ZeRO stage or the schedule now rules out is the software's own.
[[nodiscard]] Followed follow(const Plan& before, const Plan& set, const std::vector<std::string>& pointers);
// Returns the same for `sets`, which are like "layout.tp=4". Throws Error where one cannot be set.
[[nodiscard]] Followed follow_sets(const Plan& before, const std::vector<std::string>& sets,
                                   const Presets& presets);
// Returns the plan with a schedule of so many chunks, and what follows: the window's menus set it so.
[[nodiscard]] Plan with_schedule_and_rest(const Plan& plan, Schedule schedule, std::int64_t virtual_stages);
// Returns what the window says of an edit in addition: nodes that stay small under many more GPUs, a
// reduction of gradients that is no longer possible. Empty: nothing.
[[nodiscard]] std::string words_of_edit(const Plan& before, const Plan& after);
// Returns the pointers of `sets`.
[[nodiscard]] std::vector<std::string> pointers_of_sets(const std::vector<std::string>& sets);

// Returns the GPUs that a stepper takes next, a multiple of `each` up (`by` > 0) or down: twice or half as
// many (next_value) where the plan can use them, else the nearest number on the way there that it can use;
// without such a number, twice or half. A plan uses GPUs if its layout fills them and its batch divides.
[[nodiscard]] std::int64_t next_gpus(const Plan& plan, int by, std::int64_t each);

// Returns "dp_shard = 16 follows, so that all 256 GPUs stay in use", and what stays; empty where there is
// nothing to say.
[[nodiscard]] std::string words_of(const Followed& followed);

}  // namespace pentamesh
