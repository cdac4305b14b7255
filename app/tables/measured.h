// Lists what a real run says: parts of the step, collectives, workers; of one that hangs, what ranks do.
#pragma once

#include "app/tables/table.h"
#include "core/runs/hang_run.h"
#include "core/runs/measured.h"

#include <string>
#include <vector>

namespace pentamesh {

[[nodiscard]] Table measured_parts_table(const runs::Measured& m);
[[nodiscard]] Table measured_collectives_table(const runs::Measured& m);
// Says what share of each wire would explain the transfers that are known without their wait.
[[nodiscard]] std::vector<std::string> link_words(const runs::Measured& m);
// Says in two sentences what would be won if workers were equally fast, and how much of it the slowest
// explain.
[[nodiscard]] std::vector<std::string> slowdown_words(const runs::WhatIf& w);
// A row for each stage, data-parallel rank, kind of operation and each of the slowest workers.
[[nodiscard]] Table slowdown_table(const runs::WhatIf& w);
// Lists who is to blame, stuck, waits, is held up.
[[nodiscard]] Table hang_table(const runs::HangRun& run);

}  // namespace pentamesh
