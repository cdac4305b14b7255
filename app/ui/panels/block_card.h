// Describes one block of the timeline beyond its times: who runs it, what they hold then, what it sends on.
#pragma once

#include "app/ui/panels/rank_card.h"
#include "core/pipeline/timeline.h"

#include <cstddef>
#include <vector>

namespace pentamesh::ui {

// `t` is the evaluation's own timeline, or the same order with other times.
[[nodiscard]] std::vector<CardLine> block_lines(const Plan& plan, const Evaluation& e, const Timeline& t,
                                                std::size_t i);

}  // namespace pentamesh::ui
