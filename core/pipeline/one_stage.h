// Says which schedule a plan runs. One stage has one: without a pipeline the plan's schedule, its chunks and
// its groups of micro-batches do nothing (Megatron-LM schedules.py forward_backward_no_pipelining; torchtitan
// trainer.py adds gradients up one micro-batch after another).
#pragma once

#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

[[nodiscard]] inline Schedule schedule_of(const Layout& l) {
    return l.pp > 1 ? l.schedule : Schedule::one_f_one_b;
}
[[nodiscard]] inline std::int64_t virtual_stages_of(const Layout& l) {
    return l.pp > 1 ? l.virtual_stages : 1;
}

}  // namespace pentamesh
